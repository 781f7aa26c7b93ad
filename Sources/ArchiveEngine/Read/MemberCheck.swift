internal import ArchiveFormat
internal import ArchiveIO
internal import Dispatch

/// Compares what the tar stream says of members with what the index says. Belongs to one lane.
struct MemberCheck {
  private let hash: RunningHash128

  init() throws(ArchiveError) { hash = try RunningHash128() }

  /// Checks headers and content hash of a member that lies wholly in one chunk.
  ///
  /// - Throws: `mismatch` with both values.
  func check<Action>(_ part: MemberPart<Action>, in content: UnsafeRawBufferPointer, tarOffset: UInt64)
    throws(ArchiveError)
  {
    var parser = TarParser(startOffset: tarOffset + UInt64(part.headerRange.lowerBound))
    let bytes = unsafe UnsafeBufferPointer<UInt8>(
      start: content.baseAddress?.assumingMemoryBound(to: UInt8.self), count: content.count)
    let path = part.member.member.path
    let (consumed, event) = try Self.parsing(path) { () throws(FormatError) in
      try unsafe parser.consume(bytes.span, in: part.headerRange)
    }
    try Self.refuseGlobalRecords(parser, path: path)
    try Self.compare(event, consumed: consumed, expected: part.headerRange.count, with: part.member)
    guard let expected = part.member.contentHash else { return }
    let data = unsafe UnsafeRawBufferPointer(rebasing: content[part.dataRange])
    let actual: Hash128
    if let extents = part.member.member.sparseExtents {
      hash.reset()
      let prefix = IndexedMember.sparseHashPrefix(extents: extents, byteCount: part.member.member.byteCount)
      unsafe prefix.withUnsafeBytes { unsafe hash.update($0) }
      unsafe hash.update(data)
      actual = hash.digest()
    } else {
      actual = unsafe XXH3.hash128(data)
    }
    try Self.compare(actual, with: expected, path: path)
  }

  /// Refuses what holds for later members too: read by their own headers, as here, they would be other than for who reads the tar from its
  /// start, and no record would show it.
  static func refuseGlobalRecords(_ parser: TarParser, path: [UInt8]) throws(ArchiveError) {
    guard parser.hasGlobalRecords else { return }
    throw ArchiveError(.mismatch, "a global pax header, which no archive with an index may have", path: path)
  }

  /// The stored bytes have the hash that the index states: a header that cannot be read was not damaged afterwards.
  static func parsing<R>(_ path: [UInt8], _ body: () throws(FormatError) -> R) throws(ArchiveError) -> R {
    do { return try body() } catch {
      throw ArchiveError(.mismatch, "the index lists what the tar reader cannot read: \(error.message)", path: path)
    }
  }

  static func compare(_ actual: Hash128, with expected: Hash128, path: [UInt8]) throws(ArchiveError) {
    guard actual != expected else { return }
    throw ArchiveError(
      .mismatch, "content hash is \(actual.hexadecimal) where the index states \(expected.hexadecimal)", path: path)
  }

  static func compare(
    _ event: TarParser.Event?, consumed: Int, expected: Int, with indexed: IndexedMember
  ) throws(ArchiveError) {
    let path = indexed.member.path
    switch event {
    case .member(let parsed):
      if parsed.member != indexed.member {
        throw ArchiveError(
          .mismatch,
          "index and tar header differ: \(MemberDifference.describe(index: indexed.member, tar: parsed.member))",
          path: path)
      }
      guard consumed == expected, parsed.headerByteCount == indexed.headerByteCount,
        parsed.dataByteCount == indexed.dataByteCount
      else {
        throw ArchiveError(
          .mismatch,
          "tar header of \(parsed.headerByteCount) bytes with \(parsed.dataByteCount) bytes of data where the index states \(indexed.headerByteCount) and \(indexed.dataByteCount)",
          path: path)
      }
    case .rejected(let rejected):
      throw ArchiveError(
        .mismatch, "the index lists what the tar reader refuses: \(rejected.reason.message)", path: path)
    case .endOfArchive:
      throw ArchiveError(.mismatch, "the tar stream ends where the index states a member", path: path)
    case nil:
      throw ArchiveError(.mismatch, "the tar header is longer than the index states", path: path)
    }
  }
}

