import Foundation
import Testing

@testable import ArchiveFormat

/// What is written is read by the usual programs without a word of complaint, and what they write is read here.
@Suite(.serialized) struct TarToolTests {
  /// Prints what Python finds, one member a line.
  static let pythonList = """
    python3 -c '
    import sys, tarfile
    for m in tarfile.open(sys.argv[1], errors="surrogateescape"):
        sys.stdout.buffer.write(m.name.encode("utf-8", "surrogateescape") + b"|%d|%s\\n" % (m.size, m.type))
    ' x.tar
    """

  private static func readers(_ kinds: [String] = ["C.UTF-8", "C"]) -> [String] {
    kinds.flatMap { ["LC_ALL=\($0) tar -tvf x.tar", "LC_ALL=\($0) bsdtar -tvf x.tar", "LC_ALL=\($0) \(pythonList)"] }
  }

  private static func stream(_ members: [Member]) throws -> [UInt8] {
    var out: [UInt8] = []
    for member in members {
      try TarHeaderEncoder.append(member, to: &out)
      out += [UInt8](repeating: 0x41, count: TarLimits.padded(Int(member.storedByteCount)))
    }
    return out + RawTar.end
  }

  @Test func everyFormIsReadQuietly() throws {
    var members: [Member] = []
    for count in [1, 99, 100, 101, 156, 255, 256, 257, 600, 4000] {
      for byte in [0x61, 0xFF] as [UInt8] {
        for kind in MemberKind.allCases {
          var path = [UInt8](repeating: byte, count: count)
          for index in stride(from: 90, to: count - 1, by: 90) { path[index] = 0x2F }
          var member = Member(path: path, kind: kind, mode: 0o4755)
          if kind == .symlink || kind == .hardlink { member.linkTarget = path }
          if kind == .file { member.byteCount = 600 }
          member.modificationTime = Timestamp(seconds: 1_700_000_000, nanoseconds: count % 2 == 0 ? 0 : 120_000_000)
          members.append(member)
          guard kind == .file else { continue }
          member.sparseExtents = [SparseExtent(offset: 4096, byteCount: 1024)]
          for size in [5120, 1 << 40] as [UInt64] {
            member.byteCount = size
            members.append(member)
          }
          member.sparseExtents = []
          members.append(member)
          member.byteCount = 0
          members.append(member)
        }
      }
    }
    var odd = Member(path: Array("odd".utf8), kind: .file)
    odd.userID = 3_000_000_000
    odd.groupID = 4_294_967_295
    odd.userName = [UInt8](repeating: 0x75, count: 40)
    odd.groupName = Array("gruppe-mit-einem-sehr-langen-namen".utf8)
    odd.extendedAttributes = [
      ExtendedAttribute(name: Array("user.%=\n".utf8) + [0xFF], value: [0, 10, 0x3D, 0xFF]),
      ExtendedAttribute(name: Array("user.empty".utf8), value: []),
    ]
    odd.accessACL = Array("user::rw-,user:1000:r--,group::r--,mask::r--,other::---".utf8)
    for seconds in [-1, -5_000_000_000, 8_589_934_592, 253_402_300_800] as [Int64] {
      odd.modificationTime = Timestamp(seconds: seconds, nanoseconds: 500_000_000)
      members.append(odd)
    }
    members.append(Member(path: TarPath.root, kind: .directory))
    let directory = try TarTestDirectory()
    try directory.write(Self.stream(members), to: "x.tar")
    for command in Self.readers() {
      let lines = try directory.runQuietly(command).utf8.split(separator: 0x0A)
      #expect(lines.count == members.count, "\(command)")
    }
    // Python gives names and sizes as they are.
    let listed = try directory.runQuietly("\(Self.pythonList) | md5sum")
    var expected: [UInt8] = []
    for member in members {
      expected += member.path + Array("|\(member.byteCount)|".utf8)
      expected += [[0x30], [0x35], [0x32], [0x31], [0x36], [0x33], [0x34]][Int(member.kind.rawValue)] + [0x0A]
    }
    try directory.write(expected, to: "expected")
    #expect(try directory.runQuietly("md5sum < expected") == listed)
  }

