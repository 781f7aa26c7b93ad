internal import ArchiveIO

/// Goes through a tree as a ``DirectoryWalker`` does, while threads look at the directories ahead: names sorted by their bytes, a directory before
/// what lies in it, depth first.
///
/// What a walk costs is nearly all in the system calls by which directories are read and files looked at, and these do not need an order. One thread takes the steps;
/// when it comes to a directory that nobody has looked at yet it waits until that has been done. A tree that is changed meanwhile gives
/// what any walk may give then.
final class TreeScan {
  private struct Level {
    let directory: ScannedDirectory
    /// The length of the directory's path, with its slash.
    let pathByteCount: Int
    var steps: [ScannedDirectory.Step] = []
    var position = 0
  }

  private let state: ScanState
  private var lanes: Lanes?
  /// Looks at directories where there are no lanes.
  private let looker: DirectoryLooker
  private var levels: [Level] = []
  /// The path of the directory that is being gone through, with a slash at its end.
  private var path: [UInt8] = []

  /// Begins at a directory.
  ///
  /// - Parameters:
  ///   - root: where to begin. It is not a step itself.
  ///   - staysOnFileSystem: directories on other devices are steps, but not entered.
  ///   - laneCount: threads that look; without any the walk looks itself.
  ///   - profile: counts their processor time.
  ///   - isExcluded: paths from the root that are left out with all below them. Called on any thread.
  /// - Throws: when the root cannot be read.
  init(
    root: SharedDescriptor, staysOnFileSystem: Bool, laneCount: Int, profile: RunProfile? = nil,
    isExcluded: (@Sendable ([UInt8]) -> Bool)?
  ) throws(SystemError) {
    let state = ScanState(hasThreads: laneCount > 0)
    self.state = state
    let device = staysOnFileSystem ? try FileSystem.status(of: root.rawValue).device : nil
    looker = try DirectoryLooker(root, device, isExcluded, state)
    var others: [Handoff<DirectoryLooker>] = []
    for _ in 0..<laneCount { others.append(Handoff(try DirectoryLooker(root, device, isExcluded, state))) }
    let top = ScannedDirectory()
    if state.takeIfNeeded(top) { looker.look(at: top) }
    levels.append(Level(directory: top, pathByteCount: 0, steps: state.next(of: top) ?? []))
    if case .failure(let error)? = levels[0].steps.first?.entry, error.path.isEmpty { throw error }
    let lookers = others
    lanes = Lanes(count: laneCount, label: "archive-walk") { lane in
      let start = profile == nil ? 0 : Clocks.threadNanoseconds
      while let directory = state.take() { lookers[lane].value.look(at: directory) }
      if let profile { profile.addScan(Clocks.threadNanoseconds - start) }
    }
  }

  deinit {
    state.close()
    lanes?.join()
    releaseDirectories()
  }

  /// What was looked at and not walked through holds the directories in it, and these the one that they are in.
  private func releaseDirectories() {
    state.clear()
    var all = levels.map(\.directory)
    for level in levels { all += level.steps.compactMap(\.directory) }
    levels = []
    var index = 0
    while index < all.count {
      for part in all[index].ready { all += part.compactMap(\.directory) }
      all[index].ready = []
      all[index].rest = nil
      index += 1
    }
    // The inner ones first: else each would release the one around it, as deep as the tree is.
    while all.popLast() != nil {}
  }

  /// The next entry that is not excluded, or failure; nil at the end.
  func next() -> WalkStep? {
    while let level = levels.last {
      if level.position < level.steps.count {
        return step(level.steps[level.position], isLast: level.position + 1 == level.steps.count)
      }
      if !state.hasThreads, state.takeIfNeeded(level.directory) { looker.look(at: level.directory) }
      if let steps = state.next(of: level.directory) {
        levels[levels.count - 1].steps = steps
        levels[levels.count - 1].position = 0
      } else {
        levels.removeLast()
        path.removeSubrange((levels.last?.pathByteCount ?? 0)...)
      }
    }
    return nil
  }

  private func step(_ step: ScannedDirectory.Step, isLast: Bool) -> WalkStep {
    if isLast {
      // Levels above the current one hold what is still to come, nothing else.
      levels[levels.count - 1].steps = []
      levels[levels.count - 1].position = 0
    } else {
      levels[levels.count - 1].position += 1
    }
    switch step.entry {
    case .failure(let error): return .failure(error)
    case .found(let name, let status):
      let entry = WalkEntry(relativePath: path + name, nameOffset: path.count, status: status)
      if let directory = step.directory {
        path.append(contentsOf: name)
        path.append(0x2F)
        levels.append(Level(directory: directory, pathByteCount: path.count))
      }
      return .entry(entry)
    }
  }
}

/// Looks at directories, on one thread.
private final class DirectoryLooker {
  private let reader: DirectoryReader
  private let device: UInt64?
  private let isExcluded: (@Sendable ([UInt8]) -> Bool)?
  private let state: ScanState

  init(
    _ root: SharedDescriptor, _ device: UInt64?, _ isExcluded: (@Sendable ([UInt8]) -> Bool)?,
    _ state: ScanState
  ) throws(SystemError) {
    reader = try DirectoryReader(root: root)
    self.device = device
    self.isExcluded = isExcluded
    self.state = state
  }

  /// Looks at the next part of a directory that this thread has taken.
  func look(at directory: ScannedDirectory) {
    let limit = state.partCount
    var entries: [DirectoryEntry] = []
    var rest = directory.rest
    let before = rest?.count ?? 0
    let path = rest == nil || isExcluded != nil ? directory.path : []
    if let rest {
      entries = reader.read(rest, limit: limit)
    } else {
      do throws(SystemError) {
        let contents = try reader.read(path, limit: limit)
        (entries, rest) = (contents.entries, contents.rest)
      } catch { entries = [.failure(error)] }
    }
    if rest?.count == 0 { rest = nil }
    var steps: [ScannedDirectory.Step] = []
    steps.reserveCapacity(entries.count)
    for entry in entries {
      guard case .found(let name, let status) = entry else {
        steps.append(ScannedDirectory.Step(entry: entry, directory: nil))
        continue
      }
      if let isExcluded, isExcluded(path.isEmpty ? name : path + [0x2F] + name) { continue }
      let isEntered = status.kind == .directory && (device == nil || status.device == device)
      steps.append(
        ScannedDirectory.Step(entry: entry, directory: isEntered ? ScannedDirectory(name, in: directory) : nil))
    }
    state.finish(directory, steps, rest: rest, nameChange: (rest?.count ?? 0) - before)
  }
}
