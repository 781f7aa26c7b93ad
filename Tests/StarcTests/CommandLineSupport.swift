internal import Foundation
internal import TestSupport

/// Runs the tool that was built beside the tests.
enum Starc {
  static let path = Shell.builtProduct("starc")

  /// Runs it with arguments.
  static func run(_ arguments: String..., input: [UInt8] = [], directory: String) throws -> ShellResult {
    try Shell.run([path] + arguments, input: input, directory: directory, timeout: 60)
  }

  /// Runs a script in which `$S` is the tool.
  static func script(_ text: String, directory: String) throws -> ShellResult {
    try Shell.run(["bash", "-c", text], environment: ["S": path], directory: directory, timeout: 60)
  }

  /// The JSON objects of lines of text.
  static func objects(_ bytes: [UInt8]) throws -> [[String: Any]] {
    try bytes.split(separator: 0x0A).map { line in
      let value = try JSONSerialization.jsonObject(with: Data(line))
      guard let object = value as? [String: Any] else { throw NotAnObject(line: String(decoding: line, as: UTF8.self)) }
      return object
    }
  }

  struct NotAnObject: Error {
    let line: String
  }

  /// A small tree "src" with all that lists show differently.
  static func makeTree(in directory: String) throws {
    try Shell.script(
      #"""
      mkdir -p src/docs src/empty
      printf 'hello\n' > src/docs/readme
      head -c 300000 /dev/urandom > src/random
      printf x > "src/$(printf 'bad\377name')"
      printf y > "src/$(printf 'new\nline')"
      printf z > 'src/back\slash'
      printf u > src/ünï
      ln src/docs/readme src/hard
      ln -s docs/readme src/link
      mkfifo src/fifo
      chmod 4755 src/random
      touch -d '1969-12-31 23:58:59.5 UTC' src/docs/readme
      touch -d '2024-02-29 12:34:56 UTC' src/random
      """#, directory: directory)
  }
}
