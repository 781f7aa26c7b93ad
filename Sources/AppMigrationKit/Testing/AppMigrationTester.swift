internal import AppMigrationHost
internal import ArchiveIO

/// Runs the app's migration extension in a unit test.
///
/// By default it is the extension that the test registered, in this process, so that breakpoints and sanitizers work:
///
/// ```swift
/// AppMigrationTester.register(NotesMigration.self)
/// let tester = try await AppMigrationTester(platform: .android)
/// // ... put files into tester.appContainer ...
/// let result = try await tester.exportController.exportResources(request: nil, progress: nil)
/// ```
///
/// Several testers work at once, each with a container of its own. What the extension does in detached tasks and on Dispatch queues of its own does not see
/// that container; such extensions are tested one at a time, or as an executable.
public actor AppMigrationTester {
  private let workspace: TesterWorkspace

  /// Makes a tester with an empty container.
  ///
  /// - Parameter platform: where data go to in an export and, unless a request says otherwise, come from in an import.
  /// - Throws: ``AppMigrationTesterError`` when there is no extension to test.
  public init(platform: MigrationPlatform) async throws {
    workspace = try TesterWorkspace(TesterTarget.current(), platform: platform)
  }

  /// Exports. Each read gives a new one; each export starts the extension anew.
  ///
  /// - Throws: ``AppMigrationTesterError`` when the registered extension does not export.
  public var exportController: AppExportController {
    get async throws {
      if case .type(let type, _, _) = workspace.target, !(type is any ResourcesExportingWithOptions.Type) {
        throw AppMigrationTesterError(.noExtension, "\(type) does not export (it is no ResourcesExporting)")
      }
      return AppExportController(workspace)
    }
  }

  /// Imports. Each read gives a new one; each import starts the extension anew.
  ///
  /// - Throws: ``AppMigrationTesterError`` when the registered extension does not import.
  public var importController: AppImportController {
    get async throws {
      if case .type(let type, _, _) = workspace.target, !(type is any ResourcesImporting.Type) {
        throw AppMigrationTesterError(.noExtension, "\(type) does not import (it is no ResourcesImporting)")
      }
      return AppImportController(workspace)
    }
  }

  // MARK: Linux additions

  /// Says which extension testers run from now on, in this process. A Linux addition: Apple's system finds it in the app that hosts the test.
  ///
  /// - Parameters:
  ///   - type: the extension.
  ///   - bundleIdentifier: what it sees as the containing app's.
  ///   - groups: app groups that it is granted.
  public static func register(
    _ type: any AppMigrationExtension.Type, bundleIdentifier: String = "org.example.tested-app", groups: [String] = []
  ) {
    TesterTarget.register(.type(type, bundleIdentifier: bundleIdentifier, groups: groups))
  }

  /// Says which built extension testers run from now on: a process of its own in its sandbox, with the entitlements beside it. Without any registration
  /// `$APP_MIGRATION_EXTENSION` names it. A Linux addition.
  public static func register(executable: URL) {
    TesterTarget.register(.executable(Array(executable.path.utf8)))
  }

  /// The container that exports read and imports fill: tests put files into it and look at it. A Linux addition.
  public nonisolated var appContainer: MigrationDataContainer { workspace.container }

  /// Something that goes wrong, so that an extension's handling of it can be tested. A Linux addition.
  public enum SimulatedFault: Sendable, Hashable {
    /// The extension is taken for hung when it appends this item; the first is 1.
    case hang(atItem: Int)
    /// The migration is cancelled when the extension appends this item; the first is 1.
    case cancel(atItem: Int)
    /// The disk of the archive is full after so many bytes.
    case diskFull(afterByteCount: Int)
    /// A byte in the middle of the archive is another when it is imported: the extension must not be started.
    case corruptedArchive
  }

  /// Lets something go wrong in the runs to come; nil lets nothing go wrong any more. A Linux addition.
  public func simulate(_ fault: SimulatedFault?) { workspace.faults.withLock { $0 = fault } }
}
