/// A verb of the tool. To add one, write its file with a `static let` and name it in ``CommandTable``.
struct Command: Sendable {
  /// The verb.
  let name: String
  /// One line for the list of commands.
  let summary: String
  /// The arguments behind the options, one or more forms.
  let usage: [String]
  /// Paragraphs of the help.
  let details: [String]
  /// Options beside the common ones.
  let options: [OptionSpec]
  /// Lines that can be copied.
  let examples: [String]
  /// Results are written while it runs, not only at the end.
  var writesWhileRunning = false
  /// Validates the arguments, and gives what does the work with them.
  let prepare: @Sendable (ParsedArguments, CommonConfiguration) throws(Failure) -> Work

  /// The work of a command whose arguments are right.
  typealias Work = (Session) throws(Failure) -> ExitStatus
}
