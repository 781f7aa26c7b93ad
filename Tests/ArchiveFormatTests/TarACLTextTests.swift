import Testing

@testable import ArchiveFormat

@Suite struct TarACLTextTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// As `getfattr` prints it for `setfacl -m u:1000:r,g:33:rwx`.
  private let binary: [UInt8] = [
    2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 4, 0, 0xE8, 3, 0, 0, 4, 0, 4, 0, 255, 255, 255, 255,
    8, 0, 7, 0, 33, 0, 0, 0, 16, 0, 7, 0, 255, 255, 255, 255, 32, 0, 4, 0, 255, 255, 255, 255,
  ]

  @Test func bothWays() {
    let text = bytes("user::rw-,user:1000:r--,group::r--,group:33:rwx,mask::rwx,other::r--")
    #expect(ACLText.text(fromXattr: binary) == text)
    #expect(ACLText.xattr(fromText: text) == binary)
  }

  @Test func formsThatOthersWrite() {
    let forms = [
      // GNU tar, libarchive, getfacl with comments, short tags, star's fourth field, Solaris without empty fields.
      "user::rw-\nuser:1000:r--\ngroup::r--\ngroup:33:rwx\nmask::rwx\nother::r--\n",
      "user::rw-,group::r--,other::r--,user:nobody:r--:1000,group:www:rwx:33,mask::rwx",
      "# file: a\nuser::rw-\nuser:1000:r--\t#effective:r--\ngroup::r--\ngroup:33:rwx\nmask::rwx\nother::r--",
      "u::rw,u:1000:r,g::r,g:33:rwx,m::rwx,o::r", "user::rw-,user:joe:r--,group::r--,group:web:rwx,other::r--",
      "user::rw-, user:1000:r--, group::r--, group:33:rwx, mask:rwx, other:r--",
      "default:user::rw-,default:user:joe:r--:5,d:group::r--,d:group:33:rwx,default:mask::rwx,default:other::r--",
    ]
    for form in forms {
      let found = ACLText.xattr(
        fromText: bytes(form), userID: { $0 == bytes("joe") ? 1000 : nil }, groupID: { $0 == bytes("web") ? 33 : nil })
      #expect(found == binary, "\(form)")
    }
  }

  @Test(arguments: [
    "", "user::rw-", "user::rw-,group::r--", "user::rwz,group::r--,other::r--",
    "user::rw-,user::r--,group::r--,other::r--",
    "user::rw-,user:nobody:r--,group::r--,other::r--", "user::rw-,user:4294967295:r--,group::r--,other::r--",
    "user::,group::r--,other::r--", "nonsense", "user::rw-,group::r--,other::r--,mask::r--:5", "::::", "user:5:r:6:7,,",
    "user::rw-,user:5:r--,user:5:r--,group::r--,other::r--",
  ])
  func refusedTexts(text: String) { #expect(ACLText.xattr(fromText: bytes(text)) == nil) }

  @Test func refusedAttributes() {
    for count in 0..<binary.count where count == 0 || (count - 4) % 8 != 0 {
      #expect(ACLText.text(fromXattr: Array(binary[0..<count])) == nil)
    }
    for (index, value) in [(0, 1), (4, 3), (6, 8), (7, 1)] as [(Int, UInt8)] {
      var broken = binary
      broken[index] = value
      #expect(ACLText.text(fromXattr: broken) == nil)
    }
  }

  @Test func flippedBits() {
    var random = TarTestGenerator(seed: 3)
    let text = bytes("default:user::rw-,user:joe:r--:5,group::r--,mask::rwx,other::r--\n#x\n")
    for _ in 0..<20000 {
      var broken = text
      broken[Int.random(in: 0..<broken.count, using: &random)] = UInt8(truncatingIfNeeded: random.next())
      if let value = ACLText.xattr(fromText: broken) { #expect(ACLText.text(fromXattr: value) != nil) }
    }
  }
}
