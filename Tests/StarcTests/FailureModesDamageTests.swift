internal import TestSupport
internal import Testing

/// Archives that were cut or in which bits have flipped: an error, in time, and never wrong bytes.
@Suite struct FailureModesDamageTests {
  /// An archive "ours" of "src", and its contents as a foreign one, "foreign".
  private func stage() throws -> FailureModeStage {
    let stage = try FailureModeStage()
    try Shell.script(
      """
      mkdir -p src/d; for i in 1 2 3 4; do head -c 30000 /dev/urandom > src/r$i; seq $i 3000 > src/d/t$i; done
      '\(Starc.path)' create -q --no-sync ours src; tar -cf f.tar src; zstd -qc --no-check f.tar > foreign
      """, directory: stage.path)
    return stage
  }

  private static let commands = [
    ["verify", "-q", "f"], ["verify", "-q", "-"], ["extract", "-q", "--no-sync", "f", "out"],
    ["extract", "-q", "--no-sync", "-", "out"],
  ]

  /// Nothing that was cut passes, wherever it was cut, and nothing of it becomes visible.
  @Test(arguments: ["ours", "foreign"]) func cutArchives(_ name: String) throws {
    let stage = try stage()
    let whole = try FileTree.read(stage.path + "/" + name)
    let tail = Array(max(0, whole.count - 24)..<whole.count)
    for count in Array(0..<24) + Array(stride(from: 24, to: whole.count, by: whole.count / 20)) + tail {
      try stage.write(Array(whole.prefix(count)), "f")
      for command in Self.commands {
        let result = try stage.run(command, pipe: command.contains("-") ? "f" : nil)
        // Cut off is then at most what our own reader needs to find the index: a file is complete without it.
        #expect(result.status == 2, "\(command) of the first \(count) of \(whole.count) bytes: \(result.errorText)")
        #expect(!result.errors.isEmpty)
        #expect(try stage.tree() == nil, "\(command) of the first \(count) bytes")
      }
    }
  }

