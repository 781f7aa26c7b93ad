/// An extension that exports the app's data, without options of the destination.
public protocol ResourcesExporting: ResourcesExportingWithOptions
where Self.OptionsType == MigrationDefaultSupportedOptions {}
