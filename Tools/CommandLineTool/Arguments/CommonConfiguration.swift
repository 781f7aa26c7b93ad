/// What the options that every command has say.
package struct CommonConfiguration: Sendable {
  /// When progress is shown.
  package enum Progress: Sendable { case auto, always, never }

  package let isQuiet: Bool
  package let writesJSON: Bool
  package let progress: Progress

  package init(_ arguments: ParsedArguments) throws(Failure) {
    isQuiet = arguments.has(.quiet)
    writesJSON = arguments.has(.json)
    progress = try arguments.word(.progress, [("auto", .auto), ("always", .always), ("never", .never)]) ?? .auto
  }

  /// How progress is shown.
  ///
  /// - Parameter mixesWithOutput: results come while it runs: no bar where both would be on the same terminal.
  package func style(isTerminal: Bool, mixesWithOutput: Bool) -> Reporter.Style {
    if isQuiet { return .none }
    switch progress {
    case .never: return .none
    case .always: return writesJSON ? .json : isTerminal ? .bar : .lines
    case .auto: return isTerminal && !mixesWithOutput ? .bar : .none
    }
  }
}
