internal import CLinuxShims
internal import Glibc

/// The names of users and groups and their ids, each looked up once. May be used from any thread.
package final class OwnerNames: Sendable {
  private struct Tables {
    var userNames: [UInt32: [UInt8]] = [:]
    var groupNames: [UInt32: [UInt8]] = [:]
    /// The last ones again: neighbours nearly always have the same owner.
    var lastUser: (identifier: UInt32, name: [UInt8])?
    var lastGroup: (identifier: UInt32, name: [UInt8])?
    var userIDs: [[UInt8]: UInt32?] = [:]
    var groupIDs: [[UInt8]: UInt32?] = [:]
  }

  /// Ids and names may come from a hostile archive: a table that gets this large starts afresh.
  private static let maximumCount = 16384
  /// Longer names exist in no database and are not looked up (`LOGIN_NAME_MAX` is 256).
  private static let maximumNameByteCount = 1024
  private let tables = Locked(Tables())

  package init() {}

  /// A user's name, empty where there is none.
  package func userName(_ identifier: UInt32) -> [UInt8] {
    if let known = tables.withLock({ $0.lastUser?.identifier == identifier ? $0.lastUser?.name : nil }) { return known }
    let name = unsafe name(identifier, \.userNames) { unsafe starc_user_name($0, $1, $2) }
    tables.withLock { $0.lastUser = (identifier, name) }
    return name
  }

  /// A group's name, empty where there is none.
  package func groupName(_ identifier: UInt32) -> [UInt8] {
    if let known = tables.withLock({ $0.lastGroup?.identifier == identifier ? $0.lastGroup?.name : nil }) {
      return known
    }
    let name = unsafe name(identifier, \.groupNames) { unsafe starc_group_name($0, $1, $2) }
    tables.withLock { $0.lastGroup = (identifier, name) }
    return name
  }

  /// A user's id, nil where there is none of this name.
  package func userID(_ name: [UInt8]) -> UInt32? {
    unsafe identifier(name, \.userIDs) { unsafe starc_user_id($0) }
  }

  /// A group's id, nil where there is none of this name.
  package func groupID(_ name: [UInt8]) -> UInt32? {
    unsafe identifier(name, \.groupIDs) { unsafe starc_group_id($0) }
  }

  private func name(
    _ identifier: UInt32, _ table: WritableKeyPath<Tables, [UInt32: [UInt8]]>,
    _ lookUp: (UInt32, UnsafeMutableRawPointer, Int) -> Int64
  ) -> [UInt8] {
    if let known = tables.withLock({ $0[keyPath: table][identifier] }) { return known }
    let name = unsafe withUnsafeTemporaryAllocation(byteCount: Self.maximumNameByteCount, alignment: 1) { buffer in
      guard let base = buffer.baseAddress else { return [UInt8]() }
      let count = unsafe lookUp(identifier, base, buffer.count)
      return count > 0 ? unsafe Array(buffer[..<min(Int(count), buffer.count)]) : []
    }
    tables.withLock {
      if $0[keyPath: table].count >= Self.maximumCount { $0[keyPath: table].removeAll() }
      $0[keyPath: table][identifier] = name
    }
    return name
  }

  private func identifier(
    _ name: [UInt8], _ table: WritableKeyPath<Tables, [[UInt8]: UInt32?]>,
    _ lookUp: (UnsafePointer<CChar>) -> Int64
  ) -> UInt32? {
    if name.isEmpty || name.count > Self.maximumNameByteCount { return nil }
    if let known = tables.withLock({ $0[keyPath: table][name] }) { return known }
    let result = unsafe withTerminated(name, lookUp)
    let identifier = UInt32(exactly: result)
    tables.withLock {
      if $0[keyPath: table].count >= Self.maximumCount { $0[keyPath: table].removeAll() }
      $0[keyPath: table][name] = .some(identifier)
    }
    return identifier
  }
}
