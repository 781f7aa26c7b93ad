internal import ArchiveFormat
internal import ArchiveIO
internal import Synchronization

/// Decides in archive order what becomes of every member. The control thread only.
///
/// It makes the directories itself, keeps hard links and the metadata of directories until the end, and tells lanes what to make of all others. Where a
/// member collides with an earlier one it first lets everything that is under way come to its end, so that archive order holds for any number of lanes.
final class ExtractPlanner {
  let destination: Destination
  private let options: ExtractOptions
  private let report: (ArchiveWarning) -> Void
  /// Waits until no lane has work left.
  var settle: () throws(ArchiveError) -> Void = {}

  /// The number of the member in the archive that is being decided; visitors count.
  var position: UInt64 = 0

  private(set) var names = NameTable()
  private var directories = DirectoryRecords()
  private let selection: MemberSelection
  /// Links since the last time that all work was brought to its end.
  var links = PendingLinks()
  /// Links whose target was not there then.
  var unresolved = PendingLinks()
  /// For names that were taken by a later member while links were unresolved: its position. Links before it are not made.
  var superseded: [UInt64: UInt64] = [:]
  /// Names of links that are not made yet, where another file may have such a name until it is replaced.
  var waitingNames: Set<UInt64> = []
  let leaves: LeafCreator
  /// Hashes of the paths of incomplete members: there are few.
  private(set) var incompleteNames: Set<UInt64> = []
  private var account: LimitAccount
  private(set) var summary = ExtractSummary()
  /// The parent directory that is known to exist, to save looking it up for every file.
  private var lastParent: [UInt8]?
  /// The mode of a destination that the archive does not list.
  private let implicitMode: UInt32
  /// The archive says what the destination itself shall be like.
  private var listsRoot = false

  init(
    _ destination: Destination, options: ExtractOptions, selection: MemberSelection,
    report: @escaping (ArchiveWarning) -> Void
  ) {
    self.destination = destination
    self.options = options
    self.selection = selection
    self.report = report
    leaves = LeafCreator(destination)
    account = LimitAccount(options.limits)
    implicitMode = 0o777 & ~destination.umask
  }

  // MARK: Decisions

  /// What a lane shall make of the member; nil when nothing is left to do for it.
  ///
  /// - Parameters:
  ///   - spans: the member's data come in several parts.
  ///   - archiveByteCount: for the limit on the ratio.
  func decide(
    _ member: Member, spans: Bool, archiveByteCount: UInt64?
  ) throws(ArchiveError) -> LeafAction? {
    try account.add(member.path, contentByteCount: member.byteCount, archiveByteCount: archiveByteCount)
    guard let path = strip(member.path) else { return nil }
    do throws(ArchiveError) {
      if member.kind == .directory {
        try makeDirectory(member, path)
        return nil
      }
      return try decideLeaf(member, path, spans: spans)
    } catch {
      guard [.rejected, .exists].contains(error.code) else { throw error }
      try reject(member.path, error)
      return nil
    }
  }

  /// Judges the ratio of what has come by now; for archives whose size is not known beforehand.
  func checkRatio(_ path: [UInt8], missing: UInt64, archiveByteCount: UInt64) throws(ArchiveError) {
    try account.checkRatio(path, missing: missing, archiveByteCount: archiveByteCount)
  }

  /// A member that may not be made: ends a strict run, is left out of a lenient one.
  func reject(_ path: [UInt8], _ error: ArchiveError) throws(ArchiveError) {
    guard options.isLenient else { throw error.at(path: path) }
    skip(path, "\(error.message); left out")
  }

  /// Counts a member that is left out and says why.
  func skip(_ path: [UInt8], _ message: String) {
    summary.skippedCount += 1
    warn(path, message)
  }

  func warn(_ path: [UInt8], _ message: String) {
    summary.warningCount += 1
    report(ArchiveWarning(path: path, message: message))
  }

  /// Where this run makes the member of an archive's path, if there is one; empty when it is not wanted.
  func place(of path: [UInt8]) -> [UInt8] { selection.contains(path) ? strip(path) ?? [] : [] }

