internal import ArchiveIO

/// Takes the bytes of an archive, in order, on one thread at a time.
public protocol ArchiveSink: Sendable {
  /// Takes all of `bytes`, which are valid only during the call. A sink that blocks delays the end of a cancelled run.
  func write(_ bytes: RawSpan) throws(ArchiveError)
}

/// Takes everything and keeps nothing.
struct NoSink: ArchiveSink {
  func write(_ bytes: RawSpan) throws(ArchiveError) {}
}

/// Where an archive goes. Bytes are counted here.
final class ArchiveOutput: @unchecked Sendable {
  enum Target {
    case descriptor(DescriptorWriter)
    case sink(any ArchiveSink)
  }

  private let target: Target
  /// Bytes written so far. Only for the thread that writes, and for others once it has ended.
  private(set) var byteCount: UInt64 = 0

  init(_ target: Target) { self.target = target }

  func write(_ pieces: [UnsafeRawBufferPointer]) throws(ArchiveError) {
    switch target {
    case .descriptor(let writer):
      do throws(SystemError) { try unsafe writer.write(pieces) } catch { throw ArchiveError(error) }
    case .sink(let sink):
      for index in unsafe pieces.indices { try unsafe sink.write(RawSpan(_unsafeBytes: pieces[index])) }
    }
    for index in unsafe pieces.indices { byteCount += UInt64(unsafe pieces[index].count) }
  }

  func write(_ bytes: [UInt8]) throws(ArchiveError) {
    let result: Result<Void, ArchiveError> = unsafe bytes.withUnsafeBytes { pointer in
      do throws(ArchiveError) { return .success(try unsafe write([pointer])) } catch { return .failure(error) }
    }
    try result.get()
  }
}
