import AppMigrationKit

/// Steps that only exports have.
struct ExportSteps {
  let archiver: ResourcesArchiver
  let root: URL
  let request: MigrationRequest

  /// False for a step of another kind.
  func perform(_ step: Script.Step) async throws -> Bool {
    switch step[0] {
    case "append": try await append(step)
    case "try":
      do {
        try await append(step)
        Report.say("took \(step[1])")
      } catch { Report.say("refused \(step[1]): \(words(error))") }
    case "each":
      let directory = root.appendingPathComponent(step[1])
      for name in try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() {
        try await archiver.appendItem(at: directory.appendingPathComponent(name), pathInArchive: "\(step[1])/\(name)")
      }
    case "swallow":
      // Takes no notice of any error, and never ends.
      var hasFailed = false
      for number in 0... {
        do {
          try await archiver.appendItem(at: root.appendingPathComponent(step[1]), pathInArchive: "s\(number)")
        } catch {
          if !hasFailed { Report.say("swallowed \(words(error))") }
          hasFailed = true
          usleep(1000)
        }
      }
    case "until-cancelled":
      do {
        for number in 0... {
          try await archiver.appendItem(at: root.appendingPathComponent(step[1]), pathInArchive: "u\(number)")
          usleep(1000)
        }
      } catch {
        Report.say("cancelled by \(words(error)), task \(Task.isCancelled)")
        throw error
      }
    case "await":
      while !FileManager.default.fileExists(atPath: root.appendingPathComponent(step[1]).path) { usleep(2000) }
    case "request": Report.say("platform \(request.destinationPlatform)")
    default: return false
    }
    return true
  }

  private func append(_ step: Script.Step) async throws {
    let url = step[1].hasPrefix("/") ? URL(fileURLWithPath: step[1]) : root.appendingPathComponent(step[1])
    try await archiver.appendItem(at: url, pathInArchive: step.count > 2 ? step[2] : nil)
  }
}
