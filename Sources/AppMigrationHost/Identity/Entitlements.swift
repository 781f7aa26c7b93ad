internal import ArchiveEngine

/// What an extension is entitled to: the container of one app, and app groups.
///
/// It stands in `EXECUTABLE.entitlements`, beside the executable. Whoever may write there may replace the executable as well, so the file
/// needs no protection of its own.
package struct Entitlements: Sendable, Equatable {
  /// Names the containing app.
  package static let containerKey = "com.apple.developer.app-migration.data-container-access"
  /// Lists app groups.
  package static let groupsKey = "com.apple.security.application-groups"

  /// The containing app.
  package let bundleIdentifier: String
  /// Groups whose directories may be used, each once.
  package let groups: [String]

  /// Reads and checks the file of an executable.
  package static func load(forExecutable executable: [UInt8]) throws(MigrationError) -> Entitlements {
    let path = executable + Array(".entitlements".utf8)
    guard let file = try PropertyListFile(path: path) else {
      throw problem("\(PathText.printable(path)) does not exist")
    }
    let shown = file.shownPath
    let identifiers: [String]
    switch file.value(containerKey) {
    case .missing: throw problem("\(shown) has no key \(containerKey)")
    case .strings(let texts): identifiers = texts
    case .string, .other: throw problem("in \(shown) the value of \(containerKey) is not an array of strings")
    }
    guard identifiers.count == 1, let identifier = identifiers.first else {
      throw problem(
        "in \(shown) the array of \(containerKey) has \(identifiers.count) elements; it must have exactly one")
    }
    try check(identifier, containerKey, shown)
    return Entitlements(bundleIdentifier: identifier, groups: try groups(of: file))
  }

  static func groups(of file: PropertyListFile) throws(MigrationError) -> [String] {
    let identifiers: [String]
    switch file.value(groupsKey) {
    case .missing: return []
    case .strings(let texts): identifiers = texts
    case .string, .other: throw problem("in \(file.shownPath) the value of \(groupsKey) is not an array of strings")
    }
    var seen: Set<String> = []
    for identifier in identifiers { try check(identifier, groupsKey, file.shownPath) }
    return identifiers.filter { seen.insert($0).inserted }
  }

  private static func check(_ identifier: String, _ key: String, _ shown: String) throws(MigrationError) {
    if BundleIdentifier.isPlausible(identifier) { return }
    let text = PathText.printable(Array(identifier.utf8.prefix(200)))
    throw problem("in \(shown) the element \"\(text)\" of \(key) is no identifier (\(BundleIdentifier.rule))")
  }

  private static func problem(_ message: String) -> MigrationError {
    MigrationError(
      .entitlement,
      """
      \(message). It must be an XML property list with:
        <key>\(containerKey)</key><array><string>BUNDLE IDENTIFIER OF THE CONTAINING APP</string></array>
      and may have:
        <key>\(groupsKey)</key><array><string>GROUP IDENTIFIER</string>…</array>
      """)
  }
}
