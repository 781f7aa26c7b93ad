internal import ArchiveFormat
internal import ArchiveIO

extension ArchiveReader {
  /// Writes the content of one file to a sink; holes of a sparse one as zeros. Hard links lead to their file.
  public func read(_ path: [UInt8], to sink: any ArchiveSink) throws(ArchiveError) {
    try read(path, ArchiveOutput(.sink(sink)), begin())
  }

  /// Writes the content of one file to a descriptor.
  public func read(_ path: [UInt8], to descriptor: Int32) throws(ArchiveError) {
    let stop = begin()
    let writer = try system { () throws(SystemError) in
      try DescriptorWriter(SharedDescriptor(Descriptor.duplicate(of: descriptor)), token: stop.token)
    }
    try read(path, ArchiveOutput(.descriptor(writer)), stop)
  }

  private func read(_ path: [UInt8], _ output: ArchiveOutput, _ stop: StopSignal) throws(ArchiveError) {
    // Where names repeat, order matters, which the index alone does not tell of links.
    guard let archive = try indexOrNil(), archive.root.closing[Manifest.repeatedNamesKey] == nil else {
      return try readFromStream(path, output, stop)
    }
    let lookup = MemberLookup(archive)
    guard var found = try lookup.find(path) else { throw Self.missing(path, for: path) }
    var linkCount = 0
    while found.member.member.kind == .hardlink {
      let target = found.member.member.linkTarget
      guard let file = try lookup.find(target) else { throw Self.missing(target, for: path) }
      found = file
      linkCount += 1
      guard linkCount < Self.maximumLinkCount else {
        throw ArchiveError(.rejected, "is a hard link behind more links than are followed", path: path)
      }
    }
    let indexed = found.member
    try Self.checkIsFile(indexed.member, path)
    if indexed.isIncomplete { warn(path, "is incomplete: its source could not be read to its end, the rest is zeros") }
    try checkMemory(for: archive)
    let loader = try ChunkLoader(archive.file)
    let slot = try ReadSlot(byteCount: archive.maximumChunkContentByteCount)
    let content = HoleWriter(indexed.member, output)
    let places = try lookup.chunks(of: found)
    let spanning = places.count > 1 ? try SpanningMember(indexed) : nil
    let check = try MemberCheck()
    for (index, place) in places.enumerated() {
      try stop.check()
      let bytes = try unsafe loader.load(place.record, number: place.number, at: place.offset, into: slot)
      let part = Self.part(of: indexed, in: place, index: index, spanning: spanning)
      if let spanning {
        try unsafe spanning.take(part, in: bytes, stop: stop)
      } else {
        try unsafe check.check(part, in: bytes, tarOffset: 0)
      }
      try unsafe content.write(UnsafeRawBufferPointer(rebasing: bytes[part.dataRange]))
    }
    try content.finish()
  }

  private static func part(
    of indexed: IndexedMember, in place: MemberLookup.ChunkPlace, index: Int, spanning: SpanningMember?
  ) -> MemberPart<Void> {
    func clamp(_ position: Int64) -> Int {
      Int(min(max(position - place.memberOffset, 0), Int64(place.record.contentByteCount)))
    }
    let dataStart = Int64(indexed.headerByteCount)
    let dataEnd = dataStart + Int64(indexed.dataByteCount)
    let data = clamp(dataStart)..<clamp(dataEnd)
    let dataOffset = max(0, place.memberOffset - dataStart)
    return MemberPart(
      member: indexed, headerRange: clamp(0)..<clamp(dataStart), dataRange: data, dataOffset: UInt64(dataOffset),
      spanning: spanning, index: index, action: (),
      endsMember: place.memberOffset + Int64(place.record.contentByteCount) >= Int64(indexed.tarByteCount))
  }

  static func checkIsFile(_ member: Member, _ path: [UInt8]) throws(ArchiveError) {
    guard member.kind == .file else {
      throw ArchiveError(.invalidArgument, "is a \(member.kind), not a file", path: path)
    }
  }
}

/// Writes stored data as the content that they stand for: with zeros for holes.
final class HoleWriter {
  private static let zeros = [UInt8](repeating: 0, count: 256 << 10)
  private let member: Member
  private let output: ArchiveOutput
  private var extentIndex = 0
  private var extentOffset: UInt64 = 0
  private var position: UInt64 = 0

  init(_ member: Member, _ output: ArchiveOutput) {
    self.member = member
    self.output = output
  }

  /// Takes the next stored bytes.
  func write(_ bytes: UnsafeRawBufferPointer) throws(ArchiveError) {
    guard let extents = member.sparseExtents else {
      if unsafe !bytes.isEmpty { try unsafe output.write([bytes]) }
      return
    }
    var done = 0
    while done < bytes.count, extentIndex < extents.count {
      let extent = extents[extentIndex]
      try fill(to: extent.offset + extentOffset)
      let count = min(bytes.count - done, Int(extent.byteCount - extentOffset))
      try unsafe output.write([UnsafeRawBufferPointer(rebasing: bytes[done..<done + count])])
      done += count
      position += UInt64(count)
      extentOffset += UInt64(count)
      if extentOffset == extent.byteCount {
        extentIndex += 1
        extentOffset = 0
      }
    }
  }

  /// Writes what is left: a hole at the end.
  func finish() throws(ArchiveError) {
    if member.sparseExtents != nil { try fill(to: member.byteCount) }
  }

  private func fill(to end: UInt64) throws(ArchiveError) {
    while position < end {
      let count = min(end - position, UInt64(Self.zeros.count))
      let result: Result<Void, ArchiveError> = unsafe Self.zeros.withUnsafeBytes { zeros in
        do throws(ArchiveError) {
          return .success(try unsafe output.write([UnsafeRawBufferPointer(rebasing: zeros[..<Int(count)])]))
        } catch { return .failure(error) }
      }
      try result.get()
      position += count
    }
  }
}
