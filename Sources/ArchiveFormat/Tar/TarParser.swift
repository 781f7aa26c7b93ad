/// A member found in a tar stream.
public struct ParsedMember: Sendable {
  /// Its metadata. The size of a sparse file is the logical one, its extents are those that hold data.
  public var member: Member
  /// Offset in the stream of the first block that belongs to it (extended headers and long names included).
  public var headerOffset: UInt64
  /// Bytes from there to its stored data (sparse maps included).
  public var headerByteCount: UInt64
  /// Stored bytes of file content that follow; 0 for all but files.
  public var dataByteCount: UInt64
  /// Bytes to the next header: the stored data with their padding, and data that are passed over.
  public var paddedDataByteCount: UInt64
  /// Sentences about what was odd and accepted, at most ``TarLimits/maximumNoteCount``. A caller should show them as warnings.
  public var notes: [String]
  /// A leading "/" was taken off its name or its hard link's target, which is worth one line for a whole archive.
  public var wasAbsolute = false
}

/// An entry that is refused while the stream can go on behind it.
public struct RejectedMember: Sendable {
  /// The name as the headers have it, not normalized.
  public var path: [UInt8]
  /// Why it is refused.
  public var reason: FormatError
  /// Offset in the stream of the first block that belongs to it.
  public var headerOffset: UInt64
  /// Bytes from there to what has to be skipped.
  public var headerByteCount: UInt64
  /// Stored bytes that follow.
  public var dataByteCount: UInt64
  /// Bytes to the next header.
  public var paddedDataByteCount: UInt64
}

/// Reads the headers of a tar stream: v7, ustar, pax, GNU and star, in whatever pieces they come.
///
/// Where readers disagree about an entry (a size or a name stated twice, say) the strict parser refuses it, so that no
/// two programs extract different things from what it accepts; the lenient one decides as GNU tar does. A fault that
/// leaves open where the next header begins is thrown: the stream ends there.
///
/// Only files have stored data. POSIX says that none follow for links, directories, devices and FIFOs, whatever their
/// size field says, and Python, bsdtar and GNU tar's extraction agree; the field is noted. For a *pax* size on them
/// they do not agree, which the strict parser refuses; the lenient one passes over the data of a hard link (bsdtar) and
/// ignores the size for the rest.
///
/// Give it header bytes with ``consume(_:in:)``. After a member or a rejected one, take or skip its data and say so
/// with ``skip(_:)``; then go on with the bytes behind.
public struct TarParser: Sendable {
  /// What ``consume(_:in:)`` found.
  public enum Event: Sendable {
    case member(ParsedMember)
    case rejected(RejectedMember)
    /// The first zero block. What follows is only looked at for ``Ending``.
    case endOfArchive
  }

  /// How the input ended.
  public enum Ending: Sendable, Equatable {
    /// With two zero blocks or more.
    case complete
    /// With one zero block, or with none.
    case missingEndBlocks
    /// Something other than zeros follows the end blocks.
    case dataAfterEnd
    /// An extended header came without its member; only the lenient parser gets so far.
    case headerWithoutMember
    /// There was no byte at all.
    case empty
  }

  /// What the next unit of header bytes is.
  enum Phase: Sendable {
    case block
    /// The body of an extended header: its type flag and its byte count.
    case payload(typeFlag: UInt8, byteCount: Int)
    /// Data that are passed over inside of the headers (volume labels): bytes left.
    case discarded(UInt64)
    /// Continuation blocks of an old GNU sparse header.
    case oldSparse
    /// Blocks of a GNU sparse 1.0 map.
    case sparseMap
    case ended
  }

  let isLenient: Bool
  /// Offset in the stream of the next byte: what was consumed and skipped.
  public internal(set) var offset: UInt64
  var phase = Phase.block
  /// Where the first header of the next member begins; nil between members.
  var memberOffset: UInt64?
  var extensions = TarExtensions()
  var globals = PaxAttributes()
  /// There was a global pax header. What it says holds for all members behind it, so none of these is described by its own headers alone.
  public internal(set) var hasGlobalRecords = false
  /// A member whose sparse map is being read.
  var candidate: TarCandidate?
  /// Owner names of the last member: most members have the same, which need not be allocated again.
  var lastOwnerNames = SharedValue<MemberOwnerNames>()
  private let startOffset: UInt64
  /// The part of a unit that has come.
  private var pending: [UInt8] = []
  private var unskippedByteCount: UInt64 = 0
  private var endZeroCount: UInt64 = 0
  private var hasDataAfterEnd = false
  private var endsWithoutMember = false

  /// - Parameters:
  ///   - isLenient: accepts what readers take differently, as GNU tar takes it.
  ///   - startOffset: offset in the stream of the first byte that will be given.
  public init(isLenient: Bool = false, startOffset: UInt64 = 0) {
    self.isLenient = isLenient
    self.startOffset = startOffset
    offset = startOffset
  }

