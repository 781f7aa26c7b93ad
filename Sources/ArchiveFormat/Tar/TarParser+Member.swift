extension TarParser {
  /// Takes the header block of a member.
  mutating func takeMemberBlock(_ block: Span<UInt8>, typeFlag: UInt8) throws(FormatError) -> Event? {
    let fieldSize = try headerSize(block)
    var found = TarExtensions()
    swap(&found, &extensions)
    let attributes = found.attributes.take() ?? PaxAttributes()
    // The pax size counts for the data and for the way to the next header.
    let size = attributes.size ?? fieldSize
    guard size <= TarLimits.maximumByteCount else {
      throw FormatError(
        .limitExceeded, "the pax size is \(size), the limit is \(TarLimits.maximumByteCount)", offset: blockOffset)
    }
    // Without a usable size nobody knows where the next header begins.
    if let fault = found.paxFault, attributes.hasUnusableSize {
      throw FormatError(fault.code, fault.message, offset: blockOffset)
    }
    var candidate = TarCandidate(
      member: Member(path: [], kind: Self.kind(of: typeFlag), mode: 0),
      rawPath: rawPath(block, typeFlag, found, attributes),
      rejection: found.rejection ?? found.paxFault, notes: found.notes, storedByteCount: size)
    if !Self.hasData(typeFlag) { dropData(&candidate, attributes, typeFlag) }
    do throws(FormatError) {
      try fill(&candidate, block, typeFlag, found, attributes)
    } catch {
      candidate.reject(error)
    }
    return try beginSparse(candidate, block, typeFlag, attributes)
  }

  static func kind(of typeFlag: UInt8) -> MemberKind {
    switch typeFlag {
    case UInt8(ascii: "1"): .hardlink
    case UInt8(ascii: "2"): .symlink
    case UInt8(ascii: "3"): .characterDevice
    case UInt8(ascii: "4"): .blockDevice
    case UInt8(ascii: "5"), UInt8(ascii: "D"): .directory
    case UInt8(ascii: "6"): .fifo
    default: .file
    }
  }

  private static func hasData(_ typeFlag: UInt8) -> Bool { !(UInt8(ascii: "1")...UInt8(ascii: "6")).contains(typeFlag) }

  /// Decides about the stored size of a member that has no data of its own (see ``TarParser``).
  private func dropData(_ candidate: inout TarCandidate, _ attributes: PaxAttributes, _ typeFlag: UInt8) {
    let size = candidate.storedByteCount
    guard size > 0 else { return }
    guard attributes.size != nil else {
      candidate.storedByteCount = 0
      candidate.notes.append("a \(candidate.member.kind) states a size of \(size) bytes, which was ignored")
      return
    }
    if isLenient {
      if typeFlag != UInt8(ascii: "1") { candidate.storedByteCount = 0 }
      candidate.notes.append("a \(candidate.member.kind) has a pax size of \(size) bytes")
    } else {
      candidate.reject(FormatError(.malformed, "a \(candidate.member.kind) has a pax size of \(size) bytes"))
    }
  }

  /// Fills the member from its header block and what the extended headers said.
  private mutating func fill(
    _ candidate: inout TarCandidate, _ block: Span<UInt8>, _ typeFlag: UInt8, _ found: TarExtensions,
    _ attributes: PaxAttributes
  ) throws(FormatError) {
    try checkType(typeFlag, &candidate)
    try checkNames(found, attributes, &candidate)
    let name = try TarPath.normalized(candidate.rawPath.span)
    if name.hadLeadingSlash { candidate.wasAbsolute = true }
    candidate.member.path = name.path
    if candidate.member.kind == .file {
      if name.hadTrailingSlash {
        guard candidate.storedByteCount == 0 else {
          throw FormatError(
            .malformed, "the name ends in \"/\", but the entry has \(candidate.storedByteCount) bytes of data")
        }
        candidate.member.kind = .directory
      } else {
        candidate.member.byteCount = candidate.storedByteCount
      }
    }
    guard candidate.member.kind == .directory || name.path != TarPath.root else {
      throw FormatError(.malformed, "the root \".\" is a \(candidate.member.kind), not a directory")
    }
    try fillLink(&candidate, block, found, attributes)
    try fillOwner(&candidate, block, attributes)
    try fillTimeAndDevice(&candidate, block, attributes)
    candidate.notes.append(contentsOf: attributes.notes)
    attributes.addAttributes(to: &candidate.member, &candidate.notes)
  }

  private func checkType(_ typeFlag: UInt8, _ candidate: inout TarCandidate) throws(FormatError) {
    switch typeFlag {
    case 0, UInt8(ascii: "0")...UInt8(ascii: "6"), UInt8(ascii: "S"), UInt8(ascii: "D"): break
    case UInt8(ascii: "7"): candidate.notes.append("a contiguous file was read as a regular file")
    case UInt8(ascii: "M"): throw FormatError(.unsupported, "the continuation of a file from another volume")
    case UInt8(ascii: "N"): throw FormatError(.unsupported, "a list of long names of an old GNU tar")
    default: candidate.notes.append("an entry of the unknown type \(typeFlag) was read as a regular file")
    }
  }

  /// Refuses a name that is stated in two ways: readers choose differently. The lenient parser takes that of pax and notes it.
  private func checkNames(
    _ found: TarExtensions, _ attributes: PaxAttributes, _ candidate: inout TarCandidate
  ) throws(FormatError) {
    var faults: [String] = []
    if found.longName != nil, attributes.path != nil || attributes.sparse?.name != nil {
      faults.append("a GNU long name and a pax name for one member")
    }
    if found.longLink != nil, attributes.linkPath != nil {
      faults.append("a GNU long link and a pax linkpath for one member")
    }
    if !isLenient, let fault = faults.first { throw FormatError(.malformed, fault) }
    for fault in faults { candidate.notes.append(fault) }
  }

  /// The name that counts: GNU.sparse.name, pax path, GNU long name, ustar prefix and name.
  private func rawPath(
    _ block: Span<UInt8>, _ typeFlag: UInt8, _ found: TarExtensions, _ attributes: PaxAttributes
  ) -> [UInt8] {
    if let name = attributes.sparse?.name { return name }
    if let name = attributes.path ?? found.longName { return name }
    var name: [UInt8] = []
    // The prefix is a part of the POSIX layout; GNU tar and v7 have other things there, star a shorter one.
    if Self.hasPosixLayout(block), typeFlag != UInt8(ascii: "S") {
      let field = block.extracting(Self.isStar(block) ? 345..<476 : UstarBlock.Field.prefix)
      if field[0] != 0 {
        name = Self.text(field)
        name.append(0x2F)
      }
    }
    let field = block.extracting(UstarBlock.Field.name)
    TarBytes.append(field.extracting(0..<Self.textCount(field)), to: &name)
    return name
  }

  static func hasPosixLayout(_ block: Span<UInt8>) -> Bool {
    TarBytes.hasPrefix(block.extracting(UstarBlock.Field.magic), "ustar\0")
  }

  /// The layout of star: a mark at the end, and times and sparse maps in the place of the prefix.
  static func isStar(_ block: Span<UInt8>) -> Bool {
    hasPosixLayout(block) && TarBytes.equals(block.extracting(508..<512), "tar\0")
  }

  static func textCount(_ field: Span<UInt8>) -> Int { TarBytes.firstIndex(of: 0, in: field) ?? field.count }

  static func text(_ field: Span<UInt8>) -> [UInt8] { TarBytes.array(field.extracting(0..<textCount(field))) }

  private func fillLink(
    _ candidate: inout TarCandidate, _ block: Span<UInt8>, _ found: TarExtensions, _ attributes: PaxAttributes
  ) throws(FormatError) {
    let kind = candidate.member.kind
    guard kind == .symlink || kind == .hardlink else { return }
    let target = attributes.linkPath ?? found.longLink ?? Self.text(block.extracting(UstarBlock.Field.linkName))
    guard !target.isEmpty else { throw FormatError(.malformed, "the target of the link is empty") }
    guard kind == .hardlink else {
      candidate.member.linkTarget = target
      return
    }
    let name: TarPath.Normalized
    do throws(FormatError) {
      name = try TarPath.normalized(target.span)
    } catch {
      throw FormatError(error.code, "in the target of the hard link, \(error.message)")
    }
    guard name.path != TarPath.root else { throw FormatError(.malformed, "a hard link to the root directory") }
    if name.hadLeadingSlash { candidate.wasAbsolute = true }
    candidate.member.linkTarget = name.path
  }

  /// Ends a member: what remains of its stored data follows.
  mutating func emit(_ candidate: TarCandidate) -> Event {
    let start = memberOffset ?? blockOffset
    memberOffset = nil
    phase = .block
    let padded = TarLimits.padded(candidate.storedByteCount)
    if var reason = candidate.rejection {
      if reason.offset == nil { reason.offset = start }
      return .rejected(
        RejectedMember(
          path: candidate.rawPath, reason: reason, headerOffset: start, headerByteCount: offset &- start,
          dataByteCount: candidate.storedByteCount, paddedDataByteCount: padded))
    }
    return .member(
      ParsedMember(
        member: candidate.member, headerOffset: start, headerByteCount: offset &- start,
        dataByteCount: candidate.member.kind == .file ? candidate.storedByteCount : 0, paddedDataByteCount: padded,
        notes: candidate.notes.sentences, wasAbsolute: candidate.wasAbsolute))
  }
}
