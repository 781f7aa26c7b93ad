internal import ArchiveFormat
internal import ArchiveIO
internal import Synchronization

/// What a lane shall make of a member that is not a directory.
struct LeafAction: Sendable {
  /// Path below the destination.
  let path: [UInt8]
  /// A name that this run made earlier is replaced.
  let replacesOwn: Bool
  /// The open file of a member that comes in several parts.
  let output: SpanningOutput?
  /// Directories and hard links are made by the control thread; lanes only check them.
  var isCheckOnly = false

  /// For members of which lanes only compare index and tar header.
  static let check = LeafAction(path: [], replacesOwn: false, output: nil, isCheckOnly: true)
}

/// A file that is made from parts in the hands of several lanes. The lane with the last part completes it.
final class SpanningOutput: Sendable {
  let descriptor: SharedDescriptor
  let path: [UInt8]
  /// Name in the parent directory until it is complete; equal to the final name in a new destination.
  let name: [UInt8]
  let createdMode: UInt32
  private let remaining: Atomic<UInt64>

  init(
    descriptor: SharedDescriptor, path: [UInt8], name: [UInt8], createdMode: UInt32, dataByteCount: UInt64
  ) {
    self.descriptor = descriptor
    self.path = path
    self.name = name
    self.createdMode = createdMode
    remaining = Atomic(dataByteCount + 1)
  }

  /// Nothing is missing any more.
  var isComplete: Bool { remaining.load(ordering: .acquiring) == 0 }

  /// Counts written bytes, and the end of the member as one more; true for the call after which nothing is missing.
  func complete(_ byteCount: UInt64, endsMember: Bool) -> Bool {
    let done = byteCount + (endsMember ? 1 : 0)
    return done > 0 && remaining.wrappingSubtract(done, ordering: .acquiringAndReleasing).newValue == 0
  }
}
