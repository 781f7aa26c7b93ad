/// A table for terminals. The first column is aligned to the left, all others to the right.
package struct TextTable {
  private var rows: [[String]]

  /// Begins with its head.
  package init(_ head: [String]) { rows = [head] }

  /// Adds a row.
  package mutating func add(_ row: [String]) { rows.append(row) }

  /// Whether it has rows beside its head.
  package var isEmpty: Bool { rows.count < 2 }

  /// Its lines.
  package var text: String {
    let columnCount = rows.map(\.count).max() ?? 0
    let widths = (0..<columnCount).map { column in
      rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        line += (column == 0 ? "" : "  ") + (column == 0 ? cell + padding : padding + cell)
      }
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }.joined()
  }
}
