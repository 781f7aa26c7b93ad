// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is held to the same rules.
let rules: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "ArchiveEngine",
  products: [
    .library(name: "ArchiveEngine", targets: ["ArchiveEngine"]),
    .library(name: "AppMigrationKit", targets: ["AppMigrationKit"]),
    .library(name: "AppMigrationHost", targets: ["AppMigrationHost"]),
    .executable(name: "starc", targets: ["starc"]),
    .executable(name: "appmigrate", targets: ["appmigrate"]),
    .executable(name: "archive-benchmark", targets: ["archive-benchmark"]),
    .library(name: "AllocationCounter", type: .dynamic, targets: ["AllocationCounter"]),
  ],
  targets: [
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
    .target(name: "CLinuxShims", cSettings: [.define("STARC_FAULTS", .when(configuration: .debug))]),
    .target(name: "ArchiveFormat", dependencies: ["CXXHash"], swiftSettings: rules),
    .target(name: "ArchiveIO", dependencies: ["CLinuxShims"], swiftSettings: rules),
    .target(
      name: "ArchiveEngine", dependencies: ["ArchiveFormat", "ArchiveIO", "CLinuxShims", "CZstd", "CXXHash"],
      swiftSettings: rules),
    .target(
      name: "CommandLineTool", dependencies: ["ArchiveEngine", "ArchiveFormat", "ArchiveIO", "CXXHash", "CZstd"],
      path: "Tools/CommandLineTool", swiftSettings: rules),
    .executableTarget(
      name: "starc",
      dependencies: ["CommandLineTool", "ArchiveEngine", "ArchiveFormat", "ArchiveIO"],
      path: "Tools/starc",
      swiftSettings: rules,
      // A release runs without a Swift runtime, and starts in half the time: eleven libraries less to be found and bound.
      linkerSettings: [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]),

    .target(name: "CMigrationShims"),
    .target(name: "MigrationWire", dependencies: ["ArchiveIO", "CMigrationShims"], swiftSettings: rules),
    .target(
      name: "AppMigrationHost",
      dependencies: ["ArchiveEngine", "ArchiveFormat", "ArchiveIO", "CMigrationShims", "MigrationWire"],
      swiftSettings: rules),
    .target(
      name: "AppMigrationKit", dependencies: ["AppMigrationHost", "ArchiveIO", "MigrationWire"], swiftSettings: rules),
    .executableTarget(
      name: "appmigrate",
      dependencies: ["CommandLineTool", "AppMigrationHost", "ArchiveEngine", "ArchiveIO", "MigrationWire"],
      path: "Tools/appmigrate", swiftSettings: rules),

    // What a benchmark compares a run with: the time that its codec and its files take at the least.
    .target(
      name: "BenchmarkSupport", dependencies: ["ArchiveEngine", "ArchiveFormat", "ArchiveIO"],
      path: "Benchmarks/BenchmarkSupport", swiftSettings: rules),
    // What `archive-benchmark` consists of: values, statistics and reports; corpora from a seed; and two helpers in C.
    .target(
      name: "BenchmarkKit", dependencies: ["ArchiveIO"], path: "Benchmarks/BenchmarkKit", swiftSettings: rules),
    .executableTarget(
      name: "archive-benchmark",
      dependencies: [
        "ArchiveEngine", "ArchiveFormat", "ArchiveIO", "BenchmarkKit", "BenchmarkSupport", "CommandLineTool",
        "process-meter",
      ],
      path: "Benchmarks/ArchiveBenchmark", swiftSettings: rules),
    .executableTarget(name: "process-meter", path: "Benchmarks/ProcessMeter"),
    .target(name: "AllocationCounter", path: "Benchmarks/AllocationCounter"),
    .executableTarget(
      name: "DirectoryExtension", dependencies: ["AppMigrationKit"], path: "Benchmarks/DirectoryExtension",
      swiftSettings: [.treatAllWarnings(as: .error)]),
    // A sample app, its extension and what they share, written as an app's developer would.
    .systemLibrary(
      name: "CSQLite", path: "Tools/SampleNotes/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(
      name: "NotesStore", dependencies: ["CSQLite"], path: "Tools/SampleNotes/NotesStore",
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "notes", dependencies: ["AppMigrationKit", "NotesStore"], path: "Tools/SampleNotes/notes",
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "notes-migration", dependencies: ["AppMigrationKit", "NotesStore"],
      path: "Tools/SampleNotes/notes-migration", swiftSettings: [.treatAllWarnings(as: .error)]),

    // What fuzzers and the test that replays their inputs do with an input.
    .target(
      name: "FuzzBodies", dependencies: ["ArchiveEngine", "ArchiveFormat", "ArchiveIO", "CZstd"],
      path: "Tools/Fuzz/Bodies", swiftSettings: rules),
    .testTarget(
      name: "FuzzCorpusTests",
      dependencies: ["ArchiveEngine", "ArchiveFormat", "ArchiveIO", "FuzzBodies", "TestSupport"],
      swiftSettings: rules),

    .target(name: "TestSupport", dependencies: ["ArchiveIO"], path: "Tests/TestSupport", swiftSettings: rules),
    .testTarget(
      name: "ArchiveFormatTests", dependencies: ["ArchiveFormat", "TestSupport"], swiftSettings: rules),
    .testTarget(name: "ArchiveIOTests", dependencies: ["ArchiveIO", "TestSupport"], swiftSettings: rules),
    .testTarget(
      name: "ArchiveEngineTests", dependencies: ["ArchiveEngine", "ArchiveFormat", "ArchiveIO", "TestSupport"],
      swiftSettings: rules),
    .testTarget(
      name: "BenchmarkSupportTests", dependencies: ["BenchmarkSupport", "ArchiveEngine", "ArchiveIO", "TestSupport"],
      swiftSettings: rules),
    .target(name: "SanitizerDefaults", path: "Tests/SanitizerDefaults"),
    // Extensions of the tests: one that attacks, and one that uses what extensions use.
    .executableTarget(name: "HostileExtension", dependencies: ["SanitizerDefaults"], path: "Tests/HostileExtension"),
    .executableTarget(
      name: "FoundationExtension", dependencies: ["SanitizerDefaults"], path: "Tests/FoundationExtension",
      swiftSettings: rules),
    .testTarget(
      name: "MigrationTests",
      dependencies: [
        "AppMigrationHost", "ArchiveEngine", "ArchiveIO", "CMigrationShims", "FoundationExtension",
        "HostileExtension", "MigrationWire", "TestSupport",
      ],
      swiftSettings: rules),
    // Written as an app's developer would: no settings but the language mode and no warnings.
    .target(
      name: "UsagePatterns", dependencies: ["AppMigrationKit"], path: "Tests/UsagePatterns",
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "SampleExtension", dependencies: ["AppMigrationKit", "SanitizerDefaults"], path: "Tests/SampleExtension",
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .testTarget(
      name: "AppMigrationKitTests",
      dependencies: [
        "AppMigrationHost", "AppMigrationKit", "ArchiveEngine", "ArchiveIO", "MigrationWire", "SampleExtension",
        "TestSupport", "UsagePatterns",
      ],
      swiftSettings: rules),
    // An extension that does what a test tells it, and an app that is launched.
    .executableTarget(
      name: "BehavingExtension", dependencies: ["AppMigrationKit", "SanitizerDefaults"],
      path: "Tests/BehavingExtension",
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "LaunchedApp", dependencies: ["AppMigrationHost"], path: "Tests/LaunchedApp",
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .testTarget(
      name: "AppmigrateTests", dependencies: ["appmigrate", "BehavingExtension", "LaunchedApp", "TestSupport"],
      swiftSettings: rules),
    .testTarget(
      name: "SampleNotesTests",
      dependencies: [
        "AppMigrationHost", "ArchiveIO", "NotesStore", "TestSupport", "appmigrate", "notes", "notes-migration",
      ],
      swiftSettings: rules),
    .testTarget(
      name: "ArchiveBenchmarkTests",
      dependencies: [
        "ArchiveIO", "BenchmarkKit", "DirectoryExtension", "TestSupport", "appmigrate", "archive-benchmark", "starc",
      ],
      swiftSettings: rules),
    .testTarget(
      name: "StarcTests",
      dependencies: ["starc", "CommandLineTool", "ArchiveEngine", "ArchiveFormat", "ArchiveIO", "TestSupport"],
      swiftSettings: rules),
  ]
)

// A fuzzer has no main of its own and links with `--sanitize=fuzzer` only.
if Context.environment["ARCHIVE_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "archive-fuzzer", dependencies: ["FuzzBodies"], path: "Tools/Fuzz/Driver", swiftSettings: rules))
}

// Where only the tests for sanitizers are built, twice, a third of the package has no part in them.
if Context.environment["ARCHIVE_SANITIZED_TESTS"] != nil {
  let unneeded: Set = [
    "AllocationCounter", "AppmigrateTests", "ArchiveBenchmarkTests", "ArchiveFormatTests", "BehavingExtension",
    "BenchmarkKit", "BenchmarkSupport", "BenchmarkSupportTests", "CSQLite", "CommandLineTool", "DirectoryExtension",
    "LaunchedApp", "NotesStore", "SampleNotesTests", "StarcTests", "appmigrate", "archive-benchmark", "notes",
    "notes-migration", "process-meter", "starc",
  ]
  package.targets.removeAll { unneeded.contains($0.name) }
  package.products = []
}
