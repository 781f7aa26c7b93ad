internal import ArchiveFormat

/// What the tar reader itself says of a stream: what all ways to look at it have to agree with.
struct TarFacts {
  /// Names of the members, directories without their slash.
  var names: [[UInt8]] = []
  var members: [Member] = []
  /// Some entry was refused.
  var hasRefusals = false
  /// Something odd was accepted.
  var hasNotes = false
  /// The stream cannot be read to its end.
  var isBroken = false

  init(_ tar: [UInt8], isLenient: Bool) {
    var parser = TarParser(isLenient: isLenient)
    do {
      var position = 0
      while position < tar.count {
        let (consumed, event) = try parser.consume(tar.span, in: position..<tar.count)
        position += consumed
        var following: UInt64 = 0
        switch event {
        case .member(let found):
          names.append(found.member.path)
          members.append(found.member)
          if !found.notes.isEmpty { hasNotes = true }
          following = found.paddedDataByteCount
        case .rejected(let refused):
          hasRefusals = true
          following = refused.paddedDataByteCount
        case .endOfArchive, nil: break
        }
        let skipped = min(following, UInt64(tar.count - position))
        parser.skip(skipped)
        position += Int(skipped)
      }
      switch try parser.finish() {
      case .complete: break
      case .missingEndBlocks, .dataAfterEnd, .headerWithoutMember: hasNotes = true
      case .empty: isBroken = true
      }
    } catch { isBroken = true }
  }

  /// What `verify` (strict) or `list` (lenient) ends with.
  var status: Int32 { isBroken ? 2 : hasRefusals || hasNotes ? 1 : 0 }

  /// The stream is one that a writer of ours could have made.
  var isClean: Bool { status == 0 }
}
