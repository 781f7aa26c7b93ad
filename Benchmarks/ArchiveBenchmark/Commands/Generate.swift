internal import ArchiveIO
internal import BenchmarkKit
internal import CommandLineTool

extension Command {
  static let generate = Command(
    name: "generate",
    summary: "make a corpus from a seed",
    usage: ["KIND DIR"],
    details: [
      "KIND is one of \(SyntheticCorpus.Kind.allCases.map(\.rawValue).joined(separator: ", ")). The same kind, seed and size give the same "
        + "files on every machine. DIR must not exist."
    ],
    options: [RunConfiguration.size, RunConfiguration.seed],
    examples: ["archive-benchmark generate container notes --size 256M --seed 7"],
    prepare: { arguments, common throws(Failure) in
      guard arguments.operands.count == 2 else { throw .usage("KIND and DIR are needed") }
      let word = String(decoding: arguments.operands[0], as: UTF8.self)
      guard let kind = SyntheticCorpus.Kind(rawValue: word) else {
        throw .usage(
          "\"\(word)\" is not one of \(SyntheticCorpus.Kind.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      guard let directory = String(validating: arguments.operands[1], as: UTF8.self), !directory.isEmpty else {
        throw .usage("DIR has to be UTF-8")
      }
      let size = try arguments.size(RunConfiguration.size) ?? (64 << 20)
      guard size <= 1 << 40 else { throw .usage("--size: more than 1T") }
      let seed = try arguments.number(RunConfiguration.seed, in: 0...UInt64.max) ?? 1
      return { session throws(Failure) in
        let corpus = try Corpus(SyntheticCorpus(kind: kind, seed: seed, byteCount: Int(size)), at: directory)
        if !common.isQuiet {
          let scan = try TreeScan(corpus.path, token: session.cancellation)
          try session.output.write(
            "\(directory): \(SizeText.grouped(scan.entryCount)) entries, \(SizeText.decimal(scan.contentByteCount))\n")
        }
        return .clean
      }
    })
}
