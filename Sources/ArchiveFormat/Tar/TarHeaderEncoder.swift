/// Writes members as POSIX ustar headers with pax records where ustar does not suffice.
///
/// The same member gives the same bytes. Whatever is written is read by GNU tar, bsdtar and Python without a warning,
/// except for owner names of more than 31 bytes that are not UTF-8, which bsdtar reports.
///
/// * Order: GNU "K", GNU "L", pax "x", ustar header, sparse map. All three readers take it, and a reader which applied
///   a pax record to the next block, whatever that is, would find the member's own.
/// * A name goes into the ustar fields, else into a pax record, else (not UTF-8) into a GNU long-name record.
/// * Sparse files are GNU sparse 1.0 (GNU tar manual, "Sparse Formats").
public enum TarHeaderEncoder {
  /// Appends all that precedes the stored data of a member.
  ///
  /// - Throws: ``FormatError``: `.limitExceeded` for a name, pax header, map, size or device number beyond
  ///   ``TarLimits`` or the format; `.malformed` for a member that a reader would not get back as it is (such as
  ///   a path that is no archive path, or attributes out of order). Nothing is appended then.
  public static func append(_ member: Member, to out: inout [UInt8]) throws(FormatError) {
    try check(member)
    let plan = TarHeaderPlan(member)
    try checkLimits(member, plan)
    if plan.linkForm == .gnu { appendLongName(member.linkTarget, suffix: "", typeFlag: 0x4B, to: &out) }
    if plan.pathForm == .gnu {
      appendLongName(member.path, suffix: member.kind == .directory ? "/" : "", typeFlag: 0x4C, to: &out)
    }
    if plan.paxByteCount > 0 { appendPax(member, plan, to: &out) }
    appendUstar(member, plan, to: &out)
    if plan.mapByteCount > 0 { appendMap(member, plan, to: &out) }
  }

  /// Exactly how many bytes ``append(_:to:)`` writes for a member that it accepts.
  public static func headerByteCount(of member: Member) -> Int {
    let plan = TarHeaderPlan(member)
    var count = plan.headerByteCount
    if plan.linkForm == .gnu { count += TarHeaderPlan.longNameByteCount(member.linkTarget.count) }
    if plan.pathForm == .gnu {
      count += TarHeaderPlan.longNameByteCount(member.path.count + (member.kind == .directory ? 1 : 0))
    }
    return count
  }

  private static func appendPadding(from start: Int, to out: inout [UInt8]) {
    let count = TarLimits.padded(out.count - start) - (out.count - start)
    out.append(contentsOf: repeatElement(0, count: count))
  }

  private static func appendLongName(
    _ name: [UInt8], suffix: StaticString, typeFlag: UInt8, to out: inout [UInt8]
  ) {
    let count = name.count + suffix.utf8CodeUnitCount + 1
    var block = UstarBlock(typeFlag: typeFlag, mode: 0, size: UInt64(count))
    block.set("././@LongLink", at: 0)
    block.append(to: &out)
    let start = out.count
    out.append(contentsOf: name)
    TarBytes.append(suffix, to: &out)
    out.append(0)
    appendPadding(from: start, to: &out)
  }

  private static func appendPax(_ member: Member, _ plan: TarHeaderPlan, to out: inout [UInt8]) {
    var block = UstarBlock(typeFlag: 0x78, mode: 0o644, size: UInt64(plan.paxByteCount))
    // The same name for every member: it is never used, and it compresses.
    block.set("././@PaxHeader", at: 0)
    block.append(to: &out)
    let start = out.count
    var writer = PaxRecordWriter(out: [])
    swap(&writer.out, &out)
    plan.emitRecords(of: member, to: &writer)
    swap(&writer.out, &out)
    appendPadding(from: start, to: &out)
  }