  /// The path without the leading components that the user wants gone; nil when nothing is left.
  private func strip(_ path: [UInt8]) -> [UInt8]? {
    StrippedNames.strip(path, componentCount: options.stripComponentCount)
  }

  private func decideLeaf(_ member: Member, _ path: [UInt8], spans: Bool) throws(ArchiveError) -> LeafAction? {
    if path == [UInt8(ascii: ".")] {
      throw ArchiveError(.rejected, "the archive's root is not a directory", path: path)
    }
    if leavesOut(member, member.path) { return nil }
    try makeParents(of: path)
    let hash = XXH3.hash64(path.span)
    var replacesOwn = false
    switch names.find(hash) {
    case nil: break
    case .other:
      try settleAll(replacing: path)
      replacesOwn = !isKept(hash)
    case .directory:
      try settleAll(replacing: path)
      try replaceDirectory(path)
    }
    if member.kind == .hardlink {
      // Whether the target is a file of this run shows when the links are made: it may come later.
      names.set(hash, .other)
      if replacesOwn || !destination.isNew { waitingNames.insert(hash) }
      try system(path: path) { () throws(SystemError) in
        try links.add(
          PendingLink(
            path: path, target: member.linkTarget, place: place(of: member.linkTarget), replacesOwn: replacesOwn,
            position: position))
      }
      count(member)
      return nil
    }
    guard let action = try leafAction(member, path, replacesOwn: replacesOwn, spans: spans) else { return nil }
    names.set(hash, .other)
    if !waitingNames.isEmpty { waitingNames.remove(hash) }
    count(member)
    return action
  }

  /// Whether members of this kind are left out as a rule, which is then said.
  private func leavesOut(_ member: Member, _ path: [UInt8]) -> Bool {
    guard member.kind == .characterDevice || member.kind == .blockDevice, !options.createsDevices else { return false }
    skip(path, "is a device node; left out (--devices makes them)")
    return true
  }

  /// What a lane has to do for a leaf; nil when what is there stays.
  private func leafAction(
    _ member: Member, _ path: [UInt8], replacesOwn: Bool, spans: Bool
  ) throws(ArchiveError) -> LeafAction? {
    guard spans else { return LeafAction(path: path, replacesOwn: replacesOwn, output: nil) }
    let output = try system(path: path) { () throws(SystemError) in
      try leaves.begin(member, path, replacesOwn: replacesOwn)
    }
    guard let output else {
      noteKept(path)
      return nil
    }
    return LeafAction(path: path, replacesOwn: replacesOwn, output: output)
  }

  /// What a lane shall make of a member for a link to it: the content that the link could not share.
  func copyAction(
    _ member: Member, for link: PendingLink, spans: Bool, archiveByteCount: UInt64?
  ) throws(ArchiveError) -> LeafAction? {
    // The link itself was counted as a member.
    try account.add(
      link.path, entryCount: 0, contentByteCount: member.byteCount, archiveByteCount: archiveByteCount)
    if leavesOut(member, link.path) {
      uncount()
      return nil
    }
    guard let action = try leafAction(member, link.path, replacesOwn: link.replacesOwn, spans: spans) else {
      uncount()
      return nil
    }
    if member.kind == .file {
      summary.fileCount += 1
      summary.contentByteCount.add(clamping: member.byteCount)
    }
    return action
  }

  /// A file that was there already stays, as asked for.
  func noteKept(_ path: [UInt8]) {
    summary.skippedCount += 1
    destination.keep(path)
  }

  /// Whether what has the name was there before the run, and stays.
  func isKept(_ hash: UInt64) -> Bool { destination.keptNames.withLock { $0.find(hash) != nil } }

  /// Takes a member back that was counted when it was decided, and is left out after all.
  func uncount() { summary.entryCount -= min(summary.entryCount, 1) }

  private func count(_ member: Member) {
    summary.entryCount += 1
    if member.kind == .file {
      summary.fileCount += 1
      summary.contentByteCount.add(clamping: member.byteCount)
    }
  }

  // MARK: Directories

