extension TarParser {
  /// Layout of an old sparse header and of its continuation blocks, in bytes (GNU tar's "struct oldgnu_header",
  /// "struct sparse_header" and "struct star_in_header").
  private struct OldSparse {
    let headerExtents: Int
    let headerContinues: Int
    let realSize: Range<Int>

    static let gnu = OldSparse(headerExtents: 386, headerContinues: 482, realSize: 483..<495)
    /// Only the header is another one.
    static let star = OldSparse(headerExtents: 356, headerContinues: 355, realSize: 452..<464)
    static let headerExtentCount = 4
    static let blockExtentCount = 21
    static let blockContinues = 504
    static let extentByteCount = 24
  }

  /// Ends a member, or begins to read the map of a sparse file.
  mutating func beginSparse(
    _ given: TarCandidate, _ block: Span<UInt8>, _ typeFlag: UInt8, _ attributes: PaxAttributes
  ) throws(FormatError) -> Event? {
    var candidate = given
    if typeFlag == UInt8(ascii: "S") { return try beginOldSparse(candidate, block, attributes) }
    guard let sparse = attributes.sparse, candidate.rejection == nil else { return emit(candidate) }
    do throws(FormatError) {
      guard candidate.member.kind == .file else {
        throw FormatError(.malformed, "a \(candidate.member.kind) has GNU.sparse records")
      }
      let form = try sparse.form()
      guard let size = sparse.realByteCount else {
        throw FormatError(.malformed, "GNU.sparse records without the size of the file")
      }
      try Self.checkRealSize(size)
      candidate.member.byteCount = size
      if form == .inData {
        candidate.map = SparseMapDecoder(realByteCount: size, storedByteCount: candidate.storedByteCount)
        guard candidate.storedByteCount >= UInt64(TarLimits.blockByteCount) else {
          throw FormatError(.malformed, "the member has no room for its sparse map")
        }
        self.candidate = candidate
        phase = .sparseMap
        return nil
      }
      var map = SparseMap(realByteCount: size)
      for extent in sparse.extents { try map.append(offset: extent.offset, byteCount: extent.byteCount) }
      try Self.finish(map, &candidate)
    } catch {
      candidate.reject(error)
    }
    return emit(candidate)
  }

  private static func checkRealSize(_ size: UInt64) throws(FormatError) {
    guard size <= TarLimits.maximumByteCount else {
      throw FormatError(.limitExceeded, "the size is \(size), the limit is \(TarLimits.maximumByteCount)")
    }
  }

  private static func finish(_ map: SparseMap, _ candidate: inout TarCandidate) throws(FormatError) {
    try map.check(dataByteCount: candidate.storedByteCount)
    if map.hasUnalignedExtent {
      candidate.notes.append("sparse extents are no multiples of 512 bytes: readers disagree about their contents")
    }
    candidate.member.sparseExtents = map.extents
  }

  /// Takes one block of a GNU sparse 1.0 map, which lies in the stored data.
  mutating func takeSparseMapBlock(_ block: Span<UInt8>) -> Event? {
    guard var candidate = self.candidate, var map = candidate.map else { return nil }
    self.candidate = nil
    candidate.map = nil
    let blockByteCount = UInt64(TarLimits.blockByteCount)
    candidate.storedByteCount -= blockByteCount
    do throws(FormatError) {
      try map.take(block)
      if map.isComplete {
        try Self.finish(map.map, &candidate)
      } else {
        guard candidate.storedByteCount >= blockByteCount else {
          throw FormatError(.malformed, "the sparse map is longer than the member")
        }
        candidate.map = map
        self.candidate = candidate
        return nil
      }
    } catch {
      candidate.reject(error)
    }
    return emit(candidate)
  }

  private mutating func beginOldSparse(
    _ given: TarCandidate, _ block: Span<UInt8>, _ attributes: PaxAttributes
  ) throws(FormatError) -> Event? {
    let layout: OldSparse = Self.isStar(block) ? .star : .gnu
    var candidate = given
    var size: UInt64 = 0
    do throws(FormatError) {
      guard candidate.member.kind == .file, attributes.sparse == nil else {
        throw FormatError(.malformed, "a sparse header of GNU tar for a directory, or with GNU.sparse records")
      }
      guard case .value(let value) = TarNumber.field(block.extracting(layout.realSize)), value >= 0 else {
        throw FormatError(.malformed, "the size field of the sparse file is no size")
      }
      try Self.checkRealSize(UInt64(value))
      size = UInt64(value)
    } catch {
      candidate.reject(error)
    }
    candidate.member.byteCount = size
    candidate.oldMap = SparseMap(realByteCount: size)
    try Self.takeOldExtents(&candidate, block, at: layout.headerExtents, count: OldSparse.headerExtentCount)
    return nextOldSparse(candidate, continues: block[layout.headerContinues] != 0)
  }

  /// Takes a continuation block of an old GNU sparse header.
  mutating func takeOldSparseBlock(_ block: Span<UInt8>) throws(FormatError) -> Event? {
    guard var candidate = self.candidate else { return nil }
    self.candidate = nil
    do throws(FormatError) {
      try Self.takeOldExtents(&candidate, block, at: 0, count: OldSparse.blockExtentCount)
    } catch {
      throw FormatError(error.code, error.message, offset: blockOffset)
    }
    return nextOldSparse(candidate, continues: block[OldSparse.blockContinues] != 0)
  }

  private mutating func nextOldSparse(_ given: TarCandidate, continues: Bool) -> Event? {
    var candidate = given
    if continues {
      self.candidate = candidate
      phase = .oldSparse
      return nil
    }
    if candidate.rejection == nil, let map = candidate.oldMap {
      do throws(FormatError) { try Self.finish(map, &candidate) } catch { candidate.reject(error) }
    }
    return emit(candidate)
  }

  /// Adds the extents of a block. The first empty field ends the list.
  ///
  /// - Throws: `.limitExceeded` for too many: more blocks would only be more of them. Other faults refuse the entry.
  private static func takeOldExtents(
    _ candidate: inout TarCandidate, _ block: Span<UInt8>, at start: Int, count: Int
  ) throws(FormatError) {
    for index in 0..<count {
      let base = start + index * OldSparse.extentByteCount
      if block[base] == 0 || block[base + 12] == 0 { return }
      candidate.oldExtentCount += 1
      guard candidate.oldExtentCount <= TarLimits.maximumSparseExtentCount else {
        throw FormatError(.limitExceeded, "more than \(TarLimits.maximumSparseExtentCount) sparse extents")
      }
      if candidate.rejection != nil { continue }
      let offset = TarNumber.field(block.extracting(base..<(base + 12)))
      let byteCount = TarNumber.field(block.extracting((base + 12)..<(base + 24)))
      guard case .value(let first) = offset, case .value(let length) = byteCount, first >= 0, length >= 0 else {
        candidate.reject(FormatError(.malformed, "a field of a sparse extent is no number"))
        continue
      }
      do throws(FormatError) {
        try candidate.oldMap?.append(offset: UInt64(first), byteCount: UInt64(length))
      } catch {
        candidate.reject(error)
      }
    }
  }
}
