internal import Foundation
internal import TestSupport
internal import Testing

/// A random part of what Tools/fault-sweep does as a whole; it prints the seed with which a part is done again.
struct FaultSweepTests {
  private static let command = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Tools/fault-sweep").path

  @Test(arguments: [["sweep", "--share", "100"], ["kills", "--count", "2"], ["races", "--count", "60"]])
  func aRandomPart(_ arguments: [String]) throws {
    let result = try Shell.run(
      ["python3", Self.command] + arguments + ["--starc", Starc.path], timeout: 300)
    let text = result.outputText + result.errorText
    print(text)
    #expect(result.status == 0, "\(text)")
    #expect(text.contains("seed") && text.contains(" 0 problems"))
  }
}
