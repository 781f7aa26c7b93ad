internal import ArchiveEngine
internal import ArchiveIO

/// Finds the command, runs it, and tells how it ended.
package struct Tool {
  private let description: ToolDescription
  private let output: StandardOutput
  private let cancellation: CancellationToken

  /// Prepares the process: signals, standard descriptors. Call before any other thread exists.
  package init(_ description: ToolDescription) {
    self.description = description
    let outputIsOpen = Signals.reserveStandardDescriptors()
    cancellation = CancellationToken()
    Signals.install(cancelling: cancellation)
    output = StandardOutput(isOpen: outputIsOpen, token: cancellation)
  }

  /// Runs the tool with its arguments.
  package func run(_ arguments: [[UInt8]]) -> ExitStatus {
    guard let first = arguments.first else {
      Reporter(program: description.name).show(Array(HelpText.tool(description).utf8))
      return .usage
    }
    let rest = Array(arguments.dropFirst())
    switch String(decoding: first, as: UTF8.self) {
    case "--help", "-h": return print(HelpText.tool(description))
    case "--version": return print(description.version())
    case "help":
      guard let name = rest.first else { return print(HelpText.tool(description)) }
      guard let command = description.find(name) else { return refuse(unknownVerb(name), "--help") }
      return print(HelpText.command(command, of: description))
    default:
      guard let command = description.find(first) else { return refuse(unknownVerb(first), "--help") }
      return run(command, rest)
    }
  }

  private func unknownVerb(_ name: [UInt8]) -> String {
    name.first == UInt8(ascii: "-")
      ? "unknown option " + PathText.printable(name) : "unknown verb \"" + PathText.printable(name) + "\""
  }

  private func run(_ command: Command, _ arguments: [[UInt8]]) -> ExitStatus {
    let common: CommonConfiguration
    let work: Command.Work
    do throws(Failure) {
      let parsed = try ParsedArguments(arguments, options: command.options + OptionSpec.common)
      if parsed.has(.help) { return print(HelpText.command(command, of: description)) }
      common = try CommonConfiguration(parsed)
      work = try command.prepare(parsed, common)
    } catch {
      return refuse("\(command.name): \(error.message)", "\(command.name) --help")
    }
    let style = common.style(
      isTerminal: Reporter.isTerminal, mixesWithOutput: command.writesWhileRunning && output.isTerminal)
    let reporter = Reporter(program: description.name, isQuiet: common.isQuiet, style: style)
    let session = Session(output: output, reporter: reporter, cancellation: cancellation)
    do throws(Failure) {
      let status = try work(session)
      try output.flush()
      return status
    } catch {
      reporter.abandon()
      // What was found before the failure is shown; a second failure would only hide the first.
      try? output.flush()
      return end(error, of: command, reporter)
    }
  }

  private func end(_ failure: Failure, of command: Command, _ reporter: Reporter) -> ExitStatus {
    switch failure {
    case .outputClosed:
      // A list that nobody reads to its end is a list; half an archive is not an archive.
      if command.needsWholeOutput { return .brokenPipe }
      return reporter.degradationCount > 0 ? .degraded : .clean
    case .cancelled, .interrupted:
      reporter.error(failure.message, code: failure.code)
      return Signals.exitStatus
    case .usage: return refuse("\(command.name): \(failure.message)", "\(command.name) --help")
    case .failed, .coded, .archive:
      reporter.error(failure.message, code: failure.code)
      return .failed
    }
  }

  private func refuse(_ message: String, _ help: String) -> ExitStatus {
    Reporter(program: description.name).show(
      Array("\(description.name): \(message)\nTry '\(description.name) \(help)'.\n".utf8))
    return .usage
  }

  private func print(_ text: String) -> ExitStatus {
    do throws(Failure) {
      try output.write(text)
      try output.flush()
      return .clean
    } catch {
      Reporter(program: description.name).error(error.message)
      return .failed
    }
  }
}
