internal import Glibc

/// An extension's process.
enum ExtensionMain {
  static func run(_ type: any AppMigrationExtension.Type) -> Never { exit(0) }
  static func explain(_ reason: String) -> Never { exit(64) }
}
