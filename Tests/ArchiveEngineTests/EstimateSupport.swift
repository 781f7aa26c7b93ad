import ArchiveEngine
import ArchiveIO
import Foundation
import TestSupport
import Testing

/// Estimates and archives of the same trees.
enum Estimating {
  /// A level at which trees of a few megabytes are sampled already, and small chunks, so that there are many.
  static var options: WriterOptions {
    var options = WriterOptions()
    options.level = 5
    options.chunkByteCount = 128 << 10
    options.threadCount = 2
    return options
  }

  static func estimate(
    _ path: String, samples: Bool = true, options change: (inout WriterOptions) -> Void = { _ in },
    onWarning: @escaping @Sendable (ArchiveWarning) -> Void = { _ in }
  ) throws -> SizeEstimate {
    var options = options
    change(&options)
    let estimator = try SizeEstimator(options: options, samplesContents: samples, onWarning: onWarning)
    try estimator.addTree(at: Array(path.utf8), as: Array("tree".utf8))
    return try estimator.finish()
  }

  /// An estimate, and the truth.
  static func both(
    _ path: String, options change: (inout WriterOptions) -> Void = { _ in },
    prepare: (SizeEstimator) -> Void = { _ in }
  ) throws -> (SizeEstimate, WriteSummary) {
    var options = options
    change(&options)
    let estimator = try SizeEstimator(options: options)
    prepare(estimator)
    try estimator.addTree(at: Array(path.utf8), as: Array("tree".utf8))
    let writer = try ArchiveWriter(to: MemorySink(), options: options)
    try writer.appendTree(at: Array(path.utf8), as: Array("tree".utf8))
    return (try estimator.finish(), try writer.finish())
  }

  /// The truth lies between the bounds, and the prediction within this part of it.
  static func expectWithin(_ estimate: SizeEstimate, _ summary: WriteSummary, part: Double) {
    let (guess, truth) = (Double(estimate.archiveByteCount), Double(summary.archiveByteCount))
    let text =
      "\(estimate.archiveByteCountLow)...\(estimate.archiveByteCount)...\(estimate.archiveByteCountHigh), is \(Int(truth))"
    print("measured: estimate \(text), off by \((guess / truth - 1) * 100) %")
    #expect(abs(guess - truth) <= truth * part, "\(text)")
    #expect(summary.archiveByteCount >= estimate.archiveByteCountLow, "\(text)")
    #expect(summary.archiveByteCount <= estimate.archiveByteCountHigh, "\(text)")
  }

  /// Trees of about 14 MB.
  enum Kind: String, CaseIterable, Sendable {
    case text, random, zeros, mixed, tiny, duplicates, halves
    /// Files of the same name and size, with the same content and not.
    case copies, namesakes

    func make(_ path: String, seed: UInt64) throws {
      var random = SplitMix64(seed: seed)
      let words = Words(&random)
      for index in 0..<5 {
        try FileManager.default.createDirectory(atPath: "\(path)/d\(index)", withIntermediateDirectories: true)
      }
      let same = words.text(50_000, &random)
      var total = 0
      var number = 0
      while total < (self == .tiny ? 6_000_000 : 14 << 20) {
        let content: [UInt8]
        switch self {
        case .text: content = words.text(Int(random.next() % 60_000), &random)
        case .random: content = random.bytes(Int(random.next() % 60_000))
        case .zeros: content = [UInt8](repeating: 0, count: 700_000)
        case .mixed:
          let byteCount = Int(random.next() % 90_000)
          // Neighbours are alike, as in most trees.
          content =
            number / 20 % 3 == 0
            ? random.bytes(byteCount) : words.text(byteCount, &random, range: 40 + number / 20 * 50)
        case .tiny: content = words.text(Int(random.next() % 600), &random)
        case .duplicates: content = Array(same[Int(random.next() % 100)...])
        case .halves: content = words.text(3 << 20, &random) + random.bytes(3 << 20)
        case .copies: content = number % 3 == 0 ? words.text(20_000, &random) : Array(same.prefix(20_000))
        case .namesakes: content = words.text(20_000, &random)
        }
        var file = "\(path)/d\(number / 40 % 5)/f\(number)"
        if self == .copies || self == .namesakes {
          let inner = "\(path)/d\(number / 40 % 5)/\(number)"
          try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
          // Of the copies every third has a name of its own.
          file = inner + (self == .copies && number % 3 == 0 ? "/own\(number)" : "/same")
        }
        try FileTree.write(content, to: file)
        total += max(content.count, 2048)
        number += 1
      }
    }
  }

  /// Text that compresses as text does: words of different lengths and frequencies.
  struct Words {
    private let words: [[UInt8]]

    init(_ random: inout SplitMix64) {
      words = (0..<4096).map { _ in
        let letters = (0..<(2 + Int(random.next() % 9))).map { _ in UInt8(97 + random.next() % 26) }
        return letters + [32]
      }
    }

    /// With a small `range` of words it compresses better.
    func text(_ byteCount: Int, _ random: inout SplitMix64, range: Int = 4096) -> [UInt8] {
      var text: [UInt8] = []
      text.reserveCapacity(byteCount + 16)
      while text.count < byteCount {
        var bits = random.next()
        for _ in 0..<4 {
          // The product of two even numbers prefers small ones.
          let (left, right) = (Int(bits & 63), Int(bits >> 6 & 63))
          text += words[left * right % min(range, words.count)]
          bits >>= 12
        }
      }
      return Array(text.prefix(byteCount))
    }
  }
}
