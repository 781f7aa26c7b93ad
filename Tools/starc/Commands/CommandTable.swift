/// All verbs, in the order of the help.
enum CommandTable {
  static let all: [Command] = [.create, .extract, .list, .cat, .verify, .info, .compare]

  /// The command of a name.
  static func find(_ name: [UInt8]) -> Command? { all.first { name.elementsEqual($0.name.utf8) } }
}
