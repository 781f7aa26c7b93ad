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
    case file(PlacedFile)
    case sink(any ArchiveSink)
  }

  private let target: Target
  /// Bytes written so far. Only for the thread that writes, and for others once it has ended.
  private(set) var byteCount: UInt64 = 0

  init(_ target: Target) { self.target = target }

  /// The place of so many bytes that another thread will write; nil where all has to be written in order.
  func reserve(_ byteCount: UInt64) -> (file: PlacedFile, offset: UInt64)? {
    guard case .file(let file) = target else { return nil }
    defer { self.byteCount += byteCount }
    return (file, self.byteCount)
  }

  /// To be called when all is written.
  func finish() throws(ArchiveError) {
    guard case .file(let file) = target else { return }
    do throws(SystemError) { try file.finish(byteCount: byteCount) } catch { throw ArchiveError(error) }
  }

  func write(_ pieces: [UnsafeRawBufferPointer]) throws(ArchiveError) {
    switch target {
    case .descriptor(let writer):
      do throws(SystemError) { try unsafe writer.write(pieces) } catch { throw ArchiveError(error) }
    case .file(let file):
      do throws(SystemError) { try unsafe file.write(pieces, at: byteCount) } catch { throw ArchiveError(error) }
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
