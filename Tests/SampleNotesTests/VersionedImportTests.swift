internal import AppMigrationHost
internal import ArchiveIO
internal import Foundation
internal import NotesStore
internal import TestSupport
import Testing

@Suite(
  "The sample app moves between machines",
  .disabled(if: Sanitizer.isAddress, "an extension cannot look for leaks in its sandbox"), .inTemporaryDirectory(),
  .timeLimit(.minutes(10)))
struct VersionedImportTests {
  let here: Machine
  let there: Machine
  let notes: [Note]

  init() throws {
    let directory = try #require(TemporaryDirectory.current)
    here = try Machine("here", in: directory)
    there = try Machine("there", in: directory)
    try Shell.script(
      "mkdir p p/1 p/2; head -c 100000 /dev/urandom > p/1/cat.jpg; head -c 70 /dev/urandom > p/2/cat.jpg",
      directory: directory.path)
    // Two photos have one name.
    notes = [
      Note(text: "Grüße\nin two lines", created: Date(timeIntervalSince1970: 1_000_000_000), tags: ["b", "a"]),
      Note(
        text: "the cat", created: Date(timeIntervalSince1970: 1_100_000_000),
        photo: URL(fileURLWithPath: directory.file("p/1/cat.jpg")), tags: ["pets"]),
      Note(
        text: "'; DROP TABLE note; --", created: Date(timeIntervalSince1970: 1_200_000_000),
        photo: URL(fileURLWithPath: directory.file("p/2/cat.jpg"))),
    ]
  }

  /// Stores the notes as a version of the app did.
  private func store(_ version: NotesVersion) throws {
    let directories = here.directories
    try FileManager.default.createDirectory(at: directories.documents, withIntermediateDirectories: true)
    switch version {
    case .first: try FirstLayout(in: directories.documents).write(notes)
    case .second: try SecondLayout(in: directories.documents).write(notes)
    case .third:
      let store = try NotesStore(in: directories)
      for note in notes { try store.add(note, photoBy: .copy) }
    }
    var preferences = Preferences()
    preferences.order = .newestFirst
    try preferences.write(to: directories.preferences)
  }

  @Test(
    "Notes of every version arrive with photos, dates, preferences, and with tags where there are any",
    arguments: NotesVersion.allCases)
  func versions(_ version: NotesVersion) throws {
    try store(version)
    let before = try here.listing()
    try FileManager.default.createDirectory(at: there.group, withIntermediateDirectories: true)
    try Data("of an earlier user".utf8).write(to: there.group.appendingPathComponent("last"))

    let result = try here.migrate(to: there)
    try #require(result.status == 0, "\(result.errorText)")
    #expect(result.outputText.contains("\"status\":\"success\""))
    #expect(result.outputText.contains("\"sourceVersion\":\"\(version.rawValue)\""))
    #expect(result.outputText.contains("\"sourceBundleIdentifier\":\"org.example.notes\""))
    var expected = try notes.map(PlainNote.init)
    if version != .third { for index in expected.indices { expected[index].tags = [] } }
    #expect(try there.notes() == expected)
    #expect(try Preferences(readingFrom: there.directories.preferences).order == .newestFirst)
    #expect(try FileManager.default.contentsOfDirectory(atPath: there.group.path).isEmpty)
    #expect(try here.listing() == before)
    // What arrived is of version 3.0, whatever it was before, and can move on.
    #expect(NotesVersion(storedIn: there.directories) == .third)
  }

  @Test(
    "The progress counts every note or part, and the preferences; it ends with all of them",
    arguments: NotesVersion.allCases)
  func progress(_ version: NotesVersion) throws {
    try store(version)
    let archive = here.root + "/archive"
    let exported = try here.run(
      "appmigrate", "export", "--extension", here.root + "/bin/notes-migration", "--output", archive)
    try #require(exported.status == 0, "\(exported.errorText)")
    var options = ImportOptions(
      executable: Array((there.root + "/bin/notes-migration").utf8), input: .file(Array(archive.utf8)))
    options.containerPath = Array(there.container.path.utf8)
    options.place.groupsRoot = there.root + "/groups"
    let seen = Locked<[[Int64]]>([])
    _ = try MigrationSystem.importArchive(options) { event in
      if case .importing(let completed, let total) = event { seen.withLock { $0.append([completed, total]) } }
    }
    // A database and a directory of photos are two parts.
    let steps = Int64(version == .third ? 3 : notes.count + 1)
    let all = seen.withLock { $0 }
    #expect(all.last == [steps, steps])
    #expect(zip(all, all.dropFirst()).allSatisfy { $0[0] <= $1[0] })
  }

  @Test("There and back again: the lists are equal")
  func roundTrip() throws {
    try store(.third)
    let list = try here.run("notes", "list")
    try #require(list.status == 0 && list.outputText.split(separator: "\n").count == 4)
    #expect(list.outputText.hasPrefix("2008-"))
    #expect(try here.migrate(to: there).status == 0)
    #expect(try there.run("notes", "list").outputText == list.outputText)
    #expect(try there.migrate(to: here, "--replace").status == 0)
    #expect(try here.run("notes", "list").outputText == list.outputText)
    #expect(try here.notes() == notes.map(PlainNote.init))
  }

  @Test("What only the log of a killed app's database holds moves too, and the log stays as it is")
  func openDatabase() throws {
    let store = try NotesStore(in: here.directories)
    for note in notes { try store.add(note, photoBy: .copy) }
    let database = here.directories.applicationSupport.appendingPathComponent("Notes.sqlite").path
    // The connection is open: nothing has been merged. A copy of the database alone would hold no table.
    #expect(try FileTree.read(database + "-wal").count > 4096)
    try #require(try FileTree.read(database).count == 4096)
    let before = try here.listing()
    #expect(try here.migrate(to: there).status == 0)
    #expect(try here.listing() == before)
    #expect(try there.notes() == notes.map(PlainNote.init))
    withExtendedLifetime(store) {}
  }

  @Test("A database that was made to lead out of its directory is refused", arguments: [NotesVersion.second, .third])
  func forged(_ version: NotesVersion) throws {
    try store(version)
    let (database, table, column) =
      version == .second
      ? ("Documents/Notes.db", "notes", "image") : ("Library/Application Support/Notes.sqlite", "note", "photo")
    for name in ["../Preferences.plist", ".."] {
      let change = """
        import sqlite3; c = sqlite3.connect('\(database)')
        c.execute("UPDATE \(table) SET \(column) = '\(name)' WHERE \(column) IS NOT NULL"); c.commit()
        """
      #expect(try Shell.run(["python3", "-c", change], directory: here.container.path).status == 0)
      let result = try here.migrate(to: there)
      #expect(result.status == 2 && result.errorText.contains("\"\(name)\" cannot be the name of a photo"))
      #expect(try Shell.script("find . -type f", directory: there.container.path).isEmpty)
    }
  }

  @Test("A new app without notes can move")
  func empty() throws {
    #expect(try here.run("notes", "order", "newestFirst").status == 0)
    let result = try here.migrate(to: there)
    #expect(result.status == 0 && result.outputText.contains("\"sourceVersion\":\"3.0\""), "\(result.errorText)")
    #expect(try there.notes().isEmpty)
    #expect(try Preferences(readingFrom: there.directories.preferences).order == .newestFirst)
  }
}
