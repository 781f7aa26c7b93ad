/// Makes the help out of the tables.
package enum HelpText {
  private static let width = 80
  private static let column = 28

  /// Help of the tool.
  package static func tool(_ tool: ToolDescription) -> String {
    var text = "\(tool.name): \(tool.headline)\n\nUsage: \(tool.name) COMMAND [OPTION]... ARGUMENT...\n\nCommands:\n"
    let column = (tool.commands.map(\.name.count).max() ?? 0) + 5
    for command in tool.commands { text += row(command.name, command.summary, column: column) }
    text += "\nExamples:\n"
    let width = tool.examples.map(\.line.count).max() ?? 0
    for example in tool.examples {
      text += "  \(example.line)\(String(repeating: " ", count: width - example.line.count + 3))\(example.meaning)\n"
    }
    let more = "'\(tool.name) COMMAND --help' tells more about a command, '\(tool.name) --version' about versions."
    for paragraph in [more] + tool.notes { text += "\n" + wrap(paragraph, indent: 0).joined(separator: "\n") }
    return text + "\n"
  }

  /// Help of a command.
  package static func command(_ command: Command, of tool: ToolDescription) -> String {
    var text = "\(tool.name) \(command.name): \(command.summary)\n\n"
    for (index, arguments) in command.usage.enumerated() {
      text += (index == 0 ? "Usage: " : "       ") + "\(tool.name) \(command.name) [OPTION]... \(arguments)\n"
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
