internal import ArchiveFormat
internal import ArchiveIO

/// Gives open files and directories their owner, mode, attributes and times. Order matters: chown takes set-id bits and
/// capabilities away, ACLs change the mode, and times come last.
struct MetadataRestorer {
  let destination: Destination
  private static let capability = Array("security.capability".utf8)

  /// The mode to create a file with: never more than it gets in the end, nor open to others before it has its owner.
  func creationMode(_ member: Member) -> UInt32 {
    needsOwner(member) ? destination.mode(member.mode) & 0o700 : destination.mode(member.mode) & 0o777
  }

  private func needsOwner(_ member: Member) -> Bool {
    guard let owner = destination.owner(of: member) else { return false }
    return !destination.isNew || owner.userID != destination.userID || owner.groupID != destination.groupID
  }

  /// Restores all of an open file or directory.
  ///
  /// - Parameter createdMode: the mode given at creation, before the umask; nil when it is not known.
  func restore(_ descriptor: Int32, _ member: Member, path: [UInt8], createdMode: UInt32?) {
    var mustSetMode = true
    let mode = destination.mode(member.mode)
    if let createdMode, createdMode & ~destination.umask == mode { mustSetMode = false }
    if needsOwner(member), let owner = destination.owner(of: member) {
      do throws(SystemError) {
        try FileSystem.setOwner(of: descriptor, userID: owner.userID, groupID: owner.groupID)
        mustSetMode = mustSetMode || mode & 0o6000 != 0
      } catch { destination.issues.note(.owner, path: path, reason: error.message) }
    }
    if mustSetMode {
      do throws(SystemError) { try FileSystem.setMode(of: descriptor, mode) } catch {
        destination.issues.note(.mode, path: path, reason: error.message)
      }
    }
    if destination.restoresExtendedAttributes {
      restoreAttributes(member, path: path) { attribute, value throws(SystemError) in
        try FileSystem.setAttribute(of: descriptor, attribute, value: value)
      }
    }
    if member.modificationTime == ExtractPlanner.leaveTime { return }
    do throws(SystemError) {
      try FileSystem.setTimes(
        of: descriptor, modificationSeconds: member.modificationTime.seconds,
        nanoseconds: member.modificationTime.nanoseconds)
    } catch { destination.issues.note(.time, path: path, reason: error.message) }
    checkTime(member, path) { try? FileSystem.status(of: descriptor) }
  }

  /// Symlinks, FIFOs and device nodes: by name, without following.
  func restore(at parent: Int32, _ name: [UInt8], _ member: Member, path: [UInt8]) {
    if needsOwner(member), let owner = destination.owner(of: member) {
      do throws(SystemError) {
        try FileSystem.setOwner(at: parent, name, userID: owner.userID, groupID: owner.groupID)
      } catch { destination.issues.note(.owner, path: path, reason: error.message) }
    }
    if member.kind != .symlink {
      do throws(SystemError) { try FileSystem.setMode(at: parent, name, destination.mode(member.mode)) } catch {
        destination.issues.note(.mode, path: path, reason: error.message)
      }
    }
    if destination.restoresExtendedAttributes {
      restoreAttributes(member, path: path) { attribute, value throws(SystemError) in
        try FileSystem.setAttribute(at: parent, name, attribute, value: value)
      }
    }
    do throws(SystemError) {
      try FileSystem.setTimes(
        at: parent, name, modificationSeconds: member.modificationTime.seconds,
        nanoseconds: member.modificationTime.nanoseconds)
    } catch { destination.issues.note(.time, path: path, reason: error.message) }
    checkTime(member, path) { try? FileSystem.status(at: parent, name) }
  }

  /// File systems clamp times that they cannot hold without saying so.
  private func checkTime(_ member: Member, _ path: [UInt8], _ status: () -> FileStatus?) {
    let seconds = member.modificationTime.seconds
    guard seconds < Int64(Int32.min) || seconds > Int64(UInt32.max), let status = status() else { return }
    if status.modificationSeconds != seconds {
      destination.issues.note(.time, path: path, reason: "\(seconds) is outside what the file system can hold")
    }
  }

  /// Of whatever kind the member is: what cannot hold an attribute or an ACL (a symlink, most of all) says so itself.
  private func restoreAttributes(
    _ member: Member, path: [UInt8], set: (_ name: [UInt8], _ value: [UInt8]) throws(SystemError) -> Void
  ) {
    for attribute in member.extendedAttributes {
      do throws(SystemError) { try set(attribute.name, attribute.value) } catch {
        noteAttribute(attribute.name, path, error)
      }
    }
    for (text, attribute) in [
      (member.accessACL, "system.posix_acl_access"), (member.defaultACL, "system.posix_acl_default"),
    ] where !text.isEmpty {
      guard let value = xattr(fromACLText: text) else {
        destination.issues.note(.acl, path: path, reason: "its text is not understood")
        continue
      }
      do throws(SystemError) { try set(Array(attribute.utf8), value) } catch {
        destination.issues.note(.acl, path: path, reason: error.message)
      }
    }
  }

  private func xattr(fromACLText text: [UInt8]) -> [UInt8]? {
    let owners = destination.owners
    let isNumeric = destination.usesNumericOwners
    return ACLText.xattr(
      fromText: text, userID: { isNumeric ? nil : owners.userID($0) },
      groupID: { isNumeric ? nil : owners.groupID($0) })
  }

  private func noteAttribute(_ name: [UInt8], _ path: [UInt8], _ error: SystemError) {
    destination.issues.note(.attribute, path: path, reason: "\(PathText.printable(name)): \(error.message)")
  }
}
