/// The GNU.sparse records of a pax header: versions 0.0, 0.1 and 1.0 (GNU tar manual, "Storing Sparse Files").
struct PaxSparse: Sendable {
  /// Where the map is.
  enum Form: Equatable {
    /// 0.0 and 0.1: in the records.
    case inRecords
    /// 1.0: in the first blocks of the data.
    case inData
  }

  var major: UInt64?
  var minor: UInt64?
  var name: [UInt8]?
  /// GNU.sparse.size or GNU.sparse.realsize.
  var realByteCount: UInt64?
  var announcedCount: UInt64?
  var extents: [SparseExtent] = []
  private var offset: UInt64?
  private var hasMap = false

  mutating func take(_ keyword: Span<UInt8>, _ value: Span<UInt8>) throws(FormatError) {
    if TarBytes.equals(keyword, "GNU.sparse.major") {
      major = try PaxAttributes.number(value, "GNU.sparse.major")
    } else if TarBytes.equals(keyword, "GNU.sparse.minor") {
      minor = try PaxAttributes.number(value, "GNU.sparse.minor")
    } else if TarBytes.equals(keyword, "GNU.sparse.name") {
      name = try PaxAttributes.name(value, "GNU.sparse.name")
    } else if TarBytes.equals(keyword, "GNU.sparse.realsize") || TarBytes.equals(keyword, "GNU.sparse.size") {
      realByteCount = try PaxAttributes.number(value, "GNU.sparse.size")
    } else if TarBytes.equals(keyword, "GNU.sparse.numblocks") {
      announcedCount = try PaxAttributes.number(value, "GNU.sparse.numblocks")
    } else if TarBytes.equals(keyword, "GNU.sparse.offset") {
      guard offset == nil else { throw FormatError(.malformed, "GNU.sparse.offset without a GNU.sparse.numbytes") }
      offset = try PaxAttributes.number(value, "GNU.sparse.offset")
    } else if TarBytes.equals(keyword, "GNU.sparse.numbytes") {
      guard let start = offset else {
        throw FormatError(.malformed, "GNU.sparse.numbytes without a GNU.sparse.offset")
      }
      offset = nil
      extents.append(
        SparseExtent(offset: start, byteCount: try PaxAttributes.number(value, "GNU.sparse.numbytes")))
    } else if TarBytes.equals(keyword, "GNU.sparse.map") {
      try takeMap(value)
    }
  }

  /// "offset,size,offset,size,…"
  private mutating func takeMap(_ value: Span<UInt8>) throws(FormatError) {
    hasMap = true
    extents = []
    var start = 0
    var first: UInt64?
    while start < value.count {
      var stop = start
      while stop < value.count, value[stop] != 0x2C { stop += 1 }
      let number = try PaxAttributes.number(value.extracting(start..<stop), "GNU.sparse.map")
      if let begin = first {
        extents.append(SparseExtent(offset: begin, byteCount: number))
        first = nil
      } else {
        first = number
      }
      start = stop + 1
    }
    guard first == nil else { throw FormatError(.malformed, "GNU.sparse.map has an offset without a size") }
  }

  /// Which form the records describe.
  ///
  /// - Throws: `.unsupported` for a version not known here, `.malformed` for records that do not fit together.
  func form() throws(FormatError) -> Form {
    let version = (major ?? 0, minor ?? (hasMap ? 1 : 0))
    switch version {
    case (1, 0): return .inData
    case (0, 0), (0, 1): break
    default: throw FormatError(.unsupported, "GNU sparse version \(version.0).\(version.1)")
    }
    guard offset == nil else { throw FormatError(.malformed, "GNU.sparse.offset without a GNU.sparse.numbytes") }
    guard hasMap || !extents.isEmpty || announcedCount == 0 else {
      throw FormatError(.malformed, "GNU.sparse records without a map")
    }
    if let announcedCount, announcedCount != UInt64(extents.count) {
      throw FormatError(
        .malformed, "GNU.sparse.numblocks announces \(announcedCount) extents, \(extents.count) are there")
    }
    return .inRecords
  }
}
