/// What is asked of an export without options.
public typealias MigrationRequest = MigrationRequestWithOptions<MigrationDefaultSupportedOptions>
