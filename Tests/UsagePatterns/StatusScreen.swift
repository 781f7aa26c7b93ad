// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import AppMigrationKit

/// What an app shows at its first launch; a view's body in an app with a user interface.
@MainActor public struct StatusScreen {
  public init() {}

  public var text: String? {
    guard let status = MigrationStatus.importStatus else { return nil }
    switch status {
    case .success: return "Your data are here."
    case .failure(let error): return "Your data could not be imported: \(error.localizedDescription)"
    }
  }

  public func dismiss() { MigrationStatus.clearImportStatus() }
}
