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

  /// Path in the archive, without a slash at its end.
  package var path: [UInt8]
  /// What it consists of.
  package var content: Content
  /// Whether it is a directory, below which other items may lie.
  package var isDirectory = false
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
  ///
  /// - Throws: what the extension shall see; a ``LateRefusal`` for an earlier item, this one then being left out as well.
  func append(_ item: OutgoingItem) async throws
}

/// An item for whose answer nobody waited was refused.
package struct LateRefusal: Error {
  /// Its path in the archive, if known: it is free again.
  package var path: [UInt8]?
  /// What the extension shall see.
  package var error: ResourcesArchiverError

  /// Makes a refusal.
  package init(path: [UInt8]?, error: ResourcesArchiverError) {
    self.path = path
    self.error = error
  }
}
