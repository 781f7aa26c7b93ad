internal import ArchiveFormat

/// One page of an archive that may be damaged: where its chunks lie, which of them are healthy, and which of its members are whole.
struct SalvagePage {
  /// A stretch of a chunk's content.
  struct Stretch: Sendable, Equatable {
    let chunk: SalvageChunk
    var range: Range<Int>
  }

  /// The beginning of a member whose record stands on a later page.
  struct Carry: Sendable {
    var stretches: [Stretch]
    var byteCount: UInt64
  }

  let page: IndexPage
  /// Where the first of its chunks was found.
  let start: UInt64
  /// Behind the page's frame.
  let end: UInt64
  private let chunks: [SalvageChunk]
  private let isHealthy: [Bool]
  /// Where each chunk's content begins, relative to the page's first content byte, and the end.
  private let contentOffsets: [Int64]

  /// - Parameters:
  ///   - frame: where the page's frame lies; its chunks lie directly before it, but for the preamble behind the archive's first.
  ///   - preamble: where that was found, if it was.
  ///   - notBefore: where the page before this one ends: its chunks are not this page's, even when they hold the same.
  init(
    _ page: IndexPage, frame: FoundFrame, preamble: FoundFrame?, notBefore: UInt64, reader: SalvageChunkReader
  ) throws(ArchiveError) {
    self.page = page
    end = frame.end
    var offsets: [Int64] = []
    var position = Int64(frame.offset)
    for chunk in page.chunks.reversed() {
      position -= Int64(chunk.storedByteCount)
      offsets.append(position)
    }
    offsets.reverse()
    var chunks: [SalvageChunk] = []
    var healthy: [Bool] = []
    for (index, record) in page.chunks.enumerated() {
      var places = [offsets[index]]
      // The first chunk of the archive is the only one that something may follow before the next: the preamble.
      if index == 0 {
        places += preamble.map { [Int64($0.offset) - Int64(record.storedByteCount)] } ?? []
        places.append(0)
      }
      var found: SalvageChunk?
      for place in places where place >= Int64(notBefore) && found == nil {
        let chunk = SalvageChunk(
          offset: UInt64(place), storedByteCount: UInt64(record.storedByteCount),
          contentByteCount: UInt64(record.contentByteCount))
        if try reader.isHealthy(chunk, hash: record.storedHash) { found = chunk }
      }
      healthy.append(found != nil)
      chunks.append(
        found
          ?? SalvageChunk(
            offset: UInt64(max(0, preamble == nil || index > 0 ? offsets[index] : places[1])),
            storedByteCount: UInt64(record.storedByteCount),
            contentByteCount: UInt64(record.contentByteCount)))
    }
    start = chunks.first?.offset ?? frame.offset
    self.chunks = chunks
    isHealthy = healthy
    var sums: [Int64] = [0]
    for chunk in chunks { sums.append((sums.last ?? 0) + Int64(chunk.contentByteCount)) }
    contentOffsets = sums
  }

  /// Where and how much of a member lies in the page's chunks.
  ///
  /// - Returns: nil, and the first damaged chunk, when not all of them are healthy.
  func stretches(_ range: Range<Int64>) -> (stretches: [Stretch]?, damaged: SalvageChunk?) {
    var result: [Stretch] = []
    for (index, chunk) in chunks.enumerated() {
      let (low, high) = (contentOffsets[index], contentOffsets[index + 1])
      let part = max(range.lowerBound, low)..<max(max(range.lowerBound, low), min(range.upperBound, high))
      if part.isEmpty { continue }
      if !isHealthy[index] { return (nil, chunk) }
      result.append(Stretch(chunk: chunk, range: Int(part.lowerBound - low)..<Int(part.upperBound - low)))
    }
    return (result, nil)
  }

  /// What a member of the next page begins with; nil when that is lost, empty when no member is open at the end.
  func carry(after earlier: Carry?) -> Carry? {
    let tail = page.tailByteCount
    if tail == 0 { return Carry(stretches: [], byteCount: 0) }
    let own = contentOffsets[chunks.count]
    if tail <= UInt64(own) {
      guard let stretches = stretches(own - Int64(tail)..<own).stretches else { return nil }
      return Carry(stretches: stretches, byteCount: tail)
    }
    // It began before this page and has not ended in it.
    guard let earlier, earlier.byteCount == page.openByteCount, tail == earlier.byteCount + UInt64(own),
      let stretches = stretches(0..<own).stretches
    else { return nil }
    return Carry(stretches: earlier.stretches + stretches, byteCount: tail)
  }
}
