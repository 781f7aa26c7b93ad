public import ArchiveFormat

extension ArchiveWriter {
  /// Appends a member that consists of metadata only: a directory, symlink, hard link to an earlier member, FIFO or device node.
  public func append(_ member: Member) throws(ArchiveError) {
    try append(member, content: [])
  }

  /// Appends a member with content from memory. For a file `member.byteCount` is set from it.
  public func append(_ member: Member, content: [UInt8]) throws(ArchiveError) {
    try measurePlanning { () throws(ArchiveError) in try take(member, content: content) }
  }

  private func take(_ member: Member, content: [UInt8]) throws(ArchiveError) {
    var member = member
    try Self.check(archivePath: member.path)
    if member.kind == .file {
      member.byteCount = UInt64(content.count)
    } else if !content.isEmpty {
      throw ArchiveError(.invalidArgument, "only files have content", path: member.path)
    }
    member.sparseExtents = nil
    if member.kind == .hardlink, !isClaimed(member.linkTarget) {
      throw ArchiveError(.notFound, "a hard link's target has to be in the archive before it", path: member.path)
    }
    try claim(member.path, isDirectory: member.kind == .directory)
    guard content.count >= largeByteCount else {
      return try plan(PendingMember(member: member, source: content.isEmpty ? .none : .bytes(content)))
    }
    var offset = 0
    try unsafe planStream(member) { buffer throws(ArchiveError) in
      let count = min(buffer.count, content.count - offset)
      unsafe content.withUnsafeBytes {
        unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count]))
      }
      offset += count
      return count
    }
  }

  /// Appends a file whose content the caller provides as a stream of exactly `member.byteCount` bytes.
  ///
  /// - Parameters:
  ///   - member: the metadata, with the size.
  ///   - read: fills the given memory with up to as many bytes as it holds; none is the end, which is an error when it comes
  ///     early. A failure ends the whole run, because a member that is begun cannot be taken back.
  public func append(
    _ member: Member, read: (inout OutputRawSpan) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    try measurePlanning { () throws(ArchiveError) in try take(member, read: read) }
  }

  private func take(
    _ member: Member, read: (inout OutputRawSpan) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    guard member.kind == .file else {
      throw ArchiveError(.invalidArgument, "only files have content", path: member.path)
    }
    try Self.check(archivePath: member.path)
    func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(ArchiveError) -> Int {
      var span = unsafe OutputRawSpan(buffer: buffer, initializedCount: 0)
      try read(&span)
      return unsafe span.finalize(for: buffer)
    }
    if member.byteCount < UInt64(largeByteCount) {
      var content = [UInt8](repeating: 0, count: Int(member.byteCount))
      var done = 0
      while done < content.count {
        let result: Result<Int, ArchiveError> = unsafe content.withUnsafeMutableBytes { bytes in
          do throws(ArchiveError) {
            return .success(try unsafe fill(UnsafeMutableRawBufferPointer(rebasing: bytes[done...])))
          } catch { return .failure(error) }
        }
        let count = try result.get()
        guard count > 0 else {
          throw ArchiveError(
            .invalidArgument, "the content ends at byte \(done) of \(member.byteCount)", path: member.path)
        }
        done += count
      }
      return try append(member, content: content)
    }
    try claim(member.path, isDirectory: false)
    var plain = member
    plain.sparseExtents = nil
    try unsafe planStream(plain) { buffer throws(ArchiveError) in try unsafe fill(buffer) }
  }
}
