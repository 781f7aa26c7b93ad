internal import CMigrationShims

/// What of the sandbox this system's kernel can enforce.
public struct SandboxReport: Sendable, Equatable, Codable {
  /// The version of Landlock, 0 where there is none.
  public let landlockABI: Int
  /// Whether an export cannot change modes, owners, times and attributes, other than in its temporary directory.
  public let metadataProtection: Bool
  /// What is not enforced, a sentence each.
  public let problems: [String]

  /// Whether everything is enforced.
  public var isComplete: Bool { problems.isEmpty }

  /// No sandbox at all: code of this process.
  package static var none: SandboxReport { SandboxReport(landlockABI: 0, hasSystemCallFilter: false) }

  /// Asks the kernel.
  public static func current() -> SandboxReport {
    SandboxReport(landlockABI: Int(amk_landlock_abi()), hasSystemCallFilter: amk_seccomp_is_available() != 0)
  }

  /// What a kernel enforces that has these two.
  package init(landlockABI: Int, hasSystemCallFilter: Bool) {
    var problems: [String] = []
    func require(_ version: Int, _ problem: String) {
      if landlockABI < version {
        problems.append(problem + " (needs Landlock version \(version), Linux \(linux(version)))")
      }
    }
    func linux(_ version: Int) -> String {
      switch version {
      case 1: "5.13"
      case 2: "5.19"
      case 3: "6.2"
      case 5: "6.10"
      default: "6.12"
      }
    }
    require(1, "an extension can read and write all files of this user")
    if landlockABI > 0 {
      require(2, "moving files from the staging directory copies them")
      require(3, "an extension can truncate all files of this user")
      require(5, "an extension can control devices that it has not opened for that")
    }
    require(6, "an extension can send signals to other processes of this user and use their abstract sockets")
    if !hasSystemCallFilter {
      problems.append(
        "an export can change modes, owners, times and attributes of files, and an extension can leave its process "
          + "group and use other processes' services (needs seccomp filters)")
    }
    self.landlockABI = landlockABI
    metadataProtection = hasSystemCallFilter
    self.problems = problems
  }
}
