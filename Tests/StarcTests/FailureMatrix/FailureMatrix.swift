/// The one table of cases, by kinds. Each is an archive, and what is right for it.
enum FailureMatrix {
  static let cases: [FailureMode] = {
    let groups: [[FailureMode]] = [
      FailureModesEscapeTests.names, FailureModesEscapeTests.links, FailureModesEscapeTests.hardLinks,
      FailureModesEscapeTests.replacements, FailureModesHeaderTests.sizes, FailureModesHeaderTests.statedTwice,
      FailureModesHeaderTests.records, FailureModesHeaderTests.numbers, FailureModesHeaderTests.names,
      FailureModesHeaderTests.owners, FailureModesSparseTests.maps, FailureModesCollisionTests.sameNames,
      FailureModesCollisionTests.hardLinks, FailureModesCollisionTests.nodes, FailureModesCollisionTests.ends,
      oddNames, longNames, links, fields, checksums, paxValues, extendedHeaders, sparse, framing, index, damage,
      legitimate,
    ]
    return groups.flatMap { $0 }
  }()

  /// A member in front of the one that matters, and one behind it, which show that the reader has kept its place.
  static let before = Tar.entry("before", "b")
  static let after = Tar.entry("after", "z")

  /// The tree with both of them.
  static func around(_ tree: [String]) -> [String] { (tree + ["after=z", "before=b"]).sorted() }

  /// A member that is refused between two that are not.
  static func refused(_ name: String, says: String, _ makes: [String] = [], _ parts: [UInt8]...) -> FailureMode {
    let middle = parts.flatMap { $0 }
    return .refused(name, says: says, leaves: around(makes)) { _ in [before, middle, after] }
  }

  /// A member that is accepted between two others.
  static func accepted(
    _ name: String, status: Int32 = 0, says: String = "", _ makes: [String], _ parts: [UInt8]...
  ) -> FailureMode {
    let middle = parts.flatMap { $0 }
    return .accepted(name, status: status, says: says, makes: around(makes)) { _ in [before, middle, after] }
  }

  /// What leaves open where the next header begins.
  static func damaged(_ name: String, says: String, _ parts: [UInt8]...) -> FailureMode {
    let middle = parts.flatMap { $0 }
    return .damaged(name, says: says) { _ in [before, middle, after] }
  }
}
