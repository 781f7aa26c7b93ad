internal import ArchiveIO
internal import Foundation
internal import TestSupport
internal import Testing

@testable import FuzzBodies

/// The detector of escapes must see every way in which something outside can be changed.
@Suite struct EscapeDetectorTests {
  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let script: String
  }

  static let changes: [Change] = [
    Change(testDescription: "a file is overwritten in place", script: "printf kEEp > keep; touch -d @5.000000007 keep"),
    Change(testDescription: "a file is longer", script: "printf x >> d/a; touch -d @5.000000007 d/a"),
    Change(testDescription: "a file is new", script: "touch new; touch -d @5.000000007 ."),
    Change(testDescription: "a file is gone", script: "rm l; touch -d @5.000000007 ."),
    Change(testDescription: "a mode is changed", script: "chmod 4755 keep"),
    Change(testDescription: "the mode of a directory is changed", script: "chmod 755 d"),
    Change(testDescription: "a time is changed", script: "touch -d @5.000000008 d"),
    Change(testDescription: "a file has one more name", script: "ln keep ../elsewhere"),
    Change(testDescription: "a link has another target", script: "ln -sf d l; touch -d @5.000000007 ."),
    Change(testDescription: "a file is a directory", script: "rm d/a; mkdir d/a; touch -d @5.000000007 d"),
    Change(testDescription: "an attribute is new", script: "setfattr -n user.x -v y keep || chmod 1 keep"),
  ]

  @Test(arguments: changes)
  func everyChangeIsSeen(_ change: Change) throws {
    let place = try TemporaryDirectory(.memory)
    let stage = try Stage(in: place.path)
    let name = Array("outside".utf8)
    let before = stage.describe(name)
    #expect(before.count == 6)
    #expect(stage.describe(name) == before)
    try Shell.script(change.script, directory: String(decoding: stage.outside, as: UTF8.self))
    #expect(stage.describe(name) != before)
  }

  /// In a process of its own: others open and close descriptors at the same time.
  @Test func aDescriptorThatStaysOpenIsCounted() async {
    await #expect(processExitsWith: .success) {
      let place = try TemporaryDirectory(.memory)
      let before = Stage.descriptorCount()
      let other = try place.root.duplicated()
      #expect(Stage.descriptorCount() == before + 1)
      try other.close()
      #expect(Stage.descriptorCount() == before)
    }
  }

  @Test func aStageLeavesNothingBehind() throws {
    let place = try TemporaryDirectory(.memory)
    do {
      let stage = try Stage(in: place.path)
      try stage.plant("first")
      #expect(stage.names(in: Array("first".utf8)).count == 5)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).isEmpty)
  }

  /// Random programs must make archives that are worth something: some are whole, and all forms are among them.
  @Test func programsMakeArchivesOfAllForms() throws {
    var forms: [String: Int] = [:]
    for seed in UInt64(1)...300 {
      var random = SplitMix64(seed: seed)
      var choices = Choices(random.bytes(200))
      let bytes = ArchiveProgram(outside: Array("/outside".utf8)).archive(&choices)
      let isOurs = bytes.suffix(4) == [0xB1, 0xEA, 0x92, 0x8F]
      forms[isOurs ? "index" : bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) ? "frames" : "other", default: 0] += 1
    }
    for form in ["index", "frames", "other"] { #expect(forms[form, default: 0] >= 10, "\(forms)") }
  }
}
