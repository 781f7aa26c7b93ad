internal import ArchiveFormat

/// Seek tables of zstd's seekable format.
enum SeekTableBody {
  /// The first byte says whether sizes and magics are made right.
  static func run(_ input: [UInt8]) throws(FuzzFailure) {
    var choices = Choices(input)
    let how = choices.byte()
    var frame = choices.rest()
    if how & 1 == 0 { frame = wrapped(frame, hasChecksums: how & 2 != 0) }
    // A table that ends too early is never one.
    guard try isTable(frame), how & 4 != 0 else { return }
    let cut = Array(frame.prefix(Int(how) * frame.count / 256))
    let found = accepted { () throws(FormatError) in try SeekTable.parse(cut.span) }
    try require(found == nil, "a table of \(cut.count) of \(frame.count) bytes is accepted")
  }

  /// Whether the bytes are a table; then all that must hold for it is checked.
  private static func isTable(_ frame: [UInt8]) throws(FuzzFailure) -> Bool {
    let tail = Array(frame.suffix(SeekTable.footerByteCount))
    let footer = accepted { () throws(FormatError) in try SeekTable.parseFooter(tail.span) } ?? nil
    guard let entries = accepted({ () throws(FormatError) in try SeekTable.parse(frame.span) }) else { return false }
    guard let footer else { throw FuzzFailure("a table without a footer is accepted") }
    try require(Int(footer.frameCount) == entries.count, "\(entries.count) entries, \(footer.frameCount) stated")
    try require(footer.tableByteCount == frame.count, "\(frame.count) bytes, \(footer.tableByteCount) stated")
    let width = footer.hasChecksums ? 12 : 8
    for (index, entry) in entries.enumerated() {
      let start = 8 + index * width
      let stored = (0..<4).reduce(0) { $0 | Int(frame[start + $1]) << (8 * $1) }
      let content = (4..<8).reduce(0) { $0 | Int(frame[start + $1]) << (8 * ($1 - 4)) }
      try require(Int(entry.compressedByteCount) == stored, "entry \(index) is \(entry)")
      try require(Int(entry.decompressedByteCount) == content, "entry \(index) is \(entry)")
    }
    let again = try mustSucceed("encoding a table") { () throws(FormatError) in try SeekTable.encodedFrame(entries) }
    if !footer.hasChecksums {
      // The low bits of the descriptor are free and written as zeros.
      var canonical = frame
      canonical[frame.count - 5] = 0
      try require(again == canonical, "a table encodes to other bytes")
    }
    let second = accepted { () throws(FormatError) in try SeekTable.parse(again.span) }
    try require(second == entries, "a table is read otherwise once it was written")
    return true
  }

  /// A frame of these entries, as many as are whole.
  private static func wrapped(_ body: [UInt8], hasChecksums: Bool) -> [UInt8] {
    let width = hasChecksums ? 12 : 8
    let count = body.count / width
    func integer(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    return integer(Int(SeekTable.magic)) + integer(count * width + 9) + body.prefix(count * width) + integer(count)
      + [hasChecksums ? 0x80 : 0] + integer(Int(SeekTable.footerMagic))
  }
}