  private func makeDirectory(_ member: Member, _ path: [UInt8]) throws(ArchiveError) {
    if path == [UInt8(ascii: ".")] {
      listsRoot = true
      try remember(member, path)
      count(member)
      return
    }
    try makeParents(of: path)
    let hash = XXH3.hash64(path.span)
    switch names.find(hash) {
    case .directory: try remember(member, path)
    case .other:
      // The later member wins: a directory takes the place of a file or link that this run made.
      try settleAll(replacing: path)
      if isKept(hash) { throw Self.noDirectory(path) }
      try system(path: path) { () throws(SystemError) in
        let (parent, name) = try leaves.locate(path)
        do throws(SystemError) { try FileSystem.removeFile(at: parent, name) } catch {
          // A link that was never made leaves nothing to remove.
          guard error.isNotFound else { throw error }
        }
      }
      try create(path)
      try remember(member, path)
      names.set(hash, .directory)
    case nil:
      try create(path)
      try remember(member, path)
      names.set(hash, .directory)
    }
    count(member)
  }

  /// Makes the missing directories on the way to a path.
  private func makeParents(of path: [UInt8]) throws(ArchiveError) {
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return }
    if let lastParent, lastParent.count == slash, path.starts(with: lastParent) { return }
    let parent = Array(path[..<slash])
    if names.find(XXH3.hash64(parent.span)) != .directory { try makeMissing(parent, for: path) }
    lastParent = parent
  }

  /// Makes those directories of a path that are missing. The archive says nothing of them, so they are complete as they are made: a record for each, or a look from
  /// the root, would make a name of a million components cost the square of that.
  private func makeMissing(_ path: [UInt8], for member: [UInt8]) throws(ArchiveError) {
    let hash = try RunningHash64()
    var missing: [(end: Int, hash: UInt64)] = []
    var (hashed, start) = (0, 0)
    while start <= path.count {
      let end = path[start...].firstIndex(of: UInt8(ascii: "/")) ?? path.count
      unsafe path.withUnsafeBytes { unsafe hash.update(UnsafeRawBufferPointer(rebasing: $0[hashed..<end])) }
      let value = hash.digest()
      switch names.find(value) {
      case .directory: break
      case .other:
        throw ArchiveError(
          .rejected, "lies below \"\(PathText.printable(Array(path[..<end])))\", which is not a directory", path: member
        )
      case nil:
        try account.addImplicitDirectory(member)
        missing.append((end, value))
      }
      (hashed, start) = (end, end + 1)
    }
    var madeCount = 0
    defer { for (_, hash) in missing[..<madeCount] { names.set(hash, .directory) } }
    if destination.isNew, missing.count > 1 {
      do throws(SystemError) {
        try leaves.makeDirectories(path, ends: missing.map(\.end), mode: 0o777) { madeCount += 1 }
      } catch { throw Self.failure(error, path) }
    } else {
      for (end, _) in missing {
        try create(Array(path[..<end]), mode: 0o777)
        madeCount += 1
      }
    }
  }

  /// Makes a directory, as a rule one that only this process can use until it gets its mode. In an existing destination one may be there.
  private func create(_ path: [UInt8], mode: UInt32 = 0o700) throws(ArchiveError) {
    do throws(SystemError) {
      let (parent, name) = try leaves.locate(path)
      do throws(SystemError) {
        try FileSystem.makeDirectory(at: parent, name, mode: mode)
      } catch {
        guard error.alreadyExists, !destination.isNew else { throw error }
        let status = try FileSystem.status(at: parent, name)
        if status.kind == .directory { return }
        guard destination.overwrite == .replace else { throw error }
        try FileSystem.removeFile(at: parent, name)
        try FileSystem.makeDirectory(at: parent, name, mode: mode)
      }
    } catch {
      throw Self.failure(error, path)
    }
  }

  /// Why a directory could not be made.
  private static func failure(_ error: SystemError, _ path: [UInt8]) -> ArchiveError {
    if error.isNotDirectory {
      return ArchiveError(.rejected, "a directory on its way is a link or a file in the destination", path: path)
    }
    if error.alreadyExists { return noDirectory(path) }
    if error.isNameRefused {
      return ArchiveError(.rejected, "the file system does not take the name: \(error.reason)", path: path)
    }
    return ArchiveError(SystemError(error.call, errno: error.errno, path: path))
  }

  private func remember(_ member: Member, _ path: [UInt8], isImplicit: Bool = false) throws(ArchiveError) {
    var member = member
    if isImplicit { member.modificationTime = Self.leaveTime }
    try system(path: path) { () throws(SystemError) in
      try directories.add(member, path: path, status: currentStatus(path))
    }
  }

  /// The directory that has the name now, to be recognised at the end.
  private func currentStatus(_ path: [UInt8]) throws(SystemError) -> FileStatus {
    let (parent, name) = try leaves.locate(path)
    return try FileSystem.status(at: parent, name)
  }

  /// A file takes the place of a directory of this run, if that is empty.
  private func replaceDirectory(_ path: [UInt8]) throws(ArchiveError) {
    do throws(SystemError) {
      let (parent, name) = try leaves.locate(path)
      try FileSystem.removeDirectory(at: parent, name)
    } catch {
      throw ArchiveError(.rejected, "has the name of a directory that is not empty", path: path)
    }
    lastParent = nil
    _ = destination.generation.wrappingAdd(1, ordering: .releasing)
  }

  /// Leaves a member out whose content is not whole; links to it are then left out too instead of being refused.
  func skipIncomplete(_ archivePath: [UInt8]) {
    skip(archivePath, "is incomplete in the archive; left out")
    if let path = strip(archivePath) { incompleteNames.insert(XXH3.hash64(path.span)) }
  }

  /// Takes a file back that was made before the index said that it is incomplete. Links to it that wait find it gone and are
  /// left out as well. What was there before the run stays.
  func withdraw(_ archivePath: [UInt8], _ message: String) throws(ArchiveError) {
    try settle()
    let path = strip(archivePath)
    let hash = path.map { XXH3.hash64($0.span) }
    if let hash, isKept(hash) { return }
    skip(archivePath, message)
    guard let path, let hash, names.find(hash) == .other else { return }
    try remove(path)
  }

  /// Removes a file of this run.
  func remove(_ path: [UInt8]) throws(ArchiveError) {
    try system(path: path) { () throws(SystemError) in
      let (parent, name) = try leaves.locate(path)
      try FileSystem.removeFile(at: parent, name)
    }
  }

  // MARK: The end

  /// Makes the links and gives directories their metadata. All lanes are done.
  ///
  /// - Parameter readAgain: goes through the archive once more and gives each member to ``supply(_:to:spans:archiveByteCount:)``; nil when
  ///   the archive is gone once it was read.
  func finish(
    stop: StopSignal, readAgain: ((MissingContents) throws(ArchiveError) -> Void)?
  ) throws(ArchiveError) {
    try options.profile.measure(.links, within: .planning) { () throws(ArchiveError) in try makeLinks(readAgain) }
    destination.endTemporaryNames()
    if destination.isNew && !listsRoot {
      // While it was staged nobody else could look into it.
      let root = [UInt8(ascii: ".")]
      try remember(Member(path: root, kind: .directory, mode: implicitMode), root, isImplicit: true)
    }
    try options.profile.measure(.directories, within: .planning) { () throws(ArchiveError) in
      try directories.apply(to: destination, stop: stop)
    }
    for warning in destination.issues.warnings() { warn(warning.path, warning.message) }
  }

  /// After an error: directories in an existing destination get their modes nevertheless.
  ///
  /// - Parameter lanesAreDone: all members that were decided were made, or are known as kept. Only then links are made: else the name of
  ///   a target may stand for a file that was there before, and a link to it would take the place of another.
  func finishAfterFailure(lanesAreDone: Bool) {
    guard !destination.isNew else { return }
    if lanesAreDone { try? makeLinksAtHand() }
    destination.endTemporaryNames()
    try? directories.apply(to: destination, stop: nil)
  }
}
