internal import ArchiveIO
internal import CMigrationShims
internal import Foundation

/// Makes the changes of metadata that an export may make: those below its private temporary directory.
///
/// The extension's calls wait in the kernel for this thread's answer. It ends with the process; without it they fail.
final class MetadataSupervisor: Sendable {
  private let end = DispatchGroup()

  /// Starts to serve a process. The listener passes to the thread, which closes it in the end: an open one that nobody serves would
  /// hold the extension up.
  init(listener: consuming Descriptor, process: SharedDescriptor, directory: SharedDescriptor) {
    let listener = listener.release()
    end.enter()
    let thread = Thread { [end] in
      amk_supervise_metadata(listener, process.rawValue, directory.rawValue)
      withExtendedLifetime((process, directory)) {}
      end.leave()
    }
    thread.name = "metadata"
    thread.start()
  }

  /// Waits until nothing is changed any more, after the process's end. Gives up after ten seconds, as for the process's group: memory
  /// of the extension can be a file of a server that is gone.
  func wait() { _ = end.wait(timeout: .now() + 10) }
}