  /// Records that are not ASCII are quiet in a UTF-8 locale. In the C locale bsdtar complains about any such record.
  @Test func textThatIsNotASCII() throws {
    var member = Member(path: [UInt8](String(repeating: "\u{E9}\u{65E5}", count: 60).utf8), kind: .symlink)
    member.linkTarget = member.path
    member.userName = [UInt8](String(repeating: "\u{E9}", count: 20).utf8)
    var sparse = Member(path: member.path, kind: .file)
    sparse.sparseExtents = []
    sparse.byteCount = 4096
    let directory = try TarTestDirectory()
    try directory.write(try Self.stream([member, sparse]), to: "x.tar")
    for command in Self.readers(["C.UTF-8"]) { _ = try directory.runQuietly(command) }
    let listed = try directory.runQuietly(Self.pythonList)
    #expect(listed.contains(String(decoding: member.path, as: UTF8.self) + "|4096|0"))
  }

  @Test func sizesAboveTheOctalField() throws {
    var member = Member(path: Array("big".utf8), kind: .file)
    member.byteCount = 1 << 33
    let directory = try TarTestDirectory()
    var header: [UInt8] = []
    try TarHeaderEncoder.append(member, to: &header)
    try directory.write(header, to: "x.tar")
    try directory.write(RawTar.end, to: "end")
    _ = try directory.runQuietly("truncate -s +8G x.tar && cat end >> x.tar")
    #expect(try directory.runQuietly("tar -tvf x.tar").contains("8589934592"))
    #expect(try directory.runQuietly("bsdtar -tvf x.tar").contains("8589934592"))
    #expect(try directory.runQuietly(Self.pythonList) == "big|8589934592|0\n")
  }

  /// Extracted by others, sparse files and names have the right bytes.
  @Test(arguments: ["tar --sparse -xf x.tar", "tar -xf x.tar", "bsdtar -xf x.tar", "python3 -m tarfile -e x.tar ."])
  func extraction(command: String) throws {
    var members: [Member] = []
    for (index, path) in ["plain", "s\u{E9}", String(repeating: "long", count: 40)].enumerated() {
      for size in [20000, 5633] as [UInt64] {
        var member = Member(path: Array("\(path)\(size)".utf8) + (index == 0 ? [0xFF] : []), kind: .file)
        member.sparseExtents = [SparseExtent(offset: 512, byteCount: 512), SparseExtent(offset: 4096, byteCount: 1537)]
        member.byteCount = size
        members.append(member)
      }
    }
    let directory = try TarTestDirectory()
    try directory.write(Self.stream(members), to: "x.tar")
    _ = try directory.runQuietly(command)
    for member in members {
      var expected = [UInt8](repeating: 0, count: Int(member.byteCount))
      for index in expected.indices where (512..<1024).contains(index) || (4096..<5633).contains(index) {
        expected[index] = 0x41
      }
      try directory.write(member.path, to: "name")
      try directory.write(expected, to: "expected")
      _ = try directory.runQuietly("cmp \"$(cat name)\" expected")
    }
  }

  // MARK: Reading what others write

  private static let tree = """
    mkdir -p t/d/e && cd t && printf hello > d/f && ln -s ../x d/s && ln d/f d/h && mkfifo p && touch -d @-5.25 old \
    && touch -d @1.5 d/f && chmod 4711 d/f && printf x > "$(printf '%0120d' 7)" && ln -s "$(printf '%0130d' 8)" ls \
    && mkdir -p "$(printf '%090d' 1)/$(printf '%0150d' 2)" && cp d/f "$(printf '%090d' 1)/$(printf '%0150d' 2)/deep"
    """

