/// What a tool is, for its help and its messages.
package struct ToolDescription: Sendable {
  /// Its name, before every message.
  package let name: String
  /// One line: what it is.
  package let headline: String
  /// Lines of the help, each with what it does.
  package let examples: [(line: String, meaning: String)]
  /// Paragraphs at the end of the help.
  package let notes: [String]
  /// What `--version` tells.
  package let version: @Sendable () -> String
  /// All verbs, in the order of the help.
  package let commands: [Command]

  /// Describes a tool.
  package init(
    name: String, headline: String, examples: [(line: String, meaning: String)], notes: [String],
    version: @escaping @Sendable () -> String, commands: [Command]
  ) {
    self.name = name
    self.headline = headline
    self.examples = examples
    self.notes = notes
    self.version = version
    self.commands = commands
  }

  /// The command of a name.
  func find(_ name: [UInt8]) -> Command? { commands.first { name.elementsEqual($0.name.utf8) } }
}
