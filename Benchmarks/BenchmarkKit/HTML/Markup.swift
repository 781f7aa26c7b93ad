/// Writes elements that are well-formed as HTML and as XML.
enum Markup {
  /// Text that is no markup any more.
  static func escape(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      // Other control characters are not allowed in documents.
      case "\n", "\t": escaped.unicodeScalars.append(scalar)
      case _ where scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value): escaped += "\u{FFFD}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// An element around markup.
  static func element(_ name: String, _ attributes: [(String, String)] = [], _ content: String) -> String {
    "<\(name)\(list(attributes))>\(content)</\(name)>"
  }

  /// An element without content.
  static func empty(_ name: String, _ attributes: [(String, String)] = []) -> String { "<\(name)\(list(attributes))/>" }

  /// An element around plain text.
  static func text(_ name: String, _ attributes: [(String, String)] = [], _ text: String) -> String {
    element(name, attributes, escape(text))
  }

  private static func list(_ attributes: [(String, String)]) -> String {
    attributes.map { " \($0.0)=\"\(escape($0.1))\"" }.joined()
  }

  /// A table; the first column names the row.
  static func table(_ head: [String], _ rows: [[String]]) -> String {
    let top = element("thead", [], element("tr", [], head.map { text("th", [], $0) }.joined()))
    let body = rows.map { row in
      let cells = row.enumerated().map { text($0.offset == 0 ? "th" : "td", [], $0.element) }
      return element("tr", [], cells.joined())
    }
    return element("div", [("class", "scroll")], element("table", [], top + element("tbody", [], body.joined())))
  }
}
