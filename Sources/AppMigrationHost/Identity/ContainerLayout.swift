internal import ArchiveEngine
internal import ArchiveIO
public import Foundation
internal import Glibc

/// Where an app's container lies, and what belongs to its migrations.
///
/// With C the container's root, everything of the system lies in `dirname(C)/.NAME(C).migration/`: on the same file system, so that moves are
/// renames, and out of the reach of an extension, which is granted C alone. See the article *Design*.
public struct ContainerLayout: Sendable, Equatable {
  /// The app.
  public let bundleIdentifier: String
  /// The container's root: absolute, no slash at its end.
  public let containerPath: [UInt8]
  /// The directory in which the container lies.
  package let parentPath: [UInt8]
  /// The container's name in it.
  package let containerName: [UInt8]
  private let groupsRoot: [UInt8]

  /// Finds the places of an app.
  ///
  /// - Parameters:
  ///   - bundleIdentifier: The app.
  ///   - containerPath: Another root for this app than `$APP_CONTAINERS_ROOT/BUNDLE_ID`; relative ones begin at the current directory.
  ///   - environment: Where `APP_CONTAINERS_ROOT`, `APP_GROUPS_ROOT`, `XDG_DATA_HOME` and `HOME` are looked up.
  public init(
    bundleIdentifier: String, containerPath: [UInt8]? = nil,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(MigrationError) {
    guard BundleIdentifier.isPlausible(bundleIdentifier) else {
      throw MigrationError(
        .invalidArgument,
        "\"\(PathText.printable(Array(bundleIdentifier.utf8)))\" is no bundle identifier (\(BundleIdentifier.rule))")
    }
    self.bundleIdentifier = bundleIdentifier
    var path = containerPath ?? []
    if containerPath == nil {
      path = try Self.root("APP_CONTAINERS_ROOT", "app-containers", environment) + [0x2F] + Array(bundleIdentifier.utf8)
    }
    path = try Self.absolute(path)
    guard let slash = path.lastIndex(of: 0x2F), path.count > 1 else {
      throw MigrationError(.container, "the root of the file system cannot be a container")
    }
    let name = Array(path[(slash + 1)...])
    let longest = 255 - Self.stateName([]).count
    guard name != [0x2E, 0x2E], name.count <= longest else {
      let reason = name.count > longest ? "its name has more than \(longest) bytes" : "its path ends with \"..\""
      throw MigrationError(.container, "\(PathText.printable(path)) cannot be a container: \(reason)")
    }
    self.containerPath = path
    parentPath = slash == 0 ? [0x2F] : Array(path[..<slash])
    containerName = name
    groupsRoot = try Self.absolute(try Self.root("APP_GROUPS_ROOT", "app-groups", environment))
  }

  /// The app's documents.
  public var documentsPath: [UInt8] { containerPath + Array("/Documents".utf8) }
  /// The app's other files.
  public var applicationSupportPath: [UInt8] { containerPath + Array("/Library/Application Support".utf8) }

  /// What the system keeps; mode 0700.
  package var statePath: [UInt8] { (parentPath == [0x2F] ? [] : parentPath) + [0x2F] + stateName }
  /// Locked exclusively by a migration and its extension, shared by the running app.
  package var lockPath: [UInt8] { inState(StateName.lock) }
  /// Locked exclusively by whoever changes the state.
  package var systemLockPath: [UInt8] { inState(StateName.system) }
  /// The migration under way.
  package var journalPath: [UInt8] { inState(StateName.journal) }
  /// The result of the last import.
  package var statusPath: [UInt8] { inState(StateName.status) }
  /// What was unpacked.
  package var stagingPath: [UInt8] { inState(StateName.staging) }
  /// The old container while it is being replaced.
  package var previousPath: [UInt8] { inState(StateName.previous) }

  /// The name of ``statePath`` in ``parentPath``.
  package var stateName: [UInt8] { Self.stateName(containerName) }

  /// The directory of an app group. What cannot be an identifier is percent-encoded, so that it stays one name.
  public func groupPath(_ identifier: String) -> [UInt8] {
    var name = Array(identifier.utf8)
    if !BundleIdentifier.isPlausible(identifier) {
      let digits = Array("0123456789ABCDEF".utf8)
      name = name.flatMap { [0x25, digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
    return groupsRoot + [0x2F] + name
  }

  private func inState(_ name: [UInt8]) -> [UInt8] { statePath + [0x2F] + name }

  private static func stateName(_ name: [UInt8]) -> [UInt8] { [0x2E] + name + Array(".migration".utf8) }

  /// The directory that a variable names, else one below the user's data.
  private static func root(
    _ variable: String, _ name: String, _ environment: [String: String]
  ) throws(MigrationError) -> [UInt8] {
    if let value = environment[variable], !value.isEmpty { return Array(value.utf8) }
    // The XDG rules: what is not absolute is to be ignored.
    if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return Array("\(data)/\(name)".utf8) }
    guard let home = environment["HOME"], !home.isEmpty else {
      throw MigrationError(.container, "neither \(variable) nor HOME is set: there is no place for app data")
    }
    return Array("\(home)/.local/share/\(name)".utf8)
  }

  /// The path from the root, without empty components and ".".
  private static func absolute(_ path: [UInt8]) throws(MigrationError) -> [UInt8] {
    guard !path.isEmpty, !path.contains(0) else {
      throw MigrationError(.container, "the path of the container is empty")
    }
    var whole = path
    if path[0] != 0x2F {
      guard let here = unsafe getcwd(nil, 0) else {
        throw MigrationError(.container, "the current directory is gone, and the container's path is relative to it")
      }
      defer { unsafe free(here) }
      whole = unsafe Array(UnsafeRawBufferPointer(start: here, count: strlen(here))) + [0x2F] + path
    }
    let components = whole.split(separator: 0x2F).filter { !$0.elementsEqual([0x2E]) }
    return components.isEmpty ? [0x2F] : components.flatMap { [0x2F] + $0 }
  }
}

/// The names in a state directory.
package enum StateName {
  package static let lock = Array("lock".utf8)
  package static let system = Array("system".utf8)
  package static let journal = Array("journal".utf8)
  package static let status = Array("status".utf8)
  package static let staging = Array("staging".utf8)
  package static let previous = Array("previous".utf8)
  /// Where the engine unpacks before it gives the directory its name.
  package static let partialStaging = Array(".staging.starc-partial".utf8)
}
