internal import ArchiveIO

/// What the files of a tree alone take, on all cores and with as few system calls as possible.
public enum FileLimit {
  /// Each file up to this size is read with one call, and larger ones in pieces of it by several threads.
  private static let pieceByteCount = 1 << 20

  /// Walks a directory, opens, reads and closes every file in it: what creating an archive cannot do without.
  ///
  /// - Parameters:
  ///   - path: the directory; what lies on other file systems counts as well.
  ///   - threadCount: 0 takes the cores that this process may use.
  public static func reading(directory path: String, threadCount: Int = 0) throws -> LimitMeasure {
    let threads = threadCount > 0 ? threadCount : ProcessFacts.availableCores
    let readers = try (0..<threads).map { _ in try TreeReader(pieceByteCount: pieceByteCount) }
    let watch = Stopwatch()
    try WorkPool<TreeReader.Task>.run(
      [.directory(nil, name: Array(path.utf8))], threadCount: threads
    ) { task, thread, pool in
      try readers[thread].perform(task, pool)
    }
    return LimitMeasure(
      seconds: watch.seconds, threadCount: threads, byteCount: readers.reduce(0) { $0 + $1.byteCount },
      itemCount: readers.reduce(0) { $0 + $1.fileCount })
  }

  /// Makes the directories and files of a tree anew, with content from memory and no metadata but a mode: what extracting cannot do
  /// without. What was made is removed again.
  ///
  /// - Parameters:
  ///   - source: the directory whose shape is taken.
  ///   - destination: a name that is free, on the file system that shall be measured.
  ///   - threadCount: 0 takes the cores that this process may use.
  public static func creating(
    treeLike source: String, at destination: String, threadCount: Int = 0
  ) throws -> LimitMeasure {
    // Only what is made here may be removed.
    let (place, name) = (FileSystem.currentDirectory, Array(destination.utf8))
    if (try? FileSystem.status(at: place, name)) != nil { throw LimitError.exists(destination) }
    defer { try? RemoveTree.remove(at: place, name, isParallel: true) }
    return try make(treeLike: source, at: destination, threadCount: threadCount)
  }

  /// As ``creating(treeLike:at:threadCount:)``, and what was made stays.
  package static func make(
    treeLike source: String, at destination: String, threadCount: Int = 0
  ) throws -> LimitMeasure {
    let threads = threadCount > 0 ? threadCount : ProcessFacts.availableCores
    let tree = try TreeShape(of: source)
    let writer = try TreeWriter(tree)
    let watch = Stopwatch()
    try WorkPool<TreeWriter.Task>.run(
      [.directory(nil, name: Array(destination.utf8), index: 0)], threadCount: threads
    ) { task, _, pool in
      try writer.perform(task, pool)
    }
    return LimitMeasure(
      seconds: watch.seconds, threadCount: threads, byteCount: tree.byteCount, itemCount: tree.fileCount)
  }
}

/// Reads trees on one thread.
private final class TreeReader: @unchecked Sendable {
  enum Task: Sendable {
    case directory(SharedDescriptor?, name: [UInt8])
    case piece(SharedDescriptor, offset: Int64)
  }

  private var list: DirectoryList
  private let buffer: Buffer
  private(set) var byteCount: UInt64 = 0
  private(set) var fileCount = 0

  init(pieceByteCount: Int) throws {
    list = try DirectoryList()
    buffer = try Buffer(byteCount: pieceByteCount)
  }

  func perform(_ task: Task, _ pool: WorkPool<Task>) throws {
    switch task {
    case .directory(let parent, let name): try read(directory: name, in: parent, pool)
    case .piece(let file, let offset):
      byteCount += UInt64(try unsafe FileSystem.pread(file.rawValue, into: buffer.bytes, at: offset))
    }
  }

  private func read(directory name: [UInt8], in parent: SharedDescriptor?, _ pool: WorkPool<Task>) throws {
    let directory = SharedDescriptor(
      try FileSystem.open(at: parent?.rawValue ?? FileSystem.currentDirectory, name, [.readOnly, .directory]))
    list.removeAll(from: 0)
    try list.read(directory.rawValue)
    var inner: [Task] = []
    for index in list.entries.indices {
      let name = list.name(index)
      switch try kind(list.entries[index].type, directory.rawValue, name) {
      case .directory: inner.append(.directory(directory, name: name))
      case .regular: try read(file: name, in: directory.rawValue, pool)
      default: break
      }
    }
    pool.add(inner)
  }

  /// `d_type` as a kind; asked for where the file system does not tell.
  private func kind(_ type: UInt8, _ directory: Int32, _ name: [UInt8]) throws -> FileKind {
    switch type {
    case 4: .directory
    case 8: .regular
    case 0: try FileSystem.status(at: directory, name).kind
    default: .unknown
    }
  }

  private func read(file name: [UInt8], in directory: Int32, _ pool: WorkPool<Task>) throws {
    let file = try FileSystem.open(at: directory, name, [.readOnly, .noFollow])
    fileCount += 1
    let count = try unsafe FileSystem.read(file.rawValue, into: buffer.bytes)
    byteCount += UInt64(count)
    // A regular file gives less than was asked for at its end only.
    guard count == buffer.byteCount else { return try file.close() }
    let size = try FileSystem.status(of: file.rawValue).byteCount
    let shared = SharedDescriptor(file)
    pool.add(stride(from: Int64(count), to: size, by: buffer.byteCount).map { .piece(shared, offset: $0) })
  }
}
