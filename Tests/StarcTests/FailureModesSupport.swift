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

  /// Tries a mode in every way: plain and compressed, from a file and a pipe, by one thread and by eight, strict and
  /// lenient; as a plain user too, if that is wanted and this process may.
  func check(_ mode: FailureMode, asUser: Bool = false) throws {
    let archive = mode.archive(path + "/outside")
    try write(archive, "f.tar")
    try write(try Shell.run(["zstd", "-qc", path + "/f.tar"]).output, "f.tar.zst")
    var users: [UInt32?] = [nil]
    var tool = Starc.path
    if asUser, geteuid() == 0 {
      tool = path + "/starc"
      try Shell.script("cp '\(Starc.path)' starc; chmod 755 starc", directory: path)
      users.append(Shell.plainUser)
    }
    let ways = [("f.tar", false, 1), ("f.tar", true, 8), ("f.tar.zst", false, 8), ("f.tar.zst", true, 1)]
    for user in users {
      for (file, isPipe, threads) in ways {
        for (outcome, options) in [(mode.strict, []), (mode.lenient, ["--lenient"])] {
          let command = ["extract", isPipe ? "-" : file, "out", "--no-sync", "--threads", "\(threads)"] + options
          let how = "\(command.joined(separator: " ")) < \(file)\(user == nil ? "" : " as a plain user")"
          let before = try surroundings()
          let result = try run(command, tool: tool, pipe: isPipe ? file : nil, userID: user)
          try check(result, outcome, how)
          if result.status > 0, !mode.says.isEmpty {
            #expect(result.errorText.contains(mode.says), "\(how): \(result.errorText)")
          }
          try Shell.script("chmod -R u+rwx out 2> /dev/null || true; rm -rf out", directory: path)
          #expect(try surroundings() == before, "\(how) touched what lies outside")
        }
      }
    }
    try checkLists(mode, ways.map { ($0.0, $0.1) })
  }

  private func check(_ result: ShellResult, _ outcome: FailureMode.Outcome, _ how: String) throws {
    switch outcome {
    case .fails:
      #expect(result.status == 2, "\(how): \(result.errorText)")
      #expect(try tree() == nil, "\(how)")
    case .leaves(let status, let expected):
      #expect(result.status == status, "\(how): \(result.errorText)")
      #expect(try tree() == expected, "\(how)")
      if status == 1 { #expect(!result.errors.isEmpty, "\(how)") }
    }
  }

  /// Lists show the same for every way to read.
  private func checkLists(_ mode: FailureMode, _ ways: [(String, Bool)]) throws {
    var first: ShellResult?
    for (file, isPipe) in ways {
      let list = try run(["list", "-0", isPipe ? "-" : file], pipe: isPipe ? file : nil)
      #expect(list.status == (first ?? list).status && list.output == (first ?? list).output, "list of \(file)")
      if let names = mode.names {
        #expect(list.output.split(separator: 0).map { String(decoding: $0, as: UTF8.self) } == names)
      }
      first = first ?? list
    }
    if case .fails = mode.lenient { #expect(first?.status == 2) }
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
