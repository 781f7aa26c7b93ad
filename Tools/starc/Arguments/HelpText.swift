/// Makes the help out of the tables.
enum HelpText {
  private static let width = 80
  private static let column = 28

  /// Help of the tool.
  static func tool(_ commands: [Command]) -> String {
    var text = """
      starc: archives that any tar extracts, and that are indexed, checked and seekable

      Usage: starc COMMAND [OPTION]... ARGUMENT...

      Commands:

      """
    for command in commands { text += row(command.name, command.summary, column: 12) }
    text += """

      Examples:
        starc create backup.tar.zst project     make an archive of a directory
        starc list -l backup.tar.zst            see what is in it
        starc extract backup.tar.zst restored   restore it into a new directory

      'starc COMMAND --help' tells more about a command, 'starc --version' about versions.
      ARCHIVE may be "-": standard input or output. Sizes take K, M, G or T (powers of 1024).
      Exit status: 0 clean; 1 finished, but something was skipped, degraded or differs;
      2 failed; 64 wrong usage; 130 or 143 ended by SIGINT or SIGTERM.

      """
    return text
  }

  /// Help of a command.
  static func command(_ command: Command) -> String {
    var text = "starc \(command.name): \(command.summary)\n\n"
    for (index, arguments) in command.usage.enumerated() {
      text += (index == 0 ? "Usage: " : "       ") + "starc \(command.name) [OPTION]... \(arguments)\n"
    }
    for paragraph in command.details { text += "\n" + wrap(paragraph, indent: 0).joined(separator: "\n") + "\n" }
    text += "\nOptions:\n"
    for option in command.options + OptionSpec.common { text += row(option.synopsis, option.help, column: column) }
    text += "\nExamples:\n"
    for example in command.examples { text += "  \(example)\n" }
    return text
  }

  private static func row(_ head: String, _ body: String, column: Int) -> String {
    let lines = wrap(body, indent: column)
    let left = "  " + head
    var text = left
    if left.count + 2 > column {
      text += "\n" + String(repeating: " ", count: column)
    } else {
      text += String(repeating: " ", count: column - left.count)
    }
    return text + lines.joined(separator: "\n" + String(repeating: " ", count: column)) + "\n"
  }

  private static func wrap(_ text: String, indent: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, indent + line.count + 1 + word.count > width {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    return lines + [line]
  }
}
