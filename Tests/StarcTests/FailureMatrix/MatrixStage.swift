internal import ArchiveEngine
internal import ArchiveFormat
internal import ArchiveIO
internal import Foundation
internal import Glibc
internal import TestSupport
internal import Testing

/// Looks at archives in one way after another, and keeps what was wrong.
final class MatrixStage {
  private let stage: FailureModeStage
  private let tool: String
  /// What was wrong, one line each.
  private(set) var faults: [String] = []
  private(set) var runCount = 0

  /// The archives of the case that is looked at.
  private var mode: FailureMode?
  private var tar: [UInt8] = []
  private var strict = TarFacts([], isLenient: false)
  private var lenient = TarFacts([], isLenient: true)
  private var made: Set<String> = []
  private var hasIndexed = false

  init() throws {
    stage = try FailureModeStage()
    tool = stage.path + "/starc"
    try Shell.script("cp '\(Starc.path)' starc; chmod 755 starc", directory: stage.path)
  }

  /// Prepares a case.
  func begin(_ mode: FailureMode) {
    self.mode = mode
    tar = mode.archive(stage.path + "/outside")
    if !mode.isWhole {
      strict = TarFacts(tar, isLenient: false)
      lenient = TarFacts(tar, isLenient: true)
    }
    made = []
    hasIndexed = false
  }

  /// The setting shows something that no other one of the full matrix does.
  func isDistinct(_ setting: MatrixSetting) -> Bool {
    if mode?.isWhole == true { return setting.form == .tar }
    return setting.form != .indexed || (try? archive(.indexed).isIndexed) == true
  }

  /// Looks at the prepared case in one way.
  func look(_ setting: MatrixSetting) throws {
    guard let mode else { return }
    if setting.isPlainUser, geteuid() != 0 { return }
    let (file, isIndexed) = try archive(setting.form)
    let run = Run(stage: self, mode: mode, setting: setting, file: file, isIndexed: isIndexed)
    let before = try stage.surroundings()
    runCount += 1
    try run.perform()
    try removeOutput()
    if try stage.surroundings() != before { run.fault("touched what lies outside") }
  }

  private func removeOutput() throws {
    guard (try? FileManager.default.attributesOfItem(atPath: stage.path + "/out")) != nil else { return }
    // The shell for what an owner cannot go into: thousands of programs would take longer than the runs.
    if (try? FileManager.default.removeItem(atPath: stage.path + "/out")) != nil { return }
    try Shell.script("chmod -R u+rwx out 2> /dev/null || true; rm -rf out", directory: stage.path)
  }

  // MARK: Archives

  /// The case in a form: the file's name, and whether it has an index of ours.
  private func archive(_ form: MatrixSetting.Form) throws -> (file: String, isIndexed: Bool) {
    if mode?.isWhole == true {
      if made.insert("whole").inserted { try stage.write(tar, "f") }
      return ("f", false)
    }
    switch form {
    case .tar:
      if made.insert("tar").inserted { try stage.write(tar, "f.tar") }
      return ("f.tar", false)
    case .zstd: return (try zstd(), false)
    case .frames:
      if made.insert("frames").inserted { try stage.write(try Self.frames(tar), "f.frames") }
      return ("f.frames", false)
    case .indexed:
      if made.insert("indexed").inserted {
        let bytes = strict.isClean ? Self.indexed(tar) : nil
        hasIndexed = bytes != nil
        if let bytes { try stage.write(bytes, "f.indexed") }
      }
      return hasIndexed ? ("f.indexed", true) : (try zstd(), false)
    }
  }

  private func zstd() throws -> String {
    if made.insert("zstd").inserted {
      try stage.write(tar, "f.tar")
      try Shell.script("zstd -qf f.tar -o f.zst", directory: stage.path)
    }
    return "f.zst"
  }

  /// Frames of odd sizes with and without content size, and skippable ones in front, between and behind.
  static func frames(_ tar: [UInt8]) throws -> [UInt8] {
    let cut = min(tar.count, 700)
    let first = try Shell.run(["zstd", "-qc", "--no-check"], input: Array(tar[..<cut])).output
    let second = try Shell.run(["zstd", "-qc"], input: Array(tar[cut...])).output
    return skippable("front", 3) + first + skippable("", 15) + skippable("between", 0) + second + skippable("behind", 7)
  }

