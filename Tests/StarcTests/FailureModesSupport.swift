internal import Foundation
internal import Glibc
internal import TestSupport
internal import Testing

/// An archive that once made some program do the wrong thing, and what is right.
struct FailureMode: Sendable, CustomTestStringConvertible {
  /// How an extraction into a new directory ends.
  enum Outcome: Sendable {
    /// Exit 2, and nothing appears.
    case fails
    /// This exit status and this tree: "d/", "file=text", "link -> target", "other|"; files with more than one name
    /// have their number behind them, and the directory that nothing may touch is "OUTSIDE" in targets.
    case leaves(Int32, [String])
  }

  let testDescription: String
  /// Made from the absolute path of a directory that nothing may touch.
  let archive: @Sendable (_ outside: String) -> [UInt8]
  let strict: Outcome
  let lenient: Outcome
  /// Part of what a strict run says.
  var says = ""
  /// What lists show, the same for every way to read; nil when that is not the point.
  var names: [String]?
  /// The bytes are the archive itself and no tar stream that could be put into something.
  var isWhole = false

  /// Some member is refused: a strict run fails, a lenient one leaves it out and makes the rest.
  static func refused(
    _ name: String, says: String, leaves tree: [String], names: [String]? = nil,
    _ archive: @escaping @Sendable (String) -> [[UInt8]]
  ) -> FailureMode {
    FailureMode(
      testDescription: name, archive: { archive($0).flatMap { $0 } + Tar.end }, strict: .fails,
      lenient: .leaves(1, tree), says: says, names: names)
  }

  /// The archive cannot be read on: no run makes anything.
  static func damaged(
    _ name: String, says: String, _ archive: @escaping @Sendable (String) -> [[UInt8]]
  ) -> FailureMode {
    FailureMode(
      testDescription: name, archive: { archive($0).flatMap { $0 } + Tar.end }, strict: .fails, lenient: .fails,
      says: says)
  }

  /// Every run makes the same; with exit 1 it says why.
  static func accepted(
    _ name: String, status: Int32 = 0, says: String = "", makes tree: [String], names: [String]? = nil,
    endsWith end: [UInt8] = Tar.end, _ archive: @escaping @Sendable (String) -> [[UInt8]]
  ) -> FailureMode {
    FailureMode(
      testDescription: name, archive: { archive($0).flatMap { $0 } + end }, strict: .leaves(status, tree),
      lenient: .leaves(status, tree), says: says, names: names)
  }
}

/// A directory with an archive and, beside the destination, things that no extraction may touch.
struct FailureModeStage {
  private let place = try? TemporaryDirectory(.memory)
  let path: String

  init() throws {
    path = try #require(place).path
    try Shell.script(
      """
      chmod 777 .; mkdir outside; printf K > outside/keep; ln outside/keep outside/twin
      chmod 666 outside/keep; chmod 777 outside; touch -d @5 outside/keep; touch -d @7 outside
      """, directory: path)
  }

  /// Runs the tool on a file, or with a pipe as its standard input.
  func run(
    _ arguments: [String], tool: String = Starc.path, pipe: String? = nil, userID: UInt32? = nil
  ) throws -> ShellResult {
    let command = [tool] + arguments
    let piped = ["bash", "-c", "exec \"$@\" < <(cat '\(pipe ?? "")')", "bash"]
    return try Shell.run((pipe == nil ? [] : piped) + command, directory: path, userID: userID, timeout: 30)
  }

  func write(_ bytes: [UInt8], _ name: String) throws { try FileTree.write(bytes, to: path + "/" + name) }

  /// What lies in "out", sorted; nil when it does not exist.
  func tree() throws -> [String]? {
    let root = path + "/out"
    guard FileManager.default.fileExists(atPath: root) else { return nil }
    return try FileManager.default.subpathsOfDirectory(atPath: root).map { try describe(root, $0) }.sorted()
  }

  private func describe(_ root: String, _ name: String) throws -> String {
    let full = root + "/" + name
    let facts = try FileManager.default.attributesOfItem(atPath: full)
    switch facts[.type] as? FileAttributeType {
    case .typeDirectory: return name + "/"
    case .typeSymbolicLink:
      return name + " -> "
        + (try FileManager.default.destinationOfSymbolicLink(atPath: full)).replacingOccurrences(
          of: path + "/outside", with: "OUTSIDE")
    case .typeRegular:
      let bytes = FileManager.default.contents(atPath: full) ?? Data()
      let links = facts[.referenceCount] as? Int ?? 1
      let text = bytes.count <= 16 ? String(decoding: bytes, as: UTF8.self) : "<\(bytes.count)>"
      return name + "=" + text + (links > 1 ? " \(links)" : "")
    default: return name + "|"
    }
  }

  /// All that is beside the destination, with everything that a write, a chmod or a link would change.
  func surroundings() throws -> [String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    let outside = try FileManager.default.subpathsOfDirectory(atPath: path + "/outside").map { "outside/" + $0 }
    return try names
      + (outside + ["outside"]).sorted().map { name in
        let facts = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
        let keys: [FileAttributeKey] = [
          .type, .size, .posixPermissions, .ownerAccountID, .modificationDate, .referenceCount, .systemFileNumber,
        ]
        return name + keys.map { " \(facts[$0] ?? "")" }.joined()
      }
  }
}
