internal import TestSupport
internal import Testing

/// An archive of several frames that ends too early is never taken for a whole one, whatever the last frame holds: faults that are met while reading ahead are not
/// forgotten.
@Suite struct CutFramesTests {
  @Test(arguments: [1, 8]) func cutInAnyFrame(threads: Int) throws {
    let stage = try FailureModeStage()
    // The tar ends with its end blocks in the third frame; zeros and a skippable frame follow.
    try stage.write(Tar.entry("a", Bytes(repeating: "a", count: 3000)) + Tar.entry("x", "1"), "1")
    try stage.write(Tar.end, "2")
    try stage.write([UInt8](repeating: 0, count: 8192), "3")
    try Shell.script(
      "for i in 1 2 3; do zstd -qc $i > $i.zst; done; printf 'P*M\\030\\020\\000\\000\\0000123456789abcdef' > 4.zst; cat ?.zst > whole",
      directory: stage.path)
    let whole = try FileTree.read(stage.path + "/whole")
    var ends: [Int] = [0]
    for frame in 1...4 { ends.append(ends[frame - 1] + (try FileTree.read("\(stage.path)/\(frame).zst").count)) }
    #expect(ends.last == whole.count)
    for count in 1...whole.count {
      try stage.write(Array(whole[..<count]), "f")
      for command in [["verify", "-q", "f"], ["list", "-"], ["extract", "-q", "--no-sync", "-", "out"]] {
        let result = try stage.run(command + ["--threads", "\(threads)"], pipe: command.contains("-") ? "f" : nil)
        let how = "\(command) of the first \(count) of \(whole.count) bytes: \(result.errorText)"
        if !ends.contains(count) {
          #expect(result.status == 2, "\(how)")
          #expect(try stage.tree() == nil, "\(how)")
        } else {
          // The end blocks may be missing, which is said; without the header of the first file there is nothing.
          #expect(result.status == (count < ends[2] ? 1 : 0), "\(how)")
          try Shell.script("rm -rf out", directory: stage.path)
        }
      }
    }
  }
}
