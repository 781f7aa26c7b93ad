internal import CLinuxShims

/// How to open a file. Close-on-exec is always set, and no terminal ever becomes the controlling one.
package struct OpenFlags: OptionSet, Sendable {
  package let rawValue: Int32
  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// In the place of the standard library's, which is generic code in other modules: half a per cent of creating an archive of small files.
  package init(arrayLiteral flags: OpenFlags...) {
    var rawValue: Int32 = 0
    for flag in flags { rawValue |= flag.rawValue }
    self.rawValue = rawValue
  }

  package static let readOnly = OpenFlags(rawValue: starc_O_RDONLY)
  package static let writeOnly = OpenFlags(rawValue: starc_O_WRONLY)
  package static let readWrite = OpenFlags(rawValue: starc_O_RDWR)
  package static let create = OpenFlags(rawValue: starc_O_CREAT)
  /// Fails where the name exists, even as a dangling symlink.
  package static let exclusive = OpenFlags(rawValue: starc_O_EXCL)
  package static let directory = OpenFlags(rawValue: starc_O_DIRECTORY)
  /// Fails with `ELOOP` if the last component is a symlink.
  package static let noFollow = OpenFlags(rawValue: starc_O_NOFOLLOW)
  package static let nonBlocking = OpenFlags(rawValue: starc_O_NONBLOCK)
  /// Names the object without opening it.
  package static let path = OpenFlags(rawValue: starc_O_PATH)
  package static let temporaryFile = OpenFlags(rawValue: starc_O_TMPFILE)
  package static let truncate = OpenFlags(rawValue: starc_O_TRUNC)
  package static let append = OpenFlags(rawValue: starc_O_APPEND)
}