  @Test(arguments: [
    "tar --format=v7", "tar --format=oldgnu", "tar --format=gnu", "tar --format=ustar", "tar --format=posix",
    "bsdtar --format=pax", "bsdtar --format=gnutar", "bsdtar --format=ustar", "bsdtar --format=v7",
  ])
  func foreignArchives(writer: String) throws {
    let directory = try TarTestDirectory()
    _ = try directory.runQuietly(Self.tree)
    // Formats without long names leave some out and say so.
    _ = try directory.run("\(writer) -cf x.tar -C t . 2>/dev/null")
    let reading = try TarReading(try directory.read("x.tar"))
    #expect(reading.rejected.isEmpty && reading.ending == .complete)
    #expect(reading.members.allSatisfy { $0.notes.isEmpty })
    let expected = try directory.run("tar -tf x.tar 2>/dev/null | sed 's,^\\./,,; s,/$,,; s,^$,.,'").output
    #expect(reading.paths == expected.split(separator: "\n").map(String.init))
    #expect(reading.paths.count >= 7)
    func member(_ path: String) throws -> Member {
      try #require(reading.members.first { $0.member.path == Array(path.utf8) }).member
    }
    #expect(try member("d/s").linkTarget == Array("../x".utf8) && member("d").kind == .directory)
    #expect(try member(".").kind == .directory)
    let isV7 = writer.contains("v7")
    if !isV7 { #expect(try member("p").kind == .fifo) }
    let files = [try member("d/f"), try member("d/h")]
    #expect(files.contains { $0.kind == .hardlink } && files.contains { $0.byteCount == 5 })
    if writer.contains("pax") || writer.contains("posix") {
      // bsdtar 3.6 writes -5.25 as "-6.75": it puts the fraction of the floor behind the floor.
      let floor: (Int64, UInt32) = writer.contains("bsdtar") ? (-7, 250_000_000) : (-6, 750_000_000)
      #expect(try member("old").modificationTime == Timestamp(seconds: floor.0, nanoseconds: floor.1))
      #expect(files[0].modificationTime == Timestamp(seconds: 1, nanoseconds: 500_000_000))
      #expect(reading.paths.contains { $0.hasSuffix("/deep") })
    }
    #expect(files.allSatisfy { $0.mode == 0o4711 })
    // Written again, the same members are found.
    let again = try TarReading(try Self.stream(reading.members.map(\.member)))
    #expect(again.members.map(\.member) == reading.members.map(\.member))
  }

  @Test(arguments: [
    "tar --format=gnu -S", "tar --format=oldgnu -S", "tar --format=posix --sparse-version=0.0 -S",
    "tar --format=posix --sparse-version=0.1 -S", "tar --format=posix --sparse-version=1.0 -S",
    "bsdtar --format=pax --read-sparse",
  ])
  func foreignSparseFiles(writer: String) throws {
    let directory = try TarTestDirectory()
    _ = try directory.runQuietly(
      """
      truncate -s 64M s && for o in $(seq 0 2 60); do
        printf data$o | dd of=s bs=1 seek=${o}M conv=notrunc status=none; done
      truncate -s 1M just; truncate -s 1M end; printf hi | dd of=end conv=notrunc status=none; sync s just end
      \(writer) -cf x.tar s just end
      """)
    let reading = try TarReading(try directory.read("x.tar"))
    #expect(reading.rejected.isEmpty, "\(reading.rejected.map(\.reason.message))")
    #expect(reading.paths == ["s", "just", "end"] && reading.members.allSatisfy { $0.notes.isEmpty })
    #expect(reading.members.map(\.member.byteCount) == [64 << 20, 1 << 20, 1 << 20])
    for (found, content) in zip(reading.members, reading.contents) {
      let extents = try #require(found.member.sparseExtents)
      var whole = [UInt8](repeating: 0, count: Int(found.member.byteCount))
      var position = 0
      for extent in extents {
        let count = Int(extent.byteCount)
        whole.replaceSubrange(
          Int(extent.offset)..<(Int(extent.offset) + count), with: content[position..<(position + count)])
        position += count
      }
      #expect(position == content.count)
      let original = try directory.read(String(decoding: found.member.path, as: UTF8.self))
      #expect(original == whole)
    }
    #expect(reading.members[0].member.sparseExtents?.count ?? 0 > 25)
  }

  @Test func pythonArchives() throws {
    let directory = try TarTestDirectory()
    _ = try directory.runQuietly(
      """
      printf hello > f && for k in USTAR GNU PAX; do python3 -c "
      import tarfile
      t = tarfile.open('$k.tar', 'w', format=tarfile.${k}_FORMAT)
      for name, size, mtime in (('f', 5, 1.5), ('n' * 120, 5, -7), (b'\\xff'.decode('utf-8', 'surrogateescape'), 5, 3)):
          if '$k' == 'USTAR' and (len(name) > 100 or mtime < 0): continue
          i = tarfile.TarInfo(name); i.size = size; i.mtime = mtime; i.uid = 70000
          t.addfile(i, open('f', 'rb'))
      t.close()"; done
      """)
    for kind in ["USTAR", "GNU", "PAX"] {
      let reading = try TarReading(try directory.read("\(kind).tar"))
      #expect(reading.rejected.isEmpty && reading.ending == .complete)
      #expect(reading.members.last?.member.path == [0xFF])
      #expect(reading.members.allSatisfy { $0.member.byteCount == 5 && $0.member.userID == 70000 })
    }
  }

  /// ACLs and attributes through the file system, GNU tar and bsdtar, where the temporary directory has them.
  @Test func attributesAndACLsOfOtherTars() throws {
    let directory = try TarTestDirectory()
    let set =
      "touch f && mkdir d && setfacl -m u:12345:r,g:54321:rwx f && setfacl -d -m u:12345:rwx d"
      + " && setfattr -n 'user.a%=b' -v 0x000a3d00 f"
    guard try directory.run(set).status == 0 else {
      try Test.cancel("the temporary directory has no ACLs or attributes")
    }
    let access = "user::rw-,user:12345:r--,group::r--,group:54321:rwx,mask::rwx,other::r--"
    let standard = "user::rwx,user:12345:rwx,group::r-x,mask::rwx,other::r-x"
    for writer in ["tar --format=posix --acls --xattrs", "bsdtar --format=pax --acls --xattrs"] {
      _ = try directory.runQuietly("\(writer) -cf x.tar f d")
      let reading = try TarReading(try directory.read("x.tar"))
      let file = try #require(reading.members.first).member
      let value = try #require(ACLText.xattr(fromText: file.accessACL))
      #expect(ACLText.text(fromXattr: value) == Array(access.utf8))
      let folder = try #require(reading.members.last).member
      let inherited = try #require(ACLText.xattr(fromText: folder.defaultACL))
      #expect(ACLText.text(fromXattr: inherited) == Array(standard.utf8))
      #expect(file.extendedAttributes == [ExtendedAttribute(name: Array("user.a%=b".utf8), value: [0, 10, 0x3D, 0])])
    }
    // And back: what is written here arrives on files.
    var file = Member(path: Array("g".utf8), kind: .file)
    file.accessACL = Array(access.utf8)
    file.extendedAttributes = [ExtendedAttribute(name: Array("user.a%=b".utf8), value: [0, 10, 0x3D, 0])]
    var folder = Member(path: Array("h".utf8), kind: .directory, mode: 0o755)
    folder.defaultACL = Array(standard.utf8)
    try directory.write(try Self.stream([file, folder]), to: "x.tar")
    for reader in ["tar --acls --xattrs --xattrs-include='user.*' -xf", "bsdtar --acls --xattrs -xf"] {
      _ = try directory.runQuietly("rm -rf g h && \(reader) x.tar")
      let found = try directory.runQuietly("getfacl -cn g | paste -sd, && getfacl -cdn h | paste -sd,")
      #expect(found == "\(access),\n\(standard),\n", "\(reader)")
    }
    _ = try directory.runQuietly("rm -rf g h && tar --xattrs --xattrs-include='user.*' -xf x.tar")
    #expect(try directory.runQuietly("getfattr --only-values -n 'user.a%=b' g | xxd -p") == "000a3d00\n")
  }
}
