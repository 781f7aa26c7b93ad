internal import Foundation
internal import NotesStore
internal import TestSupport

/// A machine with the sample app: its programs with their entitlements, containers and groups of its own.
struct Machine {
  static let bundleIdentifier = "org.example.notes"
  let root: String

  /// Installs the programs. They are linked or copied, since an app finds its entitlements beside its executable.
  init(_ name: String, in directory: TemporaryDirectory) throws {
    root = directory.file(name)
    let programs = ["notes", "notes-migration", "appmigrate"].map { "'\(Shell.builtProduct($0))'" }
    let entitlements = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Tools/SampleNotes/Entitlements").standardizedFileURL.path
    try Shell.script(
      """
      mkdir '\(root)' '\(root)/bin'; cd '\(root)/bin'
      for program in \(programs.joined(separator: " ")); do ln "$program" . 2>/dev/null || cp "$program" .; done
      cp '\(entitlements)'/* .
      """)
  }

  /// What programs of this machine see.
  var environment: [String: String] {
    [
      "APP_CONTAINERS_ROOT": root + "/containers", "APP_GROUPS_ROOT": root + "/groups",
      "PATH": root + "/bin:/usr/bin:/bin",
    ]
  }

  var container: URL { URL(fileURLWithPath: root + "/containers/" + Self.bundleIdentifier) }
  var group: URL { URL(fileURLWithPath: root + "/groups/group." + Self.bundleIdentifier) }
  var state: String { root + "/containers/." + Self.bundleIdentifier + ".migration" }
  var directories: AppDirectories {
    AppDirectories(
      root: container, documents: container.appendingPathComponent("Documents"),
      applicationSupport: container.appendingPathComponent("Library/Application Support"))
  }

  /// Runs a program of this machine.
  func run(_ arguments: String...) throws -> ShellResult { try Shell.run(arguments, environment: environment) }

  /// Exports from here into a pipe, out of which the other machine imports.
  func migrate(to other: Machine, _ options: String...) throws -> ShellResult {
    let script = """
      set -o pipefail
      appmigrate export --extension bin/notes-migration --output - \
        | env -C "$OTHER" APP_CONTAINERS_ROOT="$OTHER/containers" APP_GROUPS_ROOT="$OTHER/groups" \
          bin/appmigrate import --extension bin/notes-migration --json "$@" -
      """
    return try Shell.run(
      ["bash", "-euc", script, "migrate"] + options,
      environment: environment.merging(["OTHER": other.root]) { first, _ in first }, directory: root)
  }

  /// The notes that the app would show.
  func notes() throws -> [PlainNote] { try NotesStore(in: directories).notes().map(PlainNote.init) }

  /// All files of the container with size and time.
  func listing() throws -> String {
    try Shell.script("find . -printf '%p %y %m %s %T@\\n' | sort", directory: container.path)
  }
}

/// A note with its photo's contents, which can be compared.
struct PlainNote: Equatable {
  var text: String
  var seconds: Int
  var photo: Data?
  var tags: [String]

  init(_ note: Note) throws {
    text = note.text
    seconds = Int(note.created.timeIntervalSince1970)
    photo = try note.photo.map { try Data(contentsOf: $0) }
    tags = note.tags
  }
}