/// The check of a member that lies in several chunks: its parts come from different lanes and are taken in order.
///
/// Tasks are handed out in order, so the earliest part that is still missing is always being worked on.
final class SpanningMember: Sendable {
  private struct State {
    var parser = TarParser()
    var isHeaderChecked = false
    var next = 0
    var isBroken = false
    var waiting: [Int: DispatchSemaphore] = [:]
  }

  private let member: IndexedMember
  private let hash: RunningHash128
  private let state = Locked(State())

  init(_ member: IndexedMember) throws(ArchiveError) {
    self.member = member
    hash = try RunningHash128()
    if let extents = member.member.sparseExtents {
      let prefix = IndexedMember.sparseHashPrefix(extents: extents, byteCount: member.member.byteCount)
      unsafe prefix.withUnsafeBytes { unsafe hash.update($0) }
    }
  }

  /// Takes the next part; waits for the ones before it. With `content` nil the part is lost and the rest of the member is not checked.
  ///
  /// - Returns: whether the member is healthy up to here.
  @discardableResult
  func take<Action>(
    _ part: MemberPart<Action>, in content: UnsafeRawBufferPointer?, stop: StopSignal, profile: LaneProfile? = nil
  ) throws(ArchiveError) -> Bool {
    let turn = DispatchSemaphore(value: 0)
    let mustWait = state.withLock { state in
      guard state.next != part.index else { return false }
      state.waiting[part.index] = turn
      return true
    }
    if mustWait {
      let registration = stop.token.onCancel { turn.signal() }
      profile.wait(\.chainWaitNanoseconds) { turn.wait() }
      withExtendedLifetime(registration) {}
      try stop.check()
    }
    var failure: ArchiveError?
    if let content = unsafe content {
      failure = profile.ordered(.memberHash) {
        do throws(ArchiveError) { try unsafe check(part, in: content) } catch { return error }
        return nil
      }
    }
    let isLost = unsafe content == nil
    let (waiter, isHealthy) = state.withLock { state in
      if isLost || failure != nil { state.isBroken = true }
      state.next += 1
      return (state.waiting.removeValue(forKey: state.next), !state.isBroken)
    }
    waiter?.signal()
    if let failure { throw failure }
    return isHealthy
  }

  /// Only the holder of the turn is here.
  private func check<Action>(_ part: MemberPart<Action>, in content: UnsafeRawBufferPointer) throws(ArchiveError) {
    if state.withLock({ $0.isBroken }) { return }
    if !part.headerRange.isEmpty {
      let bytes = unsafe UnsafeBufferPointer<UInt8>(
        start: content.baseAddress?.assumingMemoryBound(to: UInt8.self), count: content.count)
      let result: Result<TarParser.Event?, FormatError> = state.withLock { state in
        do throws(FormatError) {
          return .success(try unsafe state.parser.consume(bytes.span, in: part.headerRange).event)
        } catch {
          return .failure(error)
        }
      }
      let event = try MemberCheck.parsing(member.member.path) { () throws(FormatError) in try result.get() }
      let isHeaderDone = !part.dataRange.isEmpty || part.endsMember
      if event != nil || isHeaderDone {
        try MemberCheck.refuseGlobalRecords(state.withLock { $0.parser }, path: member.member.path)
        try MemberCheck.compare(event, consumed: 0, expected: 0, with: member)
        state.withLock { $0.isHeaderChecked = true }
      }
    }
    guard member.contentHash != nil else { return }
    unsafe hash.update(UnsafeRawBufferPointer(rebasing: content[part.dataRange]))
    if part.endsMember, let expected = member.contentHash {
      try MemberCheck.compare(hash.digest(), with: expected, path: member.member.path)
    }
  }
}

