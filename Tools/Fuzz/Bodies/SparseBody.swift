internal import ArchiveFormat

/// Sparse maps in all forms of GNU tar, made by choices and sometimes wrong.
enum SparseBody {
  static func run(_ input: [UInt8]) throws(FuzzFailure) {
    var choices = Choices(input)
    let how = choices.byte()
    let seed = choices.byte()
    let map = Map(&choices)
    let member: [UInt8]
    switch how & 3 {
    case 0: member = oldForm(map, &choices)
    case 1: member = recordForm(map, &choices, isList: false)
    case 2: member = recordForm(map, &choices, isList: true)
    default: member = dataForm(map, &choices)
    }
    var stream = member + [UInt8](repeating: 0x31, count: Int(min(map.storedByteCount, 4096) + 511) & ~511)
    if stream.count < 32 << 10 { stream += RawTar.header(Array("after".utf8), type: 0x30, size: 0) + RawTar.end }
    try TarBody.check(stream, seed: seed)
    guard how & 0x80 != 0 else { return }
    // What is right must be taken, with exactly these extents.
    let right = Map(right: map)
    try checkRight(right, form: how & 3, seed: seed)
  }

  /// The extents of a file.
  struct Map {
    var extents: [(offset: UInt64, byteCount: UInt64)] = []
    var realByteCount: UInt64
    var storedByteCount: UInt64 { extents.reduce(0) { $0 &+ $1.byteCount } }

    init(_ choices: inout Choices) {
      var end: UInt64 = 0
      for _ in 0..<choices.pick([0, 1, 2, 4, 5, 25, 26, 60]) {
        let isWild = choices.chance(oneIn: 8)
        let gap = isWild ? choices.number() : UInt64(choices.byte()) << 9
        let byteCount = choices.chance(oneIn: 8) ? choices.number() : UInt64(choices.below(4)) << 9
        extents.append((end &+ gap, byteCount))
        end = end &+ gap &+ byteCount
      }
      realByteCount = choices.chance(oneIn: 4) ? choices.number() : end
    }

    /// The map made right: what is out of order, outside of any file or no whole blocks is left out.
    init(right map: Map) {
      realByteCount = 0
      for extent in map.extents {
        guard extent.offset >= realByteCount, extent.offset < 1 << 32, extent.byteCount < 1 << 20 else { continue }
        let byteCount = extent.byteCount & ~511
        guard byteCount > 0 else { continue }
        extents.append((extent.offset, byteCount))
        realByteCount = extent.offset + byteCount
      }
    }
  }

  private static func checkRight(_ map: Map, form: UInt8, seed: UInt8) throws(FuzzFailure) {
    var none = Choices([])
    let member: [UInt8]
    switch form {
    case 0: member = oldForm(map, &none)
    case 1: member = recordForm(map, &none, isList: false)
    case 2: member = recordForm(map, &none, isList: true)
    default: member = dataForm(map, &none)
    }
    // 0.0 and 0.1 have no way to say that a map is empty but their number of extents, which stands in front of it.
    let reading = try TarReading(member, isLenient: false, pieces: PieceSizes(seed: seed))
    guard case .member(let found)? = reading.events.first, reading.events.count == 1 else {
      throw FuzzFailure("a right sparse map is read as \(reading)")
    }
    let extents = map.extents.map { SparseExtent(offset: $0.offset, byteCount: $0.byteCount) }
    try require(found.member.sparseExtents == extents, "\(extents) is read as \(found.member)")
    try require(found.member.byteCount == map.realByteCount, "\(map.realByteCount) is read as \(found.member)")
    try require(found.dataByteCount == map.storedByteCount, "\(map.storedByteCount) bytes are read as \(found)")
  }

  /// What the header says is stored: mostly what the map says.
  private static func stated(_ byteCount: UInt64, _ choices: inout Choices) -> UInt64 {
    choices.chance(oneIn: 6) ? choices.number() : byteCount
  }

