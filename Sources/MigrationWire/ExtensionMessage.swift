/// What an extension tells the system. The system believes none of it before it has checked it.
public enum ExtensionMessage: Sendable, Equatable {
  /// The answer to `begin`.
  case description(ExtensionDescription)
  /// Something for the archive.
  case item(ItemMessage)
  /// How far an import has come.
  case progress(completed: Int64, total: Int64)
  /// The work is done, and the sender has seen the replies to all items.
  case finished
  /// The work has failed.
  case failed(ErrorRecord)
}

/// What an extension says about itself.
public struct ExtensionDescription: Sendable, Equatable, Codable {
  /// Whether it can export; if not, the estimate and what follows say nothing.
  public var exports: Bool
  /// Whether it can import.
  public var imports: Bool
  /// Bytes that it expects to export.
  public var sizeEstimate: Int64
  /// Version of its format.
  public var version: String
  /// Whether compressing is worth a try.
  public var isCompressible: Bool

  /// Makes a description.
  public init(exports: Bool, imports: Bool, sizeEstimate: Int64 = 0, version: String = "", isCompressible: Bool = true)
  {
    self.exports = exports
    self.imports = imports
    self.sizeEstimate = sizeEstimate
    self.version = version
    self.isCompressible = isCompressible
  }
}

/// One item for the archive.
public struct ItemMessage: Sendable, Equatable {
  /// What it consists of.
  public enum Content: Sendable, Equatable {
    /// A small file.
    case file([UInt8])
    /// A symlink's target.
    case symlink([UInt8])
    /// A file or directory behind the descriptor that comes with the message.
    case descriptor
  }

  /// The most content that travels by value, in bytes.
  public static let maximumContentByteCount = 64 << 10

  /// Counts the items of a run, from 1.
  public var number: UInt64
  /// The sender waits for the reply.
  public var wantsReply: Bool
  /// Path in the archive.
  public var path: [UInt8]
  /// What it consists of.
  public var content: Content
  /// Permission bits; for descriptors those of the file count.
  public var mode: UInt32
  /// Modification time; for descriptors that of the file counts.
  public var modificationSeconds: Int64
  /// Nanoseconds after the second.
  public var modificationNanoseconds: UInt32

  /// Makes an item.
  public init(
    number: UInt64, wantsReply: Bool, path: [UInt8], content: Content, mode: UInt32 = 0,
    modificationSeconds: Int64 = 0, modificationNanoseconds: UInt32 = 0
  ) {
    self.number = number
    self.wantsReply = wantsReply
    self.path = path
    self.content = content
    self.mode = mode
    self.modificationSeconds = modificationSeconds
    self.modificationNanoseconds = modificationNanoseconds
  }
}

/// An error as plain text and numbers: what of it survives a process and a disk.
public struct ErrorRecord: Sendable, Equatable, Codable, Error {
  /// The error's domain.
  public var domain: String
  /// Its code.
  public var code: Int
  /// What a person reads.
  public var description: String
  /// Those values of `userInfo` that are strings.
  public var userInfo: [String: String]

  /// Makes a record.
  public init(domain: String, code: Int, description: String, userInfo: [String: String] = [:]) {
    self.domain = domain
    self.code = code
    self.description = description
    self.userInfo = userInfo
  }
}

extension ErrorRecord {
  /// The same with texts cut to what fits into a message: 8 KiB for the description, 32 values of 2 KiB.
  public var bounded: ErrorRecord {
    func cut(_ text: String, _ byteCount: Int) -> String {
      text.utf8.count <= byteCount ? text : String(decoding: text.utf8.prefix(byteCount), as: UTF8.self)
    }
    let values = userInfo.sorted { $0.key < $1.key }.prefix(32).map { (cut($0.key, 256), cut($0.value, 2048)) }
    return ErrorRecord(
      domain: cut(domain, 1024), code: code, description: cut(description, 8192),
      userInfo: Dictionary(values, uniquingKeysWith: { first, _ in first }))
  }
}

extension ExtensionMessage {
  /// The message as the bytes of one packet.
  public func encoded() -> [UInt8] {
    var out = WireWriter()
    switch self {
    case .description(let description):
      out.byte(1)
      out.bool(description.exports)
      out.bool(description.imports)
      out.number(description.sizeEstimate)
      out.text(description.version)
      out.bool(description.isCompressible)
    case .item(let item):
      out.byte(2)
      out.number(item.number)
      out.bool(item.wantsReply)
      out.string(item.path)
      out.number(item.mode)
      out.number(item.modificationSeconds)
      out.number(item.modificationNanoseconds)
      switch item.content {
      case .file(let content):
        out.byte(0)
        out.string(content)
      case .symlink(let target):
        out.byte(1)
        out.string(target)
      case .descriptor: out.byte(2)
      }
    case .progress(let completed, let total):
      out.byte(3)
      out.number(completed)
      out.number(total)
    case .finished: out.byte(4)
    case .failed(let record):
      let error = record.bounded
      out.byte(5)
      out.text(error.domain)
      out.number(Int64(error.code))
      out.text(error.description)
      out.list(error.userInfo.sorted { $0.key < $1.key }) { out, pair in
        out.text(pair.key)
        out.text(pair.value)
      }
    }
    return out.bytes
  }

  /// Understands the bytes of one packet.
  public init(decoding bytes: [UInt8]) throws(WireError) {
    var reader = WireReader(bytes)
    switch try reader.byte() {
    case 1:
      self = .description(
        ExtensionDescription(
          exports: try reader.bool(), imports: try reader.bool(), sizeEstimate: try reader.number(),
          version: try reader.text(), isCompressible: try reader.bool()))
    case 2: self = .item(try Self.item(&reader))
    case 3: self = .progress(completed: try reader.number(), total: try reader.number())
    case 4: self = .finished
    case 5:
      var record = ErrorRecord(
        domain: try reader.text(), code: Int(try reader.number(Int64.self)), description: try reader.text())
      for (key, value) in try reader.list({ (reader) throws(WireError) in (try reader.text(), try reader.text()) }) {
        record.userInfo[key] = value
      }
      self = .failed(record)
    default: throw WireError("a message of an unknown kind")
    }
    try reader.end()
  }

  private static func item(_ reader: inout WireReader) throws(WireError) -> ItemMessage {
    var item = ItemMessage(
      number: try reader.number(), wantsReply: try reader.bool(), path: try reader.string(), content: .descriptor)
    item.mode = try reader.number()
    item.modificationSeconds = try reader.number()
    item.modificationNanoseconds = try reader.number()
    guard item.modificationNanoseconds < 1_000_000_000 else { throw WireError("a time with too many nanoseconds") }
    switch try reader.byte() {
    case 0: item.content = .file(try reader.string())
    case 1: item.content = .symlink(try reader.string())
    case 2: item.content = .descriptor
    default: throw WireError("an item of an unknown kind")
    }
    return item
  }
}
