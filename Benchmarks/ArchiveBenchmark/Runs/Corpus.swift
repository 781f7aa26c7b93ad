internal import ArchiveIO
internal import BenchmarkKit
internal import CommandLineTool
internal import Foundation

/// A directory that is measured with.
struct Corpus: Sendable {
  /// Its name in tables.
  let name: String
  /// Where it is.
  let path: String
  /// For the report.
  let origin: String

  /// A directory of the user.
  init(directory: String) throws(Failure) {
    let name = Array(directory.utf8)
    let status = try system(about: name) { () throws(SystemError) in
      try FileSystem.statusFollowing(at: FileSystem.currentDirectory, name)
    }
    guard status.kind == .directory else { throw .usage("\(directory) is no directory") }
    let url = URL(fileURLWithPath: directory).resolvingSymlinksInPath()
    path = url.path
    self.name = url.lastPathComponent
    origin = url.path
  }

  /// Makes one.
  init(_ synthetic: SyntheticCorpus, at path: String) throws(Failure) {
    try Scratch.makeDirectory(path)
    try system(about: Array(path.utf8)) { () throws(SystemError) in
      try synthetic.generate(
        in: SharedDescriptor(
          try FileSystem.open(at: FileSystem.currentDirectory, Array(path.utf8), [.readOnly, .directory])))
    }
    self.path = path
    name = synthetic.kind.rawValue
    origin = "generated: \(synthetic.kind.rawValue), seed \(synthetic.seed), --size \(synthetic.byteCount)"
  }
}
