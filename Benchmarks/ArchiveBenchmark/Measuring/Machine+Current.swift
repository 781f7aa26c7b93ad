internal import ArchiveIO
internal import BenchmarkKit
internal import CommandLineTool
internal import Foundation
internal import Glibc

extension Machine {
  /// The machine that this runs on.
  static func current() -> Machine {
    let cores = ProcessFacts.availableCores
    let load = field(of: "/proc/loadavg", { $0.split(separator: " ").first.flatMap { Double($0) } }) ?? 0
    let kibibytes = value(in: "/proc/meminfo", "MemTotal").flatMap {
      $0.split(separator: " ").first.flatMap { UInt64($0) }
    }
    return Machine(
      processor: value(in: "/proc/cpuinfo", "model name") ?? "unknown", coreCount: cores,
      memoryByteCount: (kibibytes ?? 0) * 1024,
      kernel: field(of: "/proc/sys/kernel/osrelease") { trimmed($0) } ?? "unknown",
      system: value(in: "/etc/os-release", "PRETTY_NAME", separator: "=") ?? "unknown",
      loadAtStart: load / Double(cores))
  }

  private static func field<Value>(of path: String, _ read: (String) -> Value?) -> Value? {
    (try? SmallFile.text(path)).flatMap(read)
  }

  /// The value of the first line with this key.
  private static func value(in path: String, _ key: String, separator: Character = ":") -> String? {
    guard let text = try? SmallFile.text(path) else { return nil }
    for line in text.split(separator: "\n") {
      guard let place = line.firstIndex(of: separator) else { continue }
      if trimmed(String(line[..<place])) == key { return trimmed(String(line[line.index(after: place)...])) }
    }
    return nil
  }

  private static func trimmed(_ text: String) -> String {
    text.trimmingCharacters(in: CharacterSet(charactersIn: " \t\n\""))
  }
}

/// What a directory lies on.
enum FileSystemName {
  /// The type of the file system with the longest mount point that the path lies below: "tmpfs", "ext4".
  static func of(_ path: String) -> String {
    let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    var best = (length: -1, name: "unknown")
    for line in ((try? SmallFile.text("/proc/self/mounts")) ?? "").split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 2 else { continue }
      let point = words[1] == "/" ? "" : String(words[1])
      if real == point || real.hasPrefix(point + "/"), point.count >= best.length {
        best = (point.count, String(words[2]))
      }
    }
    return best.name
  }
}

/// Finds programs and asks for their versions.
enum InstalledProgram {
  /// Its path, nil when it is not there.
  static func find(_ name: String) -> String? {
    if name.contains("/") { return unsafe access(name, X_OK) == 0 ? name : nil }
    let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    return directories.map { $0 + "/" + name }.first { unsafe access($0, X_OK) == 0 }
  }

  /// The line of a program's output that tells its version.
  static func version(_ command: [String], _ meter: ProcessMeter, _ directory: String) throws(Failure) -> String {
    let output = directory + "/version"
    let reading = try meter.run(Pipeline(stages: [command], outputPath: output), round: 0)
    let lines = ((try? SmallFile.text(output)) ?? "") + reading.errorText
    let line = lines.split(separator: "\n").first { $0.contains { $0.isNumber } } ?? "unknown"
    return line.trimmingCharacters(in: CharacterSet(charactersIn: "* \t"))
  }
}
