internal import ArchiveFormat
internal import ArchiveIO
internal import Glibc

/// Opens members of source trees and completes their metadata. Belongs to one thread.
final class MemberOpener {
  /// Trees are gone through in order, so one cursor for the tree that is being read is enough.
  private var cursor: (tree: SourceTree, cursor: DirectoryCursor)?

  /// A member with all that its source says; for a file it is open.
  struct OpenedMember: ~Copyable {
    var member: Member
    var descriptor: Descriptor
    /// Present for files.
    var status: FileStatus?
  }

  /// Completes a member from its source. Throws what the source's own calls throw: that decides about this member only.
  func open(
    _ planned: Member, _ tree: SourceTree, _ path: ArraySlice<UInt8>, warn: (String) -> Void
  ) throws(SystemError) -> OpenedMember {
    var member = planned
    switch member.kind {
    case .file:
      let (parent, name) = try locate(tree, path)
      let descriptor = try FileSystem.open(at: parent, name, [.readOnly, .noFollow, .nonBlocking])
      let status = try FileSystem.status(of: descriptor.rawValue)
      // Another kind of file has taken the name since the walk: what was listed is gone.
      guard status.kind == .regular else { throw SystemError("openat", errno: ENOENT) }
      completeFile(&member, descriptor.rawValue, status, tree, warn)
      return OpenedMember(member: member, descriptor: descriptor, status: status)
    case .directory:
      if tree.includesExtendedAttributes {
        let (parent, name) = try locate(tree, path)
        readAttributes(into: &member, at: parent, name.isEmpty ? [UInt8(ascii: ".")] : name, warn)
      }
    case .symlink, .fifo, .characterDevice, .blockDevice:
      let (parent, name) = try locate(tree, path)
      if member.kind == .symlink { member.linkTarget = try FileSystem.readLink(at: parent, name) }
      if tree.includesExtendedAttributes { readAttributes(into: &member, at: parent, name, warn) }
    case .hardlink: break
    }
    return OpenedMember(member: member, descriptor: Descriptor(adopting: -1), status: nil)
  }

  private func readAttributes(
    into member: inout Member, at parent: Int32, _ name: [UInt8], _ warn: (String) -> Void
  ) {
    SourceAttributes.read(
      into: &member, names: { () throws(SystemError) in try FileSystem.attributeNames(at: parent, name) },
      value: { attribute throws(SystemError) in try FileSystem.attribute(at: parent, name, attribute) }, warn: warn)
  }

  private func readAttributes(into member: inout Member, of descriptor: Int32, _ warn: (String) -> Void) {
    SourceAttributes.read(
      into: &member, names: { () throws(SystemError) in try FileSystem.attributeNames(of: descriptor) },
      value: { name throws(SystemError) in try FileSystem.attribute(of: descriptor, name) }, warn: warn)
  }

  private func completeFile(
    _ member: inout Member, _ descriptor: Int32, _ status: FileStatus, _ tree: SourceTree, _ warn: (String) -> Void
  ) {
    member.mode = status.mode
    member.modificationTime = Timestamp(
      seconds: status.modificationSeconds, nanoseconds: status.modificationNanoseconds)
    // What has been added since the walk is not stored; what has gone is not promised.
    if UInt64(status.byteCount) > member.byteCount {
      warn("grew since it was listed; only the first \(member.byteCount) bytes are stored")
    }
    member.byteCount = min(member.byteCount, UInt64(status.byteCount))
    if tree.includesExtendedAttributes { readAttributes(into: &member, of: descriptor, warn) }
    if SparseMap.mayBeSparse(status) {
      member.sparseExtents = try? SparseMap.extents(of: descriptor, byteCount: member.byteCount)
    }
  }

  // MARK: Places

  private func cursor(for tree: SourceTree) -> DirectoryCursor {
    if let cursor, cursor.tree === tree { return cursor.cursor }
    let new = DirectoryCursor(root: tree.root)
    cursor = (tree, new)
    return new
  }

  /// The directory of a path, which is good until the next call, and the last component.
  func locate(_ tree: SourceTree, _ path: ArraySlice<UInt8>) throws(SystemError) -> (
    parent: Int32, name: [UInt8]
  ) {
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else {
      return (try cursor(for: tree).descriptor(for: [][...]), Array(path))
    }
    return (try cursor(for: tree).descriptor(for: path[..<slash]), Array(path[(slash + 1)...]))
  }
}
