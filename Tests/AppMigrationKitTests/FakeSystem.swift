internal import AppMigrationKit
internal import ArchiveIO
internal import Glibc
internal import MigrationWire
internal import TestSupport

/// The system's end of the socket: says what a test says, and waits for what an extension says.
final class FakeSystem: Sendable {
  struct Timeout: Error {}
  struct Unexpected: Error { let message: ExtensionMessage }

  let socket: MessageSocket
  private let queue = DispatchQueue(label: "FakeSystem")

  init(_ socket: MessageSocket) { self.socket = socket }

  func send(_ message: SystemMessage) throws { try socket.send(message.encoded()) }

  /// Closes the connection, as the death of the system's process does.
  func leave() { _ = shutdown(socket.descriptor.rawValue, Int32(SHUT_RDWR)) }

  /// The next message, with its descriptor; nil when the extension has closed its end.
  func receive() async throws -> (message: ExtensionMessage, descriptor: SharedDescriptor?)? {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { [socket] in continuation.resume(with: Result { try Self.next(socket) }) }
    }
  }

  private static func next(_ socket: MessageSocket) throws -> (ExtensionMessage, SharedDescriptor?)? {
    while true {
      if let packet = try socket.tryReceive() {
        return packet.bytes.isEmpty ? nil : (try ExtensionMessage(decoding: packet.bytes), packet.descriptor)
      }
      if try !socket.wait(milliseconds: 30_000).isReady { throw Timeout() }
    }
  }

  /// The next message, which must be there.
  func message() async throws -> ExtensionMessage {
    guard let next = try await receive() else { throw Timeout() }
    return next.message
  }

  /// The next message, which must be an item.
  func item() async throws -> (item: ItemMessage, descriptor: SharedDescriptor?) {
    guard let next = try await receive() else { throw Timeout() }
    guard case .item(let item) = next.message else { throw Unexpected(message: next.message) }
    return (item, next.descriptor)
  }

  /// Takes items until another message comes, answers those that want it, and returns both.
  func takeItems(
    reply: (ItemMessage) -> ItemReply = { _ in .accepted }
  ) async throws -> (items: [ItemMessage], last: ExtensionMessage) {
    var items: [ItemMessage] = []
    while let next = try await receive() {
      guard case .item(let item) = next.message else { return (items, next.message) }
      items.append(item)
      let reply = reply(item)
      if item.wantsReply || reply != .accepted { try send(.reply(number: item.number, reply)) }
    }
    throw Timeout()
  }

  /// Starts a run up to `proceed`; returns what the extension says of itself.
  func start(_ action: MigrationTask.Action, container: String = "/nowhere", groups: [MigrationTask.Group] = [])
    async throws -> ExtensionDescription
  {
    try send(
      .begin(
        MigrationTask(
          action: action, bundleIdentifier: "com.example.app", containerPath: Array(container.utf8), groups: groups)))
    let message = try await message()
    guard case .description(let description) = message else { throw Unexpected(message: message) }
    if action != .describe { try send(.proceed) }
    return description
  }

  /// Runs an extension in this process against a system that a test plays.
  static func run<Result: Sendable>(
    _ type: any AppMigrationExtension.Type, _ play: @Sendable (FakeSystem) async throws -> Result
  ) async throws -> Result {
    let (system, own) = try MessageSocket.pair()
    async let served: Void = ExtensionRun.serve(type, over: own, scope: .tasks)
    let fake = FakeSystem(system)
    do {
      let result = try await play(fake)
      try await served
      return result
    } catch {
      // Else the extension would wait for the rest.
      fake.leave()
      throw error
    }
  }
}

extension MigrationTask.Action {
  static let exportToAndroid = MigrationTask.Action.export(platform: "android", options: [])

  static func importing(_ directory: String, version: String = "2.0") -> Self {
    .import(
      stagingPath: Array(directory.utf8), version: version,
      source: SourceApp(
        storeIdentifier: "com.android.vending", bundleIdentifier: "com.example.app", platform: "android"))
  }
}

extension ItemMessage {
  var name: String { String(decoding: path, as: UTF8.self) }
}
