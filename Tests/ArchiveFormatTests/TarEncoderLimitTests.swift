import Testing

@testable import ArchiveFormat

@Suite struct TarEncoderLimitTests {
  private func code(_ change: (inout Member) -> Void) -> FormatError.Code? {
    var member = Member(path: [0x61], kind: .file)
    change(&member)
    var out: [UInt8] = [9]
    do throws(FormatError) {
      try TarHeaderEncoder.append(member, to: &out)
      return nil
    } catch {
      #expect(out == [9])
      return error.code
    }
  }

  @Test(arguments: ["", "/", "/a", "a/", "a//b", "./a", "a/.", "..", "a/../b", "a\0b", "."])
  func refusesPathsThatAreNone(path: String) {
    #expect(code { $0.path = Array(path.utf8) } == .malformed)
    #expect(
      code {
        $0.kind = .hardlink; $0.linkTarget = Array(path.utf8)
      } == .malformed)
  }

  @Test func refusesWhatWouldNotComeBack() {
    #expect(code { _ in } == nil)
    #expect(code { $0.mode = 0o10000 } == .malformed)
    #expect(code { $0.userID = 1 << 32 } == .limitExceeded)
    #expect(code { $0.groupID = 1 << 32 } == .limitExceeded)
    #expect(code { $0.modificationTime.nanoseconds = 1_000_000_000 } == .malformed)
    #expect(code { $0.linkTarget = [0x62] } == .malformed)
    #expect(code { $0.kind = .symlink } == .malformed)
    #expect(
      code {
        $0.kind = .symlink; $0.linkTarget = [0x62, 0]
      } == .malformed)
    #expect(
      code {
        $0.kind = .directory; $0.byteCount = 1
      } == .malformed)
    #expect(
      code {
        $0.kind = .fifo; $0.sparseExtents = []
      } == .malformed)
    #expect(code { $0.deviceMajor = 1 } == .malformed)
    #expect(
      code {
        $0.kind = .blockDevice; $0.deviceMinor = 0o10000000
      } == .limitExceeded)
    #expect(code { $0.userName = [0] } == .malformed)
    #expect(code { $0.byteCount = 1 << 60 + 1 } == .limitExceeded)
    #expect(code { $0.byteCount = 1 << 60 } == nil)
    let one = ExtendedAttribute(name: [0x62], value: [])
    #expect(code { $0.extendedAttributes = [one, one] } == .malformed)
    #expect(code { $0.extendedAttributes = [one, ExtendedAttribute(name: [0x61], value: [])] } == .malformed)
    #expect(code { $0.extendedAttributes = [ExtendedAttribute(name: [], value: [])] } == .malformed)
    let acl = ExtendedAttribute(name: Array("system.posix_acl_access".utf8), value: [])
    #expect(code { $0.extendedAttributes = [acl] } == .malformed)
  }

  @Test func refusesExtentsThatDoNotFit() {
    func extents(_ pairs: [(UInt64, UInt64)], size: UInt64 = 10000) -> FormatError.Code? {
      code {
        $0.byteCount = size
        $0.sparseExtents = pairs.map { SparseExtent(offset: $0.0, byteCount: $0.1) }
      }
    }
    #expect(extents([(0, 512), (512, 9488)]) == nil)
    #expect(extents([(0, 513), (1024, 512)]) == .malformed)
    #expect(extents([(0, 0)]) == .malformed)
    #expect(extents([(512, 512), (0, 512)]) == .malformed)
    #expect(extents([(0, 1024), (512, 512)]) == .malformed)
    #expect(extents([(9999, 2)]) == .malformed)
    #expect(extents([(.max, .max)]) == .malformed)
    #expect(extents([(0, 1 << 60)], size: 1 << 60) == .limitExceeded)
  }

  @Test func paxHeaderAtItsLimit() throws {
    // "1048576 SCHILY.xattr.a=" and a newline around the value.
    let fits = TarLimits.maximumPaxByteCount - 24
    for (count, isAccepted) in [(fits, true), (fits + 1, false)] {
      var member = Member(path: [0x61], kind: .file)
      member.extendedAttributes = [ExtendedAttribute(name: [0x61], value: [UInt8](repeating: 1, count: count))]
      var out: [UInt8] = []
      if isAccepted {
        try TarHeaderEncoder.append(member, to: &out)
        #expect(try tarMember(out) == member)
      } else {
        let error = #expect(throws: FormatError.self) { try TarHeaderEncoder.append(member, to: &out) }
        #expect(error?.code == .limitExceeded && out.isEmpty)
      }
    }
  }

  @Test func longNamesAtTheirLimit() throws {
    let longest = TarLimits.maximumLongNameByteCount - 2
    for (count, isAccepted) in [(longest, true), (longest + 1, false)] {
      for kind in [MemberKind.file, .directory] {
        let member = Member(path: [UInt8](repeating: 0xFF, count: count), kind: kind)
        var out: [UInt8] = []
        if isAccepted {
          try TarHeaderEncoder.append(member, to: &out)
          #expect(try tarMember(out) == member)
        } else {
          #expect(throws: FormatError.self) { try TarHeaderEncoder.append(member, to: &out) }
        }
      }
    }
  }
}
