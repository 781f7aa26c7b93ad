/// What a file seems to be, from its first bytes: for messages that say what to do.
public enum FileSignature: Sendable, Equatable, CaseIterable {
  case empty, zstd, plainTar, gzip, bzip2, xz, lzip, lzma, lz4, zip, sevenZip, rar, cpio, ar, compress, unknown

  /// Bytes that suffice for ``identify(_:)``.
  public static let byteCount = 512

  /// Identifies the first bytes of a file (fewer when the file is shorter).
  public static func identify(_ bytes: Span<UInt8>) -> FileSignature {
    if bytes.count == 0 { return .empty }
    // Before the signatures of few bytes: a tar begins with a name, which may be any of them.
    if isTar(bytes) { return .plainTar }
    if bytes.begins(with: [0x28, 0xB5, 0x2F, 0xFD]) { return .zstd }
    if bytes.count >= 4, bytes[0] & 0xF0 == 0x50, bytes[1] == 0x2A, bytes[2] == 0x4D, bytes[3] == 0x18 { return .zstd }
    for (signature, result) in signatures where bytes.begins(with: signature) { return result }
    return .unknown
  }

  /// A sentence that says what the file is and what to do; nil for what is read here (zstd, plain tar).
  public var advice: String? {
    switch self {
    case .zstd, .plainTar: nil
    case .empty: "the file is empty"
    case .gzip: "this is gzip: decompress it first with gzip -d"
    case .bzip2: "this is bzip2: decompress it first with bzip2 -d"
    case .xz: "this is xz: decompress it first with xz -d"
    case .lzip: "this is lzip: decompress it first with lzip -d"
    case .lzma: "this is LZMA: decompress it first with xz -d --format=lzma"
    case .lz4: "this is lz4: decompress it first with lz4 -d"
    case .compress: "this is compress (.Z): decompress it first with gzip -d"
    case .zip: "this is a zip archive: extract it with unzip"
    case .sevenZip: "this is a 7-Zip archive: extract it with 7z x"
    case .rar: "this is a RAR archive: extract it with unrar or 7z x"
    case .cpio: "this is a cpio archive: extract it with cpio -id or bsdtar -x"
    case .ar: "this is an ar archive: extract it with ar x"
    case .unknown: "this is neither a tar archive nor zstd"
    }
  }

  /// The same for what a compressed file holds. What is not known, or too short to tell, is left to the tar reader.
  public var adviceAboutContent: String? {
    switch self {
    case .zstd: "it is compressed once more: decompress it first with zstd -d"
    case .empty, .unknown: nil
    default: advice
    }
  }

  private static let signatures: [([UInt8], FileSignature)] = [
    ([0x1F, 0x8B], .gzip), ([0x42, 0x5A, 0x68], .bzip2), ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], .xz),
    ([0x4C, 0x5A, 0x49, 0x50], .lzip), ([0x5D, 0x00, 0x00], .lzma), ([0x04, 0x22, 0x4D, 0x18], .lz4),
    ([0x50, 0x4B, 0x03, 0x04], .zip), ([0x50, 0x4B, 0x05, 0x06], .zip), ([0x50, 0x4B, 0x07, 0x08], .zip),
    ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], .sevenZip), ([0x52, 0x61, 0x72, 0x21, 0x1A, 0x07], .rar),
    ([0x30, 0x37, 0x30, 0x37, 0x30], .cpio), ([0xC7, 0x71], .cpio), ([0x71, 0xC7], .cpio),
    ([0x21, 0x3C, 0x61, 0x72, 0x63, 0x68, 0x3E, 0x0A], .ar), ([0x1F, 0x9D], .compress),
  ]

  /// The first block is a tar header of any kind (its checksum is right, signed or not) or zeros.
  private static func isTar(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count >= 512 else { return false }
    var (unsigned, signed) = (0, 0)
    var isZero = true
    for index in 0..<512 {
      if bytes[index] != 0 { isZero = false }
      let byte: UInt8 = (148..<156).contains(index) ? 0x20 : bytes[index]
      unsigned += Int(byte)
      signed += Int(Int8(bitPattern: byte))
    }
    if isZero { return true }
    var stated = 0
    var hasDigits = false
    for index in 148..<156 {
      if (0x30...0x37).contains(bytes[index]) {
        stated = stated * 8 + Int(bytes[index] & 7)
        hasDigits = true
      } else if hasDigits {
        break
      } else if bytes[index] != 0x20 {
        return false
      }
    }
    return hasDigits && (stated == unsigned || stated == signed)
  }
}

extension Span<UInt8> {
  fileprivate func begins(with signature: [UInt8]) -> Bool {
    guard count >= signature.count else { return false }
    for index in signature.indices where self[index] != signature[index] { return false }
    return true
  }
}
