internal import ArchiveFormat
internal import ArchiveIO
internal import Glibc
internal import Synchronization

/// A scratch directory with an archive, destinations, and beside them what no extraction may touch.
final class Stage {
  private static let count = Atomic<UInt64>(0)

  let path: [UInt8]
  private let scratch: SharedDescriptor
  private let name: [UInt8]
  let root: SharedDescriptor
  /// Device nodes that lie here are harmless.
  let isWithoutDevices: Bool

  /// What nothing may touch.
  var outside: [UInt8] { path + Array("/outside".utf8) }

  init(in scratch: String) throws(SystemError) {
    let number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
    name = Array("fuzz-\(getpid())-\(number)".utf8)
    path = Array(scratch.utf8) + [0x2F] + name
    self.scratch = SharedDescriptor(
      try FileSystem.open(at: FileSystem.currentDirectory, Array(scratch.utf8), [.readOnly, .directory]))
    try FileSystem.makeDirectory(at: self.scratch.rawValue, name, mode: 0o755)
    root = SharedDescriptor(try FileSystem.open(at: self.scratch.rawValue, name, [.readOnly, .directory]))
    var facts = statvfs()
    isWithoutDevices = unsafe fstatvfs(root.rawValue, &facts) == 0 && facts.f_flag & 4 != 0
    try makeOutside()
  }

  deinit { try? RemoveTree.remove(at: scratch.rawValue, name) }

  private func makeOutside() throws(SystemError) {
    try FileSystem.makeDirectory(at: root.rawValue, Array("outside".utf8), mode: 0o777)
    try write("outside/keep", "keep")
    try write("outside/shared", "shared")
    try FileSystem.makeDirectory(at: root.rawValue, Array("outside/d".utf8), mode: 0o700)
    try write("outside/d/a", "a")
    try FileSystem.makeSymlink(to: Array("keep".utf8), at: root.rawValue, Array("outside/l".utf8))
    for name in ["outside/keep", "outside/shared", "outside/d/a", "outside/d", "outside"] {
      try FileSystem.setTimes(at: root.rawValue, Array(name.utf8), modificationSeconds: 5, nanoseconds: 7)
    }
  }

  /// A destination that is there already, with ways out of it.
  func plant(_ destination: String) throws(SystemError) {
    try FileSystem.makeDirectory(at: root.rawValue, Array(destination.utf8), mode: 0o755)
    func link(_ target: [UInt8], _ name: String) throws(SystemError) {
      try FileSystem.makeSymlink(to: target, at: root.rawValue, Array("\(destination)/\(name)".utf8))
    }
    try link(outside, "l")
    try link(Array("../outside/keep".utf8), "c")
    try link(outside + Array("/new".utf8), "keep")
    try FileSystem.makeDirectory(at: root.rawValue, Array("\(destination)/d".utf8), mode: 0o755)
    try link(Array("../../outside/keep".utf8), "d/keep")
    try link(Array("../../outside".utf8), "d/l")
    try FileSystem.makeHardLink(
      from: root.rawValue, Array("outside/shared".utf8), to: root.rawValue, Array("\(destination)/b".utf8))
  }

  private func write(_ name: String, _ text: String) throws(SystemError) { try write(name, Array(text.utf8)) }

  func write(_ name: String, _ bytes: [UInt8]) throws(SystemError) {
    let file = try FileSystem.open(at: root.rawValue, Array(name.utf8), [.writeOnly, .create, .truncate], mode: 0o600)
    let result: Result<Void, SystemError> = unsafe bytes.withUnsafeBytes { buffer in
      do throws(SystemError) { return .success(try unsafe FileSystem.write(file.rawValue, buffer)) } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  /// The names that lie in a directory of the stage, sorted.
  func names(in directory: [UInt8]) -> [[UInt8]] {
    guard let file = try? FileSystem.open(at: root.rawValue, directory, [.readOnly, .directory, .noFollow]),
      let stream = unsafe fdopendir(file.rawValue)
    else { return [] }
    // The stream owns the descriptor from here on.
    _ = file.release()
    defer { unsafe _ = closedir(stream) }
    var result: [[UInt8]] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      if name != [0x2E], name != [0x2E, 0x2E] { result.append(name) }
    }
    return result.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Everything about a tree that a write, a link or a change of attributes would change, one line for each object.
  ///
  /// - Parameter isComparable: leaves out what two runs differ in: times of today.
  func describe(_ path: [UInt8], isComparable: Bool = false) -> [String] {
    guard let status = try? FileSystem.status(at: root.rawValue, path) else { return [] }
    var line = "\(String(decoding: path, as: UTF8.self)) \(status.kind) \(String(status.mode, radix: 8)) "
    line += "\(status.userID):\(status.groupID) \(status.deviceMajor):\(status.deviceMinor) \(status.linkCount)"
    let isToday = status.modificationSeconds > 1_750_000_000 && status.modificationSeconds < 4_000_000_000
    if !isComparable || !isToday { line += " \(status.modificationSeconds).\(status.modificationNanoseconds)" }
    for name in (try? FileSystem.attributeNames(at: root.rawValue, path)) ?? [] {
      let value = try? FileSystem.attribute(at: root.rawValue, path, name)
      line += " \(String(decoding: name, as: UTF8.self))=\(value.map { "\($0)" } ?? "?")"
    }
    switch status.kind {
    case .symlink: line += " -> \((try? FileSystem.readLink(at: root.rawValue, path)) ?? [])"
    case .regular: line += " \(status.byteCount) \(content(path))"
    default: break
    }
    guard status.kind == .directory else { return [line] }
    return [line] + names(in: path).flatMap { describe(path + [0x2F] + $0, isComparable: isComparable) }
  }

  /// A hash of the first bytes of a file; files may have holes of any size.
  private func content(_ path: [UInt8]) -> String {
    guard let file = try? FileSystem.open(at: root.rawValue, path, [.readOnly, .noFollow]) else { return "?" }
    var bytes = [UInt8](repeating: 0, count: 128 << 10)
    let count = unsafe bytes.withUnsafeMutableBytes { (try? unsafe FileSystem.readFully(file.rawValue, into: $0)) ?? 0 }
    bytes.removeLast(bytes.count - count)
    return "\(XXH3.hash64(bytes.span))"
  }

  /// Descriptors that this process has open.
  static func descriptorCount() -> Int {
    guard let stream = unsafe opendir("/proc/self/fd") else { return 0 }
    defer { unsafe _ = closedir(stream) }
    var count = 0
    while unsafe readdir(stream) != nil { count += 1 }
    return count
  }
}
