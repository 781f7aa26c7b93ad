internal import ArchiveEngine
internal import ArchiveFormat
internal import CommandLineTool

/// Members as `list` shows them.
struct ListingText {
  private var ownerWidth = 0
  private var sizeWidth = 6

  /// The path with a slash behind directories.
  static func name(_ member: Member) -> [UInt8] { member.kind == .directory ? member.path + [0x2F] : member.path }

  /// A line of `list`.
  static func nameLine(_ member: Member) -> [UInt8] {
    let path = member.path
    var line: [UInt8] = []
    line.reserveCapacity(path.count + 2)
    if PathText.isPlain(path) { line += path } else { line += PathText.printable(path).utf8 }
    if member.kind == .directory { line.append(0x2F) }
    line.append(0x0A)
    return line
  }

  /// A line of `list -l`. Columns grow with what they have to hold: the rest of a list is not known.
  mutating func line(_ member: Member) -> String {
    let owner = Self.owner(member.userName, member.userID) + "/" + Self.owner(member.groupName, member.groupID)
    let isDevice = member.kind == .characterDevice || member.kind == .blockDevice
    let size = isDevice ? "\(member.deviceMajor),\(member.deviceMinor)" : String(member.byteCount)
    ownerWidth = max(ownerWidth, owner.count)
    sizeWidth = max(sizeWidth, size.count)
    let ownerPadding = String(repeating: " ", count: ownerWidth - owner.count)
    let sizePadding = String(repeating: " ", count: sizeWidth - size.count)
    var line = "\(Self.mode(member)) \(owner)\(ownerPadding) \(sizePadding)\(size) "
    line += "\(TimeText.minute(member.modificationTime)) \(PathText.printable(Self.name(member)))"
    if member.kind == .symlink { line += " -> " + PathText.printable(member.linkTarget) }
    if member.kind == .hardlink { line += " link to " + PathText.printable(member.linkTarget) }
    return line
  }

  private static func owner(_ name: [UInt8], _ number: UInt64) -> String {
    name.isEmpty ? String(number) : PathText.printable(name)
  }

  /// "drwxr-sr-t"; the first letter is that of `ls`, and "h" for a hard link.
  static func mode(_ member: Member) -> String {
    let mode = member.mode
    var text = [type(member.kind).letter]
    for (shift, special, letter) in [(6, 0o4000, "s"), (3, 0o2000, "s"), (0, 0o1000, "t")]
      as [(UInt32, UInt32, Character)]
    {
      let bits = mode >> shift
      text.append(bits & 4 != 0 ? "r" : "-")
      text.append(bits & 2 != 0 ? "w" : "-")
      let runs = bits & 1 != 0
      if mode & special != 0 {
        text.append(runs ? letter : Character(letter.uppercased()))
      } else {
        text.append(runs ? "x" : "-")
      }
    }
    return String(text)
  }

  private static func type(_ kind: MemberKind) -> (letter: Character, word: String) {
    switch kind {
    case .file: ("-", "file")
    case .directory: ("d", "directory")
    case .symlink: ("l", "symlink")
    case .hardlink: ("h", "hardlink")
    case .fifo: ("p", "fifo")
    case .characterDevice: ("c", "chardev")
    case .blockDevice: ("b", "blockdev")
    }
  }

  /// An object of `list --json`.
  static func json(_ listed: ListedMember) -> [UInt8] {
    let member = listed.member
    return JSONText.line { text in
      text.field("path", lossy: member.path)
      text.field("type", type(member.kind).word)
      text.field("size", member.byteCount)
      text.field("mode", octal(member.mode))
      text.field("uid", member.userID)
      text.field("gid", member.groupID)
      text.field("user", lossy: member.userName)
      text.field("group", lossy: member.groupName)
      text.field("mtime", member.modificationTime.seconds)
      text.field("mtimeNanoseconds", member.modificationTime.nanoseconds)
      if member.linkTarget.isEmpty {
        text.field("linkTarget", nil as String?)
      } else {
        text.field("linkTarget", lossy: member.linkTarget)
      }
      text.field("hash", listed.contentHash?.hexadecimal)
      text.field("chunks", listed.chunkCount)
      if member.kind == .characterDevice || member.kind == .blockDevice {
        text.field("deviceMajor", member.deviceMajor)
        text.field("deviceMinor", member.deviceMinor)
      }
      if listed.isIncomplete { text.field("incomplete", true) }
    }
  }

  /// Four digits, as `chmod` takes them.
  private static func octal(_ mode: UInt32) -> String {
    let digits = String(mode, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
