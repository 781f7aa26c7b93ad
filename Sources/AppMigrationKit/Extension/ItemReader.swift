internal import ArchiveIO
internal import Glibc

/// Turns a URL into an item.
final class ItemReader {
  func read(_ url: URL, pathInArchive: String?) throws -> OutgoingItem { fatalError() }
}
