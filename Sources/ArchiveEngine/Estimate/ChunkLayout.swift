internal import ArchiveFormat
internal import ArchiveIO

/// Which bytes of a planned chunk come from where, so that a few of them can be read without the others.
struct ChunkLayout {
  private struct Part {
    /// Where the member's header begins.
    let offset: Int
    let headerByteCount: Int
    /// Where in the stored bytes of the file the part begins.
    let start: UInt64
    let dataByteCount: Int
  }

  private var parts: [Part] = []
  /// The member of each part.
  private let members: [PendingMember]

  init(_ chunk: PlannedChunk) {
    switch chunk {
    case .group(let members):
      self.members = members
      parts.reserveCapacity(members.count)
      var offset = 0
      for index in members.indices {
        let header = members[index].plannedByteCount - members[index].paddedByteCount
        let data = members[index].member.kind == .file ? Int(members[index].member.storedByteCount) : 0
        parts.append(Part(offset: offset, headerByteCount: header, start: 0, dataByteCount: data))
        offset += members[index].plannedByteCount
      }
    case .piece(let piece):
      members = [piece.file]
      parts = [
        Part(
          offset: 0, headerByteCount: piece.headerByteCount, start: piece.range.lowerBound,
          dataByteCount: Int(piece.range.upperBound - piece.range.lowerBound))
      ]
    }
  }

  /// Fills `target` with the bytes from an offset on. What cannot be read is zeros: a writer will say what is wrong with it.
  func read(_ offset: Int, into target: UnsafeMutableRawBufferPointer, with opener: MemberOpener) {
    unsafe target.initializeMemory(as: UInt8.self, repeating: 0)
    var (low, high) = (0, parts.count)
    while low < high {
      let middle = (low + high) / 2
      if parts[middle].offset <= offset { low = middle + 1 } else { high = middle }
    }
    var index = max(0, low - 1)
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
