internal import ArchiveFormat

/// Finds whole members in chunks that no index page describes, by their tar headers. One thread.
///
/// A chunk begins with a header, or within a large file. Behind a gap only the headers tell which: one whose checksum is right begins a member.
struct GapReader {
  private var parser = TarParser()
  /// A header comes next, or a part of one.
  private var isInSync = false
  private var stretches: [SalvagePage.Stretch] = []
  private var dataLeft: UInt64 = 0
  private var path: [UInt8]?
  private var isRefused = false
  /// The end blocks of the tar have come.
  private(set) var isAtEnd = false

  /// - Parameter isInSync: the next chunk begins with a header.
  init(isInSync: Bool) { self.isInSync = isInSync }

  /// Takes the content of the next chunk.
  ///
  /// - Parameters:
  ///   - member: called with the stretches of each member that is whole.
  ///   - lost: called with the name, if known, and the reason of what is not.
  mutating func take(
    _ content: [UInt8], of chunk: SalvageChunk, member: ([SalvagePage.Stretch]) -> Void,
    lost: ([UInt8]?, String) -> Void
  ) {
    if isAtEnd { return }
    if !isInSync {
      guard Self.beginsWithHeader(content) else {
        return lost(nil, "a chunk at offset \(chunk.offset) that begins within a file whose beginning is lost")
      }
      parser = TarParser()
      isInSync = true
    }
    var position = 0
    while position < content.count {
      let start = position
      if dataLeft > 0 {
        let count = Int(min(dataLeft, UInt64(content.count - position)))
        parser.skip(UInt64(count))
        dataLeft -= UInt64(count)
        position += count
      } else {
        let result: (consumed: Int, event: TarParser.Event?)
        do throws(FormatError) { result = try parser.consume(content.span, in: position..<content.count) } catch {
          lost(path, "no tar header where one should be, in the chunk at offset \(chunk.offset)")
          return forget()
        }
        position += result.consumed
        switch result.event {
        case .member(let parsed):
          path = parsed.member.path
          dataLeft = parsed.paddedDataByteCount
          isRefused = false
        case .rejected(let rejected):
          lost(rejected.path, rejected.reason.message)
          dataLeft = rejected.paddedDataByteCount
          isRefused = true
        case .endOfArchive:
          isAtEnd = true
          return forget()
        case nil:
          if result.consumed == 0 { return forget() }
          append(chunk, start..<position)
          continue
        }
      }
      append(chunk, start..<position)
      if dataLeft == 0 {
        if !isRefused { member(stretches) }
        stretches = []
        path = nil
      }
    }
  }

  /// What comes next does not follow what came before.
  mutating func interrupt(lost: ([UInt8]?, String) -> Void) {
    if !stretches.isEmpty, !isRefused { lost(path, "its end is lost") }
    forget()
    isInSync = false
  }

  private mutating func append(_ chunk: SalvageChunk, _ range: Range<Int>) {
    if let last = stretches.last, last.chunk == chunk, last.range.upperBound == range.lowerBound {
      stretches[stretches.count - 1].range = last.range.lowerBound..<range.upperBound
    } else {
      stretches.append(SalvagePage.Stretch(chunk: chunk, range: range))
    }
  }

  private mutating func forget() {
    stretches = []
    dataLeft = 0
    path = nil
    isInSync = false
  }

  private static func beginsWithHeader(_ content: [UInt8]) -> Bool {
    guard content.count >= 512, content[0] != 0 else { return false }
    var trial = TarParser()
    do throws(FormatError) {
      _ = try trial.consume(content.span, in: 0..<content.count)
      return true
    } catch { return false }
  }
}
