internal import ArchiveFormat
internal import ArchiveIO
internal import Synchronization

/// Makes files, symlinks, FIFOs and device nodes below the destination. Belongs to one thread.
///
/// No existing file is ever opened for writing: a name is made new (`O_EXCL`), or a temporary one is made and renamed.
final class LeafCreator {
  private let destination: Destination
  private let restorer: MetadataRestorer
  private let cursor: DirectoryCursor
  private var generation = 0

  init(_ destination: Destination) {
    self.destination = destination
    restorer = MetadataRestorer(destination: destination)
    cursor = DirectoryCursor(root: destination.root)
  }

  /// The parent directory of a path, and the last component.
  func locate(_ path: [UInt8]) throws(SystemError) -> (parent: Int32, name: [UInt8]) {
    let current = destination.generation.load(ordering: .acquiring)
    if current != generation {
      cursor.forget()
      generation = current
    }
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else {
      return (try cursor.descriptor(for: [][...]), path)
    }
    return (try cursor.descriptor(for: path[..<slash]), Array(path[(slash + 1)...]))
  }

  /// Makes directories inside each other, none of which may be there.
  ///
  /// - Parameters:
  ///   - ends: where, in `path`, the name of each ends.
  ///   - made: called for each that is made.
  func makeDirectories(_ path: [UInt8], ends: [Int], mode: UInt32, made: () -> Void) throws(SystemError) {
    guard let first = ends.first else { return }
    let (parent, name) = try locate(Array(path[..<first]))
    try FileSystem.makeDirectory(at: parent, name, mode: mode)
    made()
    var current = try FileSystem.open(at: parent, name, [.path, .directory, .noFollow])
    for (before, end) in zip(ends, ends.dropFirst()) {
      let name = Array(path[(before + 1)..<end])
      try FileSystem.makeDirectory(at: current.rawValue, name, mode: mode)
      made()
      current = try FileSystem.open(at: current.rawValue, name, [.path, .directory, .noFollow])
    }
  }

  /// Makes a member that is whole in `content` (stored data for a file).
  ///
  /// - Returns: false when it was left out because something with the name is there and shall stay.
  func create(_ member: Member, _ action: LeafAction, content: UnsafeRawBufferPointer) throws(SystemError) -> Bool {
    let (parent, name) = try locate(action.path)
    if destination.overwrite == .keep, !destination.isNew, !action.replacesOwn,
      (try? FileSystem.status(at: parent, name)) != nil
    {
      return false
    }
    let isDirect = destination.isNew && !action.replacesOwn
    let working = isDirect ? name : try destination.temporaryName()
    do throws(SystemError) {
      switch member.kind {
      case .file:
        let mode = restorer.creationMode(member)
        let descriptor = try FileSystem.open(
          at: parent, working, [.writeOnly, .create, .exclusive, .noFollow], mode: mode)
        try unsafe write(member, content, storedOffset: 0, to: descriptor.rawValue)
        if member.sparseExtents != nil {
          try FileSystem.truncate(descriptor.rawValue, byteCount: Int64(member.byteCount))
        }
        restorer.restore(descriptor.rawValue, member, path: action.path, createdMode: mode)
        try descriptor.close()
      case .symlink: try FileSystem.makeSymlink(to: member.linkTarget, at: parent, working)
      case .fifo: try FileSystem.makeFIFO(at: parent, working, mode: 0o600)
      case .characterDevice, .blockDevice:
        try FileSystem.makeDevice(
          at: parent, working, isBlock: member.kind == .blockDevice, mode: 0o600, major: member.deviceMajor,
          minor: member.deviceMinor)
      case .directory, .hardlink: return false
      }
      if member.kind != .file { restorer.restore(at: parent, working, member, path: action.path) }
      if !isDirect { try settle(parent, working, name, replacesOwn: action.replacesOwn) }
    } catch {
      // EEXIST on a direct name means that it is not ours to remove.
      if !(isDirect && error.alreadyExists) { destination.removeUnfinished(at: parent, working) }
      throw SystemError(error.call, errno: error.errno, path: action.path)
    }
    return true
  }

