import AppMigrationKit
import NotesStore

/// What the user wants.
enum Command {
  case add(Note)
  case list
  case order(Preferences.Order)

  struct Misused: Error {
    let reason: String
  }

  init(_ arguments: some Collection<String>) throws {
    var rest = Array(arguments)[...]
    switch rest.popFirst() {
    case "add": self = .add(try Self.note(rest))
    case "list" where rest.isEmpty: self = .list
    case "order" where rest.count == 1:
      guard let order = rest.first.flatMap(Preferences.Order.init) else {
        throw Misused(reason: "notes: there is no such order")
      }
      self = .order(order)
    default: throw Misused(reason: "notes: that is no command")
    }
  }

  private static func note(_ arguments: ArraySlice<String>) throws -> Note {
    var (rest, texts, tags, photo) = (arguments, [String](), [String](), URL?.none)
    while let argument = rest.popFirst() {
      switch argument {
      case "--photo", "--tag":
        guard let value = rest.popFirst() else { throw Misused(reason: "notes: \(argument) needs a value") }
        if argument == "--tag" { tags.append(value) } else { photo = URL(fileURLWithPath: value) }
      default: texts.append(argument)
      }
    }
    guard texts.count == 1 else { throw Misused(reason: "notes: one text is needed") }
    return Note(text: texts[0], photo: photo, tags: tags)
  }

  func run(in directories: AppDirectories) throws {
    switch self {
    case .add(let note):
      try NotesStore(in: directories).add(note, photoBy: .copy)
      try Widget.show(note)
    case .list:
      var notes = try NotesStore(in: directories).notes()
      if try Preferences(readingFrom: directories.preferences).order == .newestFirst { notes.reverse() }
      for note in notes { print(Self.line(note)) }
    case .order(let order):
      var preferences = try Preferences(readingFrom: directories.preferences)
      preferences.order = order
      try preferences.write(to: directories.preferences)
    }
  }

  private static func line(_ note: Note) -> String {
    let tags = note.tags.map { " #\($0)" }.joined()
    let photo = note.photo.map { photo in
      let size = (try? Data(contentsOf: photo).count).map { "\($0) bytes" } ?? "missing"
      return " [\(photo.lastPathComponent), \(size)]"
    }
    return "\(note.created.ISO8601Format())  \(note.text)\(tags)\(photo ?? "")"
  }
}

/// A widget of the app, a program of its own, would show the last note. It reads it in the directory of the app group.
enum Widget {
  static func show(_ note: Note) throws {
    let group = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.org.example.notes")
    try group.map { try Data(note.text.utf8).write(to: $0.appendingPathComponent("last"), options: .atomic) }
  }
}
