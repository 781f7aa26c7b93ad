internal import BenchmarkKit

/// The programs that ours is measured against.
enum Peers {
  /// All that are known.
  static let all: [any Program] = [TarZstd(), Bsdtar(), Pzstd(), Squashfs()]
  /// Their names.
  static var names: [String] { all.map(\.name) }
}

/// GNU tar and zstd, beside each other in a pipe.
struct TarZstd: Program {
  let name = "tar-zstd"
  let executables = ["tar", "zstd"]

  func pipeline(_ operation: Operation, _ job: Job) -> Pipeline? {
    let decode = ["zstd", "-q", "-dc", job.archive]
    switch operation {
    case .create:
      let encode = ["zstd", "-q", "-T\(job.threads)", "-\(job.level)", "-c"]
      return Pipeline(stages: [["tar", "cf", "-", "-C", job.corpus, "."], encode], outputPath: job.archive)
    case .extract: return Pipeline(stages: [decode, ["tar", "xf", "-", "-C", job.tree]])
    case .verify: return Pipeline(stages: [["zstd", "-q", "-t", job.archive]])
    case .list: return Pipeline(stages: [decode, ["tar", "tf", "-"]])
    case .cat: return Pipeline(stages: [decode, ["tar", "xOf", "-", "./" + job.member]])
    case .estimate, .quickVerify, .export, .import: return nil
    }
  }
}

/// libarchive's tar, which compresses by itself.
struct Bsdtar: Program {
  let name = "bsdtar"
  let executables = ["bsdtar"]

  func pipeline(_ operation: Operation, _ job: Job) -> Pipeline? {
    switch operation {
    case .create:
      let options = "zstd:compression-level=\(job.level),zstd:threads=\(job.threads)"
      return Pipeline(stages: [
        ["bsdtar", "-cf", job.archive, "--zstd", "--options", options, "-C", job.corpus, "."]
      ])
    case .extract: return Pipeline(stages: [["bsdtar", "-xf", job.archive, "-C", job.tree]])
    case .list: return Pipeline(stages: [["bsdtar", "-tf", job.archive]])
    case .cat: return Pipeline(stages: [["bsdtar", "-xOf", job.archive, "./" + job.member]])
    case .estimate, .verify, .quickVerify, .export, .import: return nil
    }
  }
}

/// GNU tar and pzstd, whose frames are also decompressed in parallel.
struct Pzstd: Program {
  let name = "pzstd"
  let executables = ["tar", "pzstd"]

  func pipeline(_ operation: Operation, _ job: Job) -> Pipeline? {
    let decode = ["pzstd", "-q", "-p", job.threads, "-dc", job.archive]
    switch operation {
    case .create:
      let encode = ["pzstd", "-q", "-p", job.threads, "-\(job.level)", "-c"]
      return Pipeline(stages: [["tar", "cf", "-", "-C", job.corpus, "."], encode], outputPath: job.archive)
    case .extract: return Pipeline(stages: [decode, ["tar", "xf", "-", "-C", job.tree]])
    case .verify: return Pipeline(stages: [["pzstd", "-q", "-p", job.threads, "-t", job.archive]])
    case .list: return Pipeline(stages: [decode, ["tar", "tf", "-"]])
    case .cat: return Pipeline(stages: [decode, ["tar", "xOf", "-", "./" + job.member]])
    case .estimate, .quickVerify, .export, .import: return nil
    }
  }
}

/// A file system image in a file, with blocks of 1 MiB.
struct Squashfs: Program {
  let name = "mksquashfs"
  let executables = ["mksquashfs", "unsquashfs"]
  var versionCommands: [[String]] { executables.map { [$0, "-version"] } }

  func pipeline(_ operation: Operation, _ job: Job) -> Pipeline? {
    let processors = ["-processors", job.threads]
    switch operation {
    case .create:
      let codec = ["-comp", "zstd", "-Xcompression-level", String(job.level), "-b", "1M"]
      return Pipeline(stages: [
        ["mksquashfs", job.corpus, job.archive] + codec + processors + ["-noappend", "-no-progress", "-quiet"]
      ])
    case .extract:
      let quiet = ["-quiet", "-no-progress", "-force", "-dest", job.tree]
      return Pipeline(stages: [["unsquashfs"] + processors + quiet + [job.archive]])
    case .list: return Pipeline(stages: [["unsquashfs", "-quiet", "-l", job.archive]])
    case .cat: return Pipeline(stages: [["unsquashfs", "-cat", job.archive, job.member]])
    case .estimate, .verify, .quickVerify, .export, .import: return nil
    }
  }
}
