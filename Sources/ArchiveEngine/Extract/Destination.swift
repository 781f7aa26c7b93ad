internal import ArchiveFormat
internal import ArchiveIO
internal import Synchronization

/// Where an extraction writes and by which rules. Shared by the control thread and all lanes.
final class Destination: Sendable {
  let root: SharedDescriptor
  /// Nobody but this run makes names here: files are made under their final names.
  let isNew: Bool
  let overwrite: ExtractOptions.Overwrite
  let restoresOwner: Bool
  let restoresPermissions: Bool
  /// Set-id bits come back with the owner, or when modes were asked for by name.
  let restoresSetID: Bool
  let restoresExtendedAttributes: Bool
  let usesNumericOwners: Bool
  let umask: UInt32
  let userID: UInt32
  let groupID: UInt32
  let owners = OwnerNames()
  let issues = MetadataIssues()
  /// Grows when the control thread removed or replaced a directory: cursors then start anew.
  let generation = Atomic<Int>(0)
  /// Paths at which lanes and planner found something that stays: no file of this run, so no link may share it.
  let keptNames = Locked<NameTable>(NameTable())
  /// What this run's temporary names have in common.
  private let run: RunName
  /// The mark by which the next run knows them, should this one be killed. It is made with the first of them, so that a run which
  /// makes none changes nothing; a new destination needs none.
  private let mark: Locked<(isTried: Bool, mark: RunMark?)>
  /// A temporary file could not be removed.
  private let hasLeftovers = Atomic(false)
  /// Numbers temporary names.
  private let temporaryCount = Atomic<UInt64>(0)

  init(root: SharedDescriptor, isNew: Bool, options: ExtractOptions) throws(ArchiveError) {
    self.root = root
    run = try system { () throws(SystemError) in try RunName() }
    mark = Locked((isTried: isNew, mark: nil))
    self.isNew = isNew
    overwrite = options.overwrite
    let user = ProcessFacts.effectiveUserID
    userID = user
    groupID = ProcessFacts.effectiveGroupID
    func decide(_ choice: ExtractOptions.Choice) -> Bool { choice == .yes || (choice == .automatic && user == 0) }
    restoresOwner = decide(options.restoresOwner)
    restoresPermissions = decide(options.restoresPermissions)
    restoresSetID = restoresPermissions && (restoresOwner || options.restoresPermissions == .yes)
    restoresExtendedAttributes = options.restoresExtendedAttributes
    usesNumericOwners = options.usesNumericOwners
    umask = ProcessFacts.fileModeMask
  }

  /// The mode that a member gets in the end.
  func mode(_ archived: UInt32) -> UInt32 {
    guard restoresPermissions else { return archived & 0o777 & ~umask }
    return archived & (restoresSetID ? 0o7777 : 0o1777)
  }

  /// The owner that a member gets; nil when it stays that of this process or cannot be expressed.
  func owner(of member: Member) -> (userID: UInt32, groupID: UInt32)? {
    guard restoresOwner else { return nil }
    var user = UInt32(exactly: member.userID) ?? .max
    var group = UInt32(exactly: member.groupID) ?? .max
    if !usesNumericOwners {
      if !member.userName.isEmpty, let known = owners.userID(member.userName) { user = known }
      if !member.groupName.isEmpty, let known = owners.groupID(member.groupName) { group = known }
    }
    return (user, group)
  }

  /// Remembers that what has the name was there before the run, and stays. Any thread.
  func keep(_ path: [UInt8]) {
    let hash = XXH3.hash64(path.span)
    keptNames.withLock { $0.set(hash, .other) }
  }

  /// A name that no other run or lane uses at the same time.
  func temporaryName() throws(SystemError) -> [UInt8] {
    try mark.withLock { state throws(SystemError) in
      if state.isTried { return }
      state.mark = try RunMark.make(run, in: root)
      state.isTried = true
    }
    return run.temporaryName(temporaryCount.wrappingAdd(1, ordering: .relaxed).newValue)
  }

  /// Removes a file of this run that will not be completed. What stays is left to the next run.
  func removeUnfinished(at parent: Int32, _ name: [UInt8]) {
    do throws(SystemError) { try FileSystem.removeFile(at: parent, name) } catch {
      if !error.isNotFound { noteLeftover() }
    }
  }

  /// A temporary file stays.
  func noteLeftover() { hasLeftovers.store(true, ordering: .relaxed) }

  /// No temporary file will be made any more. To be called before directories get their times, which the mark's removal changes.
  func endTemporaryNames() {
    mark.withLock { state in
      if hasLeftovers.load(ordering: .relaxed) { state.mark?.leave() }
      state.isTried = isNew
      state.mark = nil
    }
  }
}

/// Attributes that could not be restored, counted by kind: one line each in the end instead of one for every file.
final class MetadataIssues: Sendable {
  /// What could not be restored.
  enum Kind: String, Sendable, CaseIterable {
    case owner = "owner"
    case mode = "mode"
    case time = "modification time"
    case attribute = "extended attribute"
    case acl = "ACL"
  }

  private struct Entry {
    var count = 0
    var path: [UInt8] = []
    var reason = ""
  }

  private let entries = Locked<[Kind: Entry]>([:])

  /// Counts a failure.
  func note(_ kind: Kind, path: [UInt8], reason: @autoclosure () -> String) {
    entries.withLock { entries in
      var entry = entries[kind] ?? Entry(count: 0, path: path, reason: reason())
      entry.count += 1
      entries[kind] = entry
    }
  }

  /// One warning for each kind that occurred, in a fixed order.
  func warnings() -> [ArchiveWarning] {
    entries.withLock { entries in
      Kind.allCases.compactMap { kind in
        guard let entry = entries[kind] else { return nil }
        return ArchiveWarning(
          path: entry.path,
          message: "\(kind.rawValue) not restored: \(entry.reason)"
            + (entry.count > 1 ? "; the same for \(entry.count - 1) more" : ""))
      }
    }
  }
}
