internal import ArchiveFormat
internal import ArchiveIO

/// Reads extended attributes and ACLs of source files into members.
enum SourceAttributes {
  private static let accessACL = Array("system.posix_acl_access".utf8)
  private static let defaultACL = Array("system.posix_acl_default".utf8)
  private static let systemPrefix = Array("system.".utf8)
  /// Attributes beyond this many bytes are skipped: a pax header may have 1 MiB, and this leaves room for the rest.
  private static let maximumByteCount = 960 << 10

  /// Adds what `names` and `value` give to the member; what cannot be read is a warning.
  static func read(
    into member: inout Member, names: () throws(SystemError) -> [[UInt8]],
    value: ([UInt8]) throws(SystemError) -> [UInt8]?, warn: (String) -> Void
  ) {
    let list: [[UInt8]]
    do { list = try names() } catch {
      warn("extended attributes cannot be read: \(error.message)")
      return
    }
    if list.isEmpty { return }
    var byteCount = 0
    var skippedCount = 0
    for name in list.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      let isACL = name == accessACL || name == defaultACL
      if name.starts(with: systemPrefix) && !isACL { continue }
      do {
        guard let bytes = try value(name) else { continue }
        if isACL {
          guard let text = ACLText.text(fromXattr: bytes) else {
            warn("ACL in an unknown form is left out")
            continue
          }
          if name == accessACL { member.accessACL = text } else { member.defaultACL = text }
          byteCount += text.count
          continue
        }
        byteCount += name.count * 3 + bytes.count + 32
        if byteCount > maximumByteCount {
          skippedCount += 1
          continue
        }
        member.extendedAttributes.append(ExtendedAttribute(name: name, value: bytes))
      } catch {
        warn("extended attribute \(PathText.printable(name)) cannot be read: \(error.message)")
      }
    }
    if skippedCount > 0 {
      warn("\(skippedCount) extended attributes are left out: together they exceed what a pax header may hold")
    }
  }
}
