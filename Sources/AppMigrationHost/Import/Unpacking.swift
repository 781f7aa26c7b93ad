internal import ArchiveEngine
internal import ArchiveIO
internal import MigrationWire

/// The first half of an import: the archive is verified and unpacked into the staging directory, and what came out is looked through.
struct Unpacking {
  /// What is in the staging directory now.
  struct Result {
    var version: String
    var source: SourceApp
    var tree: StagedTree.Summary
  }

  private let options: ImportOptions
  private let app: ExtensionApp
  private let cancellation: CancellationToken
  private let report: @Sendable (MigrationEvent) -> Void

  init(
    _ options: ImportOptions, _ app: ExtensionApp, cancellation: CancellationToken,
    report: @escaping @Sendable (MigrationEvent) -> Void
  ) {
    self.options = options
    self.app = app
    self.cancellation = cancellation
    self.report = report
  }

  func run() throws(MigrationError) -> Result {
    try app.removeStaging()
    let free = app.freeByteCount
    var limits = options.limits
    if let free { limits.maximumContentByteCount = min(limits.maximumContentByteCount ?? .max, free) }
    // The manifest may end the run from a thread of the engine.
    let token = CancellationToken()
    let registration = cancellation.onCancel { token.cancel() }
    let refusal = Locked<MigrationError?>(nil)
    let total = Locked<UInt64>(0)
    let onEvent: @Sendable (ReaderEvent) -> Void = { [report] event in
      switch event {
      case .progress(let progress):
        report(.bytes(done: progress.contentByteCount, total: total.withLock { $0 }))
      case .warning(let warning): report(.warning(warning.description))
      case .manifest(let pairs):
        guard let manifest = MigrationManifest(pairs: pairs) else { return }
        let expected = UInt64(max(0, manifest.sizeEstimate))
        total.withLock { $0 = expected }
        if let free, expected > free {
          refusal.withLock {
            $0 = MigrationError(
              .noSpace, "the archive says that it holds \(expected) bytes, and \(free) bytes are free for the container"
            )
          }
          token.cancel()
        }
      }
    }
    let extracted: ExtractSummary
    do throws(ArchiveError) {
      let reader = try open(limits, token, onEvent)
      extracted = try reader.extract(to: app.layout.stagingPath, options: extraction)
    } catch {
      if let refused = refusal.withLock({ $0 }) { throw refused }
      throw MigrationError(error, doing: "the archive was not unpacked")
    }
    withExtendedLifetime(registration) {}
    let manifest = MigrationManifest(pairs: extracted.manifest)
    let (version, source) = try identity(manifest)
    let members = try MigrationManifest.withdrawn(in: extracted.manifest)
    let tree = try StagedTree.admit(
      root: try app.openStaging(), owner: app.containerOwner(),
      withdrawn: WithdrawnItems(prefixes: members.prefixes, hashes: Set(members.pathHashes)), token: cancellation)
    return Result(version: version, source: source, tree: tree)
  }

  private func open(
    _ limits: ReadLimits, _ token: CancellationToken, _ onEvent: @escaping @Sendable (ReaderEvent) -> Void
  ) throws(ArchiveError) -> ArchiveReader {
    switch options.input {
    case .file(let path):
      try ArchiveReader(
        path: path, limits: limits, threadCount: options.threadCount, cancellation: token, onEvent: onEvent)
    case .descriptor(let descriptor):
      try ArchiveReader(
        descriptor: descriptor, limits: limits, threadCount: options.threadCount, cancellation: token, onEvent: onEvent)
    }
  }

  /// Everything is made as it is in the archive, device nodes too: what may not arrive is then found, and named, in one place.
  private var extraction: ExtractOptions {
    var extraction = ExtractOptions()
    extraction.restoresOwner = .no
    extraction.restoresPermissions = .yes
    extraction.createsDevices = true
    extraction.syncs = false
    extraction.threadCount = options.threadCount
    return extraction
  }

  /// Version and source app; what the caller says counts more than what the archive says.
  private func identity(_ manifest: MigrationManifest?) throws(MigrationError) -> (String, SourceApp) {
    guard let version = options.sourceVersion ?? manifest?.version,
      let bundle = options.sourceBundleIdentifier ?? manifest?.source.bundleIdentifier
    else {
      throw MigrationError(
        .invalidArgument,
        "the archive comes from no migration; say what is in it with --source-version and --source-bundle-id")
    }
    let source = SourceApp(
      storeIdentifier: options.sourceStoreIdentifier ?? manifest?.source.storeIdentifier ?? "",
      bundleIdentifier: bundle, platform: options.sourcePlatform ?? manifest?.source.platform ?? ExtensionApp.platform)
    return (version, source)
  }
}
