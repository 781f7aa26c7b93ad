internal import ArchiveFormat
internal import ArchiveIO

/// The one error of the engine. Its ``description`` names the path, the offset and the cause.
public struct ArchiveError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it is. An open set: more may come.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Value: String, Sendable {
      case damaged, truncated, unsupported, limitExceeded, mismatch, rejected, exists, notFound, system, outOfMemory,
        cancelled, invalidArgument, noSpace, brokenPipe
    }
    private let value: Value

    /// Bytes are not what their format or their hash says.
    public static let damaged = Code(value: .damaged)
    /// The archive ends too early.
    public static let truncated = Code(value: .truncated)
    /// A format, feature or version that is not read.
    public static let unsupported = Code(value: .unsupported)
    /// A stated limit was reached.
    public static let limitExceeded = Code(value: .limitExceeded)
    /// Index and tar stream disagree.
    public static let mismatch = Code(value: .mismatch)
    /// A member is refused because it is unsafe or malformed.
    public static let rejected = Code(value: .rejected)
    /// Something with that name is there already.
    public static let exists = Code(value: .exists)
    /// No such member or file.
    public static let notFound = Code(value: .notFound)
    /// The operating system refused a call.
    public static let system = Code(value: .system)
    /// Memory could not be had.
    public static let outOfMemory = Code(value: .outOfMemory)
    /// The caller cancelled.
    public static let cancelled = Code(value: .cancelled)
    /// The call itself is wrong.
    public static let invalidArgument = Code(value: .invalidArgument)
    /// The disk or quota is full.
    public static let noSpace = Code(value: .noSpace)
    /// The reader of a pipe is gone.
    public static let brokenPipe = Code(value: .brokenPipe)

    /// The name, for logs and JSON.
    public var description: String { value.rawValue }
  }

  /// The kind of failure.
  public var code: Code
  /// A sentence that says what happened, without path and offset.
  public var message: String
  /// The file or member concerned, as raw bytes; empty when there is none.
  public var path: [UInt8]
  /// Byte offset in the archive file or stream, when one is known.
  public var offset: UInt64?
  /// The `errno` of a failed system call.
  public var systemErrorNumber: Int32?

  /// Makes an error; the engine's own ones are made the same way.
  public init(
    _ code: Code, _ message: String, path: [UInt8] = [], offset: UInt64? = nil, systemErrorNumber: Int32? = nil
  ) {
    self.code = code
    self.message = message
    self.path = path
    self.offset = offset
    self.systemErrorNumber = systemErrorNumber
  }

  /// "PATH: MESSAGE (at offset N)".
  public var description: String {
    var text = path.isEmpty ? "" : PathText.printable(path) + ": "
    text += message
    if let offset { text += " (at offset \(offset))" }
    return text
  }

  /// The same error for a path, when it has none of its own.
  func at(path: [UInt8]) -> ArchiveError {
    guard self.path.isEmpty else { return self }
    var copy = self
    copy.path = path
    return copy
  }

  /// The same error at an offset, when it has none of its own.
  func at(offset: UInt64) -> ArchiveError {
    guard self.offset == nil else { return self }
    var copy = self
    copy.offset = offset
    return copy
  }
}

/// Names are bytes; this is how they are shown to people.
public enum PathText {
  /// Printable UTF-8 as it is, every other byte as `\ooo` (octal), a backslash doubled.
  public static func printable(_ bytes: [UInt8]) -> String {
    if isPlain(bytes) { return String(decoding: bytes, as: UTF8.self) }
    var text = ""
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      if byte == 0x5C {
        text += "\\\\"
        index += 1
      } else if byte >= 0x20, byte < 0x7F {
        text.unicodeScalars.append(Unicode.Scalar(byte))
        index += 1
      } else if let (scalar, length) = printableScalar(bytes, at: index) {
        text.unicodeScalars.append(scalar)
        index += length
      } else {
        text += "\\" + String(Int(byte) + 0o1000, radix: 8).dropFirst()
        index += 1
      }
    }
    return text
  }

  /// Nothing in it has to be written in another way: the bytes are the text.
  public static func isPlain(_ bytes: [UInt8]) -> Bool {
    // Without a way out in the middle many bytes are looked at in one step.
    var oddBits: UInt8 = 0
    for byte in bytes {
      oddBits |= byte &- 0x20 < 0x5F ? 0 : 1
      oddBits |= byte == 0x5C ? 1 : 0
    }
    return oddBits == 0
  }

  private static func printableScalar(_ bytes: [UInt8], at index: Int) -> (Unicode.Scalar, Int)? {
    let length: Int
    switch bytes[index] {
    case 0xC2...0xDF: length = 2
    case 0xE0...0xEF: length = 3
    case 0xF0...0xF4: length = 4
    default: return nil
    }
    guard index + length <= bytes.count, let text = String(validating: bytes[index..<index + length], as: UTF8.self),
      let scalar = text.unicodeScalars.first, text.unicodeScalars.count == 1
    else { return nil }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return nil
    default: return (scalar, length)
    }
  }
}
