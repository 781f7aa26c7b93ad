internal import ArchiveEngine
internal import ArchiveFormat
internal import ArchiveIO

/// What `list`, `verify`, `compare` and `extract` say of one archive must fit together.
struct Agreement {
  let stage: Stage
  let archive: [UInt8]
  let way: ArchiveBody.Way

  /// What a list shows, and how it ended.
  private struct Listing {
    var members: [Member] = []
    var error: ArchiveError?
    var names: [[UInt8]] { members.map(\.path) }
  }

  /// Damage of the archive, in contrast to members that are refused, limits, and what the system does not do.
  private static let damage: [ArchiveError.Code] = [.damaged, .truncated, .mismatch]

  func check(_ outcome: ArchiveBody.Outcome) throws(FuzzFailure) {
    let list = list(isPipe: false)
    let full = verify(quick: false)
    let quick = verify(quick: true)
    if let error = outcome.error {
      let isDamage = Self.damage.contains(error.code)
      let isHealthy = full.map { $0.isHealthy && $0.warningCount == 0 } ?? false
      try require(!isDamage || !isHealthy || way.isSalvage, "verify finds nothing, and extract says: \(error)")
    }
    guard let full, full.isHealthy else {
      return try checkStreams(outcome, full)
    }
    try require(quick?.isHealthy != false, "verify finds nothing, and quick says: \(String(describing: quick))")
    if let error = list.error {
      try require(!Self.damage.contains(error.code), "verify finds nothing, and list says: \(error)")
    } else {
      try require(
        UInt64(list.names.count) == full.entryCount, "\(list.names) are listed, \(full.entryCount) verified")
      // The tar headers are the other witness: read as a stream the archive must list the same.
      let other = self.list(isPipe: true)
      try require(other.error == nil, "list from a pipe: \(String(describing: other.error))")
      try require(other.members == list.members, "listed by the index: \(list.members), as a stream: \(other.members)")
    }
    try checkTree(outcome, list)
  }

  /// A strict run over everything that goes well shows that the stream is whole.
  private func checkStreams(_ outcome: ArchiveBody.Outcome, _ full: VerifyReport?) throws(FuzzFailure) {
    guard let full, outcome.error == nil, !way.isSalvage, way.options.isLenient == false,
      way.options.selection.isEmpty, (try? reader(isPipe: false))?.isIndexed == false
    else { return }
    throw FuzzFailure("extract finds nothing, and verify says: \(full.damages)")
  }

  /// What came out is what `compare` finds in the archive.
  private func checkTree(_ outcome: ArchiveBody.Outcome, _ list: Listing) throws(FuzzFailure) {
    let names = list.names
    // A mode and an ACL that contradict each other cannot both be in the tree.
    guard list.members.allSatisfy({ $0.accessACL.isEmpty }) else { return }
    guard let summary = outcome.summary, summary.skippedCount == 0, summary.warningCount == 0, way.isNew,
      !way.isSalvage, way.options.selection.isEmpty, way.options.stripComponentCount == 0,
      way.options.restoresPermissions == .automatic, way.options.restoresOwner == .automatic,
      way.options.restoresExtendedAttributes, Set(names).count == names.count
    else { return }
    var found: [TreeDifference] = []
    do throws(ArchiveError) {
      _ = try reader(isPipe: false).compare(with: stage.path + Array("/first".utf8)) { found.append($0) }
    } catch {
      throw FuzzFailure("compare: \(error)")
    }
    try require(found.isEmpty, "extract of \(list.members) says nothing, and compare says: \(found)")
  }

  private func reader(isPipe: Bool) throws(ArchiveError) -> ArchiveReader {
    try ArchiveBody.reader(stage, archive, way, isPipe: isPipe)
  }

  private func list(isPipe: Bool) -> Listing {
    var listing = Listing()
    do throws(ArchiveError) {
      try reader(isPipe: isPipe).list { listing.members.append($0.member) }
    } catch {
      listing.error = error
    }
    return listing
  }

  /// nil when it could not be done, for a limit.
  private func verify(quick: Bool) -> VerifyReport? {
    do throws(ArchiveError) { return try reader(isPipe: false).verify(quick: quick) } catch { return nil }
  }
}
