import ArchiveFormat
import Foundation
import Testing

/// SplitMix64: the same values for the same seed, everywhere.
struct TarTestGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}

/// Builds tar streams field by field, so that tests can break each rule.
enum RawTar {
  static let end = [UInt8](repeating: 0, count: 1024)

  /// Octal when it fits, else base-256 in two's complement.
  static func number(_ value: Int64, _ width: Int) -> [UInt8] {
    if value >= 0 {
      let digits = String(value, radix: 8)
      if digits.count < width { return bytes(String(repeating: "0", count: width - 1 - digits.count) + digits) + [0] }
    }
    var out = [UInt8](repeating: value < 0 ? 0xFF : 0, count: width)
    for index in 0..<8 { out[width - 1 - index] = UInt8(truncatingIfNeeded: value >> Int64(8 * index)) }
    out[0] |= 0x80
    return out
  }

  static func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

  static func header(
    _ name: [UInt8], size: Int64 = 0, type: Character = "0", link: [UInt8] = [], mode: Int64 = 0o644, uid: Int64 = 0,
    gid: Int64 = 0, mtime: Int64 = 0, magic: [UInt8] = bytes("ustar\u{0}00"), device: (Int64, Int64) = (0, 0),
    prefix: [UInt8] = [], patches: [(Int, [UInt8])] = []
  ) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: 512)
    func put(_ offset: Int, _ value: some Sequence<UInt8>) {
      for (index, byte) in value.enumerated() { block[offset + index] = byte }
    }
    put(0, name.prefix(100))
    put(100, number(mode, 8))
    put(108, number(uid, 8))
    put(116, number(gid, 8))
    put(124, number(size, 12))
    put(136, number(mtime, 12))
    put(148, bytes("        "))
    block[156] = type == "\0" ? 0 : type.asciiValue ?? 0
    put(157, link.prefix(100))
    put(257, magic)
    if !magic.allSatisfy({ $0 == 0 }) {
      put(329, number(device.0, 8))
      put(337, number(device.1, 8))
      put(345, prefix.prefix(155))
    }
    for (offset, value) in patches { put(offset, value) }
    put(148, bytes(String(format: "%06o", block.reduce(0) { $0 + Int($1) })) + [0, 0x20])
    return block
  }

  static func header(_ name: String, size: Int64 = 0, type: Character = "0", link: String = "") -> [UInt8] {
    header(bytes(name), size: size, type: type, link: bytes(link))
  }

  static func padded(_ data: [UInt8]) -> [UInt8] { data + [UInt8](repeating: 0, count: (512 - data.count % 512) % 512) }

  static func entry(_ name: String, _ data: String = "", type: Character = "0") -> [UInt8] {
    entry(bytes(name), bytes(data), type: type)
  }

  static func entry(_ name: [UInt8], _ data: [UInt8], type: Character = "0") -> [UInt8] {
    header(name, size: Int64(data.count), type: type) + padded(data)
  }

  static func record(_ keyword: String, _ value: [UInt8]) -> [UInt8] {
    let body = [0x20] + bytes(keyword) + [0x3D] + value + [0x0A]
    var count = body.count
    while String(count).utf8.count + body.count != count { count = String(count).utf8.count + body.count }
    return bytes(String(count)) + body
  }

  static func pax(_ records: KeyValuePairs<String, String>, type: Character = "x") -> [UInt8] {
    entry(bytes("PaxHeaders/p"), records.flatMap { record($0.key, bytes($0.value)) }, type: type)
  }

  static func pax(body: [UInt8]) -> [UInt8] { entry(bytes("PaxHeaders/p"), body, type: "x") }

  static func longName(_ name: [UInt8], type: Character = "L") -> [UInt8] {
    entry(bytes("././@LongLink"), name + [0], type: type)
  }

  static func longName(_ name: String, type: Character = "L") -> [UInt8] { longName(bytes(name), type: type) }
}

/// Everything that a parser says about a whole stream.
struct TarReading {
  var members: [ParsedMember] = []
  var rejected: [RejectedMember] = []
  /// Stored data of the members.
  var contents: [[UInt8]] = []
  var sawEnd = false
  var ending: TarParser.Ending?

  var paths: [String] { members.map { String(decoding: $0.member.path, as: UTF8.self) } }

  /// Reads a stream in pieces of the given size (0: all at once).
  init(_ bytes: [UInt8], isLenient: Bool = false, pieceByteCount: Int = 0) throws(FormatError) {
    var parser = TarParser(isLenient: isLenient)
    let piece = pieceByteCount > 0 ? pieceByteCount : max(bytes.count, 1)
    var position = 0
    while position < bytes.count {
      let (consumed, event) = try parser.consume(bytes.span, in: position..<min(position + piece, bytes.count))
      #expect(consumed > 0)
      position += consumed
      #expect(parser.offset == UInt64(position))
      var padded: UInt64 = 0
      switch event {
      case .member(let member):
        padded = member.paddedDataByteCount
        members.append(member)
        #expect(member.headerOffset + member.headerByteCount == UInt64(position))
        let data = min(Int(member.dataByteCount), bytes.count - position)
        contents.append([UInt8](bytes[position..<(position + data)]))
      case .rejected(let member):
        padded = member.paddedDataByteCount
        rejected.append(member)
        #expect(member.headerOffset + member.headerByteCount == UInt64(position))
      case .endOfArchive: sawEnd = true
      case nil: continue
      }
      if event != nil, !sawEnd { #expect(parser.isBetweenMembers) }
      let skipped = min(padded, UInt64(bytes.count - position))
      parser.skip(skipped)
      position += Int(skipped)
    }
    ending = try parser.finish()
  }
}

/// Reads one header and returns its member; nil unless there is exactly that.
func tarMember(_ header: [UInt8], isLenient: Bool = false) throws -> Member? {
  var parser = TarParser(isLenient: isLenient)
  let (consumed, event) = try parser.consume(header.span, in: 0..<header.count)
  guard case .member(let found) = event, consumed == header.count else { return nil }
  return found.member
}

/// The reason why the only entry of a stream is refused.
func tarRejection(_ parts: [UInt8], isLenient: Bool = false) throws -> FormatError? {
  let reading = try TarReading(parts + RawTar.end, isLenient: isLenient)
  #expect(reading.rejected.count == 1)
  return reading.rejected.first?.reason
}

/// A directory that goes away with the value.
final class TarTestDirectory {
  let path: String

  init() throws {
    var template = Array("/tmp/tar-tests-XXXXXX".utf8CString)
    guard let name = unsafe mkdtemp(&template) else { throw CocoaError(.fileWriteUnknown) }
    path = unsafe String(cString: name)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path + "/" + name))
  }

  func read(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/" + name))) }

  /// Runs a shell command in the directory.
  @discardableResult
  func run(_ command: String) throws -> (status: Int32, output: String, errors: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", command]
    process.currentDirectoryURL = URL(fileURLWithPath: path)
    let errorPath = path + "/.stderr"
    _ = FileManager.default.createFile(atPath: errorPath, contents: nil)
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errorPath))
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let errors = try String(contentsOfFile: errorPath, encoding: .isoLatin1)
    return (process.terminationStatus, String(decoding: text, as: UTF8.self), errors)
  }

  /// Runs a command that must succeed without a word on standard error.
  func runQuietly(_ command: String) throws -> String {
    let result = try run(command)
    #expect(result.status == 0, "\(command)")
    #expect(result.errors.isEmpty, "\(command): \(result.errors)")
    return result.output
  }
}
