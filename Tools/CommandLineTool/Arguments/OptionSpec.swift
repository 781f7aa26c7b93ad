/// One option of a command, as it is parsed and as the help shows it.
package struct OptionSpec: Sendable {
  /// The long name, without dashes.
  package let name: String
  /// The letter or digit of the short form.
  package let short: Character?
  /// What the help calls its value; nil for a flag.
  package let value: String?
  /// What it does, for the help.
  package let help: String

  package init(_ name: String, short: Character? = nil, value: String? = nil, _ help: String) {
    self.name = name
    self.short = short
    self.value = value
    self.help = help
  }

  /// "-C, --directory DIR".
  package var synopsis: String {
    (short.map { "-\($0), " } ?? "    ") + "--" + name + (value.map { " " + $0 } ?? "")
  }
}

extension OptionSpec {
  package static let help = OptionSpec("help", short: "h", "Show this help.")
  package static let quiet = OptionSpec("quiet", short: "q", "Show errors only; no warnings, no progress, no summary.")
  package static let progress = OptionSpec(
    "progress", value: "WHEN", "Show progress: auto (on a terminal), always or never. Default: auto.")
  package static let json = OptionSpec("json", "Write results as JSON, one object per line.")
  package static let threads = OptionSpec(
    "threads", value: "N", "Use N threads, 1 to 256. Default: the cores available.")
  package static let memoryLimit = OptionSpec(
    "memory-limit", value: "SIZE", "Memory for decoding; frames that need more are refused. Default: 128M.")

  /// Those of every command.
  package static let common: [OptionSpec] = [json, quiet, progress, help]
  /// Those of every command that reads an archive.
  package static let reading: [OptionSpec] = [threads, memoryLimit]
}
