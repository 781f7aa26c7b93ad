internal import Foundation
internal import FuzzBodies
internal import TestSupport
internal import Testing

/// The inputs that fuzzers found, and those that guard what they found, without a fuzzer.
@Suite struct FuzzCorpusSanitized {
  static let corpora = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("FuzzCorpora")

  /// The inputs that are kept for a target.
  static func inputs(of target: FuzzTarget) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
      at: corpora.appendingPathComponent(target.rawValue), includingPropertiesForKeys: nil
    ).sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  @Test(arguments: FuzzTarget.allCases)
  func everyKeptInputKeepsThePromises(of target: FuzzTarget) throws {
    let place = try TemporaryDirectory(.memory)
    let inputs = try Self.inputs(of: target)
    #expect(inputs.count >= 10, "a corpus without inputs shows nothing")
    for input in inputs {
      let bytes = [UInt8](try Data(contentsOf: input))
      do throws(FuzzFailure) { try target.run(bytes, scratch: place.path) } catch {
        Issue.record("\(target.rawValue)/\(input.lastPathComponent): \(error)")
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).isEmpty, "something is left behind")
  }

  /// Inputs are choices: any bytes make a program. Seeded, so that each run tries the same ones.
  @Test(arguments: FuzzTarget.allCases)
  func randomInputsKeepThePromises(of target: FuzzTarget) throws {
    let place = try TemporaryDirectory(.memory)
    for seed in UInt64(1)...(target == .archive ? 60 : 300) {
      var random = SplitMix64(seed: seed)
      let bytes = random.bytes(Int(seed * 7 % 400))
      do throws(FuzzFailure) { try target.run(bytes, scratch: place.path) } catch {
        Issue.record("\(target.rawValue), seed \(seed): \(error)")
      }
    }
  }
}
