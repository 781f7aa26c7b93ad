import ArchiveFormat
import Foundation
import TestSupport
import Testing

/// Damage touches what lies where it is, and nothing else: `verify` says which chunk, where in the file and which members, and `salvage` brings back all others.
@Suite struct ConfinedDamageTests {
  /// A frame of the archive.
  private struct Frame {
    /// Number of the chunk; nil for the index.
    var chunk: Int?
    var kind: IndexFrameKind?
    var range: Range<Int>
    /// Bytes of the tar stream in it.
    var tar: Range<Int>
  }

  private struct Stage {
    let directory: TemporaryDirectory
    let archive: [UInt8]
    let frames: [Frame]
    /// Where each member lies in the tar stream, as Python reads it.
    let members: [(path: String, range: Range<Int>)]

    /// Members of which a part lies in the frame.
    func touched(by frame: Frame) -> Set<String> {
      Set(members.filter { $0.range.overlaps(frame.tar) }.map(\.path))
    }
  }

  /// Groups of small files, and files of several chunks; an archive of a dozen chunks.
  private func stage() throws -> Stage {
    let directory = try TemporaryDirectory(.memory)
    let text = try Starc.expectSuccess(
      """
      mkdir -p src/d src/empty; cd src
      for i in $(seq 30); do seq $i $((i * 40 + 500)) > d/text$i; done; head -c 300000 /dev/urandom > big
      for i in $(seq 12); do head -c 9000 /dev/urandom > random$i; done; ln -s big link; seq 40000 > large; cd ..
      $S create -q --no-sync --chunk-size 64K a src
      zstd -qdc a | python3 -c '
      import sys, tarfile
      tar = tarfile.open(fileobj=sys.stdin.buffer, mode="r|")
      for member in tar: print(member.offset, member.name)
      print(tar.offset, "")'
      """, directory: directory.path)
    let lines = text.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1) }
    let places = lines.map { (offset: Int($0[0]) ?? -1, name: $0.count > 1 ? String($0[1]) : "") }
    let members = zip(places, places.dropFirst()).map { (path: $0.name, range: $0.offset..<$1.offset) }
    let archive = try FileTree.read(directory.file("a"))
    let frames = try Self.frames(archive)
    #expect(frames.count { $0.chunk != nil } >= 12 && members.count == 48)
    // A member that goes on over several chunks, and a chunk of several members.
    #expect(members.contains { member in frames.count { $0.tar.overlaps(member.range) } >= 4 })
    #expect(frames.contains { frame in members.count { $0.range.overlaps(frame.tar) } >= 8 })
    return Stage(directory: directory, archive: archive, frames: frames, members: members)
  }

  private static func frames(_ archive: [UInt8]) throws -> [Frame] {
    var frames: [Frame] = []
    var (position, tar, chunk) = (0, 0, 0)
    while position < archive.count {
      var walker = ZstdFrameWalker()
      let range = position..<position + (try walker.consume(archive.span, in: position..<archive.count).consumed)
      if case .data(let header)? = walker.header {
        let count = Int(header.contentByteCount ?? 0)
        frames.append(Frame(chunk: chunk, kind: nil, range: range, tar: tar..<tar + count))
        (tar, chunk) = (tar + count, chunk + 1)
      } else {
        let kind = try SkippableFrame.kind(Array(archive[range]).span)
        frames.append(Frame(chunk: nil, kind: kind, range: range, tar: tar..<tar))
      }
      position = range.upperBound
    }
    return frames
  }

  private struct Damage {
    var chunk: Int?
    var offset: Int?
    var members: Set<String>
    /// The line for people.
    var text = ""
  }

  /// What `verify` says of the archive with a flipped bit; the same as JSON and as text.
  private func verify(_ stage: Stage, flipped place: Int, quick: Bool) throws -> (count: Int, damages: [Damage]) {
    var damaged = stage.archive
    damaged[place] ^= 0x10
    try FileTree.write(damaged, to: stage.directory.file("f"))
    let option = quick ? "--quick " : ""
    let json = try Starc.script("$S verify \(option)--json f", directory: stage.directory.path)
    let text = try Starc.script("$S verify \(option)f", directory: stage.directory.path)
    #expect(json.status == 2 && text.status == 2, "byte \(place): \(text.errorText)")
    let report = try #require(try Starc.objects(json.output).first)
    #expect(report["ok"] as? Bool == false)
    let lines = text.errorText.split(separator: "\n").map(String.init)
    let listed = report["damages"] as? [[String: Any]] ?? []
    #expect(listed.count == lines.count && !listed.isEmpty, "byte \(place): \(text.errorText)")
    let damages = zip(listed, lines).map { entry, line in
      let members = (entry["members"] as? [[String: Any]] ?? []).compactMap { $0["path"] as? String }
      return Damage(
        chunk: entry["chunk"] as? Int, offset: entry["offset"] as? Int, members: Set(members), text: line)
    }
    return (report["damagedChunks"] as? Int ?? -1, damages)
  }

  /// Salvages the damaged archive: the files that are missing. All others have to be what they were.
  private func salvage(_ stage: Stage) throws -> Set<String> {
    let result = try Starc.script("rm -rf out; $S salvage --no-sync f out", directory: stage.directory.path)
    #expect([0, 1].contains(result.status), "\(result.errorText)")
    var missing: Set<String> = []
    for (path, _) in stage.members {
      let (before, after) = (stage.directory.file(path), stage.directory.file("out/" + path))
      guard let kind = try? FileManager.default.attributesOfItem(atPath: after)[.type] as? FileAttributeType else {
        missing.insert(path)
        continue
      }
      if kind == .typeRegular { #expect(try FileTree.read(before) == FileTree.read(after), "\(path)") }
    }
    return missing
  }

  /// Directories are made for what lies in them, even when their own member is lost.
  private func isFile(_ stage: Stage, _ path: String) -> Bool {
    let kind =
      try? FileManager.default.attributesOfItem(atPath: stage.directory.file(path))[.type] as? FileAttributeType
    return kind != .typeDirectory
  }

  @Test func aDamagedChunkTouchesItsMembersOnly() throws {
    let stage = try stage()
    for frame in stage.frames {
      guard let chunk = frame.chunk else { continue }
      let touched = stage.touched(by: frame)
      for quick in [false, true] {
        let (count, damages) = try verify(stage, flipped: frame.range.lowerBound + frame.range.count / 2, quick: quick)
        #expect(count == 1 && damages.count == 1, "chunk \(chunk)")
        let damage = try #require(damages.first)
        #expect(damage.chunk == chunk && damage.offset == frame.range.lowerBound)
        #expect(damage.members == touched, "chunk \(chunk): \(damage.members.symmetricDifference(touched))")
        #expect(damage.text.contains("chunk \(chunk) at offset \(frame.range.lowerBound)"), "\(damage.text)")
        let named = touched.filter { path in
          damage.text.contains(" \(path),") || damage.text.contains(" \(path) and ")
            || damage.text.hasSuffix(" " + path)
        }
        #expect(named.count == min(touched.count, 20), "\(damage.text)")
      }
      let missing = try salvage(stage)
      let lost = touched.filter { isFile(stage, $0) }
      #expect(missing.filter { isFile(stage, $0) } == lost, "chunk \(chunk): \(missing.symmetricDifference(lost))")
    }
  }

  /// The beginning, the middle and the end of every frame that is not data: no chunk and no member is said to be damaged, and nothing is lost.
  @Test func damageOfTheIndexTouchesNoMember() throws {
    let stage = try stage()
    for frame in stage.frames where frame.chunk == nil {
      for place in [
        frame.range.lowerBound, (frame.range.lowerBound + frame.range.upperBound) / 2, frame.range.upperBound - 1,
      ] {
        for quick in [false, true] {
          let (count, damages) = try verify(stage, flipped: place, quick: quick)
          let how = "byte \(place) of a frame of kind \(frame.kind.map { "\($0)" } ?? "seek table"), quick \(quick)"
          #expect(count == 0 && damages.allSatisfy { $0.chunk == nil && $0.members.isEmpty }, "\(how): \(damages)")
          let range = frame.range.lowerBound...frame.range.upperBound
          #expect(damages.contains { $0.offset.map(range.contains) ?? false }, "\(how): \(damages)")
        }
        let missing = try salvage(stage)
        #expect(missing.isEmpty, "byte \(place) of \(frame.kind.map { "\($0)" } ?? "seek table"): \(missing)")
      }
    }
  }

  /// Two damages are two findings, each with its own members.
  @Test func severalDamagedChunksAreTold() throws {
    let stage = try stage()
    let chunks = stage.frames.filter { $0.chunk != nil }
    let (first, second) = (chunks[1], chunks[chunks.count - 3])
    var twice = stage.archive
    twice[first.range.upperBound - 1] ^= 1
    let double = Stage(directory: stage.directory, archive: twice, frames: stage.frames, members: stage.members)
    let (count, damages) = try verify(double, flipped: second.range.lowerBound, quick: true)
    #expect(count == 2 && damages.map(\.chunk) == [first.chunk, second.chunk])
    #expect(damages.map(\.members) == [first, second].map { stage.touched(by: $0) })
  }
}
