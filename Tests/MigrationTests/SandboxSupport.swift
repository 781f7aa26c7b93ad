import ArchiveIO
import CMigrationShims
import Foundation
import MigrationWire
import TestSupport

@testable import AppMigrationHost

/// What an extension of the tests may and may not reach.
final class SandboxScene: Sendable {
  let directory: TemporaryDirectory
  var container: String { directory.file("apps/one/container") }
  var staging: String { directory.file("apps/one/staging") }
  var group: String { directory.file("groups/one") }
  var outside: String { directory.file("home") }

  /// The kernel can keep an extension inside.
  static let isEnforced = SandboxReport.current().isComplete
  /// The kernel can hand calls over to the system.
  static let isSupervised = amk_supervision_is_available() != 0

  init() throws {
    directory = try TemporaryDirectory()
    try Shell.script(
      """
      mkdir -p apps/one/container/empty apps/one/staging/directory groups/one home/other
      for name in kept cut truncated unlinked renamed renamed-out; do printf kept > apps/one/container/$name; done
      for name in arrived linked directory/inner; do printf new > apps/one/staging/$name; done
      printf secret > home/secret
      printf data > home/other/data
      """, directory: directory.path)
    let file = try FileSystem.open(
      at: FileSystem.currentDirectory, Array((container + "/kept").utf8), .readOnly)
    for name in ["user.there", "user.there-2"] {
      try FileSystem.setAttribute(of: file.rawValue, Array(name.utf8), value: Array("x".utf8))
    }
  }

  /// The variables that tell the extension what to attack.
  func environment(_ action: String) -> [(String, String)] {
    [
      ("HOSTILE_ACTION", action), ("HOSTILE_CONTAINER", container), ("HOSTILE_OUTSIDE", outside),
      ("HOSTILE_STAGING", staging), ("HOSTILE_GROUP", group), ("SWIFT_BACKTRACE", "enable=no"),
    ]
  }

  /// What it takes to start the hostile extension.
  func launch(_ action: String, imports: Bool = false, lock: Int32? = nil, program: String = "HostileExtension")
    -> ExtensionLaunch
  {
    ExtensionLaunch(
      executable: Array(Shell.builtProduct(program).utf8),
      access: imports ? .import(stagingPath: Array(staging.utf8)) : .export,
      containerPath: Array(container.utf8), groupPaths: [Array(group.utf8)], lockDescriptor: lock,
      environment: environment(action))
  }

  /// The names, sizes, modes and times of everything in the container, and the attributes of a file.
  func listing() throws -> String {
    let file = try FileSystem.open(
      at: FileSystem.currentDirectory, Array((container + "/kept").utf8), .readOnly)
    let attributes = try FileSystem.attributeNames(of: file.rawValue).map { String(decoding: $0, as: UTF8.self) }
    let tree = try Shell.script(
      "find . -printf '%p %y %s %m %U %G %n %T@ %C@\\n' | sort", directory: container)
    return tree + attributes.sorted().joined(separator: " ")
  }
}

extension ExtensionProcess {
  /// See ``MessageSocket``.
  func nextLine() throws -> (name: String, value: Int)? { try socket.nextLine() }

  /// See ``MessageSocket``.
  func allLines() throws -> [String: Int] { try socket.allLines() }
}

extension MessageSocket {
  /// The next thing that the hostile extension tells, "name=value"; nil when it is gone.
  func nextLine() throws -> (name: String, value: Int)? {
    while true {
      if let packet = try tryReceive() {
        if packet.bytes.isEmpty { return nil }
        let line = String(decoding: packet.bytes.dropLast(), as: UTF8.self)
        let parts = line.split(separator: "=")
        return (String(parts[0]), Int(parts[1]) ?? -1)
      }
      // A minute, so that a fault ends the test rather than holding it up.
      if try !wait(milliseconds: 60_000).isReady { return nil }
    }
  }

  /// All that it tells until it is gone.
  func allLines() throws -> [String: Int] {
    var lines: [String: Int] = [:]
    while let line = try nextLine() { lines[line.name] = line.value }
    return lines
  }
}

/// Whether a process is there and has not ended.
func isAlive(_ process: Int) -> Bool {
  guard let directory = ProcessFiles.directory(of: Int32(process)), let status = ProcessFiles.status(directory) else {
    return false
  }
  return !status.isOver
}