  static func skippable(_ payload: String, _ number: UInt8) -> [UInt8] {
    [0x50 + number, 0x2A, 0x4D, 0x18, UInt8(payload.utf8.count), 0, 0, 0] + Array(payload.utf8)
  }

  /// The members as an archive of ours; nil when the writer takes them not.
  static func indexed(_ tar: [UInt8]) -> [UInt8]? {
    let sink = CollectingSink()
    var parser = TarParser()
    var position = 0
    do {
      let writer = try ArchiveWriter(to: sink)
      while position < tar.count {
        let (consumed, event) = try parser.consume(tar.span, in: position..<tar.count)
        position += consumed
        guard case .member(let found) = event else { continue }
        let end = position + Int(found.dataByteCount)
        // The writer takes whole contents from memory, not extents.
        if found.member.sparseExtents != nil { return nil }
        try writer.append(found.member, content: found.member.kind == .file ? Array(tar[position..<end]) : [])
        parser.skip(found.paddedDataByteCount)
        position += Int(found.paddedDataByteCount)
      }
      _ = try writer.finish()
      return sink.content
    } catch { return nil }
  }

  private final class CollectingSink: ArchiveSink {
    private let bytes = Locked<[UInt8]>([])
    func write(_ piece: RawSpan) throws(ArchiveError) {
      let copy = unsafe piece.withUnsafeBytes { unsafe Array($0) }
      bytes.withLock { $0 += copy }
    }
    var content: [UInt8] { bytes.withLock { $0 } }
  }

  // MARK: One look

  /// One run and what it has to give.
  private struct Run {
    let stage: MatrixStage
    let mode: FailureMode
    let setting: MatrixSetting
    let file: String
    let isIndexed: Bool

    func fault(_ what: String) {
      stage.faults.append("\(mode.testDescription) [\(setting)\(isIndexed ? "" : ", no index")]: \(what)")
    }

    func perform() throws {
      switch setting.way {
      case .strict: try extract(mode.strict, options: [])
      case .lenient: try extract(mode.lenient, options: ["--lenient"])
      case .list: try list()
      case .verify: try verify()
      case .cat: try cat()
      case .compare: try compare()
      case .salvage: try salvage()
      }
    }

    private func run(_ command: [String]) throws -> ShellResult {
      let arguments = [command[0], "--threads", "\(setting.threadCount)"] + command.dropFirst()
      let input = setting.isPipe ? "< <(cat \(file))" : "< /dev/null"
      let limit = Sanitizer.isOn ? "" : "ulimit -v 2000000; "
      let result = try Shell.run(
        ["bash", "-c", "\(limit)exec \"$@\" \(input)", "bash", stage.tool] + arguments,
        directory: stage.stage.path, userID: setting.isPlainUser ? Shell.plainUser : nil,
        timeout: Sanitizer.isOn ? 60 : 10)
      if result.status > 2 { fault("exit \(result.status): \(result.errorText.suffix(300))") }
      if result.status > 0, result.errors.isEmpty, result.output.isEmpty { fault("says nothing") }
      return result
    }

    private var source: String { setting.isPipe ? "-" : file }

    private func expect(_ result: ShellResult, _ statuses: [Int32]) {
      if !statuses.contains(result.status) {
        fault("exit \(result.status) and not \(statuses): \(result.errorText.suffix(300))")
      }
    }

    private func expect(tree expected: [String]?) throws {
      let tree = try stage.stage.tree()
      if tree != expected { fault("made \(tree ?? ["nothing"]) and not \(expected ?? ["nothing"])") }
    }

    private func extract(_ outcome: FailureMode.Outcome, options: [String]) throws {
      let result = try run(["extract", source, "out", "--no-sync"] + options)
      if result.status > 0, !isIndexed, !mode.says.isEmpty, !result.errorText.contains(mode.says) {
        fault("does not say \"\(mode.says)\": \(result.errorText.suffix(300))")
      }
      switch outcome {
      case .fails:
        expect(result, [2])
        try expect(tree: nil)
      case .leaves(let status, let tree):
        expect(result, [status])
        try expect(tree: tree)
      }
    }

