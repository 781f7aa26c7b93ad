/// What a page must obey, checked by the encoder before and by the decoder after its work.
extension IndexPage {
  /// - Throws: `malformed`, `limitExceeded`.
  func validate() throws(FormatError) {
    try validateChunks()
    var budget = IndexLimits.pageByteCount
    var extents = IndexLimits.pageExtentCount
    guard members.count <= IndexLimits.pageMemberCount else {
      throw FormatError(.limitExceeded, "\(members.count) members in a page, more than \(IndexLimits.pageMemberCount)")
    }
    let members = members.span
    // Neighbours mostly share their owner's names, and what was looked at is not looked at again.
    var ownerNames = SharedValue<MemberOwnerNames>()
    for index in members.indices {
      try Self.validate(members[index])
      if members[index].member.ownerNames != ownerNames {
        ownerNames = members[index].member.ownerNames
        guard !ownerNames.value.user.contains(0), !ownerNames.value.group.contains(0) else {
          throw FormatError(.malformed, "owner name with NUL")
        }
      }
      budget -= members[index].member.path.count
      if members[index].member.hasRareMetadata {
        budget -= members[index].member.linkTarget.count
        extents -= members[index].member.sparseExtents?.count ?? 0
      }
      guard budget >= 0 else {
        throw FormatError(.limitExceeded, "names of a page: more than \(IndexLimits.pageByteCount) bytes")
      }
      guard extents >= 0 else {
        throw FormatError(.limitExceeded, "sparse extents of a page: more than \(IndexLimits.pageExtentCount)")
      }
    }
    try validatePositions()
  }

  private func validateChunks() throws(FormatError) {
    guard chunks.count <= IndexLimits.pageChunkCount else {
      throw FormatError(.limitExceeded, "\(chunks.count) chunks in a page, more than \(IndexLimits.pageChunkCount)")
    }
    guard !chunks.isEmpty else { throw FormatError(.malformed, "page without chunks") }
    for chunk in chunks {
      guard (1...IndexLimits.chunkStoredByteCount).contains(Int(chunk.storedByteCount)) else {
        throw FormatError(.limitExceeded, "stored size \(chunk.storedByteCount) of a chunk")
      }
      guard (1...IndexLimits.chunkContentByteCount).contains(Int(chunk.contentByteCount)) else {
        throw FormatError(.limitExceeded, "content size \(chunk.contentByteCount) of a chunk")
      }
    }
    guard openByteCount <= IndexLimits.openByteCount else {
      throw FormatError(.limitExceeded, "\(openByteCount) bytes of a member before a page")
    }
    if isEnd {
      guard openByteCount == 0, members.isEmpty, chunks.count == 1, chunks[0].contentByteCount == 1024 else {
        throw FormatError(.malformed, "the end page does not consist of one chunk of 1024 bytes")
      }
    }
  }

  /// Each member ends in the page, and no two overlap.
  private func validatePositions() throws(FormatError) {
    // Safe: openByteCount and a member's size are below 2^61, the content of a page below 2^36.
    let end = openByteCount + contentByteCount
    var position: UInt64 = 0
    for index in members.indices {
      // The record's own property would be asked of a copy.
      let stored = members[index].member.kind == .file ? storedByteCount(ofMember: index) : 0
      position += members[index].headerByteCount &+ (stored &+ 511) & ~511
      guard position <= end else {
        throw FormatError(.malformed, "member \(index) ends behind the page's last chunk")
      }
      guard position > openByteCount else { throw FormatError(.malformed, "member \(index) ends before its page") }
    }
    guard end - position <= IndexLimits.openByteCount else {
      throw FormatError(.limitExceeded, "\(end - position) bytes of a member at the end of a page")
    }
  }

  private func storedByteCount(ofMember index: Int) -> UInt64 {
    members[index].member.hasRareMetadata
      ? members[index].member.storedByteCount : members[index].member.byteCount
  }

