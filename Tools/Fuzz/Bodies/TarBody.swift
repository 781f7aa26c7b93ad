internal import ArchiveFormat

/// The tar parser: what it says must not depend on how the bytes come, and what it accepts must be within its promises
/// and be what the encoder's header of it is read as.
enum TarBody {
  /// The first byte says how, the second in which pieces; the rest is the stream.
  static func run(_ input: [UInt8]) throws(FuzzFailure) {
    var choices = Choices(input)
    let how = choices.byte()
    let seed = choices.byte()
    var stream = choices.rest()
    if how & 1 == 0 { repairChecksums(&stream, evenOfOldHeaders: how & 2 != 0) }
    try check(stream, seed: seed)
  }

  /// Checks everything that must hold for a stream.
  static func check(_ stream: [UInt8], seed: UInt8) throws(FuzzFailure) {
    let strict = try TarReading(stream, isLenient: false)
    let lenient = try TarReading(stream, isLenient: true)
    for (reading, isLenient) in [(strict, false), (lenient, true)] {
      let inPieces = try TarReading(stream, isLenient: isLenient, pieces: PieceSizes(seed: seed))
      try require(reading == inPieces, "one piece gives \(reading), many give \(inPieces)")
      for case .member(let found) in reading.events { try check(found) }
    }
    try checkLeniency(strict, lenient)
  }

  /// Right checksums for all blocks that look like headers: a fuzzer would not find them.
  private static func repairChecksums(_ stream: inout [UInt8], evenOfOldHeaders: Bool) {
    for offset in stride(from: 0, through: stream.count - 512, by: 512) {
      let hasMagic = stream[offset + 257] == 0x75 && stream[offset + 258] == 0x73
      let isEmpty = stream[offset..<(offset + 512)].allSatisfy { $0 == 0 }
      if !isEmpty, hasMagic || evenOfOldHeaders { RawTar.setChecksum(&stream, at: offset) }
    }
  }

  /// What the strict parser accepts the lenient one reads the same way, up to the first member that is refused.
  private static func checkLeniency(_ strict: TarReading, _ lenient: TarReading) throws(FuzzFailure) {
    for (index, event) in strict.events.enumerated() {
      if case .rejected = event { return }
      try require(index < lenient.events.count, "the lenient parser ends with \(String(describing: lenient.error))")
      try require(event == lenient.events[index], "strict: \(event), lenient: \(lenient.events[index])")
    }
    if strict.error == nil {
      try require(strict == lenient, "the lenient parser ends differently: \(lenient)")
    }
  }

  private static func check(_ found: TarReading.Found) throws(FuzzFailure) {
    let member = found.member
    try require(isArchivePath(member.path), "the path \(member.path)")
    try require(member.path != [0x2E] || member.kind == .directory, "a root that is a \(member.kind)")
    try require(found.dataByteCount <= found.paddedDataByteCount, "more data than room")
    try require(found.notes.count <= TarLimits.maximumNoteCount, "\(found.notes.count) notes about one member")
    try require(member.modificationTime.nanoseconds < 1_000_000_000, "nanoseconds")
    try require(member.mode <= 0o7777, "mode \(member.mode)")
    switch member.kind {
    case .file:
      try require(member.storedByteCount == found.dataByteCount, "stored bytes that are not those of the data")
      try require(member.byteCount <= TarLimits.maximumByteCount, "a file of \(member.byteCount) bytes")
    default:
      try require(found.dataByteCount == 0 && member.byteCount == 0, "a \(member.kind) with data")
      try require(member.sparseExtents == nil, "a \(member.kind) with sparse extents")
    }
    if let extents = member.sparseExtents { try check(extents, byteCount: member.byteCount) }
    switch member.kind {
    case .hardlink: try require(isArchivePath(member.linkTarget), "the hard link's target \(member.linkTarget)")
    case .symlink: try require(!member.linkTarget.isEmpty, "a symbolic link without a target")
    default: try require(member.linkTarget.isEmpty, "a \(member.kind) with a target")
    }
    try checkEncoding(member)
  }

  /// Extents are in order, disjoint, not empty and inside of the file.
  private static func check(_ extents: [SparseExtent], byteCount: UInt64) throws(FuzzFailure) {
    var end: UInt64 = 0
    for extent in extents {
      try require(extent.byteCount > 0 && extent.offset >= end, "the extent \(extent) behind \(end)")
      try require(
        extent.offset <= byteCount && extent.byteCount <= byteCount - extent.offset, "\(extent) leaves the file")
      end = extent.offset + extent.byteCount
    }
    try require(extents.count <= TarLimits.maximumSparseExtentCount, "\(extents.count) extents")
  }

  /// The encoder's header of a member is read as that member.
  private static func checkEncoding(_ member: Member) throws(FuzzFailure) {
    var header: [UInt8] = []
    do throws(FormatError) { try TarHeaderEncoder.append(member, to: &header) } catch {
      let isUnaligned = (member.sparseExtents ?? []).dropLast().contains { $0.byteCount % 512 != 0 }
      let isText = !member.linkTarget.contains(0) && !member.userName.contains(0) && !member.groupName.contains(0)
      try require(error.code == .limitExceeded || isUnaligned || !isText, "the encoder refuses \(member): \(error)")
      try require(header.isEmpty, "the encoder wrote something and refused")
      return
    }
    try require(header.count == TarHeaderEncoder.headerByteCount(of: member), "a header of an unexpected length")
    let again = try TarReading(header, isLenient: false)
    guard case .member(let found)? = again.events.first, again.events.count == 1 else {
      throw FuzzFailure("the header of \(member) is read as \(again)")
    }
    try require(found.member == member, "written: \(member), read: \(found.member)")
    try require(found.headerByteCount == UInt64(header.count), "the header is read in part")
  }

  /// "." or components without empty ones, ".", ".." and NUL: written here once more, so that nothing is judged by itself.
  static func isArchivePath(_ path: [UInt8]) -> Bool {
    if path == [0x2E] { return true }
    if path.isEmpty || path.contains(0) { return false }
    return path.split(separator: 0x2F, omittingEmptySubsequences: false).allSatisfy {
      !$0.isEmpty && !$0.elementsEqual([0x2E]) && !$0.elementsEqual([0x2E, 0x2E])
    }
  }
}
