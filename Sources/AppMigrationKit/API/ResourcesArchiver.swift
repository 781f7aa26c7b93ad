/// Takes the items of an export. Only the system makes one.
public final class ResourcesArchiver {
  private let sink: any ItemSink
  private let claims = PathClaims()

  /// Makes an archiver over what takes the items.
  package init(sink: any ItemSink) { self.sink = sink }

  /// Puts a file, a symlink, or a directory with everything in it into the archive.
  ///
  /// When the call returns, the item's bytes are captured: it may be changed or removed. Symlinks are not followed. Calls may
  /// overlap. A call that throws has added nothing that an import would see, and its path may be used again.
  ///
  /// A refusal of a small file, for which no call waits, is thrown by the next call, whose own item is then left out, or by the end of the export.
  ///
  /// - Parameters:
  ///   - url: URL of the item.
  ///   - pathInArchive: relative path, used as it is: without empty, `.` and `..` components; one slash at the end is allowed for
  ///     a directory. nil means the last path component of `url`.
  /// - Throws: ``ResourcesArchiverError`` with the path in question when the item cannot be added; `CancellationError` when
  ///   the migration was cancelled.
  public final func appendItem(at url: URL, pathInArchive: String? = nil) async throws {
    let file = try FilePath.bytes(of: url)
    let (path, isDirectoryOnly) =
      if let pathInArchive {
        try ArchivePathRule.check(Array(pathInArchive.utf8))
      } else {
        (try ArchivePathRule.derived(from: file), false)
      }
    if let fault = claims.claim(path) {
      throw ResourcesArchiverError(fault, path: String(decoding: path, as: UTF8.self))
    }
    do {
      let item = try ItemReader.read(file, as: path, isDirectoryOnly: isDirectoryOnly)
      if !item.isDirectory, let fault = claims.settleAsLeaf(path) {
        throw ResourcesArchiverError(fault, path: String(decoding: path, as: UTF8.self))
      }
      try await sink.append(item)
    } catch {
      claims.release(path)
      guard let refusal = error as? LateRefusal else { throw error }
      if let path = refusal.path { claims.release(path) }
      throw refusal.error
    }
  }
}
