internal import CLinuxShims
internal import Glibc

/// One name in a directory.
package enum DirectoryEntry: Sendable {
  /// What the name stands for.
  case found(name: [UInt8], FileStatus)
  /// A file that vanished or cannot be looked at, or a directory of which not all could be read. The path is that from the reader's root.
  case failure(SystemError)
}

/// Lists directories below a root, by their paths, and looks at what lies in them. One thread at a time.
package final class DirectoryReader {
  private let cursor: DirectoryCursor
  private var list: DirectoryList

  /// A reader of the directories below `root`.
  package init(root: SharedDescriptor) throws(SystemError) {
    cursor = DirectoryCursor(root: root)
    list = try DirectoryList()
  }

  /// What a directory holds, as far as it was looked at.
  package struct Contents {
    /// Its entries in order, behind the failure when not all of it could be read.
    package var entries: [DirectoryEntry] = []
    /// What is left to look at.
    package var rest: DirectoryRest?
  }

  /// Opens a directory, reads all its names, and looks at the first of them.
  ///
  /// - Parameters:
  ///   - path: the path from the root; "" is the root.
  ///   - limit: entries to look at.
  /// - Throws: when the directory cannot be opened; the error's path is that of the directory.
  package func read(_ path: [UInt8], limit: Int) throws(SystemError) -> Contents {
    let descriptor = try open(path)
    var contents = Contents()
    defer { list.removeAll(from: 0) }
    do throws(SystemError) { try list.read(descriptor.rawValue) } catch {
      contents.entries.append(.failure(SystemError(error.call, errno: error.errno, path: path)))
    }
    list.sort(from: 0)
    let count = min(limit, list.entries.count)
    contents.entries.reserveCapacity(count + 1)
    Self.look(list.entries[..<count], of: list.names, in: descriptor.rawValue, at: path, into: &contents.entries)
    if count < list.entries.count {
      contents.rest = DirectoryRest(path: path, entries: list.entries, names: list.names, next: count)
    }
    return contents
  }

  /// Looks at the next names of a directory.
  package func read(_ rest: DirectoryRest, limit: Int) -> [DirectoryEntry] {
    let names = rest.take(limit)
    var entries: [DirectoryEntry] = []
    entries.reserveCapacity(names.count)
    do throws(SystemError) {
      let descriptor = try open(rest.path)
      Self.look(names, of: rest.names, in: descriptor.rawValue, at: rest.path, into: &entries)
    } catch {
      rest.giveUp()
      entries = [.failure(error)]
    }
    return entries
  }

  /// Asks what names in an open directory stand for.
  private static func look(
    _ names: ArraySlice<DirectoryList.Entry>, of bytes: [UInt8], in directory: Int32, at path: [UInt8],
    into entries: inout [DirectoryEntry]
  ) {
    for entry in names {
      var status = starc_status()
      var name: [UInt8] = []
      let result = unsafe DirectoryList.withName(entry, in: bytes) { pointer, length in
        unsafe name.append(contentsOf: UnsafeRawBufferPointer(start: pointer, count: length))
        return unsafe starc_statx(directory, pointer, 0, &status)
      }
      if result < 0 {
        let full = path.isEmpty ? name : path + [0x2F] + name
        entries.append(.failure(SystemError("statx", errno: Int32(truncatingIfNeeded: -result), path: full)))
      } else {
        entries.append(.found(name: name, FileStatus(status)))
      }
    }
  }

  private func open(_ path: [UInt8]) throws(SystemError) -> Descriptor {
    let slash = path.lastIndex(of: 0x2F)
    let name = path.isEmpty ? [0x2E] : Array(path[(slash.map { $0 + 1 } ?? 0)...])
    do throws(SystemError) {
      let parent = try cursor.descriptor(for: slash.map { path[..<$0] } ?? [])
      return try FileSystem.open(at: parent, name, [.readOnly, .directory, .noFollow])
    } catch {
      throw SystemError(error.call, errno: error.errno, path: path)
    }
  }
}

/// The names of a directory that nobody has looked at yet. It holds no descriptor: walks may have any number of such. One thread at a time.
package final class DirectoryRest: @unchecked Sendable {
  fileprivate let path: [UInt8]
  fileprivate let names: [UInt8]
  private let entries: [DirectoryList.Entry]
  private var next: Int

  fileprivate init(path: [UInt8], entries: [DirectoryList.Entry], names: [UInt8], next: Int) {
    self.path = path
    self.entries = entries
    self.names = names
    self.next = next
  }

  /// Names that are left.
  package var count: Int { entries.count - next }

  fileprivate func take(_ limit: Int) -> ArraySlice<DirectoryList.Entry> {
    defer { next += min(limit, count) }
    return entries[next..<next + min(limit, count)]
  }

  /// The directory can no longer be opened.
  fileprivate func giveUp() { next = entries.count }
}
