internal import ArchiveFormat

/// All that the tar parser says about a stream, to be compared.
struct TarReading: Equatable {
  struct Found: Equatable {
    var member: Member
    var headerByteCount: UInt64
    var dataByteCount: UInt64
    var paddedDataByteCount: UInt64
    var notes: [String]
    var wasAbsolute: Bool
  }

  struct Refused: Equatable {
    var path: [UInt8]
    var reason: FormatError
    var headerByteCount: UInt64
    var paddedDataByteCount: UInt64
  }

  enum Event: Equatable {
    case member(Found)
    case rejected(Refused)
    case end
  }

  private(set) var events: [Event] = []
  private(set) var ending: TarParser.Ending?
  private(set) var error: FormatError?

  /// Reads a stream, in pieces if sizes are given, and checks that the parser's offsets add up.
  init(_ bytes: [UInt8], isLenient: Bool, pieces: PieceSizes? = nil) throws(FuzzFailure) {
    var pieces = pieces
    var parser = TarParser(isLenient: isLenient)
    var position = 0
    var memberStart: UInt64 = 0
    while position < bytes.count {
      let end = min(bytes.count, position + (pieces?.next() ?? bytes.count))
      let consumed: Int
      let event: TarParser.Event?
      do throws(FormatError) { (consumed, event) = try parser.consume(bytes.span, in: position..<end) } catch {
        self.error = error
        return
      }
      try require(consumed > 0 && consumed <= end - position, "\(consumed) of \(end - position) bytes consumed")
      try require(event != nil || consumed == end - position, "bytes are left without an event")
      position += consumed
      try require(parser.offset == UInt64(position), "offset \(parser.offset) at \(position)")
      guard let event else { continue }
      let padded: UInt64
      switch event {
      case .member(let found):
        padded = found.paddedDataByteCount
        try require(found.headerOffset == memberStart, "a member at \(found.headerOffset), not \(memberStart)")
        try require(found.headerOffset + found.headerByteCount == UInt64(position), "a header ends elsewhere")
        events.append(
          .member(
            Found(
              member: found.member, headerByteCount: found.headerByteCount, dataByteCount: found.dataByteCount,
              paddedDataByteCount: padded, notes: found.notes, wasAbsolute: found.wasAbsolute)))
      case .rejected(let found):
        padded = found.paddedDataByteCount
        try require(found.headerOffset == memberStart, "a refused member at \(found.headerOffset), not \(memberStart)")
        try require(found.headerOffset + found.headerByteCount == UInt64(position), "a header ends elsewhere")
        events.append(
          .rejected(
            Refused(
              path: found.path, reason: found.reason, headerByteCount: found.headerByteCount,
              paddedDataByteCount: padded)))
      case .endOfArchive:
        padded = 0
        events.append(.end)
      }
      try require(padded % 512 == 0, "\(padded) bytes of data and padding")
      let skipped = min(padded, UInt64(bytes.count - position))
      parser.skip(skipped)
      position += Int(skipped)
      memberStart = UInt64(position)
    }
    do throws(FormatError) { ending = try parser.finish() } catch { self.error = error }
  }
}
