internal import ArchiveIO

/// What a tester wants to go wrong, so that an extension's handling of it can be tested.
package struct SimulatedFaults: Sendable {
  /// The migration is cancelled when this item comes; the first is 1.
  package var cancelItem: Int?
  /// The extension is taken for hung when this item comes.
  package var hangItem: Int?
  /// The disk is full after so many bytes of the archive.
  package var freeByteCount: UInt64?

  /// None.
  package init() {}

  /// Lets happen what is due at an item.
  func strike(atItem number: Int, cancelling token: CancellationToken) throws(MigrationError) {
    if number == hangItem {
      throw MigrationError(.hang, "the extension was taken for hung at item \(number), as the test wanted")
    }
    if number == cancelItem { token.cancel() }
  }
}