  private static func validate(_ record: borrowing IndexedMember) throws(FormatError) {
    guard record.headerByteCount >= 512, record.headerByteCount % 512 == 0 else {
      throw FormatError(.malformed, "header of \(record.headerByteCount) bytes")
    }
    guard record.headerByteCount <= IndexLimits.headerByteCount else {
      throw FormatError(.limitExceeded, "header of \(record.headerByteCount) bytes")
    }
    guard UInt64(record.member.path.count) <= record.headerByteCount else {
      throw FormatError(.malformed, "name longer than its header")
    }
    guard ArchivePath.isValid(record.member.path) else {
      throw FormatError(.malformed, "path that is empty, absolute or not normalised")
    }
    guard record.member.mode <= 0o7777 else { throw FormatError(.malformed, "mode with unknown bits") }
    guard record.member.modificationTime.nanoseconds < 1_000_000_000 else {
      throw FormatError(.malformed, "\(record.member.modificationTime.nanoseconds) nanoseconds")
    }
    let isFile = record.member.kind == .file
    guard isFile == (record.contentHash != nil) else {
      throw FormatError(.malformed, isFile ? "file without hash" : "hash of a member that is not a file")
    }
    guard isFile || (record.member.byteCount == 0 && !record.isIncomplete) else {
      throw FormatError(.malformed, "file properties of a member that is not a file")
    }
    guard record.member.byteCount <= IndexLimits.fileByteCount else {
      throw FormatError(.limitExceeded, "file of \(record.member.byteCount) bytes")
    }
    if record.member.hasRareMetadata || record.member.kind.isLink {
      try validateRareMetadata(record.member, headerByteCount: record.headerByteCount)
    }
  }

  private static func validateRareMetadata(
    _ member: borrowing Member, headerByteCount: UInt64
  ) throws(FormatError) {
    guard UInt64(member.linkTarget.count) <= headerByteCount else {
      throw FormatError(.malformed, "name longer than its header")
    }
    try validateLink(member)
    guard member.kind.isDevice || (member.deviceMajor == 0 && member.deviceMinor == 0) else {
      throw FormatError(.malformed, "device number of a member that is no device")
    }
    try validateAttributes(member)
    guard let extents = member.sparseExtents else { return }
    guard member.kind == .file else {
      throw FormatError(.malformed, "file properties of a member that is not a file")
    }
    try validate(extents, byteCount: member.byteCount)
  }

  private static func validateLink(_ member: borrowing Member) throws(FormatError) {
    switch member.kind {
    case .symlink:
      guard !member.linkTarget.isEmpty, !member.linkTarget.contains(0) else {
        throw FormatError(.malformed, "symlink target that is empty or has a NUL")
      }
    case .hardlink:
      guard ArchivePath.isValid(member.linkTarget) else {
        throw FormatError(.malformed, "hard link target that is empty, absolute or not normalised")
      }
    default:
      guard member.linkTarget.isEmpty else { throw FormatError(.malformed, "target of a member that is no link") }
    }
  }

  private static func validateAttributes(_ member: borrowing Member) throws(FormatError) {
    var total = member.accessACL.count + member.defaultACL.count
    var previous: [UInt8]?
    for attribute in member.extendedAttributes {
      guard !attribute.name.isEmpty, !attribute.name.contains(0) else {
        throw FormatError(.malformed, "attribute name that is empty or has a NUL")
      }
      if let previous, !previous.lexicographicallyPrecedes(attribute.name) {
        throw FormatError(.malformed, "attributes out of order")
      }
      previous = attribute.name
      total += attribute.name.count + attribute.value.count
    }
    guard total <= IndexLimits.attributeByteCount,
      member.extendedAttributes.count <= IndexLimits.attributeCount
    else {
      throw FormatError(.limitExceeded, "\(member.extendedAttributes.count) attributes of \(total) bytes")
    }
  }

  private static func validate(_ extents: [SparseExtent], byteCount: UInt64) throws(FormatError) {
    guard extents.count <= IndexLimits.extentCount else {
      throw FormatError(.limitExceeded, "\(extents.count) sparse extents")
    }
    var position: UInt64 = 0
    for extent in extents {
      guard extent.byteCount > 0, extent.offset >= position, extent.offset <= byteCount,
        extent.byteCount <= byteCount - extent.offset
      else { throw FormatError(.malformed, "sparse extents that are empty, overlap or leave the file") }
      position = extent.offset + extent.byteCount
    }
  }
}
