internal import ArchiveFormat
internal import ArchiveIO
internal import Dispatch

/// Fills chunks with members, on one lane, and gives finished ones to the drain.
///
/// A job usually makes one chunk. When headers turn out longer than planned what is there becomes a chunk of its own and
/// the slot is used again once that is written.
final class ChunkBuilder {
  private let encoder: FrameEncoder
  private let pages: PageCodec
  private let stop: StopSignal
  private let hash: RunningHash128
  private let profile: LaneProfile?

  private var slot: WriteSlot?
  private var submit: (WriteResult, _ isLast: Bool) -> Void = { _, _ in }
  private var used = 0
  private var members: [IndexedMember] = []
  private var warnings: [ArchiveWarning] = []
  private var contentByteCount: UInt64 = 0
  /// The chunk in the making began within a member.
  private var beganInside = false
  private var header: [UInt8] = []
  /// The next chunk is the first of the archive.
  private var isFirst = false

  init(encoder: FrameEncoder, stop: StopSignal, profile: LaneProfile? = nil) throws(ArchiveError) {
    self.encoder = encoder
    self.stop = stop
    self.profile = profile
    pages = PageCodec()
    hash = try RunningHash128()
  }

  /// Begins a job. `submit` takes results in order; the last one ends the job's turn in the drain.
  func begin(_ slot: WriteSlot, isFirst: Bool, submit: @escaping (WriteResult, _ isLast: Bool) -> Void) {
    self.slot = slot
    self.submit = submit
    self.isFirst = isFirst
    used = 0
    members = []
    warnings = []
    contentByteCount = 0
    beganInside = false
  }

  /// Remembers a warning; it comes out in archive order.
  func warn(_ path: [UInt8], _ message: String) { warnings.append(ArchiveWarning(path: path, message: message)) }

