import ArchiveFormat
import ArchiveIO
import Foundation
import TestSupport
import Testing

@testable import ArchiveEngine

/// An archive of which index and tar header say different things of one member, looked at in every way.
struct Witnesses {
  private let bytes: [UInt8]
  private let original: [UInt8]
  private let directory: TemporaryDirectory
  /// The tar header can be read. From a pipe one that cannot be is damage: what the index says comes later.
  private let isReadable: Bool

  /// - Parameter original: the archive as it was.
  init(_ bytes: [UInt8], original: [UInt8], isReadable: Bool = true) throws {
    self.bytes = bytes
    self.original = original
    self.isReadable = isReadable
    directory = try #require(TemporaryDirectory.current)
  }

  private var options: ExtractOptions {
    var options = ExtractOptions()
    options.syncs = false
    options.createsDevices = ProcessFacts.effectiveUserID == 0
    return options
  }

  /// Every way that touches the member refuses it with both values; what relies on the index, and what touches other members only, goes on.
  ///
  /// - Parameters:
  ///   - tarPath: the member's name in the tar stream.
  ///   - indexPath: its name in the index.
  func expectRefused(_ tarPath: String, _ indexPath: String, isFile: Bool, values: [String]) throws {
    for threads in [1, 4] {
      let report = try Engine.reader(bytes, in: directory, threads: threads).verify()
      #expect(!report.isHealthy)
      let text = report.damages.map(\.message).joined(separator: "\n")
      #expect(values.allSatisfy { text.contains($0) }, "\(text)")
    }
    // A pipe's reader sees the tar first and checks it against the index at the end.
    let piped = try Engine.withPipe(bytes) { try ArchiveReader(descriptor: $0).verify() }
    #expect(!piped.isHealthy)
    let text = piped.damages.map(\.message).joined(separator: "\n")
    #expect(values.allSatisfy { text.contains($0) }, "\(text)")
    try expectNoExtraction(values)
    try expectNoComparison(values)
    try expectNoSalvage([tarPath, indexPath], values)
    if isFile { try expectNoContent(tarPath, indexPath, values) }
    try expectReliance(tarPath)
  }

  private func expectMismatch(_ error: ArchiveError?, _ values: [String], _ way: String) {
    let codes: [ArchiveError.Code] = isReadable || !way.hasSuffix("pipe") ? [.mismatch] : [.mismatch, .damaged]
    #expect(error.map { codes.contains($0.code) } == true, "\(way): \(String(describing: error))")
    let text = error.map { "\($0)" } ?? ""
    #expect(values.allSatisfy { text.contains($0) }, "\(way): \(text)")
  }

  private func expectNoExtraction(_ values: [String]) throws {
    let out = directory.file("out")
    for threads in [1, 4] {
      let error = #expect(throws: ArchiveError.self) {
        _ = try Engine.reader(bytes, in: directory, threads: threads).extract(to: Array(out.utf8), options: options)
      }
      expectMismatch(error, values, "extract")
    }
    let error = #expect(throws: ArchiveError.self) {
      _ = try Engine.withPipe(bytes) {
        try ArchiveReader(descriptor: $0).extract(to: Array(out.utf8), options: options)
      }
    }
    expectMismatch(error, values, "extract from a pipe")
    #expect(!FileManager.default.fileExists(atPath: out))
  }

  private func expectNoComparison(_ values: [String]) throws {
    let tree = directory.file("tree")
    _ = try Engine.reader(original, in: directory).extract(to: Array(tree.utf8), options: options)
    let error = #expect(throws: ArchiveError.self) {
      _ = try Engine.reader(bytes, in: directory).compare(with: Array(tree.utf8)) { _ in }
    }
    expectMismatch(error, values, "compare")
    let piped = #expect(throws: ArchiveError.self) {
      _ = try Engine.withPipe(bytes) { try ArchiveReader(descriptor: $0).compare(with: Array(tree.utf8)) { _ in } }
    }
    expectMismatch(piped, values, "compare from a pipe")
  }

  /// A salvage restores the others and gives the member out under neither name.
  private func expectNoSalvage(_ paths: [String], _ values: [String]) throws {
    let out = directory.file("salvaged")
    let summary = try Engine.reader(bytes, in: directory).salvage(to: Array(out.utf8), options: options) { _, _ in }
    #expect(summary.mismatchCount == 1)
    expectMismatch(summary.firstMismatch, values, "salvage")
    for path in paths where path != "d" {
      #expect((try? FileManager.default.attributesOfItem(atPath: out + "/" + path)) == nil, "\(path) was salvaged")
    }
    #expect(summary.restored.entryCount >= 6, "\(summary.restored.entryCount)")
  }

  private func expectNoContent(_ tarPath: String, _ indexPath: String, _ values: [String]) throws {
    let error = #expect(throws: ArchiveError.self) {
      try Engine.reader(bytes, in: directory).read(Array(indexPath.utf8), to: MemorySink())
    }
    expectMismatch(error, values, "cat")
    let sink = MemorySink()
    let piped = #expect(throws: ArchiveError.self) {
      try Engine.withPipe(bytes) { try ArchiveReader(descriptor: $0).read(Array(tarPath.utf8), to: sink) }
    }
    expectMismatch(piped, values, "cat from a pipe")
    #expect(sink.content.isEmpty)
  }

  /// The list is the index's, and a member beside the forged one is extracted as ever.
  private func expectReliance(_ path: String) throws {
    var count = 0
    try Engine.reader(bytes, in: directory).list { _ in count += 1 }
    #expect(try Engine.reader(bytes, in: directory).info().entryCount == UInt64(count))
    #expect(try Engine.reader(bytes, in: directory).verify(quick: true).isHealthy)
    let other = path == "d/fifo" ? "d/b" : "d/fifo"
    var options = self.options
    options.selection = [Array(other.utf8)]
    let out = directory.file("other")
    let summary = try Engine.reader(bytes, in: directory).extract(to: Array(out.utf8), options: options)
    #expect(summary.entryCount == 1)
    #expect(FileManager.default.fileExists(atPath: out + "/" + other))
  }
}
