public import ArchiveIO
public import Testing

/// A directory for one test, removed with everything in it when the object goes.
public final class TemporaryDirectory: Sendable {
  /// Where to make it.
  public enum Place: Sendable {
    /// `/tmp`, usually on a disk.
    case disk
    /// `/dev/shm`, a tmpfs.
    case memory
  }

  /// The absolute path, without a slash at its end.
  public let path: String
  /// The directory, open for reading.
  public let root: SharedDescriptor
  private let parent: String
  private let name: String

  /// Makes an empty directory, mode 0755, with an unused name.
  public init(_ place: Place = .disk) throws {
    parent = place == .disk ? "/tmp" : "/dev/shm"
    name = "starc-test-" + String(UInt64.random(in: 0 ... .max), radix: 36)
    path = parent + "/" + name
    try FileSystem.makeDirectory(at: FileSystem.currentDirectory, Array(path.utf8), mode: 0o755)
    root = SharedDescriptor(
      try FileSystem.open(at: FileSystem.currentDirectory, Array(path.utf8), [.readOnly, .directory]))
  }

  deinit {
    let here = FileSystem.currentDirectory
    guard let top = try? FileSystem.open(at: here, Array(parent.utf8), [.readOnly, .directory]) else { return }
    try? RemoveTree.remove(at: top.rawValue, Array(name.utf8))
  }

  /// The path of something in it.
  public func file(_ name: String) -> String { path + "/" + name }

  /// The directory of the test that is running in a ``inTemporaryDirectory`` scope.
  @TaskLocal public static var current: TemporaryDirectory?
}

/// Gives each test a directory of its own, ``TemporaryDirectory/current``.
public struct TemporaryDirectoryTrait: TestTrait, SuiteTrait, TestScoping {
  let place: TemporaryDirectory.Place

  /// Holds for all tests of a suite.
  public var isRecursive: Bool { true }

  /// Makes the directory around a test case.
  @concurrent public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    let directory = try TemporaryDirectory(place)
    try await TemporaryDirectory.$current.withValue(directory) { try await function() }
  }
}

extension Trait where Self == TemporaryDirectoryTrait {
  /// A directory of its own for each test.
  public static func inTemporaryDirectory(_ place: TemporaryDirectory.Place = .disk) -> Self {
    TemporaryDirectoryTrait(place: place)
  }
}