    /// The status that a table states for archives whose tar stream is not at hand.
    private func status(_ outcome: FailureMode.Outcome) -> Int32 {
      if case .leaves(let status, _) = outcome { status } else { 2 }
    }

    private func list() throws {
      let result = try run(["list", "-0", source])
      if mode.isWhole { return expect(result, [status(mode.lenient)]) }
      expect(result, [isIndexed ? 0 : stage.lenient.status])
      let names = result.output.split(separator: 0).map { name in
        name.count > 1 && name.last == 0x2F ? Array(name.dropLast()) : Array(name)
      }
      if names != stage.lenient.names { fault("lists \(result.outputText.debugDescription)") }
      if let stated = mode.names, stated.map({ Array($0.utf8) }) != names.map({ $0 }), !isIndexed {
        // Tables state directories with their slash.
        let bare = stated.map { $0.count > 1 && $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        if bare.map({ Array($0.utf8) }) != names { fault("lists \(result.outputText.debugDescription), not \(stated)") }
      }
    }

    private func verify() throws {
      let result = try run(["verify", source])
      if mode.isWhole { return expect(result, [status(mode.strict)]) }
      expect(result, [isIndexed ? 0 : stage.strict.hasRefusals ? 2 : stage.strict.status])
    }

    /// The content of the first small file that a lenient extraction makes.
    private func cat() throws {
      var wanted: (name: String, text: String)?
      if case .leaves(_, let tree) = mode.lenient {
        for line in tree {
          guard let equals = line.lastIndex(of: "="), !line.contains(" -> "), !line.hasSuffix(">") else { continue }
          let name = String(line[..<equals])
          var text = String(line[line.index(after: equals)...])
          if let blank = text.lastIndex(of: " "), Int(text[text.index(after: blank)...]) != nil {
            text = String(text[..<blank])
          }
          let last = stage.strict.members.last { $0.path.elementsEqual(name.utf8) }
          if mode.isWhole || last?.kind == .file {
            wanted = (name, text)
            break
          }
        }
      }
      guard let wanted else {
        let result = try run(["cat", "--", source, "there-is-no-such-file"])
        return expect(result, [2])
      }
      let result = try run(["cat", "--", source, wanted.name])
      if mode.isWhole {
        expect(result, [status(mode.strict)])
      } else {
        let facts = stage.strict
        // What is refused elsewhere in the archive is none of its business.
        expect(result, [isIndexed ? 0 : facts.isBroken ? 2 : facts.hasNotes ? 1 : 0])
      }
      if result.status < 2, result.outputText != wanted.text {
        fault("gives \(result.outputText.prefix(40).debugDescription) for \(wanted.name)")
      }
    }

    private func compare() throws {
      guard case .leaves(let status, _) = mode.lenient else {
        try Shell.script("mkdir out", directory: stage.stage.path)
        return expect(try run(["compare", source, "out"]), [2])
      }
      let options = ["--no-sync", "--lenient", "--same-permissions"]
      _ = try run(["extract", source, "out"] + options)
      let result = try run(["compare", source, "out"])
      if mode.isWhole { return expect(result, [0, 1]) }
      let facts = stage.strict
      if !isIndexed, facts.isBroken || facts.hasRefusals { return expect(result, [2]) }
      // A plain user cannot look into what only root can read.
      let isSecret = setting.isPlainUser && facts.members.contains { $0.kind == .file && $0.mode & 0o400 == 0 }
      if isSecret { return expect(result, [0, 1]) }
      // Of two members with one name only the last is there.
      let isExact = status == 0 && facts.isClean && Set(facts.names).count == facts.names.count
      expect(result, isExact ? [0] : [0, 1])
    }

    private func salvage() throws {
      let result = try run(["salvage", source, "out", "--no-sync"])
      guard case .leaves(let status, let tree) = mode.lenient else {
        // Where only an index is damaged nothing is lost.
        return expect(result, mode.isWhole ? [0, 1, 2] : [1, 2])
      }
      expect(result, [status])
      try expect(tree: tree)
    }
  }
}