/// Says where two witnesses of one member differ.
enum MemberDifference {
  /// The first difference with both values, or of a long list of attributes the name.
  static func describe(index: Member, tar: Member) -> String {
    func text(_ bytes: [UInt8]) -> String { "\"" + PathText.printable(bytes) + "\"" }
    func both(_ name: String, _ left: String, _ right: String) -> String {
      "\(name) is \(left) in the index and \(right) in the tar header"
    }
    if index.path != tar.path { return both("path", text(index.path), text(tar.path)) }
    if index.kind != tar.kind { return both("type", "\(index.kind)", "\(tar.kind)") }
    if index.byteCount != tar.byteCount { return both("size", "\(index.byteCount)", "\(tar.byteCount)") }
    if index.linkTarget != tar.linkTarget { return both("link target", text(index.linkTarget), text(tar.linkTarget)) }
    if index.mode != tar.mode {
      return both("mode", String(index.mode, radix: 8), String(tar.mode, radix: 8))
    }
    if index.userID != tar.userID { return both("user", "\(index.userID)", "\(tar.userID)") }
    if index.groupID != tar.groupID { return both("group", "\(index.groupID)", "\(tar.groupID)") }
    if index.userName != tar.userName { return both("user name", text(index.userName), text(tar.userName)) }
    if index.groupName != tar.groupName { return both("group name", text(index.groupName), text(tar.groupName)) }
    if index.modificationTime != tar.modificationTime {
      let (left, right) = (index.modificationTime, tar.modificationTime)
      return both(
        "modification time", "\(left.seconds) s \(left.nanoseconds) ns", "\(right.seconds) s \(right.nanoseconds) ns")
    }
    if index.deviceMajor != tar.deviceMajor || index.deviceMinor != tar.deviceMinor {
      return both(
        "device", "\(index.deviceMajor):\(index.deviceMinor)", "\(tar.deviceMajor):\(tar.deviceMinor)")
    }
    if index.accessACL != tar.accessACL { return both("ACL", text(index.accessACL), text(tar.accessACL)) }
    if index.defaultACL != tar.defaultACL { return both("default ACL", text(index.defaultACL), text(tar.defaultACL)) }
    if index.sparseExtents != tar.sparseExtents { return extents(index.sparseExtents, tar.sparseExtents, both) }
    for name in (index.extendedAttributes + tar.extendedAttributes).map(\.name) {
      let (left, right) = (value(of: name, in: index), value(of: name, in: tar))
      if left != right { return both("extended attribute \(text(name))", left, right) }
    }
    return "they are not the same"
  }

  /// An attribute's value as text; of a long one the beginning, the length and the hash.
  private static func value(of name: [UInt8], in member: Member) -> String {
    guard let found = member.extendedAttributes.first(where: { $0.name == name }) else { return "missing" }
    let shown = 64
    if found.value.count <= shown { return "\"" + PathText.printable(found.value) + "\"" }
    let hash = XXH3.hash64(found.value.span).paddedHexadecimal
    return "\"\(PathText.printable(Array(found.value.prefix(shown))))…\" (\(found.value.count) bytes, hash \(hash))"
  }

  /// The first data region of a sparse file that is another one.
  private static func extents(
    _ index: [SparseExtent]?, _ tar: [SparseExtent]?, _ both: (String, String, String) -> String
  ) -> String {
    guard let index, let tar, index.count == tar.count else {
      return both("number of data regions", index.map { "\($0.count)" } ?? "none", tar.map { "\($0.count)" } ?? "none")
    }
    guard let place = index.indices.first(where: { index[$0] != tar[$0] }) else { return "they are not the same" }
    let (left, right) = (index[place], tar[place])
    return both(
      "data region \(place + 1)", "\(left.byteCount) bytes at \(left.offset)",
      "\(right.byteCount) bytes at \(right.offset)")
  }
}
