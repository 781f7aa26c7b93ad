/// Takes the items of an export. Only the system makes one.
public final class ResourcesArchiver {
  private let sink: any ItemSink
  private let reader: ItemReader

  /// Makes an archiver over what takes the items.
  package init(sink: any ItemSink) {
    self.sink = sink
    reader = ItemReader()
  }

  /// Puts a file, a symlink, or a directory with everything in it into the archive.
  ///
  /// When the call returns, the item's bytes are captured: it may be changed or removed. Symlinks are not followed.
  ///
  /// - Parameters:
  ///   - url: URL of the item.
  ///   - pathInArchive: relative path, used as it is; nil means the last path component of `url`.
  /// - Throws: ``ResourcesArchiverError`` with the path in question when the item cannot be added; `CancellationError` when
  ///   the migration was cancelled.
  public final func appendItem(at url: URL, pathInArchive: String? = nil) async throws {
    try await sink.append(try reader.read(url, pathInArchive: pathInArchive))
  }
}
