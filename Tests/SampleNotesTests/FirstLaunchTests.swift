internal import Foundation
internal import NotesStore
internal import TestSupport
import Testing

@Suite(
  "The first launch after a migration",
  .disabled(if: Sanitizer.isAddress, "an extension cannot look for leaks in its sandbox"), .inTemporaryDirectory(),
  .timeLimit(.minutes(10)))
struct FirstLaunchTests {
  let here: Machine
  let there: Machine

  init() throws {
    let directory = try #require(TemporaryDirectory.current)
    here = try Machine("here", in: directory)
    there = try Machine("there", in: directory)
    #expect(try here.run("notes", "add", "hello", "--tag", "x").status == 0)
  }

  @Test("A success is shown once, by processes that know nothing of each other")
  func success() throws {
    #expect(try here.migrate(to: there).status == 0)
    #expect(try there.run("appmigrate", "status", "--bundle-id", Machine.bundleIdentifier).outputText == "success\n")
    let first = try there.run("notes", "list")
    #expect(first.status == 0 && first.errorText.contains("Your notes have arrived."))
    #expect(first.outputText.contains("hello #x"))
    let second = try there.run("notes", "list")
    #expect(second.status == 0 && second.errors.isEmpty && second.output == first.output)
    #expect(try there.run("appmigrate", "status", "--bundle-id", Machine.bundleIdentifier).outputText == "none\n")
  }

  @Test(
    "A failure is shown once, with the extension's domain, code, description and suggestion; the container is empty")
  func failure() throws {
    let result = try here.migrate(to: there, "--source-version", "99")
    #expect(result.status == 2 && result.outputText.contains("\"status\":\"failure\""))
    let first = try there.run("notes", "list")
    #expect(first.status == 0 && first.output.isEmpty)
    for text in [
      "Your notes could not be moved", "Notes of version 99 cannot be read by this app.",
      "Update the app on this machine",
      "(notes_migration.UnknownVersion 1)",
    ] { #expect(first.errorText.contains(text)) }
    let second = try there.run("notes", "list")
    #expect(second.status == 0 && second.errors.isEmpty)
  }

  @Test("A failure that was to replace notes leaves them as they were")
  func failedReplacement() throws {
    #expect(try there.run("notes", "add", "mine").status == 0)
    let list = try there.run("notes", "list")
    #expect(try here.migrate(to: there).status == 2)
    #expect(try here.migrate(to: there, "--replace", "--source-version", "99").status == 2)
    let after = try there.run("notes", "list")
    #expect(after.output == list.output && after.errorText.contains("Notes of version 99"))
  }

  @Test("The app does not run during a migration, and no migration begins while the app runs")
  func exclusion() throws {
    let locked = try here.run("flock", "--exclusive", here.state + "/system", here.root + "/bin/notes", "list")
    #expect(locked.status == 75 && locked.output.isEmpty)
    #expect(locked.errorText.contains("a migration of org.example.notes is under way"))
    #expect(try here.run("notes", "list").outputText.contains("hello"))

    let running = try here.run(
      "flock", "--shared", here.state + "/lock", here.root + "/bin/appmigrate", "export", "--extension",
      here.root + "/bin/notes-migration", "--output", here.root + "/archive")
    #expect(running.status == 2 && running.errorText.contains("the app org.example.notes is running"))
    #expect(!FileManager.default.fileExists(atPath: here.root + "/archive"))
  }

  @Test("The app uses the directory of its group, and of no other")
  func group() throws {
    #expect(try FileTree.read(here.group.appendingPathComponent("last").path) == Array("hello".utf8))
    try Shell.script("sed -i s/group.org.example.notes/group.other/ '\(here.root)/bin/notes.entitlements'")
    #expect(try here.run("notes", "add", "again").status == 0)
    #expect(try FileTree.read(here.group.appendingPathComponent("last").path) == Array("hello".utf8))
  }

  @Test("An app that does not say who it is is told how")
  func identity() throws {
    try Shell.script("rm '\(here.root)/bin/notes.entitlements'")
    let result = try here.run("env", "-u", "APP_BUNDLE_ID", here.root + "/bin/notes", "list")
    #expect(result.status == 1 && result.errorText.contains("does not say which app it is"))
    #expect(result.errorText.contains("EXECUTABLE.entitlements"))
  }

  @Test("What is typed wrongly is told, and changes nothing")
  func usage() throws {
    let list = try here.run("notes", "list").output
    for arguments in [
      ["frob"], ["add"], ["add", "a", "b"], ["add", "a", "--photo"], ["order", "up"], ["list", "x"],
    ] {
      let result = try Shell.run(["notes"] + arguments, environment: here.environment)
      #expect(result.status == 64 && result.errorText.contains("usage: notes add"))
    }
    let missing = try here.run("notes", "add", "a", "--photo", "/nowhere.jpg")
    #expect(missing.status == 1 && !missing.errors.isEmpty)
    #expect(try here.run("notes", "list").output == list)
  }
}
