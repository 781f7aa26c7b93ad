import ArchiveFormat

@testable import ArchiveEngine

/// Makes archives whose index was changed and is consistent in itself.
enum Forgery {
  /// The archive with each page changed and everything above the pages made to fit.
  static func archive(_ archive: [UInt8], change: (inout IndexPage) throws -> Void) throws -> [UInt8] {
    let (data, others) = try Engine.frames(archive)
    let first = others[0]
    let preamble = try Preamble(decodingFrame: first.span)
    var index = try IndexAccumulator(settings: preamble.settings, opening: preamble.opening)
    let codec = PageCodec()
    var result: [UInt8] = []
    var frame = 0
    for other in others.dropFirst() {
      guard try SkippableFrame.kind(other.span) == .page else { break }
      var page = try codec.decode(other.span)
      try change(&page)
      for _ in page.chunks {
        result += data[frame]
        if frame == 0 { result += index.preambleFrame }
        frame += 1
      }
      let (bytes, summary) = try codec.encode(page)
      result += bytes
      try index.add(summary)
    }
    for bytes in try index.finish(closing: Manifest()) { result += bytes }
    return result
  }
}
