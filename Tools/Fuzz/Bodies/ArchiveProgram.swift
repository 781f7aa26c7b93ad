internal import CZstd

/// Makes an archive as an input says: plain, in foreign frames, or with an index of ours that may lie.
struct ArchiveProgram {
  let outside: [UInt8]

  func archive(_ choices: inout Choices) -> [UInt8] {
    let form = choices.below(4)
    let ending = choices.below(8)
    let stream = HostileMembers(outside: outside).stream(&choices)
    var bytes: [UInt8]
    switch form {
    case 0: bytes = stream + end(ending)
    case 1: bytes = frames(stream + end(ending), &choices)
    default:
      bytes = IndexedForm.archive(of: stream, &choices) ?? frames(stream + end(ending), &choices)
    }
    damage(&bytes, &choices)
    return bytes
  }

  private func end(_ choice: Int) -> [UInt8] {
    switch choice {
    case 0: []
    case 1: [UInt8](repeating: 0, count: 512)
    case 2: RawTar.end + [1]
    default: RawTar.end
    }
  }

  /// Foreign frames, cut anywhere.
  private func frames(_ stream: [UInt8], _ choices: inout Choices) -> [UInt8] {
    var out: [UInt8] = []
    var position = 0
    for _ in 0..<choices.below(4) where position < stream.count {
      let count = min(stream.count - position, 512 * choices.below(12) + choices.pick([0, 0, 1, 511]))
      out += Zstd.frame(stream[position..<(position + count)], statesSize: !choices.chance(oneIn: 3))
      position += count
      if choices.chance(oneIn: 4) {
        out += [0x50 + UInt8(choices.below(16)), 0x2A, 0x4D, 0x18, 4, 0, 0, 0] + [1, 2, 3, 4]
      }
    }
    return out + Zstd.frame(stream[position...], statesSize: true)
  }

  /// Flipped bits, a cut, something behind the end, the archive twice.
  private func damage(_ bytes: inout [UInt8], _ choices: inout Choices) {
    guard choices.chance(oneIn: 4), !bytes.isEmpty else { return }
    switch choices.below(6) {
    case 0: bytes = Array(bytes.prefix(choices.below(65536) % bytes.count))
    case 1: bytes += choices.take(20)
    case 2: bytes += bytes
    case 3: bytes.removeFirst(min(bytes.count, choices.below(600)))
    default:
      for _ in 0...choices.below(3) {
        let fromEnd = choices.chance(oneIn: 2)
        let place = choices.below(65536) % bytes.count
        bytes[fromEnd ? bytes.count - 1 - place : place] ^= 1 << UInt8(choices.below(8))
      }
    }
  }
}

/// libzstd, in one call.
enum Zstd {
  static func frame(_ content: some Collection<UInt8>, statesSize: Bool = true) -> [UInt8] {
    let source = Array(content)
    guard let context = unsafe ZSTD_createCCtx() else { return [] }
    defer { unsafe _ = ZSTD_freeCCtx(context) }
    unsafe _ = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1)
    unsafe _ = ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    unsafe _ = ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, statesSize ? 1 : 0)
    return unsafe [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(source.count)) { target, count in
      let result = unsafe source.withUnsafeBytes {
        unsafe ZSTD_compress2(context, target.baseAddress, target.count, $0.baseAddress, $0.count)
      }
      count = ZSTD_isError(result) == 0 ? result : 0
    }
  }
}
