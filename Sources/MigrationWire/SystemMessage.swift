/// What the system tells an extension.
public enum SystemMessage: Sendable, Equatable {
  /// The first message: what is to be done and where.
  case begin(MigrationTask)
  /// The description is accepted; the work begins.
  case proceed
  /// What became of an item.
  case reply(number: UInt64, ItemReply)
  /// The migration is cancelled: calls of the archiver throw from now on.
  case cancel
}

/// What became of an item.
public enum ItemReply: Sendable, Equatable {
  /// It is in the archive.
  case accepted
  /// It is not in the archive, or only in part; the run goes on.
  case refused(message: String)
  /// The run is cancelled.
  case cancelled
}

/// What an extension is started for.
public struct MigrationTask: Sendable, Equatable {
  /// The kinds of runs.
  public enum Action: Sendable, Equatable {
    /// Only the description is wanted.
    case describe
    /// Items for a platform, with values for its options, by key.
    case export(platform: String, options: [Option])
    /// What lies in the staging directory.
    case `import`(stagingPath: [UInt8], version: String, source: SourceApp)
  }

  /// A value for an option of the destination.
  public struct Option: Sendable, Equatable {
    /// The key.
    public var key: String
    /// The value.
    public var value: [UInt8]
    /// Makes an option.
    public init(key: String, value: [UInt8]) { (self.key, self.value) = (key, value) }
  }

  /// An app group that the extension may use.
  public struct Group: Sendable, Equatable {
    /// The group's identifier.
    public var identifier: String
    /// Its directory.
    public var path: [UInt8]
    /// Makes a group.
    public init(identifier: String, path: [UInt8]) { (self.identifier, self.path) = (identifier, path) }
  }

  /// What is to be done.
  public var action: Action
  /// Bundle identifier of the containing app.
  public var bundleIdentifier: String
  /// Root of its container.
  public var containerPath: [UInt8]
  /// App groups that were granted.
  public var groups: [Group]

  /// Makes a task.
  public init(action: Action, bundleIdentifier: String, containerPath: [UInt8], groups: [Group] = []) {
    self.action = action
    self.bundleIdentifier = bundleIdentifier
    self.containerPath = containerPath
    self.groups = groups
  }
}

/// The app that an archive comes from.
public struct SourceApp: Sendable, Equatable, Codable {
  /// The store that it came from; empty when unknown.
  public var storeIdentifier: String
  /// Bundle identifier or package name.
  public var bundleIdentifier: String
  /// The platform's raw value.
  public var platform: String

  /// Makes a source app.
  public init(storeIdentifier: String, bundleIdentifier: String, platform: String) {
    self.storeIdentifier = storeIdentifier
    self.bundleIdentifier = bundleIdentifier
    self.platform = platform
  }
}

extension SystemMessage {
  /// The message as the bytes of one packet.
  public func encoded() -> [UInt8] {
    var out = WireWriter()
    switch self {
    case .begin(let task):
      out.byte(1)
      switch task.action {
      case .describe: out.byte(0)
      case .export(let platform, let options):
        out.byte(1)
        out.text(platform)
        out.list(options) { out, option in
          out.text(option.key)
          out.string(option.value)
        }
      case .import(let stagingPath, let version, let source):
        out.byte(2)
        out.string(stagingPath)
        out.text(version)
        out.text(source.storeIdentifier)
        out.text(source.bundleIdentifier)
        out.text(source.platform)
      }
      out.text(task.bundleIdentifier)
      out.string(task.containerPath)
      out.list(task.groups) { out, group in
        out.text(group.identifier)
        out.string(group.path)
      }
    case .proceed: out.byte(2)
    case .reply(let number, let reply):
      out.byte(3)
      out.number(number)
      switch reply {
      case .accepted: out.byte(0)
      case .refused(let message):
        out.byte(1)
        out.text(message)
      case .cancelled: out.byte(2)
      }
    case .cancel: out.byte(4)
    }
    return out.bytes
  }

  /// Understands the bytes of one packet.
  public init(decoding bytes: [UInt8]) throws(WireError) {
    var reader = WireReader(bytes)
    switch try reader.byte() {
    case 1: self = .begin(try Self.task(&reader))
    case 2: self = .proceed
    case 3:
      let number = try reader.number(UInt64.self)
      switch try reader.byte() {
      case 0: self = .reply(number: number, .accepted)
      case 1: self = .reply(number: number, .refused(message: try reader.text()))
      case 2: self = .reply(number: number, .cancelled)
      default: throw WireError("a reply of an unknown kind")
      }
    case 4: self = .cancel
    default: throw WireError("a message of an unknown kind")
    }
    try reader.end()
  }

  private static func task(_ reader: inout WireReader) throws(WireError) -> MigrationTask {
    let action: MigrationTask.Action
    switch try reader.byte() {
    case 0: action = .describe
    case 1:
      let platform = try reader.text()
      action = .export(
        platform: platform,
        options: try reader.list { (reader) throws(WireError) in
          MigrationTask.Option(key: try reader.text(), value: try reader.string())
        })
    case 2:
      let path = try reader.string()
      let version = try reader.text()
      action = .import(
        stagingPath: path, version: version,
        source: SourceApp(
          storeIdentifier: try reader.text(), bundleIdentifier: try reader.text(), platform: try reader.text()))
    default: throw WireError("a task of an unknown kind")
    }
    let bundleIdentifier = try reader.text()
    let containerPath = try reader.string()
    let groups = try reader.list { (reader) throws(WireError) in
      MigrationTask.Group(identifier: try reader.text(), path: try reader.string())
    }
    return MigrationTask(
      action: action, bundleIdentifier: bundleIdentifier, containerPath: containerPath, groups: groups)
  }
}
