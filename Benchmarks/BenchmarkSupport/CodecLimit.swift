internal import ArchiveEngine
internal import ArchiveIO

/// What libzstd alone takes for an archive: its chunks compressed and its frames decompressed from memory, on all cores, in contexts that are used again.
public struct CodecLimit: Sendable {
  /// For ``LimitMeasure/seconds`` of creating: every chunk that the archive holds compressed.
  public var compression: LimitMeasure
  /// For ``LimitMeasure/seconds`` of extracting: every data frame.
  public var decompression: LimitMeasure

  /// Measures both with an archive that `create` made, whose frames say what its chunks are.
  ///
  /// The frames go through memory in batches, and only the time within libzstd counts: the sum over all threads, divided by their
  /// number, which is what a run takes that never lets a core wait.
  ///
  /// - Parameters:
  ///   - path: the archive.
  ///   - level: as the archive was made.
  ///   - chunkByteCount: as the archive was made.
  ///   - threadCount: 0 takes the cores that this process may use.
  public static func measure(
    archive path: String, level: Int = 3, chunkByteCount: Int = 4 << 20, threadCount: Int = 0
  ) throws -> CodecLimit {
    let threads = threadCount > 0 ? threadCount : ProcessFacts.availableCores
    let file = try FrameFile(path: path)
    let frames = try file.frames()
    var batches: [[FrameFile.Frame]] = []
    var batchByteCount = 0
    for frame in frames {
      if batches.isEmpty || batchByteCount > batchLimit(threads, chunkByteCount) {
        batches.append([])
        batchByteCount = 0
      }
      batches[batches.count - 1].append(frame)
      batchByteCount += frame.storedByteCount + 2 * frame.contentByteCount
    }
    let codecs = try (0..<threads).map { _ in try CodecThread(level: level, chunkByteCount: chunkByteCount) }
    for batch in batches {
      let chunks = try batch.map { try FrameInMemory($0, of: file) }
      // Only one thread has a codec at a time.
      try WorkPool.forEach(chunks, threadCount: threads) { chunk, thread in try codecs[thread].decompress(chunk) }
      try WorkPool.forEach(chunks, threadCount: threads) { chunk, thread in try codecs[thread].compress(chunk) }
    }
    let byteCount = frames.reduce(0) { $0 + UInt64($1.contentByteCount) }
    func measure(_ nanoseconds: KeyPath<CodecThread, UInt64>) -> LimitMeasure {
      let sum = codecs.reduce(0) { $0 + $1[keyPath: nanoseconds] }
      return LimitMeasure(
        seconds: Double(sum) / 1e9 / Double(threads), threadCount: threads, byteCount: byteCount,
        itemCount: frames.count)
    }
    return CodecLimit(
      compression: measure(\.compressionNanoseconds), decompression: measure(\.decompressionNanoseconds))
  }

  /// Enough chunks that all threads are at work nearly all the time.
  private static func batchLimit(_ threads: Int, _ chunkByteCount: Int) -> Int {
    max(128 << 20, threads * 8 * chunkByteCount)
  }
}

/// One frame with room for what comes out of it and for what that is compressed to.
private final class FrameInMemory: Sendable {
  let frame: FrameFile.Frame
  let stored: Buffer
  let content: Buffer

  init(_ frame: FrameFile.Frame, of file: FrameFile) throws {
    self.frame = frame
    stored = try Buffer(byteCount: frame.storedByteCount)
    content = try Buffer(byteCount: max(1, frame.contentByteCount))
    try unsafe file.read(frame, into: stored.bytes)
    // Pages that are touched for the first time cost as much as decoding; a run uses its buffers again.
    unsafe content.bytes.initializeMemory(as: UInt8.self, repeating: 0)
  }
}

/// The contexts and the account of one thread.
private final class CodecThread: @unchecked Sendable {
  private let codec: BareCodec
  /// Also touched beforehand.
  private let output: Buffer
  private(set) var compressionNanoseconds: UInt64 = 0
  private(set) var decompressionNanoseconds: UInt64 = 0

  init(level: Int, chunkByteCount: Int) throws {
    codec = try BareCodec(level: level, chunkByteCount: chunkByteCount)
    output = try Buffer(byteCount: 2 * chunkByteCount + (1 << 20))
    unsafe output.bytes.initializeMemory(as: UInt8.self, repeating: 0)
  }

  func decompress(_ chunk: FrameInMemory) throws {
    let target = unsafe UnsafeMutableRawBufferPointer(start: chunk.content.base, count: chunk.frame.contentByteCount)
    let start = Stopwatch()
    let count = try unsafe codec.decompress(UnsafeRawBufferPointer(chunk.stored.bytes), into: target)
    decompressionNanoseconds += start.nanoseconds
    guard count == chunk.frame.contentByteCount else { throw LimitError.wrongContent(offset: chunk.frame.offset) }
  }

  /// Chunks that the archive holds as they are were not compressed when it was made either.
  func compress(_ chunk: FrameInMemory) throws {
    if chunk.frame.isStored { return }
    let content = unsafe UnsafeRawBufferPointer(start: chunk.content.base, count: chunk.frame.contentByteCount)
    let start = Stopwatch()
    _ = try unsafe codec.compress(content, into: output.bytes)
    compressionNanoseconds += start.nanoseconds
  }
}

/// Why a limit could not be measured.
public enum LimitError: Error, CustomStringConvertible {
  /// The frame at this offset does not state the size of its content, as those of ours do.
  case foreignFrame(offset: UInt64)
  /// The frame at this offset does not decode to what it states.
  case wrongContent(offset: UInt64)
  /// The name is taken.
  case exists(String)

  /// In words.
  public var description: String {
    switch self {
    case .foreignFrame(let offset): "the frame at offset \(offset) is not one of an archive that create made"
    case .exists(let path): "\(path) is there already"
    case .wrongContent(let offset): "the frame at offset \(offset) does not decode to what it states"
    }
  }
}
