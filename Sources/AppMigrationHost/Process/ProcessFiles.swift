internal import ArchiveIO
internal import CMigrationShims

/// What `/proc` tells about processes.
enum ProcessFiles {
  /// The fields of `/proc/PID/stat` that are used here.
  struct Status: Equatable {
    /// `R`, `S`, `Z` and so on.
    var state: UInt8
    /// The process group.
    var group: Int32
    /// Processor time of all threads, in ticks.
    var ticks: UInt64
    /// When it was started, in ticks since the machine was.
    var startTime: UInt64

    /// Whether it has ended, whether or not somebody has taken its status.
    var isOver: Bool { state == UInt8(ascii: "Z") || state == UInt8(ascii: "X") }

    /// Understands the file's text; nil when it is something else.
    init?(_ text: [UInt8]) {
      // The second field is the program's name in parentheses, which may hold anything.
      guard let end = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
      let fields = text[(end + 1)...].split(whereSeparator: { $0 == 0x20 || $0 == 0x0A })
      guard fields.count >= 20, let state = fields[0].first else { return nil }
      func number(_ field: Int) -> UInt64? { UInt64(String(decoding: fields[field - 3], as: UTF8.self)) }
      guard let group = Int32(String(decoding: fields[2], as: UTF8.self)), let user = number(14),
        let system = number(15), let start = number(22)
      else { return nil }
      self.state = state
      self.group = group
      ticks = user &+ system
      startTime = start
    }
  }

  /// The directory of a process, nil when there is no such process. It stays that of this process even when its number is
  /// used again.
  static func directory(of process: Int32) -> SharedDescriptor? {
    let path = Array("/proc/\(process)".utf8)
    guard let directory = try? FileSystem.open(at: FileSystem.currentDirectory, path, [.path, .directory]) else {
      return nil
    }
    return SharedDescriptor(directory)
  }

  /// The state of a process, by its directory.
  static func status(_ directory: SharedDescriptor) -> Status? {
    text(at: directory.rawValue, "stat").flatMap(Status.init)
  }

  /// All processes, by number.
  static func all() -> [Int32] { numbers(at: FileSystem.currentDirectory, "/proc") }

  /// The names in a directory that are numbers.
  static func numbers(at directory: Int32, _ path: String) -> [Int32] {
    var numbers = [Int32](repeating: 0, count: 1024)
    while true {
      let capacity = numbers.count
      let count = unsafe numbers.withUnsafeMutableBufferPointer {
        unsafe amk_list_numbers(directory, path, $0.baseAddress!, capacity)
      }
      if count < 0 { return [] }
      if count <= capacity { return Array(numbers.prefix(Int(count))) }
      numbers = [Int32](repeating: 0, count: Int(count) * 2)
    }
  }

  /// The first 4 KiB of a file in `/proc`.
  static func text(at directory: Int32, _ name: String) -> [UInt8]? {
    guard let file = try? FileSystem.open(at: directory, Array(name.utf8), .readOnly) else { return nil }
    var text = [UInt8](repeating: 0, count: 4096)
    let count = unsafe text.withUnsafeMutableBytes { buffer in
      (try? unsafe FileSystem.readFully(file.rawValue, into: buffer)) ?? 0
    }
    return count > 0 ? Array(text.prefix(count)) : nil
  }
}
