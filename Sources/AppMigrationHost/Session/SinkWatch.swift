internal import CMigrationShims

/// Tells whether whoever reads the archive is the one that is waited for.
enum SinkWatch {
  /// A pipe or socket that takes nothing at the moment. Files never are.
  static func isBlocked(_ descriptor: Int32) -> Bool { amk_poll(descriptor, 1, -1, 0) == 0 }
}
