internal import BenchmarkKit

/// The system of migrations, with an extension that appends and takes over whole directories.
struct Appmigrate: Program {
  /// Path of the executable.
  let executable: String
  /// The extension, with its entitlements beside it.
  let extensionPath: String

  var name: String { "appmigrate" }
  var executables: [String] { [executable] }

  func pipeline(_ operation: Operation, _ job: Job) -> Pipeline? {
    switch operation {
    case .export:
      return Pipeline(stages: [
        [
          executable, "export", "--quiet", "--extension", extensionPath, "--container", job.corpus, "--output",
          job.archive,
        ]
      ])
    case .import:
      return Pipeline(stages: [
        [executable, "import", "--quiet", "--extension", extensionPath, "--container", job.tree, job.archive]
      ])
    default: return nil
    }
  }
}

/// `starc` doing what a migration does with the archive: what an export or import costs is told against it.
struct StarcBaseline: Program {
  /// The tool.
  let starc: Starc

  var name: String { "starc" }
  var executables: [String] { starc.executables }
  var needsDirectory: Bool { false }

  func pipeline(_ operation: Operation, _ job: Job) -> Pipeline? {
    var job = job
    // Migrations wait for the disk.
    job.conditions.syncs = true
    switch operation {
    case .export: return starc.pipeline(.create, job)
    case .import: return starc.pipeline(.extract, job)
    default: return nil
    }
  }
}
