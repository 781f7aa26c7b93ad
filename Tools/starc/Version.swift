internal import CXXHash
internal import CZstd

/// What `--version` tells.
enum Version {
  /// Version of the tool.
  static let tool = "0.1.0"
  /// Version of the archive format that it writes.
  static let format = 1

  /// The libraries are those that are linked at run time.
  static var text: String {
    let zstd = unsafe String(cString: ZSTD_versionString())
    let hash = XXH_versionNumber()
    return """
      starc \(tool)
      format version \(format)
      libzstd \(zstd)
      xxHash \(hash / 10000).\(hash / 100 % 100).\(hash % 100)

      """
  }
}