  /// The error of a cut archive names the first file that is lost.
  @Test func cutNamesTheFirstFileLost() throws {
    let stage = try stage()
    let whole = try FileTree.read(stage.path + "/f.tar")
    try stage.write(Array(whole.prefix(whole.count / 2)), "f")
    let names = try stage.run(["list", "-0", "f"]).output.split(separator: 0)
    let last = String(decoding: try #require(names.last), as: UTF8.self)
    for command in Self.commands[2...] {
      let result = try stage.run(command, pipe: command.contains("-") ? "f" : nil)
      #expect(result.errorText.contains(last), "\(result.errorText)")
    }
  }

  /// A flipped bit is found in whatever it lies; what an extraction makes all the same is right.
  @Test(arguments: [1, 2] as [UInt64]) func flippedBits(_ seed: UInt64) throws {
    let stage = try stage()
    var random = SplitMix64(seed: seed)
    let whole = try FileTree.read(stage.path + "/ours")
    var places = (0..<20).map { _ in Int(random.next() % UInt64(whole.count)) }
    places += (0..<10).map { _ in whole.count - 1 - Int(random.next() % 300) }
    for place in places {
      let bit = UInt8(1) << (random.next() % 8)
      var bytes = whole
      bytes[place] ^= bit
      try stage.write(bytes, "f")
      for command in Self.commands {
        let how = "\(command) with bit \(bit) of byte \(place) of \(whole.count) flipped, seed \(seed)"
        let result = try stage.run(command, pipe: command.contains("-") ? "f" : nil)
        if command[0] == "verify" { #expect(result.status == 2, "\(how)") }
        #expect([0, 1, 2].contains(result.status), "\(how): \(result.errorText)")
        if result.status < 2 {
          let difference = try Starc.script("diff -r src out/src", directory: stage.path)
          #expect(difference.status == 0, "\(how): \(difference.outputText)")
        } else {
          #expect(try stage.tree() == nil, "\(how)")
        }
        try Shell.script("rm -rf out", directory: stage.path)
      }
    }
  }

  /// Random damage to a tar without any checksum of its contents: whatever comes, it comes in time and stays inside.
  @Test(arguments: [1, 2, 3] as [UInt64]) func flippedBitsInForeignHeaders(_ seed: UInt64) throws {
    let stage = try FailureModeStage()
    var random = SplitMix64(seed: seed)
    let whole =
      Tar.pax(("path", "some/long/path"), ("mtime", "1.5")) + Tar.entry("x", "1") + Tar.long("another/long/name")
      + Tar.entry("y", "22") + Tar.symlink("l", to: "../outside") + Tar.hardLink("h", to: "y") + Tar.directory("d/")
      + Tar.sparse("2\n0\n512\n1024\n512\n", Bytes(repeating: "q", count: 1024), size: "4096") + Tar.end
    let bodies = whole.indices.filter { whole[$0] != 0 }
    for _ in 0..<40 {
      var bytes = whole
      for _ in 0..<(1 + random.next() % 3) {
        bytes[bodies[Int(random.next() % UInt64(bodies.count))]] ^= UInt8(1) << (random.next() % 8)
      }
      Self.repairChecksums(&bytes, like: whole)
      try stage.write(bytes, "f")
      let strict = try stage.run(["extract", "-q", "--no-sync", "f", "out"])
      #expect([0, 1, 2].contains(strict.status), "seed \(seed): \(strict.errorText)")
      if strict.status == 2 { #expect(try stage.tree() == nil, "seed \(seed)") }
      try Shell.script("chmod -R u+rwx out 2> /dev/null || true; rm -rf out", directory: stage.path)
      let lenient = try stage.run(["extract", "-q", "--no-sync", "--lenient", "-", "out"], pipe: "f")
      #expect([0, 1, 2].contains(lenient.status), "seed \(seed): \(lenient.errorText)")
      try Shell.script("chmod -R u+rwx out 2> /dev/null || true; rm -rf out", directory: stage.path)
      let outside = try Starc.script(
        "ls -A outside .; cat outside/keep; stat -c '%a %Y' outside", directory: stage.path)
      #expect(outside.outputText == ".:\nf\noutside\n\noutside:\nkeep\ntwin\nK777 7\n", "seed \(seed)")
    }
  }

  /// Makes the checksums of all blocks right that are headers in `model`, so that damage is not refused by them alone.
  private static func repairChecksums(_ bytes: inout [UInt8], like model: [UInt8]) {
    for start in stride(from: 0, to: bytes.count, by: 512)
    where Array(model[(start + 257)..<(start + 262)]) == Array("ustar".utf8) {
      bytes.replaceSubrange((start + 148)..<(start + 156), with: Array("        ".utf8))
      let sum = bytes[start..<(start + 512)].reduce(0) { $0 + Int($1) }
      bytes.replaceSubrange((start + 148)..<(start + 156), with: Tar.octal(UInt64(sum), 6) + [0, 0x20])
    }
  }
}

/// A large file whose chunks are in the hands of several lanes.
@Suite(.inTemporaryDirectory(.memory)) struct DamagedLargeFileTests {
  /// Damage in any chunk is found by either verification, with any number of lanes; none waits for another for ever.
  @Test(arguments: ["--quick", ""]) func everyChunk(_ option: String) throws {
    try Starc.expectSuccess(
      """
      mkdir t; head -c 700000 /dev/urandom > t/r; $S create -q --no-sync --chunk-size 64K a t
      for offset in $(seq 2000 64000 700000); do
        cp a b; printf '\\377\\0\\377\\0' | dd of=b bs=1 seek=$offset conv=notrunc status=none
        for threads in 1 3; do
          status 2 timeout 20 $S verify \(option) --threads $threads b > out 2>&1; grep -q 't/r' out
        done
      done
      """, directory: try #require(TemporaryDirectory.current).path)
  }

  /// A stream that ends, or cannot be read, within a frame says that, also while frames before it are still being decoded.
  @Test func aCutStreamSaysWhatIsMissing() throws {
    try Starc.expectSuccess(
      """
      mkdir t; head -c 700000 /dev/urandom > t/r; $S create -q --no-sync --chunk-size 64K a t
      for length in $(seq 70000 60000 600000); do for verb in verify 'extract --no-sync'; do
        status 2 $S $verb - $([ "$verb" = verify ] || echo o) < <(head -c $length a) > out 2>&1
        grep -q 'ends within a frame' out; [ ! -e o ]
        export STARC_FAULT=read:3:EIO
        status 2 $S $verb - $([ "$verb" = verify ] || echo o) < <(cat a) > out 2>&1
        unset STARC_FAULT; grep -q 'Input/output error' out; [ ! -e o ]
      done; done
      """, directory: try #require(TemporaryDirectory.current).path)
  }
}
