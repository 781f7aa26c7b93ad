/// A verb of a tool. To add one, write its file with a `static let` and name it in the tool's description.
package struct Command: Sendable {
  /// The verb.
  package let name: String
  /// One line for the list of commands.
  package let summary: String
  /// The arguments behind the options, one or more forms.
  package let usage: [String]
  /// Paragraphs of the help.
  package let details: [String]
  /// Options beside the common ones.
  package let options: [OptionSpec]
  /// Lines that can be copied.
  package let examples: [String]
  /// Results are written while it runs, not only at the end.
  package var writesWhileRunning = false
  /// Half of what it writes to standard output is worth nothing: a reader that goes away is a failure.
  package var needsWholeOutput = false
  /// Validates the arguments, and gives what does the work with them.
  package let prepare: @Sendable (ParsedArguments, CommonConfiguration) throws(Failure) -> Work

  /// The work of a command whose arguments are right.
  package typealias Work = (Session) throws(Failure) -> ExitStatus

  /// Makes a command.
  package init(
    name: String, summary: String, usage: [String], details: [String], options: [OptionSpec], examples: [String],
    writesWhileRunning: Bool = false, needsWholeOutput: Bool = false,
    prepare: @escaping @Sendable (ParsedArguments, CommonConfiguration) throws(Failure) -> Work
  ) {
    self.name = name
    self.summary = summary
    self.usage = usage
    self.details = details
    self.options = options
    self.examples = examples
    self.writesWhileRunning = writesWhileRunning
    self.needsWholeOutput = needsWholeOutput
    self.prepare = prepare
  }
}
