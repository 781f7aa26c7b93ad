/// A part of the engine that is fed with whatever bytes a fuzzer finds.
///
/// What is done with an input lives here and not in the fuzzer, so that an ordinary test does exactly the same with the
/// inputs that are kept. No input may crash it, and for each some promises are checked that hold for all inputs.
public enum FuzzTarget: String, CaseIterable, Sendable {
  /// A whole tar stream through the incremental parser.
  case tar
  /// The records of a pax header, and ACL text.
  case pax
  /// Sparse maps in all forms of GNU tar.
  case sparse
  /// Index pages, directories, preambles and roots.
  case page
  /// Seek tables.
  case seektable
  /// The outside of zstd frames.
  case framing
  /// A program that makes a whole archive and extracts it in a scratch directory.
  case archive

  /// Does with an input what the target is about.
  ///
  /// - Parameters:
  ///   - scratch: an empty directory in memory, for ``archive``.
  ///   - isAlone: nothing else goes on in this process, so that its descriptors can be counted.
  /// - Throws: ``FuzzFailure`` for a broken promise.
  public func run(_ input: [UInt8], scratch: String, isAlone: Bool) throws(FuzzFailure) {
    switch self {
    case .tar: try TarBody.run(input)
    case .pax: try PaxBody.run(input)
    case .sparse: try SparseBody.run(input)
    case .page: try PageBody.run(input)
    case .seektable: try SeekTableBody.run(input)
    case .framing: try FramingBody.run(input)
    case .archive: try ArchiveBody.run(input, scratch: scratch, isAlone: isAlone)
    }
  }
}
