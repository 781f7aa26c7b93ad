internal import ArchiveFormat
internal import ArchiveIO

/// Compares members with files of a directory. One thread.
final class FileComparison {
  private let root: SharedDescriptor
  private let cursor: DirectoryCursor
  private let scratch: Buffer
  private let owners = OwnerNames()
  private let report: (TreeDifference) -> Void
  private var descriptor: Descriptor?
  private var isDifferent = false
  private var member: Member?
  private var position: UInt64 = 0

  init(_ root: SharedDescriptor, report: @escaping (TreeDifference) -> Void) throws(ArchiveError) {
    self.root = root
    self.report = report
    cursor = DirectoryCursor(root: root)
    scratch = try system { () throws(SystemError) in try Buffer(byteCount: 256 << 10) }
  }

  private func differ(_ path: [UInt8], _ message: String) { report(TreeDifference(path: path, message: message)) }

  private func locate(_ path: [UInt8]) throws(SystemError) -> (parent: Int32, name: [UInt8]) {
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return (try cursor.descriptor(for: [][...]), path) }
    return (try cursor.descriptor(for: path[..<slash]), Array(path[(slash + 1)...]))
  }

  /// Compares everything but the content; true when the content is there to be compared.
  func compareMetadata(_ member: Member) throws(ArchiveError) -> Bool {
    let path = member.path
    do throws(SystemError) {
      let (parent, name) = try locate(path)
      let status = try FileSystem.status(at: parent, name)
      if member.kind == .hardlink { return try compareLink(member, status) }
      guard let kind = MemberKind(status.kind), kind == member.kind else {
        differ(path, "is a \(member.kind) in the archive and a \(status.kind) in the directory")
        return false
      }
      let mode = ComparedACL(member.accessACL, owners, isDefault: false).mode(member.mode)
      if member.kind != .symlink, status.mode != mode {
        differ(
          path,
          "mode is \(String(mode, radix: 8)) in the archive and \(String(status.mode, radix: 8)) in the directory"
        )
      }
      let time = Timestamp(seconds: status.modificationSeconds, nanoseconds: status.modificationNanoseconds)
      if time != member.modificationTime {
        differ(
          path,
          "modification time is \(Self.text(member.modificationTime)) in the archive and \(Self.text(time)) in the directory"
        )
      }
      if member.kind == .symlink {
        let target = try FileSystem.readLink(at: parent, name)
        if target != member.linkTarget {
          differ(
            path,
            "leads to \"\(PathText.printable(member.linkTarget))\" in the archive and to \"\(PathText.printable(target))\" in the directory"
          )
        }
      }
      if member.kind == .characterDevice || member.kind == .blockDevice,
        status.deviceMajor != member.deviceMajor || status.deviceMinor != member.deviceMinor
      {
        differ(
          path,
          "device is \(member.deviceMajor):\(member.deviceMinor) in the archive and \(status.deviceMajor):\(status.deviceMinor) in the directory"
        )
      }
      compareAttributes(member, parent, name)
      if member.kind == .file, UInt64(max(0, status.byteCount)) != member.byteCount {
        differ(path, "has \(member.byteCount) bytes in the archive and \(status.byteCount) in the directory")
        return false
      }
      return member.kind == .file
    } catch {
      differ(
        path, error.isNotFound || error.isNotDirectory ? "only in archive" : "cannot be compared: \(error.message)")
      return false
    }
  }

  private static func text(_ time: Timestamp) -> String {
    let digits = String(time.nanoseconds)
    return "\(time.seconds).\(String(repeating: "0", count: 9 - digits.count))\(digits)"
  }

  private func compareLink(_ member: Member, _ status: FileStatus) throws(SystemError) -> Bool {
    let (parent, name) = try locate(member.linkTarget)
    let target = try FileSystem.status(at: parent, name)
    if !target.isSameFile(as: status) {
      differ(
        member.path,
        "is a hard link to \"\(PathText.printable(member.linkTarget))\" in the archive and another file in the directory"
      )
    }
    return false
  }

  private func compareAttributes(_ member: Member, _ parent: Int32, _ name: [UInt8]) {
    var found = Member(path: member.path, kind: member.kind)
    SourceAttributes.read(
      into: &found, names: { () throws(SystemError) in try FileSystem.attributeNames(at: parent, name) },
      value: { attribute throws(SystemError) in try FileSystem.attribute(at: parent, name, attribute) },
      warn: { self.differ(member.path, $0) })
    for attribute in member.extendedAttributes where !found.extendedAttributes.contains(attribute) {
      differ(member.path, "extended attribute \(PathText.printable(attribute.name)) differs or is only in the archive")
    }
    for attribute in found.extendedAttributes
    where !member.extendedAttributes.contains(where: { $0.name == attribute.name }) {
      differ(member.path, "extended attribute \(PathText.printable(attribute.name)) is only in the directory")
    }
    if ComparedACL(member.accessACL, owners, isDefault: false) != ComparedACL(found.accessACL, owners, isDefault: false)
    {
      differ(member.path, "the ACL differs")
    }
    if ComparedACL(member.defaultACL, owners, isDefault: true) != ComparedACL(found.defaultACL, owners, isDefault: true)
    {
      differ(member.path, "the default ACL differs")
    }
  }

  // MARK: Content

  /// Opens the file whose content will come.
  func beginContent(_ member: Member) {
    self.member = member
    isDifferent = false
    position = 0
    do throws(SystemError) {
      let (parent, name) = try locate(member.path)
      descriptor = try FileSystem.open(at: parent, name, [.readOnly, .noFollow, .nonBlocking])
    } catch {
      isDifferent = true
      differ(member.path, "cannot be read: \(error.message)")
    }
  }

  /// Compares the next stored bytes with the file, holes with zeros.
  func compare(_ bytes: UnsafeRawBufferPointer, storedOffset: UInt64) {
    guard !isDifferent, let member else { return }
    guard let extents = member.sparseExtents else { return unsafe compare(bytes, at: storedOffset) }
    var stored: UInt64 = 0
    var done = 0
    for extent in extents where done < bytes.count {
      let wanted = storedOffset + UInt64(done)
      if stored + extent.byteCount > wanted {
        let skip = wanted - stored
        let count = min(Int(extent.byteCount - skip), bytes.count - done)
        unsafe compare(UnsafeRawBufferPointer(rebasing: bytes[done..<done + count]), at: extent.offset + skip)
        done += count
      }
      stored += extent.byteCount
    }
  }

  /// Ends the content; holes have to be holes or zeros in the file too.
  func endContent() {
    defer {
      descriptor = nil
      member = nil
    }
    guard !isDifferent, let member, let extents = member.sparseExtents else { return }
    var end: UInt64 = 0
    for extent in extents + [SparseExtent(offset: member.byteCount, byteCount: 0)] {
      compareHole(from: end, to: extent.offset)
      end = extent.offset + extent.byteCount
    }
  }

  private func compareHole(from start: UInt64, to end: UInt64) {
    var offset = start
    while offset < end, !isDifferent, let number = descriptor?.rawValue {
      guard case .found(let data)? = try? FileSystem.seekData(number, from: Int64(offset)), UInt64(data) < end else {
        return
      }
      offset = max(offset, UInt64(data))
      let count = Int(min(end - offset, UInt64(scratch.byteCount)))
      let target = unsafe UnsafeMutableRawBufferPointer(start: scratch.base, count: count)
      let got = (try? unsafe FileSystem.pread(number, into: target, at: Int64(offset))) ?? 0
      if unsafe target[..<got].contains(where: { $0 != 0 }) { return noteDifference(at: offset) }
      if got < count { return }
      offset += UInt64(got)
    }
  }

  private func compare(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) {
    var done = 0
    while done < bytes.count, !isDifferent, let number = descriptor?.rawValue {
      let count = min(bytes.count - done, scratch.byteCount)
      let target = unsafe UnsafeMutableRawBufferPointer(start: scratch.base, count: count)
      do throws(SystemError) {
        let got = try unsafe FileSystem.pread(number, into: target, at: Int64(offset) + Int64(done))
        let expected = unsafe UnsafeRawBufferPointer(rebasing: bytes[done..<done + count])
        if unsafe got != count || !target.elementsEqualBytes(expected) {
          return noteDifference(at: offset + UInt64(done))
        }
      } catch {
        isDifferent = true
        if let member { differ(member.path, "cannot be read: \(error.message)") }
      }
      done += count
    }
  }

  private func noteDifference(at offset: UInt64) {
    isDifferent = true
    if let member { differ(member.path, "the content differs at or after byte \(offset)") }
  }
}
