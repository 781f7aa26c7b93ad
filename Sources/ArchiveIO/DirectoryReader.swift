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
    let prefix = path.isEmpty ? [] : path + [0x2F]
    let count = min(limit, list.entries.count)
    contents.entries.reserveCapacity(count + 1)
    list.look(0..<count, in: descriptor.rawValue, below: prefix, into: &contents.entries)
    if count < list.entries.count {
      var names = try DirectoryList()
      swap(&names, &list)
      contents.rest = DirectoryRest(SharedDescriptor(descriptor), prefix, names, next: count)
    }
    return contents
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

/// The names of an open directory that nobody has looked at yet. One thread at a time.
@safe
package final class DirectoryRest: @unchecked Sendable {
  private let descriptor: SharedDescriptor
  private let prefix: [UInt8]
  private let list: DirectoryList
  private var next: Int

  fileprivate init(_ descriptor: SharedDescriptor, _ prefix: [UInt8], _ list: consuming DirectoryList, next: Int) {
    self.descriptor = descriptor
    self.prefix = prefix
    self.list = list
    self.next = next
  }

  /// Names that are left.
  package var count: Int { list.entries.count - next }

  /// Looks at the next ones.
  package func read(limit: Int) -> [DirectoryEntry] {
    let range = next..<next + min(limit, count)
    next = range.upperBound
    var entries: [DirectoryEntry] = []
    entries.reserveCapacity(range.count)
    list.look(range, in: descriptor.rawValue, below: prefix, into: &entries)
    return entries
  }
}

extension DirectoryList {
  /// Asks what some of the names in an open directory stand for.
  fileprivate func look(
    _ range: Range<Int>, in directory: Int32, below prefix: [UInt8], into entries: inout [DirectoryEntry]
  ) {
    for index in range {
      var status = starc_status()
      let result = unsafe withName(index) { name, _ in unsafe starc_statx(directory, name, 0, &status) }
      var name: [UInt8] = []
      appendName(index, to: &name)
      if result < 0 {
        let error = SystemError("statx", errno: Int32(truncatingIfNeeded: -result), path: prefix + name)
        entries.append(.failure(error))
      } else {
        entries.append(.found(name: name, FileStatus(status)))
      }
    }
  }
}
