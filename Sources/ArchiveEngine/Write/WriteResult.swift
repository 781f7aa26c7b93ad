internal import ArchiveFormat
internal import Dispatch

/// An index page that a lane made whole.
struct EncodedPage: Sendable {
  let frame: [UInt8]
  let summary: PageSummary
}

/// What a lane hands to the drain.
struct WriteResult: Sendable {
  /// A chunk with the members that end in it.
  struct Chunk: Sendable {
    let slot: WriteSlot
    let frame: EncodedFrame
    let members: [IndexedMember]
    /// Present when the chunk begins and ends between members.
    let page: EncodedPage?
    let isMemberOpen: Bool
  }

  var chunk: Chunk?
  var warnings: [ArchiveWarning] = []
  /// What progress grows by.
  var contentByteCount: UInt64 = 0
  var memberCount: UInt64 = 0
  /// The slot is free once this result is written.
  var releasedSlot: WriteSlot?
  /// Signalled once this result is written, for a lane that goes on with the same slot.
  var written: DispatchSemaphore?
}
