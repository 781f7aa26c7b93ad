internal import ArchiveIO
internal import BenchmarkKit
internal import CommandLineTool
internal import Glibc

/// Compares two trees entry by entry, without any part of the engine: it is the judge of all programs, ours too.
struct TreeComparison {
  private let original: SharedDescriptor
  private let copy: SharedDescriptor
  private let originalCursor: DirectoryCursor
  private let copyCursor: DirectoryCursor
  private let first: Buffer
  private let second: Buffer
  private var metadataDifference: String?

  /// Compares a copy with its original.
  static func check(
    _ copy: String, against original: String, program: String, operation: Operation, token: CancellationToken
  ) throws(Failure) -> CheckResult {
    do throws(SystemError) {
      var comparison = try TreeComparison(original: original, copy: copy)
      if let difference = try comparison.difference(token) {
        return CheckResult(program: program, operation: operation, verdict: .wrong, detail: difference)
      }
      let detail = comparison.metadataDifference
      return CheckResult(
        program: program, operation: operation, verdict: detail == nil ? .identical : .contentsIdentical,
        detail: detail ?? "")
    } catch {
      throw Failure(error, about: Array(copy.utf8))
    }
  }

  private init(original: String, copy: String) throws(SystemError) {
    let here = FileSystem.currentDirectory
    self.original = SharedDescriptor(
      try FileSystem.open(at: here, Array(original.utf8), [.readOnly, .directory]))
    self.copy = SharedDescriptor(try FileSystem.open(at: here, Array(copy.utf8), [.readOnly, .directory]))
    first = try Buffer(byteCount: 1 << 20)
    second = try Buffer(byteCount: 1 << 20)
    originalCursor = DirectoryCursor(root: self.original)
    copyCursor = DirectoryCursor(root: self.copy)
  }

  /// The first difference in names, types, contents and link targets.
  private mutating func difference(_ token: CancellationToken) throws(SystemError) -> String? {
    let left = try DirectoryWalker(root: original)
    let right = try DirectoryWalker(root: copy)
    while true {
      if token.isCancelled { throw SystemError("compare", errno: ECANCELED) }
      let (one, other) = (try Self.next(left), try Self.next(right))
      guard let one else { return other.map { Self.text($0) + " is not in the original" } }
      guard let other else { return Self.text(one) + " is missing" }
      if one.relativePath != other.relativePath {
        return Self.text(one) + " is missing, or " + Self.text(other) + " is too much"
      }
      if one.status.kind != other.status.kind { return Self.text(one) + " is of another type" }
      if let difference = try compareContents(one, other) { return Self.text(one) + ": " + difference }
      compareMetadata(one, other)
    }
  }

  /// Sockets are in no archive.
  private static func next(_ walker: DirectoryWalker) throws(SystemError) -> WalkEntry? {
    while let step = walker.next() {
      switch step {
      case .entry(let entry): if entry.status.kind != .socket { return entry }
      case .failure(let error): throw error
      }
    }
    return nil
  }

  private static func text(_ entry: WalkEntry) -> String { String(decoding: entry.relativePath, as: UTF8.self) }

  // MARK: Contents

  private func compareContents(_ one: WalkEntry, _ other: WalkEntry) throws(SystemError) -> String? {
    switch one.status.kind {
    case .regular:
      guard one.status.byteCount == other.status.byteCount else { return "the size differs" }
      let isSame = one.status.byteCount == 0 ? true : try contentsAreEqual(one)
      return isSame ? nil : "the content differs"
    case .symlink:
      let target = try FileSystem.readLink(at: directory(of: one, originalCursor), one.name)
      let copied = try FileSystem.readLink(at: directory(of: other, copyCursor), other.name)
      return target == copied ? nil : "the link's target differs"
    case .characterDevice, .blockDevice:
      let isSame =
        one.status.deviceMajor == other.status.deviceMajor && one.status.deviceMinor == other.status.deviceMinor
      return isSame ? nil : "the device differs"
    case .directory, .fifo, .socket, .unknown: return nil
    }
  }

  private func directory(of entry: WalkEntry, _ cursor: DirectoryCursor) throws(SystemError) -> Int32 {
    try cursor.descriptor(for: entry.relativePath[..<max(0, entry.nameOffset - 1)])
  }

  private func contentsAreEqual(_ entry: WalkEntry) throws(SystemError) -> Bool {
    let one = try FileSystem.open(at: directory(of: entry, originalCursor), entry.name, [.readOnly, .noFollow])
    let other = try FileSystem.open(at: directory(of: entry, copyCursor), entry.name, [.readOnly, .noFollow])
    while true {
      let count = try unsafe FileSystem.readFully(one.rawValue, into: first.bytes)
      guard try unsafe FileSystem.readFully(other.rawValue, into: second.bytes) == count else { return false }
      if count == 0 { return true }
      // Safe: both buffers hold at least so many bytes. `memcmp`, since whole corpora pass through here.
      if unsafe memcmp(first.base, second.base, count) != 0 { return false }
    }
  }

  // MARK: Metadata

  private mutating func compareMetadata(_ one: WalkEntry, _ other: WalkEntry) {
    guard metadataDifference == nil else { return }
    let (left, right) = (one.status, other.status)
    var names: [String] = []
    if left.kind != .symlink, left.mode != right.mode { names.append("mode") }
    if left.userID != right.userID || left.groupID != right.groupID { names.append("owner") }
    if left.modificationSeconds != right.modificationSeconds {
      names.append("time")
    } else if left.modificationNanoseconds != right.modificationNanoseconds {
      names.append("fraction of the time")
    }
    if left.kind == .regular, left.linkCount != right.linkCount { names.append("number of links") }
    if let difference = try? attributesDiffer(one), difference { names.append("attributes") }
    if !names.isEmpty { metadataDifference = Self.text(one) + ": " + names.joined(separator: ", ") }
  }

  private func attributesDiffer(_ entry: WalkEntry) throws(SystemError) -> Bool {
    guard entry.status.kind == .regular || entry.status.kind == .directory else { return false }
    let places = try (directory(of: entry, originalCursor), directory(of: entry, copyCursor))
    let names = try FileSystem.attributeNames(at: places.0, entry.name).sorted { $0.lexicographicallyPrecedes($1) }
    let others = try FileSystem.attributeNames(at: places.1, entry.name).sorted { $0.lexicographicallyPrecedes($1) }
    guard names == others else { return true }
    for name in names {
      let values = try (
        FileSystem.attribute(at: places.0, entry.name, name), FileSystem.attribute(at: places.1, entry.name, name)
      )
      if values.0 != values.1 { return true }
    }
    return false
  }
}
