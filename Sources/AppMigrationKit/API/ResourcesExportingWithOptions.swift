/// An extension that exports the app's data and understands options of the destination. Most need ``ResourcesExporting`` alone.
public protocol ResourcesExportingWithOptions: AppMigrationExtension {
  /// The keys that the extension understands.
  associatedtype OptionsType: CaseIterable, Hashable, RawRepresentable, Sendable
  where Self.OptionsType.RawValue == String

  /// Hands everything that is to be exported to the archiver.
  ///
  /// The app cannot run meanwhile. After a cancellation the archiver's calls throw `CancellationError`, which is to be let out.
  @concurrent
  func exportResources(
    to archiver: sending ResourcesArchiver, request: MigrationRequestWithOptions<Self.OptionsType>
  ) async throws

  /// Bytes that will be exported, about. Read once, before the export, from the instance that exports.
  var resourcesSizeEstimate: Int { get async }

  /// Version of the data's format; at the receiver it is ``ResourcesImportRequest/sourceVersion``.
  var resourcesVersion: String { get }

  /// Whether compressing the data is worth a try.
  var resourcesCompressible: Bool { get }
}
