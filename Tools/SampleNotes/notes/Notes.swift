import AppMigrationKit
import NotesStore

/// The sample app: takes notes in a terminal.
@main
struct Notes {
  private static let usage = """
    usage: notes add TEXT [--photo FILE] [--tag TAG]...
           notes list
           notes order newestFirst|oldestFirst

    """

  static func main() {
    do {
      let command = try Command(CommandLine.arguments.dropFirst())
      let app = try LinuxApp.current()
      let lock = try app.launch()
      defer { lock.release() }
      StatusScreen.showOnce()
      try command.run(in: AppDirectories(app.container))
    } catch let error as Command.Misused {
      finish(error.reason + "\n" + usage, status: 64)
    } catch let error as LinuxAppError where error.isMigrationUnderWay {
      finish("notes: \(error.message)\n", status: 75)
    } catch {
      finish("notes: \(error.localizedDescription)\n", status: 1)
    }
  }

  private static func finish(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data(message.utf8))
    exit(status)
  }
}

extension AppDirectories {
  init(_ container: MigrationDataContainer) {
    self.init(
      root: container.containerRootDirectory, documents: container.documentsDirectory,
      applicationSupport: container.applicationSupportDirectory)
  }
}
