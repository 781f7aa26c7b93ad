internal import Glibc

/// What killed runs have left in a directory that is still in use.
package enum DeadRuns {
  /// Removes the temporary files below a directory, on its file system, of all runs that left their ``RunMark`` there and
  /// live no more, then their marks. Without such marks it costs a look at the names of the one directory.
  ///
  /// Several runs may do this at the same time. What cannot be removed, or is not because `shallStop` said so, stays
  /// with its mark for a later run.
  ///
  /// - Returns: the first failure.
  package static func cleanUp(_ directory: SharedDescriptor, shallStop: () -> Bool) -> SystemError? {
    do throws(SystemError) {
      let marks = try takeOverMarks(directory)
      if marks.isEmpty { return nil }
      do throws(SystemError) {
        if try removeFiles(of: marks, directory, shallStop) { return nil }
        for mark in marks.values { mark.leave() }
      } catch {
        for mark in marks.values { mark.leave() }
        throw error
      }
    } catch {
      return error
    }
    return nil
  }

  private static func takeOverMarks(_ directory: SharedDescriptor) throws(SystemError) -> [RunName: RunMark] {
    var marks: [RunName: RunMark] = [:]
    for name in try FileSystem.names(in: directory.rawValue, beginningWith: RunName.prefix) {
      guard let run = RunName(mark: name) else { continue }
      // Failures: the run lives, another one is cleaning up, or has just done so.
      marks[run] = (try? RunMark.takeOver(run, in: directory)) ?? nil
    }
    return marks
  }

  /// False if it was stopped. Goes on after a failure, and throws the first at the end.
  private static func removeFiles(
    of marks: [RunName: RunMark], _ directory: SharedDescriptor, _ shallStop: () -> Bool
  ) throws(SystemError) -> Bool {
    let walker = try DirectoryWalker(root: directory, oneFileSystem: true)
    var firstError: SystemError?
    while let step = walker.next() {
      if shallStop() { return false }
      do throws(SystemError) {
        switch step {
        case .failure(let error): throw error
        case .entry(let entry):
          guard entry.status.kind != .directory, let run = RunName(temporary: entry.name), marks[run] != nil else {
            continue
          }
          do throws(SystemError) {
            try FileSystem.removeFile(at: walker.directoryDescriptor, entry.name)
          } catch {
            throw SystemError(error.call, errno: error.errno, path: entry.relativePath)
          }
        }
      } catch {
        // What cannot be looked into the dead run, of the same user, could not write to either.
        if error.isNotFound || (error.call.description == "openat" && error.isPermissionDenied) { continue }
        firstError = firstError ?? error
      }
    }
    if let firstError { throw firstError }
    return true
  }
}
