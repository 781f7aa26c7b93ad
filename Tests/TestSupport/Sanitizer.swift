internal import Foundation

/// The address and the thread sanitizer, with which `Tools/sanitize` runs tests. They take memory and address space of their own: what a program may
/// take is not judged then.
public enum Sanitizer {
  /// The tests and the tools are built with one.
  public static let isOn = ProcessInfo.processInfo.environment["ARCHIVE_SANITIZER"] != nil

  /// It is the address sanitizer, which looks for leaks when a program ends. An extension that is not one of the tests' own cannot do so in its sandbox.
  public static let isAddress = ProcessInfo.processInfo.environment["ARCHIVE_SANITIZER"] == "address"
}
