internal import ArchiveEngine
internal import ArchiveIO
internal import CommandLineTool

/// Reads the lists of `--files-from`.
enum PathList {
  /// A list of paths is held in memory; this bounds what a wrong file can do.
  private static let maximumByteCount = 1 << 30

  /// The entries of a file, or of standard input for "-": lines, or with `isNullSeparated` what lies between NULs.
  /// Empty entries are nothing.
  static func read(
    _ path: [UInt8], isNullSeparated: Bool, token: CancellationToken
  ) throws(Failure) -> [[UInt8]] {
    let isStandardInput = path.elementsEqual("-".utf8)
    let name = isStandardInput ? Array("standard input".utf8) : path
    let bytes = try system(about: name) { () throws(SystemError) in
      let file = SharedDescriptor(
        isStandardInput
          ? try Descriptor.duplicate(of: 0)
          : try FileSystem.open(at: FileSystem.currentDirectory, path, .readOnly))
      return try readAll(DescriptorReader(file, token: token))
    }
    guard let bytes else { throw .failed("\(PathText.printable(name)): the list of files is larger than 1 GiB") }
    return bytes.split(separator: isNullSeparated ? 0 : 0x0A).map { Array($0) }
  }

  private static func readAll(_ reader: DescriptorReader) throws(SystemError) -> [UInt8]? {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let result: Result<Int, SystemError> = unsafe block.withUnsafeMutableBytes { buffer in
        do throws(SystemError) { return .success(try unsafe reader.read(into: buffer)) } catch {
          return .failure(error)
        }
      }
      let count = try result.get()
      if count == 0 { return bytes }
      bytes += block[..<count]
      if bytes.count > maximumByteCount { return nil }
    }
  }
}
