internal import CXXHash
internal import CZstd

/// What `--version` tells.
package enum Version {
  /// Version of the tool.
  package static let tool = "0.1.0"
  /// Version of the archive format that it writes.
  package static let format = 1

  /// The libraries are those that are linked at run time.
  package static func text(of name: String) -> String {
    let zstd = unsafe String(cString: ZSTD_versionString())
    let hash = XXH_versionNumber()
    return """
      \(name) \(tool)
      format version \(format)
      libzstd \(zstd)
      xxHash \(hash / 10000).\(hash / 100 % 100).\(hash % 100)

      """
  }
}
