internal import ArchiveFormat
internal import ArchiveIO

/// Finds the data regions of a file and reads what an archive stores of them.
enum SparseMap {
  /// More regions than this are joined: a map is text in front of the data and costs more than small holes save.
  static let maximumExtentCount = 1 << 16
  /// Regions begin and end on tar blocks.
  private static let alignment: UInt64 = 512

  /// Whether a file of this status may have holes worth looking for.
  static func mayBeSparse(_ status: FileStatus) -> Bool {
    status.byteCount > 4096 && status.allocatedByteCount < status.byteCount
  }

  /// The data regions among the first `byteCount` bytes; nil when there is no hole or the file system does not tell.
  static func extents(of descriptor: Int32, byteCount: UInt64) throws(SystemError) -> [SparseExtent]? {
    var extents: [SparseExtent] = []
    var position: UInt64 = 0
    search: while position < byteCount {
      switch try FileSystem.seekData(descriptor, from: Int64(position)) {
      case .unsupported: return nil
      case .none: break search
      case .found(let start):
        var end = byteCount
        switch try FileSystem.seekHole(descriptor, from: start) {
        case .found(let hole): end = min(byteCount, UInt64(hole))
        case .none, .unsupported: break
        }
        append(from: UInt64(start) & ~(alignment - 1), to: end, limit: byteCount, &extents)
        position = max(end, UInt64(start) + 1)
      }
    }
    if extents == [SparseExtent(offset: 0, byteCount: byteCount)] { return nil }
    return coalesced(extents)
  }

  private static func append(from start: UInt64, to end: UInt64, limit: UInt64, _ extents: inout [SparseExtent]) {
    guard start < limit else { return }
    let end = min(limit, (end + alignment - 1) & ~(alignment - 1))
    if let last = extents.last, last.offset + last.byteCount >= start {
      extents[extents.count - 1].byteCount = max(last.byteCount, end - last.offset)
    } else {
      extents.append(SparseExtent(offset: start, byteCount: end - start))
    }
  }

  /// Joins regions across the smallest holes until the limit holds.
  private static func coalesced(_ extents: [SparseExtent]) -> [SparseExtent] {
    guard extents.count > maximumExtentCount else { return extents }
    let gaps = (1..<extents.count).map { extents[$0].offset - extents[$0 - 1].offset - extents[$0 - 1].byteCount }
    let threshold = gaps.sorted(by: >)[maximumExtentCount - 1]
    var result = [extents[0]]
    for index in 1..<extents.count {
      if gaps[index - 1] <= threshold {
        let last = result.count - 1
        result[last].byteCount = extents[index].offset + extents[index].byteCount - result[last].offset
      } else {
        result.append(extents[index])
      }
    }
    return result
  }

  /// Reads stored bytes `range` (counted over the extents, one behind the other) into `buffer`.
  ///
  /// - Returns: how many bytes could be read before the file ended.
  static func read(
    _ descriptor: Int32, extents: [SparseExtent]?, range: Range<UInt64>, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    guard let extents else {
      return try unsafe FileSystem.pread(descriptor, into: buffer, at: Int64(range.lowerBound))
    }
    var done = 0
    var stored: UInt64 = 0
    for extent in extents where done < buffer.count {
      let end = stored + extent.byteCount
      let wanted = range.lowerBound + UInt64(done)
      if end > wanted {
        let skip = wanted - stored
        let count = min(Int(extent.byteCount - skip), buffer.count - done)
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + count])
        let read = try unsafe FileSystem.pread(descriptor, into: part, at: Int64(extent.offset + skip))
        done += read
        if read < count { return done }
      }
      stored = end
    }
    return done
  }
}
