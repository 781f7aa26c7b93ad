import MigrationWire
import Testing

@Suite struct WireTests {
  static let systemMessages: [SystemMessage] = [
    .begin(
      MigrationTask(
        action: .export(platform: "android", options: [.init(key: "a", value: [0, 255])]),
        bundleIdentifier: "org.example",
        containerPath: Array("/c".utf8), groups: [.init(identifier: "group.a", path: [47, 200])])),
    .begin(
      MigrationTask(
        action: .import(
          stagingPath: [47], version: "2.0",
          source: SourceApp(storeIdentifier: "s", bundleIdentifier: "b", platform: "p")), bundleIdentifier: "",
        containerPath: [])),
    .begin(MigrationTask(action: .describe, bundleIdentifier: "x", containerPath: [1])), .proceed, .cancel,
    .reply(number: .max, .accepted), .reply(number: 1, .refused(message: "ä")), .reply(number: 0, .cancelled),
  ]
  static let extensionMessages: [ExtensionMessage] = [
    .description(.init(exports: true, imports: false, sizeEstimate: -1, version: "1", isCompressible: false)),
    .item(
      .init(
        number: 7, wantsReply: true, path: [0x61, 0xFF], content: .file([1, 2, 3]), mode: 0o644,
        modificationSeconds: .min, modificationNanoseconds: 999_999_999)),
    .item(.init(number: 8, wantsReply: false, path: [], content: .symlink([46]))),
    .item(.init(number: 9, wantsReply: true, path: [65], content: .descriptor)),
    .progress(completed: -5, total: .max), .finished,
    .failed(.init(domain: "d", code: .min, description: "x", userInfo: ["k": "v", "a": ""])),
  ]

  @Test(arguments: systemMessages) func systemMessagesComeBack(_ message: SystemMessage) throws {
    let bytes = message.encoded()
    #expect(try SystemMessage(decoding: bytes) == message)
    for count in 0..<bytes.count {
      #expect(throws: WireError.self) { try SystemMessage(decoding: Array(bytes[..<count])) }
    }
    #expect(throws: WireError.self) { try SystemMessage(decoding: bytes + [0]) }
  }

  @Test(arguments: extensionMessages) func extensionMessagesComeBack(_ message: ExtensionMessage) throws {
    let bytes = message.encoded()
    #expect(try ExtensionMessage(decoding: bytes) == message)
    for count in 0..<bytes.count {
      #expect(throws: WireError.self) { try ExtensionMessage(decoding: Array(bytes[..<count])) }
    }
    #expect(throws: WireError.self) { try ExtensionMessage(decoding: bytes + [0]) }
  }

  @Test func anyBytesAreAnErrorOrAMessageAndNoTrap() {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var generator = SplitMix(state: seed)
    for _ in 0..<20_000 {
      let bytes = (0..<Int(generator.next() % 64)).map { _ in UInt8(truncatingIfNeeded: generator.next() % 6) }
      _ = try? ExtensionMessage(decoding: bytes)
      _ = try? SystemMessage(decoding: bytes)
    }
  }

  @Test func packetsKeepTheirBoundsAndCarryOneDescriptor() throws {
    let (left, right) = try MessageSocket.pair()
    let isEmpty = try right.tryReceive() == nil
    #expect(isEmpty)
    try left.send([1, 2, 3])
    try left.send([4], passing: 0)
    let first = try #require(try right.tryReceive())
    #expect(first.bytes == [1, 2, 3] && first.descriptor == nil)
    let second = try #require(try right.tryReceive())
    #expect(second.bytes == [4] && second.descriptor != nil)
    let large = [UInt8](repeating: 7, count: 128 << 10)
    try left.send(large)
    #expect(try right.tryReceive()?.bytes == large)
  }

  private struct SplitMix {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = state
      value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
      return value ^ (value >> 31)
    }
  }
}
