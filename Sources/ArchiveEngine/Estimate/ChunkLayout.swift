internal import ArchiveFormat
internal import ArchiveIO

/// Which bytes of a planned chunk come from where, so that a few of them can be read without the others.
///
/// A **repetition** is a file with the name and the size of an earlier one in the same chunk. Nearly always it has the same content, and then it compresses to
/// next to nothing, but over a distance that no piece of the chunk shows. In documentation and headers a fifth of all bytes can be such.
struct ChunkLayout {
  private struct Part {
    /// Where the member's header begins.
    let offset: Int
    let headerByteCount: Int
    /// Where in the stored bytes of the file the part begins.
    let start: UInt64
    let dataByteCount: Int
  }

  private struct Repetition {
    let member: Int
    let earlier: Int
  }

  private var parts: [Part] = []
  private var repetitions: [Repetition] = []
  /// The member of each part.
  private let members: [PendingMember]
  /// Bytes of the tar stream.
  private(set) var byteCount = 0
  /// Bytes of repetitions that were left out of it.
  private(set) var repeatByteCount = 0

  /// - Parameter leavesOutRepetitions: of repetitions there are the headers only.
  init(_ chunk: PlannedChunk, leavesOutRepetitions: Bool = false) {
    switch chunk {
    case .group(let members):
      self.members = members
      parts.reserveCapacity(members.count)
      var known: [UInt64: Int] = [:]
      if leavesOutRepetitions { known.reserveCapacity(members.count) }
      for index in members.indices {
        let header = members[index].plannedByteCount - members[index].paddedByteCount
        var data = members[index].member.kind == .file ? Int(members[index].member.storedByteCount) : 0
        if leavesOutRepetitions, data > 0 {
          let key = Self.key(members[index].member)
          if let earlier = known[key] {
            repetitions.append(Repetition(member: index, earlier: earlier))
            repeatByteCount += members[index].paddedByteCount
            data = 0
          } else {
            known[key] = index
          }
        }
        parts.append(Part(offset: byteCount, headerByteCount: header, start: 0, dataByteCount: data))
        byteCount += header + (data + 511) & ~511
      }
    case .piece(let piece):
      members = [piece.file]
      parts = [
        Part(
          offset: 0, headerByteCount: piece.headerByteCount, start: piece.range.lowerBound,
          dataByteCount: Int(piece.range.upperBound - piece.range.lowerBound))
      ]
      byteCount = piece.headerByteCount + piece.dataByteCount
    }
  }

  private static func key(_ member: Member) -> UInt64 {
    let path = member.path.span
    var start = path.count
    while start > 0, path[start - 1] != UInt8(ascii: "/") { start -= 1 }
    return XXH3.hash64(path.extracting(start..<path.count)) ^ member.storedByteCount &* 0x9E37_79B9_7F4A_7C15
  }

  /// Whether the repetition in which this byte of all repetitions lies begins as the file does that it seems to repeat.
  func isRepetitionEqual(at offset: Int, in scratch: UnsafeMutableRawBufferPointer, with opener: MemberOpener) -> Bool {
    var end = 0
    for repetition in repetitions {
      end += members[repetition.member].paddedByteCount
      guard offset < end else { continue }
      let count = min(SampleRepetition.byteCount, Int(members[repetition.member].member.storedByteCount))
      let left = unsafe UnsafeMutableRawBufferPointer(rebasing: scratch[..<count])
      let right = unsafe UnsafeMutableRawBufferPointer(rebasing: scratch[count..<2 * count])
      unsafe scratch.initializeMemory(as: UInt8.self, repeating: 0)
      unsafe readData(members[repetition.member], 0..<UInt64(count), left, opener)
      unsafe readData(members[repetition.earlier], 0..<UInt64(count), right, opener)
      return unsafe left.elementsEqual(right)
    }
    return false
  }

  /// How many files lie in a part of it.
  func fileCount(in range: Range<Int>) -> Int {
    var count = 0
    var index = part(at: range.lowerBound)
    while index < parts.count, parts[index].offset < range.upperBound {
      if parts[index].dataByteCount > 0 { count += 1 }
      index += 1
    }
    return count
  }

  /// The part in which a byte lies.
  private func part(at offset: Int) -> Int {
    var (low, high) = (0, parts.count)
    while low < high {
      let middle = (low + high) / 2
      if parts[middle].offset <= offset { low = middle + 1 } else { high = middle }
    }
    return max(0, low - 1)
  }

  /// Fills `target` with the bytes from an offset on. What cannot be read is zeros: a writer will say what is wrong with it.
  func read(_ offset: Int, into target: UnsafeMutableRawBufferPointer, with opener: MemberOpener) {
    unsafe target.initializeMemory(as: UInt8.self, repeating: 0)
    var index = part(at: offset)
    while index < parts.count, parts[index].offset < offset + target.count {
      unsafe read(parts[index], members[index], offset, target, opener)
      index += 1
    }
  }

  private func read(
    _ part: Part, _ pending: PendingMember, _ offset: Int, _ target: UnsafeMutableRawBufferPointer,
    _ opener: MemberOpener
  ) {
    let end = offset + target.count
    let dataStart = part.offset + part.headerByteCount
    if part.headerByteCount > 0, offset < dataStart {
      var header: [UInt8] = []
      // A member that has no header is left out by a writer.
      guard (try? TarHeaderEncoder.append(pending.member, to: &header)) != nil else { return }
      let range = max(offset, part.offset)..<min(end, part.offset + header.count)
      unsafe header.withUnsafeBytes {
        unsafe (target.baseAddress.unsafelyUnwrapped + range.lowerBound - offset).copyMemory(
          from: $0.baseAddress.unsafelyUnwrapped + range.lowerBound - part.offset, byteCount: range.count)
      }
    }
    let lower = max(offset, dataStart)
    let upper = min(end, dataStart + part.dataByteCount)
    guard lower < upper else { return }
    let stored = part.start + UInt64(lower - dataStart)
    let place = unsafe UnsafeMutableRawBufferPointer(rebasing: target[(lower - offset)..<(upper - offset)])
    unsafe readData(pending, stored..<stored + UInt64(upper - lower), place, opener)
  }

  private func readData(
    _ pending: PendingMember, _ range: Range<UInt64>, _ place: UnsafeMutableRawBufferPointer, _ opener: MemberOpener
  ) {
    guard let (tree, path) = pending.place, let (parent, name) = try? opener.locate(tree, path),
      let file = try? FileSystem.open(at: parent, name, [.readOnly, .noFollow, .nonBlocking])
    else { return }
    _ = try? unsafe SparseMap.read(
      file.rawValue, extents: pending.member.sparseExtents, range: range, into: place)
  }
}
