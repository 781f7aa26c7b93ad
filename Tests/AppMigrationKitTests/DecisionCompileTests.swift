import Foundation
import TestSupport
import Testing

/// Answers that only a compiler can show.
@Suite(.inTemporaryDirectory(), .timeLimit(.minutes(10)))
struct DecisionCompileTests {
  /// Whether a source that imports the module is free of errors. The compiler is waited for on another thread: those of Swift's pool are few, and the
  /// extensions of other tests run on them.
  private func compile(_ source: String) async throws -> (isOK: Bool, output: String) {
    let file = try #require(TemporaryDirectory.current).file("source.swift")
    try FileTree.write(Array("import AppMigrationKit\n\(source)\n".utf8), to: file)
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Sources").path
    let maps = [
      "\(sources)/CXXHash", "\(sources)/CZstd", "\(sources)/CMigrationShims/include",
      Shell.builtProduct("CLinuxShims.build"),
    ]
    let command =
      ["swiftc", "-typecheck", "-swift-version", "6", "-I", Shell.builtProduct("Modules"), file]
      + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)/module.modulemap"] }
    let result = try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try Shell.run(command) }) }
    }
    return (result.status == 0, result.outputText + result.errorText)
  }

  @Test func aStatusIsNotSendable() async throws {
    let function = "func send<Value: Sendable>(_ type: Value.Type) {}\n"
    let status = try await compile(function + "func check() { send(MigrationStatus.self) }")
    #expect(!status.isOK && status.output.contains("'MigrationStatus' does not conform to the 'Sendable' protocol"))
    let platform = try await compile(function + "func check() { send(MigrationPlatform.self) }")
    #expect(platform.isOK, "\(platform.output)")
  }

  @Test func nothingIsLimitedToVersionsOfASystem() async throws {
    let uses = try await compile(
      """
      struct Later: ResourcesExporting {
        var resourcesSizeEstimate: Int { 1 }
        var resourcesVersion: String { "1" }
        var resourcesCompressible: Bool { true }
        func exportResources(to archiver: sending ResourcesArchiver, request: MigrationRequest) async throws {
          if #available(iOS 26.0, *) { try await archiver.appendItem(at: appContainer.documentsDirectory) }
        }
      }
      """)
    #expect(uses.isOK, "\(uses.output)")
  }
}