  /// Adds a member without content, or with content from memory.
  func add(_ member: Member, content: [UInt8] = []) throws(ArchiveError) {
    try unsafe add(member) { buffer, offset in
      unsafe content.withUnsafeBytes {
        unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + buffer.count]))
      }
      return buffer.count
    }
  }

  /// Adds a member whose stored bytes `read` provides: it fills the buffer from the given offset of the stored data on and returns how many bytes there were; the
  /// rest is zeros and makes the member incomplete.
  func add(_ member: Member, read: (UnsafeMutableRawBufferPointer, _ offset: Int) -> Int) throws(ArchiveError) {
    guard let slot else { return }
    header.removeAll(keepingCapacity: true)
    try format(path: member.path) { () throws(FormatError) in try TarHeaderEncoder.append(member, to: &header) }
    let dataByteCount = member.kind == .file ? Int(member.storedByteCount) : 0
    let paddedByteCount = (dataByteCount + 511) & ~511
    var isIncomplete = false
    var contentHash: Hash128?
    let total = header.count + paddedByteCount
    if total > slot.input.byteCount - used, used > 0 { try flush(isMemberOpen: false) }
    if total <= slot.input.byteCount - used {
      unsafe header.withUnsafeBytes {
        unsafe (slot.input.base + used).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
      }
      used += header.count
      let target = unsafe UnsafeMutableRawBufferPointer(start: slot.input.base + used, count: dataByteCount)
      if dataByteCount > 0 {
        let count = unsafe read(target, 0)
        if count < dataByteCount {
          unsafe UnsafeMutableRawBufferPointer(rebasing: target[count...]).initializeMemory(
            as: UInt8.self, repeating: 0)
          isIncomplete = true
        }
        unsafe (slot.input.base + used + dataByteCount).initializeMemory(
          as: UInt8.self, repeating: 0, count: paddedByteCount - dataByteCount)
      }
      if member.kind == .file { contentHash = unsafe hashOf(member, UnsafeRawBufferPointer(target)) }
      used += paddedByteCount
    } else {
      (contentHash, isIncomplete) = try unsafe addInPieces(member, dataByteCount: dataByteCount, slot: slot, read: read)
    }
    contentByteCount.add(clamping: member.byteCount)
    members.append(
      IndexedMember(
        member: member, headerByteCount: UInt64(header.count), contentHash: contentHash, isIncomplete: isIncomplete))
  }

  private func hashOf(_ member: Member, _ content: UnsafeRawBufferPointer) -> Hash128 {
    guard let extents = member.sparseExtents else { return unsafe XXH3.hash128(content) }
    hash.reset()
    let prefix = IndexedMember.sparseHashPrefix(extents: extents, byteCount: member.byteCount)
    unsafe prefix.withUnsafeBytes { unsafe hash.update($0) }
    unsafe hash.update(content)
    return hash.digest()
  }

  /// For members larger than a slot (very small chunks with very large headers): chunks end wherever the slot is full.
  private func addInPieces(
    _ member: Member, dataByteCount: Int, slot: WriteSlot, read: (UnsafeMutableRawBufferPointer, Int) -> Int
  ) throws(ArchiveError) -> (Hash128?, isIncomplete: Bool) {
    let bytes = header
    var offset = 0
    while offset < bytes.count {
      if used == slot.input.byteCount { try flush(isMemberOpen: true) }
      let count = min(bytes.count - offset, slot.input.byteCount - used)
      unsafe bytes.withUnsafeBytes {
        unsafe (slot.input.base + used).copyMemory(from: $0.baseAddress! + offset, byteCount: count)
      }
      used += count
      offset += count
    }
    hash.reset()
    if let extents = member.sparseExtents {
      unsafe IndexedMember.sparseHashPrefix(extents: extents, byteCount: member.byteCount).withUnsafeBytes {
        unsafe hash.update($0)
      }
    }
    var isIncomplete = false
    offset = 0
    while offset < dataByteCount {
      if used == slot.input.byteCount { try flush(isMemberOpen: true) }
      let count = min(dataByteCount - offset, slot.input.byteCount - used)
      let target = unsafe UnsafeMutableRawBufferPointer(start: slot.input.base + used, count: count)
      let done = isIncomplete ? 0 : unsafe read(target, offset)
      if done < count {
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[done...]).initializeMemory(as: UInt8.self, repeating: 0)
        isIncomplete = true
      }
      unsafe hash.update(UnsafeRawBufferPointer(target))
      used += count
      offset += count
    }
    let padding = (512 - dataByteCount % 512) % 512
    if padding > slot.input.byteCount - used { try flush(isMemberOpen: true) }
    unsafe (slot.input.base + used).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
    used += padding
    return (member.kind == .file ? hash.digest() : nil, isIncomplete)
  }

  /// Makes a chunk of what there is and waits until it is written, so that the slot can be filled again.
  private func flush(isMemberOpen: Bool) throws(ArchiveError) {
    guard let slot, used > 0 else { return }
    var result = try takeResult(slot, isMemberOpen: isMemberOpen)
    let written = DispatchSemaphore(value: 0)
    result.written = written
    let registration = stop.token.onCancel { written.signal() }
    submit(result, false)
    profile.wait(\.slotWaitNanoseconds) { written.wait() }
    withExtendedLifetime(registration) {}
    try stop.check()
    beganInside = isMemberOpen
  }

  private func takeResult(_ slot: WriteSlot, isMemberOpen: Bool) throws(ArchiveError) -> WriteResult {
    defer {
      used = 0
      members = []
      warnings = []
      contentByteCount = 0
    }
    var result = WriteResult(warnings: warnings, contentByteCount: contentByteCount, memberCount: UInt64(members.count))
    guard used > 0 else { return result }
    let frame = try encoder.encode(slot, byteCount: used, isFirst: isFirst)
    isFirst = false
    var page: EncodedPage?
    if !beganInside && !isMemberOpen {
      let (bytes, summary) = try pages.encode(IndexPage(chunks: [frame.record], members: members))
      page = EncodedPage(frame: bytes, summary: summary)
    }
    result.chunk = WriteResult.Chunk(
      slot: slot, frame: frame, members: members, page: page, isMemberOpen: isMemberOpen)
    return result
  }

  /// Ends a job whose chunk begins and ends between members.
  func finish() throws(ArchiveError) {
    guard let slot else { return }
    var result = try takeResult(slot, isMemberOpen: false)
    result.releasedSlot = slot
    self.slot = nil
    submit(result, true)
  }

  /// Ends a job whose slot holds `byteCount` bytes of a member that spans chunks; `last` is its record when it ends here.
  func finishPiece(byteCount: Int, contentByteCount: UInt64, last: IndexedMember?) throws(ArchiveError) {
    guard let slot else { return }
    used = byteCount
    beganInside = true
    if let last { members = [last] }
    self.contentByteCount = contentByteCount
    var result = try takeResult(slot, isMemberOpen: last == nil)
    result.releasedSlot = slot
    self.slot = nil
    submit(result, true)
  }
}
