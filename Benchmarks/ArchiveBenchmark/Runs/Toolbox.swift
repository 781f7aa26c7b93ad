internal import ArchiveIO
internal import BenchmarkKit
internal import CommandLineTool
internal import Foundation
internal import Glibc

/// The programs of this package and the helpers that a run uses.
struct Toolbox {
  let starc: Starc
  /// Nil where the migration tool or the extension is missing.
  let appmigrate: Appmigrate?
  /// This program, for what is measured in a process of its own.
  let own: String
  let meter: ProcessMeter

  private static let bundleIdentifier = "org.example.archive-benchmark"

  /// Finds everything; fails without what nothing can be measured.
  init(_ configuration: RunConfiguration, scratch: Scratch, cancellation: CancellationToken) throws(Failure) {
    own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "archive-benchmark"
    let beside = URL(fileURLWithPath: own).deletingLastPathComponent().path
    let directory = configuration.programDirectory ?? beside
    func path(_ name: String) -> String? {
      [directory, beside].map { $0 + "/" + name }.first { unsafe access($0, R_OK) == 0 }
    }
    func needed(_ name: String) throws(Failure) -> String {
      guard let path = path(name) else {
        throw .failed("\(directory)/\(name) is missing; build it with: swift build -c release --product \(name)")
      }
      return path
    }
    starc = Starc(executable: try needed("starc"))
    meter = ProcessMeter(
      executable: try needed("process-meter"), counterLibrary: path("libAllocationCounter.so"),
      directory: scratch.path, cancellation: cancellation)
    guard let tool = path("appmigrate"), let source = path("DirectoryExtension") else {
      appmigrate = nil
      return
    }
    // Entitlements lie beside the executable, so it gets a place of its own.
    let copy = scratch.file("extension")
    guard (try? FileManager.default.copyItem(atPath: source, toPath: copy)) != nil else {
      throw .failed("\(source) could not be copied to \(copy)")
    }
    let entitlements = """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict><key>com.apple.developer.app-migration.data-container-access</key>
      <array><string>\(Self.bundleIdentifier)</string></array></dict></plist>
      """
    try SmallFile.write(Array(entitlements.utf8), to: copy + ".entitlements")
    appmigrate = Appmigrate(executable: tool, extensionPath: copy)
  }
}
