/// What the extended headers in front of a member said.
struct TarExtensions: Sendable {
  var attributes: PaxAttributes?
  /// The fault in the pax header that counts.
  var paxFault: FormatError?
  var longName: [UInt8]?
  var longLink: [UInt8]?
  /// Why the member will be refused, whatever its header says.
  var rejection: FormatError?
  var notes = TarNotes()

  /// True when nothing waits for its member. Global headers belong to no member.
  var isEmpty: Bool { attributes == nil && longName == nil && longLink == nil }

  /// The first reason counts.
  mutating func reject(_ reason: FormatError) {
    if rejection == nil { rejection = reason }
  }
}

/// A member whose header was read, while its sparse map is.
struct TarCandidate: Sendable {
  var member: Member
  /// The name as in the headers, for a refusal.
  var rawPath: [UInt8]
  var rejection: FormatError?
  var notes: TarNotes
  /// A leading "/" was taken off a name.
  var wasAbsolute = false
  /// Stored bytes from here on, without padding: what the size says, less the map.
  var storedByteCount: UInt64
  var map: SparseMapDecoder?
  /// The map of an old GNU sparse header.
  var oldMap: SparseMap?
  /// Extents of an old GNU sparse header, counted although the entry may be refused already.
  var oldExtentCount = 0

  mutating func reject(_ reason: FormatError) {
    if rejection == nil { rejection = reason }
  }
}
