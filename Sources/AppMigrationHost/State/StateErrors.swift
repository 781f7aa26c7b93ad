internal import ArchiveEngine
internal import ArchiveIO

extension MigrationError {
  /// What a failed system call on a place of the migration means. `action` says what could not be done.
  static func place(_ action: String, _ path: [UInt8], _ error: SystemError) -> MigrationError {
    let code: Code = error.isOutOfSpace ? .noSpace : .system
    return MigrationError(code, "cannot \(action) \(PathText.printable(path)): \(error.reason)")
  }
}