  private static func appendUstar(_ member: Member, _ plan: TarHeaderPlan, to out: inout [UInt8]) {
    var block = UstarBlock(
      typeFlag: typeFlag(of: member.kind), mode: member.mode,
      size: plan.size <= UstarBlock.maximumSizeValue ? plan.size : 0)
    setName(member, plan, in: &block)
    let linkCount = textCut(member.linkTarget, at: UstarBlock.Field.linkName.count)
    block.set(member.linkTarget.span.extracting(0..<linkCount), at: UstarBlock.Field.linkName.lowerBound)
    if member.userID <= UstarBlock.maximumIDValue { block.setOctal(member.userID, UstarBlock.Field.userID) }
    if member.groupID <= UstarBlock.maximumIDValue { block.setOctal(member.groupID, UstarBlock.Field.groupID) }
    let seconds = UInt64(clamping: max(member.modificationTime.seconds, 0))
    block.setOctal(min(seconds, UstarBlock.maximumSizeValue), UstarBlock.Field.modificationTime)
    if member.userName.count <= 31 { block.set(member.userName.span, at: UstarBlock.Field.userName.lowerBound) }
    if member.groupName.count <= 31 { block.set(member.groupName.span, at: UstarBlock.Field.groupName.lowerBound) }
    block.setOctal(UInt64(member.deviceMajor), UstarBlock.Field.deviceMajor)
    block.setOctal(UInt64(member.deviceMinor), UstarBlock.Field.deviceMinor)
    block.append(to: &out)
  }

  private static func setName(_ member: Member, _ plan: TarHeaderPlan, in block: inout UstarBlock) {
    let path = member.path.span
    var end = 0
    switch plan.pathForm {
    case .field where plan.usesSparseName:
      let prefix: StaticString = "GNUSparseFile.0/"
      block.set(prefix, at: 0)
      var count = textCut(member.path, at: UstarBlock.Field.name.count - prefix.utf8CodeUnitCount)
      // A trailing slash would make a directory of it for readers that do not know sparse files.
      while count > 0, path[count - 1] == 0x2F { count -= 1 }
      block.set(path.extracting(0..<count), at: prefix.utf8CodeUnitCount)
      return
    case .field:
      block.set(path, at: 0)
      end = path.count
    case .split(let index):
      block.set(path.extracting(0..<index), at: UstarBlock.Field.prefix.lowerBound)
      block.set(path.extracting((index + 1)..<path.count), at: 0)
      end = path.count - index - 1
    case .pax, .gnu:
      block.set(path.extracting(0..<textCut(member.path, at: UstarBlock.Field.name.count)), at: 0)
      return
    }
    if member.kind == .directory { block.set(0x2F, at: end) }
  }

  /// At most `limit` bytes of a text, less when that would cut through a UTF-8 sequence.
  private static func textCut(_ text: [UInt8], at limit: Int) -> Int {
    guard text.count > limit else { return text.count }
    var count = limit
    while count > limit - 3, text[count] & 0xC0 == 0x80 { count -= 1 }
    return count
  }

  private static func appendMap(_ member: Member, _ plan: TarHeaderPlan, to out: inout [UInt8]) {
    let start = out.count
    TarBytes.appendDecimal(UInt64(plan.mapExtentCount), to: &out)
    out.append(0x0A)
    for extent in member.sparseExtents ?? [] { appendExtent(extent.offset, extent.byteCount, to: &out) }
    if TarHeaderPlan.needsEndExtent(member) { appendExtent(member.byteCount, 0, to: &out) }
    appendPadding(from: start, to: &out)
  }

  private static func appendExtent(_ offset: UInt64, _ byteCount: UInt64, to out: inout [UInt8]) {
    TarBytes.appendDecimal(offset, to: &out)
    out.append(0x0A)
    TarBytes.appendDecimal(byteCount, to: &out)
    out.append(0x0A)
  }

  private static func typeFlag(of kind: MemberKind) -> UInt8 {
    switch kind {
    case .file: 0x30
    case .hardlink: 0x31
    case .symlink: 0x32
    case .characterDevice: 0x33
    case .blockDevice: 0x34
    case .directory: 0x35
    case .fifo: 0x36
    }
  }
}
