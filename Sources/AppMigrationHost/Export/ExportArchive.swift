package import ArchiveEngine
internal import ArchiveFormat
package import ArchiveIO
package import MigrationWire

/// The archive of an export: takes items from wherever they come and gives each an answer.
///
/// Calls come one after the other, from any thread.
package final class ExportArchive {
  private let writer: ArchiveWriter
  private let owner: (user: UInt32, group: UInt32)
  /// Items that are in the archive, whole.
  package private(set) var itemCount: UInt64 = 0

  /// - Parameters:
  ///   - output: where the archive goes: a file, pipe or socket.
  ///   - owner: of items that come by value.
  ///   - freeByteCount: for tests: more bytes than that do not fit.
  package init(
    to output: Int32, manifest: MigrationManifest, owner: (user: UInt32, group: UInt32), threadCount: Int = 0,
    freeByteCount: UInt64? = nil, cancellation: CancellationToken, onEvent: @escaping @Sendable (WriterEvent) -> Void
  ) throws(MigrationError) {
    var options = WriterOptions()
    options.threadCount = threadCount
    options.manifest = manifest.pairs
    if !manifest.isCompressible { options.level = 0 }
    options.itemRule = { Self.verdict(on: $0) }
    do throws(ArchiveError) {
      if let freeByteCount {
        writer = try ArchiveWriter(
          to: LimitedSink(output, freeByteCount), options: options, cancellation: cancellation, onEvent: onEvent)
      } else {
        writer = try ArchiveWriter(to: output, options: options, cancellation: cancellation, onEvent: onEvent)
      }
    } catch { throw MigrationError(error, doing: "the archive cannot be begun") }
    self.owner = owner
  }

  /// Takes an item; its bytes are captured when this returns.
  ///
  /// - Throws: what ends the export. What concerns the item alone is the answer.
  package func append(_ item: ItemMessage, _ descriptor: SharedDescriptor?) throws(MigrationError) -> ItemReply {
    do throws(ArchiveError) {
      let outcome: ItemOutcome
      switch item.content {
      case .descriptor:
        guard let descriptor else {
          throw ArchiveError(.invalidArgument, "an item came without its descriptor", path: item.path)
        }
        if let reason = ReceivedDescriptor.refusal(of: descriptor) {
          return .refused(message: ArchiveError(.rejected, reason, path: item.path).description)
        }
        outcome = try writer.appendItem(descriptor: descriptor.rawValue, as: item.path)
      case .file(let content):
        outcome = try writer.appendItem(member(.file, item), content: content)
      case .symlink(let target):
        var link = member(.symlink, item)
        link.linkTarget = target
        if case .refuse(let reason) = Self.verdict(on: link) {
          return .refused(message: ArchiveError(.rejected, reason, path: item.path).description)
        }
        outcome = try writer.appendItem(link)
      }
      switch outcome {
      case .complete:
        itemCount += 1
        return .accepted
      case .refused(let error): return .refused(message: error.description)
      case .partial(let error):
        return .refused(message: "\(error.description); what is in the archive of it is left out by an import")
      }
    } catch {
      if error.code == .cancelled { return .cancelled }
      throw MigrationError(error, doing: "the archive cannot be written")
    }
  }

  /// What no import would take is not exported either: better now, where the app can say something about it, than on the other machine.
  private static func verdict(on member: Member) -> ItemVerdict {
    switch member.kind {
    case .symlink where LinkRule.judge(member.linkTarget, depth: member.path.count { $0 == 0x2F }) == .outside:
      .refuse("is a symlink that leads out of the exported files; no import would take it")
    case .fifo: .leaveOut("is a FIFO")
    case .characterDevice, .blockDevice: .leaveOut("is a device")
    default: .take
    }
  }

  private func member(_ kind: MemberKind, _ item: ItemMessage) -> Member {
    var member = Member(
      path: item.path, kind: kind, mode: kind == .symlink ? 0o777 : item.mode & 0o7777,
      modificationTime: Timestamp(seconds: item.modificationSeconds, nanoseconds: item.modificationNanoseconds))
    member.userID = UInt64(owner.user)
    member.groupID = UInt64(owner.group)
    return member
  }

  /// Ends the archive.
  package func finish() throws(MigrationError) -> WriteSummary {
    do throws(ArchiveError) {
      return try writer.finish(
        closingManifest: MigrationManifest.closingPairs(itemCount: itemCount, withdrawn: writer.withdrawnMembers))
    } catch { throw MigrationError(error, doing: "the archive cannot be finished") }
  }
}

/// A file on a disk that is full after some bytes.
private final class LimitedSink: ArchiveSink {
  private let descriptor: Int32
  private let left: Locked<UInt64>

  init(_ descriptor: Int32, _ byteCount: UInt64) {
    self.descriptor = descriptor
    left = Locked(byteCount)
  }

  func write(_ piece: RawSpan) throws(ArchiveError) {
    let count = UInt64(piece.byteCount)
    let fits = left.withLock { left in
      if count > left { return false }
      left -= count
      return true
    }
    guard fits else { throw ArchiveError(.noSpace, "no space left on the disk, as the test wanted") }
    let result: Result<Void, SystemError> = unsafe piece.withUnsafeBytes { bytes in
      do throws(SystemError) { return .success(try unsafe FileSystem.write(descriptor, bytes)) } catch {
        return .failure(error)
      }
    }
    do throws(SystemError) { try result.get() } catch {
      throw ArchiveError(.system, error.message, systemErrorNumber: error.errno)
    }
  }
}

extension MigrationError {
  /// An error of the engine.
  init(_ error: ArchiveError, doing what: String) {
    switch error.code {
    case .cancelled: self.init(.cancelled, "cancelled")
    case .noSpace: self.init(.noSpace, "\(what): \(error.description)")
    case .system: self.init(.system, "\(what): \(error.description)")
    default: self.init(.archive, "\(what): \(error.description)")
    }
  }
}
