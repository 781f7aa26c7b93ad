internal import ArchiveFormat

/// The records of pax headers: the same promises as for tar streams, with all bytes of the input inside of the records.
enum PaxBody {
  static func run(_ input: [UInt8]) throws(FuzzFailure) {
    var choices = Choices(input)
    let how = choices.byte()
    let seed = choices.byte()
    let type: UInt8 = Array("0125S3\u{0}7".utf8)[Int(how & 7)]
    let size: UInt64 = how & 8 == 0 ? 0 : 600
    let records = choices.rest()
    if how & 0x80 != 0 { return try checkACL(records) }
    var stream = RawTar.extended(how & 0x10 == 0 ? "x" : "g", records)
    // A second header in front of the member: readers must not mix them up.
    if how & 0x20 != 0 { stream += RawTar.extended("x", RawTar.record("mtime", "1.5")) }
    if how & 0x40 != 0 { stream += RawTar.extended("L", Array("long/name".utf8) + [0]) }
    stream += RawTar.header(
      Array("name".utf8), type: type, size: size, link: type == 0x31 || type == 0x32 ? Array("to".utf8) : [])
    if size > 0 { stream += [UInt8](repeating: 0x31, count: 1024) }
    stream += RawTar.header(Array("after".utf8), type: 0x30, size: 0) + RawTar.end
    try TarBody.check(stream, seed: seed)
  }

  /// An ACL that is understood has one text, and that text is understood as the same ACL.
  private static func checkACL(_ bytes: [UInt8]) throws(FuzzFailure) {
    if let text = ACLText.text(fromXattr: bytes) {
      guard let value = ACLText.xattr(fromText: text) else { return }
      try require(ACLText.text(fromXattr: value) == text || value != bytes, "the text of an ACL is not stable")
    }
    guard let value = ACLText.xattr(fromText: bytes, userID: { UInt32($0.count) }, groupID: { _ in nil }) else {
      return
    }
    guard let text = ACLText.text(fromXattr: value) else { throw FuzzFailure("an ACL made of text cannot be read") }
    try require(ACLText.xattr(fromText: text) == value, "the text of an ACL means another one")
  }
}
