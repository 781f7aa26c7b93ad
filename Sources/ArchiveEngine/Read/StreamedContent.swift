internal import ArchiveFormat
internal import ArchiveIO

/// Reading one file of a stream. Of several members with its name the last counts, as for an extraction; a hard link refers to the last
/// member of that name before it, or else to the last of all.
extension ArchiveReader {
  /// Links to links that are followed.
  static let maximumLinkCount = 8

  func readFromStream(_ path: [UInt8], _ output: ArchiveOutput, _ stop: StopSignal) throws(ArchiveError) {
    if case .pipe = input { return try readFromPipe(path, output, stop) }
    // What is written cannot be taken back, so the archive is gone through for the place first.
    var wanted = path
    var before = UInt64.max
    for number in 0..<Self.maximumLinkCount {
      let pool = try makeStreamPool(stop)
      let search = ContentSearch(path: wanted, before: before, pool: pool)
      _ = try runStream(search, pool: pool, stop: stop, reports: number == 0)
      guard let found = search.found else { throw Self.missing(wanted, for: path) }
      if found.member.kind == .hardlink {
        (wanted, before) = (found.member.linkTarget, found.position)
        continue
      }
      try Self.checkIsFile(found.member, path)
      let visitor = try ContentVisitor(
        path: wanted, position: found.position, pool: pool, target: .output(output), warn: { self.warn($0, $1) })
      _ = try runStream(visitor, pool: pool, stop: stop, reports: false)
      return
    }
    throw ArchiveError(.rejected, "is a hard link behind more links than are followed", path: path)
  }

  private func readFromPipe(_ path: [UInt8], _ output: ArchiveOutput, _ stop: StopSignal) throws(ArchiveError) {
    let pool = try makeStreamPool(stop)
    let spool = try ContentSpool()
    let visitor = try ContentVisitor(
      path: path, position: nil, pool: pool, target: .spool(spool), warn: { self.warn($0, $1) })
    _ = try runStream(visitor, pool: pool, stop: stop)
    guard let member = visitor.member else { throw Self.missing(path, for: path) }
    if member.kind == .hardlink {
      throw ArchiveError(
        .unsupported,
        "is a hard link to \"\(PathText.printable(member.linkTarget))\", whose content has gone by in the stream; ask for that name",
        path: path)
    }
    try Self.checkIsFile(member, path)
    try spool.write(to: HoleWriter(member, output), stop)
  }

  static func missing(_ path: [UInt8], for asked: [UInt8]) -> ArchiveError {
    if path == asked { return ArchiveError(.notFound, "is not in the archive", path: path) }
    return ArchiveError(
      .notFound, "is a hard link to \"\(PathText.printable(path))\", which is not in the archive", path: asked)
  }
}

/// Finds the member of a stream whose content is meant.
private final class ContentSearch: StreamVisitor {
  struct Found {
    var member: Member
    /// Its number in the archive.
    var position: UInt64
  }

  private let path: [UInt8]
  private let before: UInt64
  private let pool: SlotPool<StreamSlot>
  private var position: UInt64 = 0
  private(set) var found: Found?

  init(path: [UInt8], before: UInt64, pool: SlotPool<StreamSlot>) {
    self.path = path
    self.before = before
    self.pool = pool
  }

  func begin(_ parsed: ParsedMember, fits: Bool, offset: UInt64) {
    position += 1
    guard parsed.member.path == path, position != before else { return }
    // One before the link counts more than all that come after it.
    if position > before, let found, found.position < before { return }
    found = Found(member: parsed.member, position: position)
  }

  func data(_ range: Range<Int>, storedOffset: UInt64, in piece: StreamPiece) {}
  func end(_ member: ParsedMember) {}

  func reject(_ member: RejectedMember) throws(ArchiveError) {
    guard member.path == path else { return }
    throw ArchiveError(.rejected, member.reason.message, path: path)
  }

