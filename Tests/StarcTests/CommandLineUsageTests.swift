internal import TestSupport
internal import Testing

/// Help, versions, and arguments that are wrong.
@Suite(.inTemporaryDirectory())
struct CommandLineUsageTests {
  private let verbs = ["create", "extract", "list", "cat", "verify", "info", "estimate", "compare", "salvage"]

  private func directory() throws -> String { try #require(TemporaryDirectory.current).path }

  @Test func helpOfTheToolNamesEveryVerb() throws {
    let result = try Starc.run("--help", directory: directory())
    #expect(result.status == 0)
    #expect(result.errors.isEmpty)
    for verb in verbs { #expect(result.outputText.contains("\n  \(verb) ")) }
    #expect(try Starc.run("help", directory: directory()).output == result.output)
  }

  @Test func everyVerbHasHelpWithExamples() throws {
    for verb in verbs {
      let result = try Starc.run(verb, "--help", directory: directory())
      #expect(result.status == 0)
      #expect(result.outputText.contains("Usage: starc \(verb) "))
      #expect(result.outputText.contains("Examples:\n  "))
      #expect(result.outputText.contains("--progress WHEN"))
      #expect(result.outputText.split(separator: "\n").allSatisfy { $0.count <= 90 }, "\(verb)")
      #expect(try Starc.run("help", verb, directory: directory()).output == result.output)
    }
  }

  @Test func versionNamesToolFormatAndLibraries() throws {
    let result = try Starc.run("--version", directory: directory())
    #expect(result.status == 0)
    let lines = result.outputText.split(separator: "\n")
    #expect(lines.first == "starc 0.1.0")
    #expect(lines.contains("format version 1"))
    #expect(lines.contains { $0.wholeMatch(of: #/libzstd \d+\.\d+\.\d+/#) != nil })
    #expect(lines.contains { $0.wholeMatch(of: #/xxHash \d+\.\d+\.\d+/#) != nil })
  }

  @Test(arguments: [
    [], ["frobnicate"], ["estimate"], ["estimate", ""], ["estimate", "../x"], ["--frobnicate"], ["help", "frobnicate"],
    ["create"], ["create", "a.tar.zst"], ["create", "", "src"], ["create", "a.tar.zst", "../src"],
    ["create", "a.tar.zst", "src/../src"], ["create", "a.tar.zst", ""], ["create", "a.tar.zst", "src", "--level", "0"],
    ["create", "a.tar.zst", "src", "--level", "20"], ["create", "a.tar.zst", "src", "--level=x"],
    ["create", "a.tar.zst", "src", "--level"], ["create", "a.tar.zst", "src", "--level", "+3"],
    ["create", "a.tar.zst", "src", "--store", "--level", "3"], ["create", "a.tar.zst", "src", "--store=yes"],
    ["create", "a.tar.zst", "src", "--chunk-size", "1"], ["create", "a.tar.zst", "src", "--chunk-size", "33M"],
    ["create", "a.tar.zst", "src", "--chunk-size", "4X"],
    ["create", "a.tar.zst", "src", "--chunk-size", "99999999999999999999"],
    ["create", "a.tar.zst", "src", "--chunk-size", "18446744073709551615T"],
    ["create", "a.tar.zst", "src", "--threads", "0"], ["create", "a.tar.zst", "src", "--threads", "257"],
    ["create", "a.tar.zst", "src", "--threads", "-1"], ["create", "a.tar.zst", "src", "--progress", "maybe"],
    ["create", "a.tar.zst", "src", "-x"], ["create", "a.tar.zst", "src", "-C"],
    ["extract", "a"], ["extract", "a", ""], ["extract", "a", "d", "--overwrite", "maybe"],
    ["extract", "a", "d", "--max-size", "-1"], ["extract", "a", "d", "--max-ratio", "1.5"],
    ["extract", "a", "d", "--strip-components", "99999999999999999999"], ["list"], ["list", "a", "-l", "-0"],
    ["list", "a", "-l", "--json"], ["cat", "a"], ["cat", "a", "b", "c"], ["cat", "a", "b", "--json"], ["verify"],
    ["verify", "a", "b"], ["info"], ["compare", "a"], ["compare", "a", ""],
  ])
  func wrongArguments(_ arguments: [String]) throws {
    let result = try Shell.run([Starc.path] + arguments, directory: directory(), timeout: 20)
    #expect(result.status == 64)
    #expect(result.output.isEmpty)
    #expect(!result.errors.isEmpty)
    #expect(try Shell.script("ls -A", directory: directory()) == "")
  }

  @Test func optionsComeInAnyFormAndPlace() throws {
    let directory = try directory()
    try Shell.script(
      "mkdir -p in/src; echo a > in/src/a; echo b > in/src/-l; echo o > in/src/a.o", directory: directory)
    let forms = [
      ["create", "a.tar.zst", "-C", "in", "src", "--exclude", "*.o"],
      ["create", "-Cin", "--exclude=*.o", "a.tar.zst", "src"],
      ["create", "--directory=in", "a.tar.zst", "--exclude", "*.o", "--", "src"],
    ]
    for form in forms {
      let result = try Shell.run([Starc.path] + form, directory: directory)
      #expect(result.status == 0, "\(form) \(result.errorText)")
      #expect(try Starc.run("list", "a.tar.zst", directory: directory).outputText == "src/\nsrc/-l\nsrc/a\n")
    }
    let member = try Starc.run("create", "b.tar.zst", "-Cin/src", "--", "-l", directory: directory)
    #expect(member.status == 0)
    #expect(try Starc.run("list", "b.tar.zst", directory: directory).outputText == "-l\n")
  }

  @Test func missingFilesAreNamed() throws {
    let directory = try directory()
    for arguments in [
      ["create", "a.tar.zst", "nowhere"], ["create", "nowhere/a.tar.zst", "."], ["list", "nowhere"],
      ["create", "a.tar.zst", "-C", "nowhere", "."], ["create", "a.tar.zst", "--files-from", "nowhere"],
    ] {
      let result = try Shell.run([Starc.path] + arguments, directory: directory)
      #expect(result.status == 2, "\(arguments)")
      #expect(result.errorText.contains("nowhere"), "\(arguments): \(result.errorText)")
      #expect(result.output.isEmpty)
    }
    #expect(try Shell.script("ls -A", directory: directory) == "")
  }
}
