internal import ArchiveFormat
internal import ArchiveIO
internal import Dispatch
internal import Synchronization

/// A member on its way from the planner to a lane.
struct PendingMember: Sendable {
  /// Where the content comes from.
  enum Source: Sendable {
    /// No content, and the metadata is complete.
    case none
    /// Content held in memory.
    case bytes([UInt8])
    /// What a tree was named for; a lane opens it and completes the metadata. The path is relative to the root.
    case tree(SourceTree, path: [UInt8])
    /// Below that: the path is the end of the member's own, so that long ones are not held twice.
    case below(SourceTree)
  }

  /// For ``Source/tree``, sizes, attributes and link target are those of the walk and may still change.
  var member: Member
  var source: Source
  /// Stored incomplete rather than left out when it cannot be read, because later hard links refer to it.
  var isReferenced = false
  /// Header and padded data in the tar stream, as planned.
  var plannedByteCount = 0
  /// The walk saw fewer allocated bytes than the size.
  var mayHaveHoles = false

  /// The tree that it lies in, and its path below the root; nil for what is not read from a tree.
  var place: (tree: SourceTree, path: ArraySlice<UInt8>)? {
    switch source {
    case .tree(let tree, let path): (tree, path[...])
    case .below(let tree): (tree, member.path[tree.prefixByteCount...])
    case .none, .bytes: nil
    }
  }
}

/// A directory whose contents are archived: an open root and how paths below it are read.
final class SourceTree: Sendable {
  let root: SharedDescriptor
  /// For messages: the path that the user named.
  let name: [UInt8]
  let includesExtendedAttributes: Bool
  /// Where it is an item that is whole or not at all: what went wrong.
  let faults: ItemFaults?
  /// How much of the archive paths of members below it stands for the root, with the slash.
  let prefixByteCount: Int

  init(
    root: SharedDescriptor, name: [UInt8], includesExtendedAttributes: Bool, prefixByteCount: Int,
    faults: ItemFaults? = nil
  ) {
    self.prefixByteCount = prefixByteCount
    self.root = root
    self.name = name
    self.includesExtendedAttributes = includesExtendedAttributes
    self.faults = faults
  }
}

/// Remembers the first thing that makes an item differ from its source. Any thread.
final class ItemFaults: Sendable {
  private let first = Locked<ArchiveError?>(nil)

  func note(_ path: [UInt8], _ message: String) {
    first.withLock { if $0 == nil { $0 = ArchiveError(.system, message, path: path) } }
  }

  var error: ArchiveError? { first.withLock { $0 } }
}

/// A large file, cut into chunks of its own. Shared by the jobs that read its pieces.
final class LargeFile: Sendable {
  let member: Member
  let header: [UInt8]
  let descriptor: SharedDescriptor
  let status: FileStatus
  let hash: HashChain
  let faults: ItemFaults?
  /// Each piece behind the end of a file that shrank is missing; one word about it is enough.
  private let isReported = Atomic(false)

  init(
    member: Member, header: [UInt8], descriptor: SharedDescriptor, status: FileStatus, hash: HashChain,
    faults: ItemFaults?
  ) {
    self.member = member
    self.header = header
    self.descriptor = descriptor
    self.status = status
    self.hash = hash
    self.faults = faults
  }

  /// True the first time.
  func beginReport() -> Bool { !isReported.exchange(true, ordering: .relaxed) }
}

/// What a lane does with one slot.
enum WriteJob: Sendable {
  /// Small members, one chunk (more when headers turn out longer than planned).
  case group([PendingMember])
  /// One piece of a large file: stored bytes `range`; the first carries the header, the last the padding.
  case piece(LargeFile, index: Int, range: Range<UInt64>, isLast: Bool)
  /// A chunk whose bytes are in the slot already: part of a member that comes from a caller's stream.
  case filled(byteCount: Int, contentByteCount: UInt64, last: IndexedMember?)
}

/// Counts jobs whose sources were read, so that a caller can wait until everything handed over is captured.
final class ReadCounter: Sendable {
  private let reads = DispatchSemaphore(value: 0)

  /// One job was read.
  func markRead() { reads.signal() }

  /// Waits until `jobCount` more jobs were read. Throws what stopped the run.
  func wait(jobCount: Int, stop: StopSignal) throws(ArchiveError) {
    let registration = stop.token.onCancel { [reads] in
      for _ in 0..<jobCount { reads.signal() }
    }
    for _ in 0..<jobCount { reads.wait() }
    withExtendedLifetime(registration) {}
    try stop.check()
  }
}
