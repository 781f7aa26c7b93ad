internal import AppMigrationHost
internal import CommandLineTool

extension OptionSpec {
  static let extensionExecutable = OptionSpec(
    "extension", short: "e", value: "EXECUTABLE", "The extension; its entitlements are in EXECUTABLE.entitlements.")
  static let container = OptionSpec("container", value: "DIR", "The app's container, in place of the usual one.")
  static let hangTimeout = OptionSpec(
    "hang-timeout", value: "SECONDS", "End an extension that does nothing for so long; 0: never. Default: 30.")
  static let cancelGrace = OptionSpec(
    "cancel-grace", value: "SECONDS", "What an extension has to end after a cancel. Default: 5.")
  static let requireSandbox = OptionSpec(
    "require-sandbox", "Fail where the kernel cannot enforce the whole sandbox ('appmigrate check' tells).")
  static let bundleIdentifier = OptionSpec("bundle-id", value: "ID", "Bundle identifier of the app.")
}

/// What most commands share.
struct ExtensionArguments {
  let executable: [UInt8]
  let containerPath: [UInt8]?

  init(_ arguments: ParsedArguments) throws(Failure) {
    guard let executable = arguments.bytes(.extensionExecutable) else { throw .usage("--extension is missing") }
    self.executable = executable
    containerPath = arguments.bytes(.container)
  }

  static func timeouts(_ arguments: ParsedArguments) throws(Failure) -> MigrationTimeouts {
    var timeouts = MigrationTimeouts()
    if let seconds = try seconds(arguments, .hangTimeout) { timeouts.hang = seconds == .zero ? nil : seconds }
    if let seconds = try seconds(arguments, .cancelGrace) { timeouts.cancelGrace = seconds }
    return timeouts
  }

  /// Seconds with or without a fraction.
  private static func seconds(_ arguments: ParsedArguments, _ option: OptionSpec) throws(Failure) -> Duration? {
    guard let text = arguments.text(option) else { return nil }
    guard let value = Double(text), value >= 0, value <= 1_000_000,
      text.utf8.allSatisfy({ $0 == 0x2E || (0x30...0x39).contains($0) })
    else { throw .usage("--\(option.name): \"\(text)\" is no number of seconds") }
    return .milliseconds(Int64((value * 1000).rounded()))
  }
}

extension Failure {
  /// A failure of the system that runs migrations.
  init(_ error: MigrationError) {
    switch error.code {
    case .cancelled: self = error.message == "cancelled" ? .cancelled : .interrupted(error.message)
    default: self = .coded(error.message, code: error.code.description)
    }
  }
}

/// Runs a call of the migration system.
func migration<Result>(_ body: () throws(MigrationError) -> Result) throws(Failure) -> Result {
  do throws(MigrationError) { return try body() } catch { throw Failure(error) }
}

extension JSONText {
  /// What the sandbox can enforce.
  mutating func field(_ name: String, _ sandbox: SandboxReport) {
    self.name(name)
    object { text in
      text.field("complete", sandbox.isComplete)
      text.field("landlockABI", sandbox.landlockABI)
      text.field("metadataProtection", sandbox.metadataProtection)
      text.field("problems", sandbox.problems)
    }
  }

  /// A list of texts.
  mutating func field(_ name: String, _ texts: [String]) {
    self.name(name)
    array { list in for text in texts { list.value(text) } }
  }
}
