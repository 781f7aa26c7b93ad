import AppMigrationKit

/// Steps that only imports have.
struct ImportSteps {
  let staging: URL
  let container: MigrationDataContainer
  let progress: Progress
  let request: ResourcesImportRequest

  /// False for a step of another kind.
  func perform(_ step: Script.Step) throws -> Bool {
    switch step[0] {
    case "request":
      let source = request.sourceAppIdentifier
      Report.say(
        "version \(request.sourceVersion) of \(source.bundleIdentifier) on \(source.platform) from \(source.storeIdentifier)"
      )
    case "move":
      let directory = container.documentsDirectory
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      try FileManager.default.moveItem(
        at: staging.appendingPathComponent(step[1]), to: directory.appendingPathComponent(step[1]))
    case "mark": try mark(step[1])
    case "await":
      let file = try group().appendingPathComponent(step[1]).path
      while !FileManager.default.fileExists(atPath: file) { usleep(2000) }
    case "progress":
      // Steps of progress, one each so many milliseconds.
      for _ in 0..<(Int(step[1]) ?? 0) {
        usleep(1000 * (UInt32(step[2]) ?? 0))
        progress.completedUnitCount += 1
      }
    case "touch":
      // Bytes into a file of the container, one each so many milliseconds.
      for _ in 0..<(Int(step[1]) ?? 0) {
        usleep(1000 * (UInt32(step[2]) ?? 0))
        try grow(container.containerRootDirectory.appendingPathComponent("grows"))
      }
    case "list":
      let found = try FileManager.default.subpathsOfDirectory(atPath: container.containerRootDirectory.path)
      Report.say("container \(found.sorted().joined(separator: ","))")
    default: return false
    }
    return true
  }

  private func group() throws -> URL {
    guard let group = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.behaving") else {
      throw Refusal()
    }
    return group
  }

  private func mark(_ name: String) throws { try Data("mark".utf8).write(to: group().appendingPathComponent(name)) }

  private func grow(_ file: URL) throws {
    let descriptor = open(file.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    guard descriptor >= 0, write(descriptor, "x", 1) == 1, close(descriptor) == 0 else { throw Refusal() }
  }
}
