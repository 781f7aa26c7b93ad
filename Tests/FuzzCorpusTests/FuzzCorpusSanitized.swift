internal import Foundation
internal import FuzzBodies
internal import TestSupport
internal import Testing

/// The inputs that fuzzers found, and those that guard what they found, without a fuzzer.
@Suite struct FuzzCorpusSanitized {
  /// The inputs that are kept for a target.
  static func inputs(of target: FuzzTarget) throws -> [URL] {
    let corpora = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("FuzzCorpora")
    return try FileManager.default.contentsOfDirectory(
      at: corpora.appendingPathComponent(target.rawValue), includingPropertiesForKeys: nil
    ).sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  /// Does with all inputs that are kept what the fuzzer did with them.
  static func replay(_ target: FuzzTarget, isAlone: Bool) throws {
    let place = try TemporaryDirectory(.memory)
    let inputs = try inputs(of: target)
    #expect(inputs.count >= 10, "a corpus without inputs shows nothing")
    for input in inputs {
      let bytes = [UInt8](try Data(contentsOf: input))
      do throws(FuzzFailure) { try target.run(bytes, scratch: place.path, isAlone: isAlone) } catch {
        Issue.record("\(target.rawValue)/\(input.lastPathComponent): \(error)")
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).isEmpty, "something is left behind")
  }

  @Test(arguments: FuzzTarget.allCases.filter { $0 != .archive })
  func everyKeptInputKeepsThePromises(of target: FuzzTarget) throws {
    try Self.replay(target, isAlone: false)
  }

  /// In a process of its own, whose descriptors are counted.
  @Test func everyKeptArchiveKeepsThePromises() async {
    await #expect(processExitsWith: .success) { try Self.replay(.archive, isAlone: true) }
  }

  /// Inputs are choices: any bytes make a program. The seeds are always the same.
  @Test(arguments: FuzzTarget.allCases)
  func randomInputsKeepThePromises(of target: FuzzTarget) throws {
    let place = try TemporaryDirectory(.memory)
    for seed in UInt64(1)...(target == .archive ? 60 : 300) {
      var random = SplitMix64(seed: seed)
      let bytes = random.bytes(Int(seed * 7 % 400))
      do throws(FuzzFailure) { try target.run(bytes, scratch: place.path, isAlone: false) } catch {
        Issue.record("\(target.rawValue), seed \(seed): \(error)")
      }
    }
  }
}
