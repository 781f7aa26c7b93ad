internal import ArchiveEngine
internal import CommandLineTool

/// What `extract` is to do.
struct ExtractConfiguration: Sendable {
  static let overwrite = OptionSpec(
    "overwrite", value: "WHAT", "Files that are there already: fail (an error), keep or replace. Default: fail.")
  static let lenient = OptionSpec("lenient", "Leave out what is refused instead of ending the run.")
  static let sameOwner = OptionSpec("same-owner", "Restore owners. Default for root.")
  static let noSameOwner = OptionSpec("no-same-owner", "Files become your own. Default for users.")
  static let numericOwner = OptionSpec("numeric-owner", "Go by the numbers of users and groups, not their names.")
  static let samePermissions = OptionSpec("same-permissions", "Restore modes exactly. Default for root.")
  static let noSamePermissions = OptionSpec("no-same-permissions", "Apply the umask to modes. Default for users.")
  static let noXattrs = OptionSpec("no-xattrs", "Do not restore extended attributes and ACLs.")
  static let devices = OptionSpec("devices", "Make device nodes.")
  static let stripComponents = OptionSpec(
    "strip-components", value: "N", "Drop the first N components of every path.")
  static let noSync = OptionSpec("no-sync", "Do not wait until the files are on the disk.")
  static let maxSize = OptionSpec("max-size", value: "SIZE", "Refuse archives whose files hold more in all.")
  static let maxRatio = OptionSpec("max-ratio", value: "N", "Refuse archives that expand more than N times.")
  static let maxEntries = OptionSpec("max-entries", value: "N", "Refuse archives of more than N members.")

  static let options =
    [
      overwrite, lenient, sameOwner, noSameOwner, numericOwner, samePermissions, noSamePermissions, noXattrs, devices,
      stripComponents, noSync, maxSize, maxRatio, maxEntries,
    ] + OptionSpec.reading

  let reading: ReadingConfiguration
  let directory: [UInt8]
  let writesJSON: Bool
  let isQuiet: Bool
  private(set) var options = ExtractOptions()

  init(_ arguments: ParsedArguments, _ common: CommonConfiguration) throws(Failure) {
    guard arguments.operands.count >= 2 else { throw .usage("ARCHIVE and DIR are needed") }
    directory = arguments.operands[1]
    if directory.isEmpty { throw .usage("DIR is empty") }
    writesJSON = common.writesJSON
    isQuiet = common.isQuiet
    var reading = try ReadingConfiguration(archive: arguments.operands[0], arguments)
    reading.limits.maximumContentByteCount = try arguments.size(Self.maxSize)
    reading.limits.maximumRatio = try arguments.number(Self.maxRatio, in: 1...UInt64.max)
    reading.limits.maximumEntryCount = try arguments.number(Self.maxEntries, in: 0...UInt64.max)
    self.reading = reading

    let words: [(String, ExtractOptions.Overwrite)] = [("fail", .fail), ("keep", .keep), ("replace", .replace)]
    options.overwrite = try arguments.word(Self.overwrite, words) ?? .fail
    options.isLenient = arguments.has(Self.lenient)
    options.threadCount = reading.threadCount
    options.restoresOwner = Self.choice(arguments.choice(Self.sameOwner, Self.noSameOwner))
    options.restoresPermissions = Self.choice(arguments.choice(Self.samePermissions, Self.noSamePermissions))
    options.usesNumericOwners = arguments.has(Self.numericOwner)
    options.restoresExtendedAttributes = !arguments.has(Self.noXattrs)
    options.createsDevices = arguments.has(Self.devices)
    options.stripComponentCount = try arguments.number(Self.stripComponents, in: 0...Int.max) ?? 0
    options.syncs = !arguments.has(Self.noSync)
    options.selection = Array(arguments.operands[2...])
    options.limits = reading.limits
  }

  private static func choice(_ value: Bool?) -> ExtractOptions.Choice {
    value.map { $0 ? .yes : .no } ?? .automatic
  }
}