  /// True exactly between members: nothing of a header is buffered, and no extended header waits for its member.
  public var isBetweenMembers: Bool {
    guard case .block = phase else { return false }
    return memberOffset == nil && pending.isEmpty
  }

  /// Tells that bytes of the stream were taken past the parser: the data of the last member.
  public mutating func skip(_ byteCount: UInt64) {
    offset &+= byteCount
    unskippedByteCount -= min(byteCount, unskippedByteCount)
  }

  /// Takes header bytes from a range of the given bytes.
  ///
  /// - Returns: how many bytes were taken, and an event when a header is complete. Without an event all were taken and
  ///   more are needed. After ``Event/endOfArchive`` the rest of the stream may be given too, for ``finish()``.
  /// - Throws: ``FormatError`` when the stream cannot be read on: `.malformed` for a checksum or a size,
  ///   `.limitExceeded` for an announced length beyond ``TarLimits`` (before memory is taken for it).
  public mutating func consume(
    _ bytes: Span<UInt8>, in range: Range<Int>
  ) throws(FormatError) -> (consumed: Int, event: Event?) {
    var position = range.lowerBound
    while position < range.upperBound {
      let rest = bytes.extracting(position..<range.upperBound)
      let (count, event) = try consumeUnit(rest)
      position += count
      if let event { return (position - range.lowerBound, event) }
    }
    return (position - range.lowerBound, nil)
  }

  /// Takes what is there of the next unit, one byte at least.
  private mutating func consumeUnit(_ bytes: Span<UInt8>) throws(FormatError) -> (consumed: Int, event: Event?) {
    let needed: Int
    switch phase {
    case .ended:
      noteAfterEnd(bytes)
      offset &+= UInt64(bytes.count)
      return (bytes.count, nil)
    case .discarded(let left):
      let count = Int(min(left, UInt64(bytes.count)))
      offset &+= UInt64(count)
      phase = left > UInt64(count) ? .discarded(left - UInt64(count)) : .block
      return (count, nil)
    case .payload(_, let byteCount): needed = TarLimits.padded(byteCount)
    case .block, .oldSparse, .sparseMap: needed = TarLimits.blockByteCount
    }
    if pending.isEmpty, bytes.count >= needed {
      offset &+= UInt64(needed)
      return (needed, try take(bytes.extracting(0..<needed)))
    }
    let count = min(needed - pending.count, bytes.count)
    TarBytes.append(bytes.extracting(0..<count), to: &pending)
    offset &+= UInt64(count)
    guard pending.count == needed else { return (count, nil) }
    let unit = pending
    pending = []
    return (count, try take(unit.span))
  }

  /// Takes one whole unit, which ends at `offset`.
  private mutating func take(_ unit: Span<UInt8>) throws(FormatError) -> Event? {
    let event: Event?
    switch phase {
    case .block: event = try takeBlock(unit)
    case .payload(let typeFlag, let byteCount):
      phase = .block
      takePayload(unit.extracting(0..<byteCount), typeFlag: typeFlag)
      event = nil
    case .oldSparse: event = try takeOldSparseBlock(unit)
    case .sparseMap: event = takeSparseMapBlock(unit)
    case .discarded, .ended: event = nil
    }
    switch event {
    case .member(let found): unskippedByteCount = found.paddedDataByteCount
    case .rejected(let refused): unskippedByteCount = refused.paddedDataByteCount
    case .endOfArchive, nil: break
    }
    return event
  }

  /// The first zero block was found.
  mutating func end() -> Event {
    phase = .ended
    endZeroCount = UInt64(TarLimits.blockByteCount)
    memberOffset = nil
    endsWithoutMember = !extensions.isEmpty
    extensions = TarExtensions()
    return .endOfArchive
  }

  private mutating func noteAfterEnd(_ bytes: Span<UInt8>) {
    guard !hasDataAfterEnd else { return }
    let zeroCount = TarBytes.leadingZeroCount(bytes)
    endZeroCount &+= UInt64(zeroCount)
    hasDataAfterEnd = zeroCount < bytes.count
  }

  /// Says that the input ends here.
  ///
  /// - Throws: ``FormatError``: `.truncated` inside of a header, behind an extended header without its member, or when
  ///   not all data of the last member were skipped.
  public mutating func finish() throws(FormatError) -> Ending {
    if case .ended = phase {
      if endsWithoutMember { return .headerWithoutMember }
      if hasDataAfterEnd { return .dataAfterEnd }
      return endZeroCount >= UInt64(TarTrailer.byteCount) ? .complete : .missingEndBlocks
    }
    if offset == startOffset { return .empty }
    guard case .block = phase, pending.isEmpty, extensions.isEmpty else {
      throw FormatError(.truncated, "the stream ends inside of a header", offset: offset)
    }
    guard unskippedByteCount == 0 else {
      throw FormatError(
        .truncated, "the stream ends \(unskippedByteCount) bytes before the end of a member", offset: offset)
    }
    return .missingEndBlocks
  }
}
