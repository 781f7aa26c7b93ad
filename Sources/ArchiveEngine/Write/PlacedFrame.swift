internal import ArchiveFormat
internal import ArchiveIO
internal import Synchronization

/// A frame whose place in the file is known: any lane can write it.
struct PlacedFrame: Sendable {
  let frame: EncodedFrame
  let slot: WriteSlot
  let file: PlacedFile
  let offset: UInt64
  /// What the slot is given back to once the frame is written.
  let account: SlotAccount

  /// Writes it unless the run has ended, and gives the slot back in any case.
  func write(_ stop: StopSignal) {
    if !stop.isSet {
      do throws(ArchiveError) {
        try unsafe frame.withPieces(of: slot) { pieces throws(ArchiveError) in
          do throws(SystemError) { try unsafe file.write(pieces, at: offset) } catch { throw ArchiveError(error) }
        }
      } catch { stop.fail(error) }
    }
    account.release(slot)
  }
}

/// Where slots go when their frames are written: the slots themselves, and the bytes of names that their jobs held.
struct SlotAccount: Sendable {
  let pool: SlotPool<WriteSlot>
  let names: ByteBudget

  func release(_ slot: WriteSlot) {
    names.giveBack(slot.nameByteCount.exchange(0, ordering: .relaxed))
    pool.release(slot)
  }
}