  /// Gives a complete file its final name.
  private func settle(
    _ parent: Int32, _ working: [UInt8], _ name: [UInt8], replacesOwn: Bool
  ) throws(SystemError) {
    if replacesOwn || destination.overwrite == .replace {
      try FileSystem.rename(from: parent, working, to: parent, name)
    } else {
      try FileSystem.renameWithoutReplacing(from: parent, working, to: parent, name)
    }
  }

  /// Writes a stretch of stored data where it belongs.
  private func write(
    _ member: Member, _ content: UnsafeRawBufferPointer, storedOffset: UInt64, to descriptor: Int32
  ) throws(SystemError) {
    guard unsafe !content.isEmpty else { return }
    guard let extents = member.sparseExtents else {
      if storedOffset == 0, UInt64(content.count) == member.byteCount {
        return try unsafe FileSystem.write(descriptor, content)
      }
      return try unsafe FileSystem.pwrite(descriptor, content, at: Int64(storedOffset))
    }
    var stored: UInt64 = 0
    var done = 0
    for extent in extents where done < content.count {
      let wanted = storedOffset + UInt64(done)
      if stored + extent.byteCount > wanted {
        let skip = wanted - stored
        let count = min(Int(extent.byteCount - skip), content.count - done)
        let part = unsafe UnsafeRawBufferPointer(rebasing: content[done..<done + count])
        try unsafe FileSystem.pwrite(descriptor, part, at: Int64(extent.offset + skip))
        done += count
      }
      stored += extent.byteCount
    }
  }

  // MARK: Files in parts

  /// Makes the file for a member whose parts will follow. nil when something with the name is there and shall stay.
  func begin(_ member: Member, _ path: [UInt8], replacesOwn: Bool) throws(SystemError) -> SpanningOutput? {
    let (parent, name) = try locate(path)
    if destination.overwrite == .keep, !destination.isNew, !replacesOwn,
      (try? FileSystem.status(at: parent, name)) != nil
    {
      return nil
    }
    let isDirect = destination.isNew && !replacesOwn
    let working = isDirect ? name : try destination.temporaryName()
    let mode = restorer.creationMode(member)
    let descriptor = try FileSystem.open(at: parent, working, [.writeOnly, .create, .exclusive, .noFollow], mode: mode)
    return SpanningOutput(
      descriptor: SharedDescriptor(descriptor), path: path, name: working, createdMode: mode,
      dataByteCount: member.storedByteCount)
  }

  /// Writes one part; the call that completes the file gives it its metadata and final name.
  ///
  /// - Returns: whether the file is complete.
  func add(
    _ member: Member, _ output: SpanningOutput, replacesOwn: Bool, content: UnsafeRawBufferPointer,
    storedOffset: UInt64,
    endsMember: Bool
  ) throws(SystemError) -> Bool {
    do throws(SystemError) {
      try unsafe write(member, content, storedOffset: storedOffset, to: output.descriptor.rawValue)
      guard output.complete(UInt64(content.count), endsMember: endsMember) else { return false }
      if member.sparseExtents != nil {
        try FileSystem.truncate(output.descriptor.rawValue, byteCount: Int64(member.byteCount))
      }
      restorer.restore(output.descriptor.rawValue, member, path: output.path, createdMode: output.createdMode)
      // All parts are written, so no other lane uses it. Some file systems report lost data only now.
      try output.descriptor.close()
      let (parent, name) = try locate(output.path)
      if output.name != name { try settle(parent, output.name, name, replacesOwn: replacesOwn) }
      return true
    } catch {
      // Complete files are nobody's to abandon later.
      if output.isComplete { abandon(output) }
      throw SystemError(error.call, errno: error.errno, path: output.path)
    }
  }

  /// Remembers what is there instead of a member that could not be made: no file of this run, so that nothing is linked to it.
  func keepWhatIsThere(_ path: [UInt8]) {
    guard !destination.isNew, let (parent, name) = try? locate(path) else { return }
    if (try? FileSystem.status(at: parent, name)) != nil { destination.keep(path) }
  }

  /// Removes the file of a member that will not be completed.
  func abandon(_ output: SpanningOutput) {
    keepWhatIsThere(output.path)
    guard let (parent, _) = try? locate(output.path) else { return destination.noteLeftover() }
    destination.removeUnfinished(at: parent, output.name)
  }
}
