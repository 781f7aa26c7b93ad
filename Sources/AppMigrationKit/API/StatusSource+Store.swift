internal import AppMigrationHost
internal import MigrationWire

extension StatusSource.Access {
  /// What the system has stored for the app that this process is. Nothing where no app is named, and in an extension, which is not the app.
  package static let system = Self(
    read: {
      guard ExtensionContext.current == nil, let identity = AppIdentity.current else { return nil }
      return read(identity)
    },
    clear: {
      guard ExtensionContext.current == nil, let identity = AppIdentity.current else { return }
      // What cannot be removed is seen at the next launch again; the call has no way to say so.
      try? MigrationSystem.clearStatus(
        bundleIdentifier: identity.bundleIdentifier, containerPath: identity.containerPath)
    })

  private static func read(_ identity: AppIdentity.Value) -> MigrationStatus? {
    do throws(MigrationError) {
      let record = try MigrationSystem.status(
        bundleIdentifier: identity.bundleIdentifier, containerPath: identity.containerPath)
      guard let record else { return nil }
      return record.isSuccess ? .success : .failure((record.error ?? .generic).nsError)
    } catch {
      // Not nil: the app would take a container that may be half filled for a complete one.
      let description = "It cannot be found out how the last import ended: \(error.message)"
      return .failure(
        ErrorRecord(domain: StatusStore.errorDomain, code: StatusStore.damagedCode, description: description).nsError)
    }
  }
}