  func markIncomplete(_ paths: [[UInt8]]) {}
  func finish(_ piece: StreamPiece) { pool.release(piece.slot) }
}

/// Takes the content of one member of a stream.
private final class ContentVisitor: StreamVisitor {
  enum Target {
    case output(ArchiveOutput)
    /// For a stream that comes once: what was taken before is given up when the name comes again.
    case spool(ContentSpool)
  }

  private let path: [UInt8]
  /// The number of the member that is meant; nil for every one of the name.
  private let position: UInt64?
  private let pool: SlotPool<StreamSlot>
  private let target: Target
  private let warn: ([UInt8], String) -> Void
  private var count: UInt64 = 0
  private var isCurrent = false
  private var writer: HoleWriter?
  private(set) var member: Member?

  init(
    path: [UInt8], position: UInt64?, pool: SlotPool<StreamSlot>, target: Target,
    warn: @escaping ([UInt8], String) -> Void
  ) throws(ArchiveError) {
    self.path = path
    self.position = position
    self.pool = pool
    self.target = target
    self.warn = warn
  }

  func begin(_ parsed: ParsedMember, fits: Bool, offset: UInt64) {
    count += 1
    isCurrent = parsed.member.path == path && (position == nil || position == count)
    guard isCurrent else { return }
    member = parsed.member
    switch target {
    case .output(let output): writer = HoleWriter(parsed.member, output)
    case .spool(let spool): spool.clear()
    }
  }

  func data(_ range: Range<Int>, storedOffset: UInt64, in piece: StreamPiece) throws(ArchiveError) {
    guard isCurrent else { return }
    let bytes = unsafe UnsafeRawBufferPointer(start: piece.slot.content.base + range.lowerBound, count: range.count)
    switch target {
    case .output: try unsafe writer?.write(bytes)
    case .spool(let spool): try unsafe spool.append(bytes)
    }
  }

  func end(_ member: ParsedMember) throws(ArchiveError) {
    if isCurrent { try writer?.finish() }
    isCurrent = false
  }

  func reject(_ member: RejectedMember) throws(ArchiveError) {
    guard member.path == path else { return }
    throw ArchiveError(.rejected, member.reason.message, path: path)
  }

  func markIncomplete(_ paths: [[UInt8]]) {
    if paths.contains(path) { warn(path, "is incomplete: its source could not be read to its end, the rest is zeros") }
  }

  func finish(_ piece: StreamPiece) { pool.release(piece.slot) }
}

/// Stored data of one member in a file without a name.
private final class ContentSpool {
  private let file: SharedDescriptor
  private var byteCount: Int64 = 0

  init() throws(ArchiveError) {
    file = try system { () throws(SystemError) in SharedDescriptor(try TemporaryFile.make()) }
  }

  func clear() { byteCount = 0 }

  func append(_ bytes: UnsafeRawBufferPointer) throws(ArchiveError) {
    try system { () throws(SystemError) in try unsafe FileSystem.pwrite(file.rawValue, bytes, at: byteCount) }
    byteCount += Int64(bytes.count)
  }

  /// Gives out what was taken last.
  func write(to writer: HoleWriter, _ stop: StopSignal) throws(ArchiveError) {
    let buffer = try system { () throws(SystemError) in try Buffer(byteCount: 1 << 20) }
    var done: Int64 = 0
    while done < byteCount {
      try stop.check()
      let part = unsafe UnsafeMutableRawBufferPointer(
        start: buffer.base, count: Int(min(Int64(1 << 20), byteCount - done)))
      let count = try system { () throws(SystemError) in
        try unsafe FileSystem.pread(file.rawValue, into: part, at: done)
      }
      guard count == part.count else { throw ArchiveError(.system, "a temporary file became shorter") }
      try unsafe writer.write(UnsafeRawBufferPointer(part))
      done += Int64(count)
    }
    try writer.finish()
  }
}
