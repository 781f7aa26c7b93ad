internal import ArchiveFormat

/// Has index pages read and decoded by lanes before the control thread comes to them: of all that it does with an index this takes the longest.
///
/// The control thread only. Lanes take jobs in order, and a page is asked for before the chunks of the pages in front of it are handed out:
/// it is never behind work that waits for the control thread.
final class PageAhead {
  /// A page as a lane decoded it.
  struct Decoded: Sendable {
    let page: IndexPage
    /// What it takes.
    let memoryByteCount: Int
    /// For whoever asked for it.
    let summary: PageSummary?
  }

  /// One page for a lane.
  struct Item: Sendable {
    let location: IndexedArchive.PageLocation
    private let summarizes: Bool
    private let page = Outcome<Decoded?>()

    fileprivate init(_ location: IndexedArchive.PageLocation, summarizes: Bool) {
      self.location = location
      self.summarizes = summarizes
    }

    /// Reads, checks and decodes it, on a lane. A stopped run still has to be told that the page does not come. A page that is too large for being
    /// held before it is needed is left to the control thread.
    func perform(_ archive: IndexedArchive, _ codec: PageCodec, stop: StopSignal) {
      do throws(ArchiveError) {
        try stop.check()
        let (decoded, frame) = try archive.pageAndFrame(location, codec: codec)
        let summary =
          summarizes
          ? try format { () throws(FormatError) in try PageSummary(page: decoded, frame: frame.span) } : nil
        page.set(
          .success(Decoded(page: decoded, memoryByteCount: codec.lastMemoryByteCount, summary: summary)))
      } catch {
        page.set(error.code == .limitExceeded ? .success(nil) : .failure(error))
      }
    }

    fileprivate func wait() throws(ArchiveError) -> Decoded? { try page.wait() }
  }

  /// Pages that are decoded and not used yet: enough that the control thread finds the next one ready.
  private static let depth = 3

  private var pages: PageIterator
  private let profile: RunProfile?
  private let summarizes: Bool
  private let enqueue: (Item) -> Void
  private var items: [Item] = []

  /// - Parameters:
  ///   - summarizes: lanes sum pages up as well.
  ///   - enqueue: gives an item to a lane, in order.
  init(
    _ archive: IndexedArchive, profile: RunProfile? = nil, summarizes: Bool = false, enqueue: @escaping (Item) -> Void
  ) {
    pages = PageIterator(archive)
    self.profile = profile
    self.summarizes = summarizes
    self.enqueue = enqueue
  }

  /// A codec for a lane. Three pages that wait are held besides the one that is planned, so each may take less.
  static func makeCodec(_ archive: IndexedArchive) -> PageCodec {
    PageCodec(memoryByteCount: archive.pageMemoryByteCount / 4)
  }

  /// The next page, nil when the caller has to read it; its place the caller knows. Pages are taken in
  /// order and none is left out.
  func page(_ location: IndexedArchive.PageLocation) throws(ArchiveError) -> Decoded? {
    // A directory that is damaged farther on is the caller's to find when it gets there.
    while items.count < Self.depth, let next = try? pages.nextLocation() {
      let item = Item(next, summarizes: summarizes)
      items.append(item)
      enqueue(item)
    }
    guard !items.isEmpty else {
      throw ArchiveError(.damaged, "index page \(location.number) is not there", offset: location.pageOffset)
    }
    let item = items.removeFirst()
    return try profile.controlWait { () throws(ArchiveError) in try item.wait() }
  }
}
