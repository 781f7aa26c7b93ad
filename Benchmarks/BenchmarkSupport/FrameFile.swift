internal import ArchiveFormat
internal import ArchiveIO

/// The data frames of an archive file that we made.
struct FrameFile: Sendable {
  struct Frame: Sendable {
    let offset: UInt64
    let storedByteCount: Int
    let contentByteCount: Int
    /// Its content is stored as it is.
    let isStored: Bool
  }

  private let descriptor: SharedDescriptor

  init(path: String) throws {
    descriptor = SharedDescriptor(
      try FileSystem.open(at: FileSystem.currentDirectory, Array(path.utf8), .readOnly))
  }

  /// All data frames, in their order.
  func frames() throws -> [Frame] {
    let window = try Buffer(byteCount: 1 << 20)
    var frames: [Frame] = []
    var walker = ZstdFrameWalker()
    var (offset, frameOffset): (UInt64, UInt64) = (0, 0)
    while true {
      let count = try unsafe FileSystem.pread(descriptor.rawValue, into: window.bytes, at: Int64(offset))
      if count == 0 { return frames }
      var position = 0
      while position < count {
        let bytes = unsafe UnsafeRawBufferPointer(start: window.base, count: count).bindMemory(to: UInt8.self)
        position += try unsafe walker.consume(bytes.span, in: position..<count).consumed
        guard walker.isComplete else { continue }
        if case .data(let header)? = walker.header {
          guard let content = header.contentByteCount, content <= 1 << 30 else {
            throw LimitError.foreignFrame(offset: frameOffset)
          }
          frames.append(
            Frame(
              offset: frameOffset, storedByteCount: Int(walker.byteCount), contentByteCount: Int(content),
              isStored: walker.hasOnlyRawBlocks))
        }
        frameOffset += walker.byteCount
        walker = ZstdFrameWalker()
      }
      offset += UInt64(count)
    }
  }

  /// The stored bytes of a frame.
  func read(_ frame: Frame, into buffer: UnsafeMutableRawBufferPointer) throws {
    let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<frame.storedByteCount])
    let count = try unsafe FileSystem.pread(descriptor.rawValue, into: target, at: Int64(frame.offset))
    guard count == target.count else { throw LimitError.wrongContent(offset: frame.offset) }
  }
}
