/// The kinds of work that happen in one order.
enum OrderedSection: Int, CaseIterable {
  /// The control thread: walk and sort, or reading the index; names, decisions, directories.
  case planning
  /// Hashing members whose pieces are in the hands of several lanes.
  case memberHash
  /// Writing frames in their order.
  case drain
  /// Index pages that the drain makes itself.
  case pages
  /// Directory, root and seek table.
  case index
  /// Looking at all that an index shows before anything is made.
  case survey
  /// Hard links, once their targets are there.
  case links
  /// Modes and times of directories.
  case directories
  /// Giving a staged tree its name, and bringing it to the disk.
  case commit

  var name: String {
    switch self {
    case .memberHash: "member hash"
    default: String(describing: self)
    }
  }
}

extension RunProfile? {
  /// Runs `body` on this thread; its processor time counts for the section, and no longer for the one around it.
  func measure<Result, Failure: Error>(
    _ section: OrderedSection, within outer: OrderedSection? = nil, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let self else { return try body() }
    let start = Clocks.threadNanoseconds
    defer { self.add(Clocks.threadNanoseconds - start, to: section, within: outer) }
    return try body()
  }

  /// Runs `body`, in which the control thread waits.
  func controlWait<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    guard let self else { return try body() }
    let start = Clocks.monotonicNanoseconds
    defer { self.addControlWait(Clocks.monotonicNanoseconds - start) }
    return try body()
  }
}
