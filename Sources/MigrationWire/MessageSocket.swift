public import ArchiveIO
internal import CMigrationShims
internal import Glibc

/// One end of the socket between system and extension. Any thread may send; one at a time receives.
public final class MessageSocket: Sendable {
  /// A message and what came with it.
  public struct Packet: Sendable {
    /// The message's bytes.
    public let bytes: [UInt8]
    /// The descriptor that came with it.
    public let descriptor: SharedDescriptor?
  }

  /// The most bytes of one message.
  public static let maximumByteCount = Int(AMK_MESSAGE_BYTE_COUNT)

  /// The socket, non-blocking.
  public let descriptor: SharedDescriptor

  /// Takes over an end.
  public init(_ descriptor: SharedDescriptor) { self.descriptor = descriptor }

  /// Two ends that are connected.
  public static func pair() throws(SystemError) -> (MessageSocket, MessageSocket) {
    var ends: [Int32] = [-1, -1]
    let result = unsafe ends.withUnsafeMutableBufferPointer { unsafe amk_socket_pair($0.baseAddress!) }
    if result < 0 { throw SystemError("socketpair", errno: Int32(-result)) }
    return (
      MessageSocket(SharedDescriptor(Descriptor(adopting: ends[0]))),
      MessageSocket(SharedDescriptor(Descriptor(adopting: ends[1])))
    )
  }

  /// Sends one packet if there is room.
  ///
  /// - Returns: false when there is none; ``wait(writing:milliseconds:wake:)`` tells when there is.
  public func trySend(_ bytes: [UInt8], passing descriptor: Int32 = -1) throws(SystemError) -> Bool {
    let socket = self.descriptor.rawValue
    let result = unsafe bytes.withUnsafeBytes { bytes in
      unsafe bytes.isEmpty ? Int64(-EINVAL) : amk_send(socket, bytes.baseAddress!, bytes.count, descriptor)
    }
    if result == -Int64(EAGAIN) { return false }
    if result < 0 { throw SystemError("sendmsg", errno: Int32(-result)) }
    return true
  }

  /// Sends one packet and waits for room.
  public func send(_ bytes: [UInt8], passing descriptor: Int32 = -1, wake: Int32 = -1) throws(SystemError) {
    while try !trySend(bytes, passing: descriptor) {
      if try wait(writing: true, milliseconds: -1, wake: wake).isWoken {
        throw SystemError("sendmsg", errno: ECANCELED)
      }
    }
  }

  /// The next packet if one is there.
  ///
  /// - Returns: nil when nothing is there; an empty packet when the other side is gone.
  public func tryReceive() throws(SystemError) -> Packet? {
    var received: Int32 = -1
    let socket = self.descriptor.rawValue
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.maximumByteCount) { buffer, count in
      let result = unsafe amk_receive(socket, buffer.baseAddress!, buffer.count, &received)
      if result < 0 { failure = Int32(-result) }
      count = max(0, Int(result))
    }
    if failure == EAGAIN { return nil }
    if failure == ECONNRESET { return Packet(bytes: [], descriptor: nil) }
    if failure != 0 { throw SystemError("recvmsg", errno: failure) }
    return Packet(
      bytes: bytes, descriptor: received < 0 ? nil : SharedDescriptor(Descriptor(adopting: received)))
  }

  /// Ends the conversation for both sides, while others may still be using this end.
  public func shutDown() { _ = shutdown(descriptor.rawValue, Int32(SHUT_RDWR)) }

  /// Waits until something is there, there is room, or `wake` can be read.
  public func wait(
    writing: Bool = false, milliseconds: Int32, wake: Int32 = -1
  ) throws(SystemError) -> (isReady: Bool, isWoken: Bool) {
    let result = amk_poll(descriptor.rawValue, writing ? 1 : 0, wake, milliseconds)
    if result < 0 { throw SystemError("poll", errno: Int32(-result)) }
    return (result & 1 != 0, result & 2 != 0)
  }
}
