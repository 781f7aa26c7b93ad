import ArchiveIO
import Dispatch
import TestSupport
import Testing

@Suite(.inTemporaryDirectory(.memory)) struct PlacedFileTests {
  private let path: String

  init() throws { path = try #require(TemporaryDirectory.current).file("f") }

  private func open(_ flags: OpenFlags) throws -> SharedDescriptor {
    SharedDescriptor(try FileSystem.open(at: FileSystem.currentDirectory, Array(path.utf8), flags, mode: 0o600))
  }

  @Test func piecesLieWhereTheyBelongBehindThePosition() throws {
    let descriptor = try open([.readWrite, .create])
    try unsafe Array("before".utf8).withUnsafeBytes { try unsafe FileSystem.write(descriptor.rawValue, $0) }
    let file = try #require(try PlacedFile(descriptor))
    let parts = (0..<64).map { number in [UInt8](repeating: UInt8(number), count: 1000 + number) }
    let offsets = parts.indices.map { index in parts[..<index].reduce(0) { $0 + $1.count } }
    DispatchQueue.concurrentPerform(iterations: parts.count) { index in
      // More pieces than one call takes.
      unsafe parts[index].withUnsafeBytes { bytes in
        let pieces = unsafe (0..<40).map { piece in
          unsafe UnsafeRawBufferPointer(
            rebasing: bytes[(piece * bytes.count / 40)..<((piece + 1) * bytes.count / 40)])
        }
        #expect(throws: Never.self) { try unsafe file.write(pieces, at: UInt64(offsets[index])) }
      }
    }
    let all = parts.flatMap { $0 }
    try file.finish(byteCount: UInt64(all.count))
    #expect(FileSystem.position(descriptor.rawValue) == Int64(6 + all.count))
    #expect(try FileTree.read(path) == Array("before".utf8) + all)
  }

  @Test func onlyFilesThatTakePlacesAreOnes() throws {
    #expect(try PlacedFile(try open([.writeOnly, .create])) != nil)
    #expect(try PlacedFile(try open([.writeOnly, .append])) == nil)
    #expect(try PlacedFile(try open(.readOnly)) == nil)
    let null = try FileSystem.open(at: FileSystem.currentDirectory, Array("/dev/null".utf8), .writeOnly)
    #expect(try PlacedFile(SharedDescriptor(null)) == nil)
  }
}
