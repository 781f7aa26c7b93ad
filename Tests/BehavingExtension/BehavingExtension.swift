import AppMigrationKit

/// An extension that does what a file tells it, a step a line: `Documents/behaviour` in an export, `behaviour` among the arrived files in an import.
///
/// What it finds it says on standard error, which is the system's.
@main
struct BehavingExtension: ResourcesExporting, ResourcesImporting {
  let resourcesImportProgress = Progress(totalUnitCount: 1000)

  @MainActor init() { Report.say("group \(getpgrp())") }

  var resourcesVersion: String { exportScript.argument(of: "version") ?? "1.0" }
  var resourcesCompressible: Bool { !exportScript.contains("incompressible") }

  var resourcesSizeEstimate: Int {
    get async {
      let script = exportScript
      if script.contains("estimate-hangs") { Steps.hang() }
      if script.contains("estimate-crashes") { Steps.endBySignal(SIGSEGV) }
      return script.argument(of: "estimate").flatMap(Int.init) ?? 0
    }
  }

  func exportResources(to archiver: sending ResourcesArchiver, request: MigrationRequest) async throws {
    let export = ExportSteps(archiver: archiver, root: appContainer.containerRootDirectory, request: request)
    for step in exportScript.steps {
      if try await export.perform(step) { continue }
      try Steps.perform(step)
    }
  }

  func importResources(at url: URL, request: ResourcesImportRequest) async throws {
    let steps = ImportSteps(
      staging: url, container: appContainer, progress: resourcesImportProgress, request: request)
    for step in Script(url.appendingPathComponent("behaviour")).steps {
      if try steps.perform(step) { continue }
      try Steps.perform(step)
    }
  }

  private var exportScript: Script { Script(appContainer.documentsDirectory.appendingPathComponent("behaviour")) }
}
