import ArchiveIO
import Glibc
import TestSupport
import Testing

/// Removal with several threads. Also run under the sanitizers.
@Suite(.inTemporaryDirectory(.memory))
struct RemovalSanitized {
  let directory: TemporaryDirectory

  init() throws { directory = try #require(TemporaryDirectory.current) }

  /// Shapes of trees: one directory, many, a deep one, few files in many levels, nothing at all.
  private static let shapes = [
    "seq -f t/%g 3000 | xargs touch",
    "for i in $(seq 150); do mkdir -p t/$((i % 7))/$i/e; touch t/$((i % 7))/$i/a t/$((i % 7))/$i/e/b; done",
    "d=t; for i in $(seq 120); do d=$d/d; done; mkdir -p $d; touch $d/f t/f",
    "mkdir -p t/{a,b,c}/{d,e,f}/{g,h,i}/{j,k,l}; for d in t/*/*/*; do touch $d/1 $d/2; done; ln -s / t/a/root",
    "true",
  ]

  @Test("Nothing is left for the thorough removal", arguments: shapes, [1, 2, 8])
  func removesAll(shape: String, threadCount: Int) throws {
    let result = try Shell.run(["bash", "-euc", "mkdir t; " + shape], directory: directory.path)
    try #require(result.status == 0, "\(result.errorText)")
    ParallelRemoval.remove(at: directory.root.rawValue, Array("t".utf8), threadCount: threadCount)
    #expect(try Shell.script("find .", directory: directory.path) == ".\n")
  }
}
