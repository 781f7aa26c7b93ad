import ArchiveIO
import Glibc
import TestSupport
import Testing

/// Each test runs in a process of its own, as there is one fault a process.
@Suite(.timeLimit(.minutes(10)))
struct FaultTests {
  @Test("Interruptions and short transfers change nothing")
  func transparent() async {
    await #expect(processExitsWith: .success) {
      var random = SplitMix64(seed: 11)
      let contents = random.bytes(100_000)
      for call in ["*", "write", "pwrite", "pread", "read", "openat", "statx"] {
        for kind in [FaultInjection.Kind.error(EINTR), .short] {
          for nth in 1...12 {
            let directory = try TemporaryDirectory(.memory)
            FaultInjection.arm(call, nth: nth, kind: kind)
            let file = try FileSystem.open(
              at: directory.root.rawValue, [0x66], [.readWrite, .create], mode: 0o600)
            try unsafe contents.withUnsafeBytes { all in
              let (first, second) = unsafe (all[..<777], all[777...])
              try unsafe FileSystem.writev(
                file.rawValue, [UnsafeRawBufferPointer(rebasing: first), UnsafeRawBufferPointer(rebasing: second)])
              try unsafe FileSystem.pwrite(
                file.rawValue, UnsafeRawBufferPointer(rebasing: first), at: Int64(contents.count))
            }
            try FileSystem.setPosition(file.rawValue, to: 0)
            var back = [UInt8](repeating: 0, count: contents.count + 777)
            for isPositioned in [false, true] {
              let count = try unsafe back.withUnsafeMutableBytes { buffer in
                isPositioned
                  ? try unsafe FileSystem.pread(file.rawValue, into: buffer, at: 0)
                  : try unsafe FileSystem.readFully(file.rawValue, into: buffer)
              }
              #expect(count == back.count && back == contents + contents.prefix(777))
            }
            FaultInjection.disarm()
          }
        }
      }
    }
  }

  @Test("Any failing call of an output file leaves the old or the new contents, and the next run cleans up")
  func outputFile() async {
    await #expect(processExitsWith: .success) {
      let (old, new) = ([UInt8](repeating: 1, count: 5000), [UInt8](repeating: 2, count: 7000))
      for errno in [EIO, ENOSPC, EMFILE, EACCES] {
        var nth = 0
        var wasDelivered = true
        while wasDelivered {
          nth += 1
          let directory = try TemporaryDirectory(.memory)
          let path = Array(directory.file("f").utf8)
          try FileTree.write(old, to: directory.file("f"))
          func run() throws {
            let file = try OutputFile(path: path)
            try DescriptorWriter(file.descriptor).write(new)
            try file.commit(sync: true)
          }
          FaultInjection.arm("*", nth: nth, kind: .error(errno))
          var failed = false
          do { try run() } catch { failed = true }
          wasDelivered = FaultInjection.wasDelivered
          FaultInjection.disarm()
          let contents = try FileTree.read(directory.file("f"))
          #expect(contents == new || (failed && contents == old), "\(errno) at \(nth)")
          try run()
          #expect(try FileTree.read(directory.file("f")) == new)
          let (paths, _) = walk(try DirectoryWalker(root: directory.root))
          #expect(paths == [[0x66]], "\(errno) at \(nth)")
        }
        #expect(nth > 12)
      }
    }
  }

  @Test("Any failing call of a staging directory leaves nothing or everything, and the next run cleans up")
  func stagingDirectory() async {
    await #expect(processExitsWith: .success) {
      for errno in [EIO, ENOSPC, EMFILE, EINVAL] {
        var nth = 0
        var wasDelivered = true
        while wasDelivered {
          nth += 1
          let directory = try TemporaryDirectory(.memory)
          let path = Array(directory.file("d").utf8)
          func run() throws {
            let stage = try StagingDirectory(path: path)
            let cursor = DirectoryCursor(root: stage.root)
            for inner in ["a/b", "c"] {
              let place = try cursor.descriptor(for: Array(inner.utf8)[...], createMissing: 0o700)
              let file = try FileSystem.open(at: place, [0x66], [.writeOnly, .create, .exclusive], mode: 0o600)
              try unsafe [1, 2, 3].withUnsafeBytes { try unsafe FileSystem.write(file.rawValue, $0) }
              try file.close()
            }
            try stage.commit(sync: true)
          }
          FaultInjection.arm("*", nth: nth, kind: .error(errno))
          var failed = false
          do { try run() } catch { failed = true }
          wasDelivered = FaultInjection.wasDelivered
          FaultInjection.disarm()
          let isThere = (try? FileSystem.status(at: directory.root.rawValue, [0x64])) != nil
          // After the rename only bringing it to the disk may fail.
          if !isThere {
            #expect(failed, "\(errno) at \(nth)")
            try run()
          }
          let (paths, _) = walk(try DirectoryWalker(root: directory.root))
          let texts = paths.map { String(decoding: $0, as: UTF8.self) }
          #expect(texts == ["d", "d/a", "d/a/b", "d/a/b/f", "d/c", "d/c/f"], "\(errno) at \(nth)")
        }
        #expect(nth > 25)
      }
    }
  }

  @Test("Walks and removals end whatever fails")
  func walks() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(.memory)
      try Shell.script("mkdir -p t/a/b/c/d t/e; touch t/a/b/c/d/1 t/a/2 t/e/3 t/4", directory: directory.path)
      for errno in [EIO, EMFILE, ENOENT, EACCES] {
        var nth = 0
        var wasDelivered = true
        while wasDelivered {
          nth += 1
          FaultInjection.arm("*", nth: nth, kind: .error(errno))
          if let walker = try? DirectoryWalker(root: directory.root, maximumOpenDescriptors: 2) {
            let (paths, failures) = walk(walker)
            if FaultInjection.wasDelivered && paths.count < 10 { #expect(!failures.isEmpty, "\(errno) at \(nth)") }
            if failures.isEmpty { #expect(paths.count == 10, "\(errno) at \(nth)") }
          }
          wasDelivered = FaultInjection.wasDelivered
          FaultInjection.disarm()
        }
        #expect(nth > 25)
        for nth in 1..<80 {
          let copy = try TemporaryDirectory(.memory)
          try Shell.script("cp -r t \(copy.path)", directory: directory.path)
          FaultInjection.arm("*", nth: nth, kind: .error(errno))
          try? RemoveTree.remove(at: copy.root.rawValue, Array("t".utf8), isParallel: nth % 2 == 0)
          FaultInjection.disarm()
          try RemoveTree.remove(at: copy.root.rawValue, Array("t".utf8))
          #expect(walk(try DirectoryWalker(root: copy.root)).paths == [])
        }
      }
    }
  }

  @Test("A fault from the environment")
  func environment() async {
    await #expect(processExitsWith: .success) {
      _ = unsafe setenv("STARC_FAULT", "mkdirat:-2:ENOSPC", 1)
      let here = FileSystem.currentDirectory
      let path = "/dev/shm/starc-fault-\(getpid())"
      try FileSystem.makeDirectory(at: here, Array(path.utf8), mode: 0o700)
      for _ in 0..<2 {
        let error = #expect(throws: SystemError.self) {
          try FileSystem.makeDirectory(at: here, Array((path + "/x").utf8), mode: 0o700)
        }
        #expect(error?.errno == ENOSPC)
      }
      try FileSystem.removeDirectory(at: here, Array(path.utf8))
      #expect(FaultInjection.callCount == 3)
      FaultInjection.arm("codec", nth: 2, kind: .error(ENOMEM))
      try FaultInjection.check("codec")
      #expect(throws: SystemError("codec", errno: ENOMEM)) { try FaultInjection.check("codec") }
      try FaultInjection.check("codec")
      FaultInjection.arm("mmap", nth: 1, kind: .error(ENOMEM))
      #expect(throws: SystemError("mmap", errno: ENOMEM)) { try Buffer(byteCount: 4096) }
    }
  }

  @Test(
    "A full file system: the old file stays and nothing is left over", .enabled(if: ProcessFacts.effectiveUserID == 0))
  func fullFileSystem() throws {
    let directory = try TemporaryDirectory()
    guard (try? Shell.script("mkdir m; mount -t tmpfs -o size=1M,nr_inodes=20 t m", directory: directory.path)) != nil
    else { return }
    defer { _ = try? Shell.script("umount m", directory: directory.path) }
    try FileTree.write([1], to: directory.file("m/f"))
    do {
      let file = try OutputFile(path: Array(directory.file("m/f").utf8))
      let error = #expect(throws: SystemError.self) {
        try DescriptorWriter(file.descriptor).write([UInt8](repeating: 0, count: 2 << 20))
      }
      #expect(error?.isOutOfSpace == true)
    }
    do {
      let stage = try StagingDirectory(path: Array(directory.file("m/d").utf8))
      let error = #expect(throws: SystemError.self) { try FileTree.makeDeep(in: stage.root, levels: 100) }
      #expect(error?.isOutOfSpace == true)
    }
    #expect(try FileTree.read(directory.file("m/f")) == [1])
    #expect(try Shell.script("ls -A m", directory: directory.path) == "f\n")
  }
}