  /// Type "S": four extents in the header, 21 in each block behind it.
  private static func oldForm(_ map: Map, _ choices: inout Choices) -> [UInt8] {
    func fields(_ extents: ArraySlice<(offset: UInt64, byteCount: UInt64)>, at start: Int) -> [(Int, [UInt8])] {
      extents.enumerated().flatMap { index, extent in
        [
          (start + 24 * index, RawTar.number(extent.offset, 12)),
          (start + 24 * index + 12, RawTar.number(extent.byteCount, 12)),
        ]
      }
    }
    var rest = map.extents.dropFirst(4)
    var header = fields(map.extents.prefix(4), at: 386)
    header.append((482, [choices.chance(oneIn: 8) ? choices.byte() : (rest.isEmpty ? 0 : 1)]))
    header.append((483, RawTar.number(map.realByteCount, 12)))
    if choices.chance(oneIn: 8) { header.append((386 + choices.below(110), choices.take(3))) }
    let size = stated(map.storedByteCount, &choices)
    var out = RawTar.header(
      Array("s".utf8), type: 0x53, size: size, magic: RawTar.gnuMagic,
      fields: header.map { (offset: $0.0, bytes: $0.1) })
    while !rest.isEmpty {
      var block = [UInt8](repeating: 0, count: 512)
      for (offset, bytes) in fields(rest.prefix(21), at: 0) {
        block.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
      }
      rest = rest.dropFirst(21)
      block[504] = choices.chance(oneIn: 16) ? choices.byte() : (rest.isEmpty ? 0 : 1)
      out += block
    }
    return out
  }

  /// 0.0 (a record for each number) and 0.1 (a list in one record).
  private static func recordForm(_ map: Map, _ choices: inout Choices, isList: Bool) -> [UInt8] {
    var records = RawTar.record("GNU.sparse.size", "\(map.realByteCount)")
    let count = choices.chance(oneIn: 8) ? choices.number() : UInt64(map.extents.count)
    records += RawTar.record("GNU.sparse.numblocks", "\(count)")
    if isList {
      if choices.chance(oneIn: 4) { records += RawTar.record("GNU.sparse.name", "real") }
      let numbers = map.extents.map { "\($0.offset),\($0.byteCount)" }.joined(separator: ",")
      records += RawTar.record("GNU.sparse.map", numbers + (choices.chance(oneIn: 8) ? ",7" : ""))
    } else {
      for extent in map.extents {
        records += RawTar.record("GNU.sparse.offset", "\(extent.offset)")
        if choices.chance(oneIn: 32) { continue }
        records += RawTar.record("GNU.sparse.numbytes", "\(extent.byteCount)")
      }
    }
    if choices.chance(oneIn: 8) { records += RawTar.record("GNU.sparse.minor", "\(choices.below(3))") }
    return RawTar.extended("x", records)
      + RawTar.header(Array("s".utf8), type: 0x30, size: stated(map.storedByteCount, &choices))
  }

  /// 1.0: the map is text in front of the data.
  private static func dataForm(_ map: Map, _ choices: inout Choices) -> [UInt8] {
    let count = choices.chance(oneIn: 8) ? choices.number() : UInt64(map.extents.count)
    var text = Array("\(count)\n".utf8)
    for extent in map.extents { text += Array("\(extent.offset)\n\(extent.byteCount)\n".utf8) }
    if choices.chance(oneIn: 6) { text += choices.take(8) }
    let block = RawTar.padded(text)
    let records =
      RawTar.record("GNU.sparse.major", "1") + RawTar.record("GNU.sparse.minor", "0")
      + RawTar.record("GNU.sparse.name", "real") + RawTar.record("GNU.sparse.realsize", "\(map.realByteCount)")
    let size = stated(UInt64(block.count) &+ map.storedByteCount, &choices)
    return RawTar.extended("x", records) + RawTar.header(Array("GNUSparseFile.0/s".utf8), type: 0x30, size: size)
      + block
  }
}
