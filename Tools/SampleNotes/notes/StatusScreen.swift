import AppMigrationKit

/// What the app shows at its first launch after an import. On standard error, so that lists can be piped.
enum StatusScreen {
  /// Shows how the import ended, and forgets it: the next launch shows nothing.
  static func showOnce() {
    guard let status = MigrationStatus.importStatus else { return }
    FileHandle.standardError.write(Data(frame(lines(status)).utf8))
    MigrationStatus.clearImportStatus()
  }

  private static func lines(_ status: MigrationStatus) -> [String] {
    switch status {
    case .success: return ["Welcome! Your notes have arrived."]
    case .failure(let error):
      let error = error as NSError
      let suggestion = error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String
      return ["Your notes could not be moved to this machine.", error.localizedDescription]
        + [suggestion, "(\(error.domain) \(error.code))"].compactMap { $0 }
    }
  }

  private static func frame(_ lines: [String]) -> String {
    let width = lines.map(\.count).max() ?? 0
    let edge = String(repeating: "─", count: width + 2)
    let rows = lines.map { "│ " + $0 + String(repeating: " ", count: width - $0.count) + " │" }
    return (["┌\(edge)┐"] + rows + ["└\(edge)┘"]).joined(separator: "\n") + "\n"
  }
}
