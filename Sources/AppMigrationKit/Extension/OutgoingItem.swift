package import ArchiveIO

/// An item on its way into the archive, its path checked, its bytes captured or its descriptor open.
package struct OutgoingItem: Sendable {
  /// What it consists of.
  package enum Content: Sendable {
    /// All bytes of a small file.
    case file([UInt8])
    /// A symlink's target.
    case symlink([UInt8])
    /// A directory or a file of any size, opened for reading.
    case descriptor(SharedDescriptor)
  }

  /// Path in the archive.
  package var path: [UInt8]
  /// What it consists of.
  package var content: Content
  /// Permission bits, with set-id and sticky.
  package var mode: UInt32
  /// Modification time: seconds since 1970.
  package var modificationSeconds: Int64
  /// Modification time: nanoseconds within the second.
  package var modificationNanoseconds: UInt32
}

/// Takes items: the connection to the system, or a tester's archive.
package protocol ItemSink: Sendable {
  /// Takes one item; returns when its bytes are captured.
  func append(_ item: OutgoingItem) async throws
}
