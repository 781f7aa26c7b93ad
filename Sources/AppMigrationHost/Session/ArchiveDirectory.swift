internal import ArchiveEngine
internal import ArchiveIO
internal import Glibc

/// Archives of migrations and directories, without an extension; for testers.
package enum ArchiveDirectory {
  /// Unpacks an archive as an import would: verified, without what was withdrawn, and with the same refusals.
  ///
  /// - Parameter directory: made by this; it must not exist.
  package static func unpack(_ archive: [UInt8], to directory: [UInt8]) throws(MigrationError) {
    let extracted: ExtractSummary
    var options = ExtractOptions()
    options.restoresOwner = .no
    options.restoresPermissions = .yes
    options.createsDevices = true
    options.syncs = false
    do throws(ArchiveError) {
      extracted = try ArchiveReader(path: archive, limits: .imports).extract(to: directory, options: options)
    } catch { throw MigrationError(error, doing: "the archive was not unpacked") }
    let members = try MigrationManifest.withdrawn(in: extracted.manifest)
    let root: SharedDescriptor
    do throws(SystemError) {
      root = SharedDescriptor(
        try FileSystem.open(at: FileSystem.currentDirectory, directory, [.readOnly, .directory, .noFollow]))
    } catch { throw .place("open", directory, error) }
    _ = try StagedTree.admit(
      root: root, owner: nil,
      withdrawn: WithdrawnItems(prefixes: members.prefixes, hashes: Set(members.pathHashes)), token: nil)
  }

  /// Makes an archive of what lies in a directory, as if it came from a migration.
  package static func pack(
    _ directory: [UInt8], to archive: [UInt8], manifest: MigrationManifest
  ) throws(MigrationError) {
    do throws(ArchiveError) {
      let file: OutputFile
      do throws(SystemError) { file = try OutputFile(path: archive) } catch {
        throw ArchiveError(.system, error.message)
      }
      var options = WriterOptions()
      options.manifest = manifest.pairs
      let writer = try ArchiveWriter(to: file.descriptor.rawValue, options: options)
      try writer.appendTree(at: directory, as: [UInt8(ascii: ".")])
      _ = try writer.finish()
      do throws(SystemError) { try file.commit(sync: false) } catch { throw ArchiveError(.system, error.message) }
    } catch { throw MigrationError(error, doing: "the resources cannot be packed") }
  }
}
