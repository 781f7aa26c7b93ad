/// What is asked of an export.
public struct MigrationRequestWithOptions<OptionsType>: Sendable
where
  OptionsType: CaseIterable, OptionsType: Hashable, OptionsType: RawRepresentable, OptionsType: Sendable,
  OptionsType.RawValue == String
{
  /// Where the data are going.
  public let destinationPlatform: MigrationPlatform
  /// Values for the destination's options. Keys that `OptionsType` does not know are left out.
  public let options: [OptionsType: Data]

  /// Makes a request.
  public init(destinationPlatform: MigrationPlatform, options: [OptionsType: Data] = [OptionsType: Data]()) {
    self.destinationPlatform = destinationPlatform
    self.options = options
  }
}
