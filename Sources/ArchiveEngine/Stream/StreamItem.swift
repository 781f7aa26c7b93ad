internal import ArchiveFormat

extension StreamSource {
  /// What a source gives out.
  enum Item {
    case content(StreamPiece)
    /// A frame of our index, whole.
    case index(IndexFrameKind, [UInt8], offset: UInt64)
    /// A seek table that follows a root of ours.
    case seekTable([UInt8], offset: UInt64)

    /// Bytes of an index frame that is held.
    var byteCount: Int {
      switch self {
      case .content: 0
      case .index(_, let frame, _), .seekTable(let frame, _): frame.count
      }
    }
  }
}

extension IndexFrameKind {
  /// Bytes that a frame of this kind may have.
  func frameByteCount(pages: Int) -> Int {
    switch self {
    case .preamble, .root: IndexLimits.rootFrameByteCount
    case .page: min(IndexLimits.pageFrameByteCount, pages)
    case .directory: IndexLimits.directoryByteCount + SkippableFrame.prefixByteCount
    }
  }
}
