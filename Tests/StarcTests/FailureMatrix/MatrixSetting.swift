/// One way to look at an archive.
struct MatrixSetting: Sendable, CustomStringConvertible {
  enum Way: String, CaseIterable, Sendable {
    case strict = "extract"
    case lenient = "extract --lenient"
    case list, cat, verify, compare, salvage
  }

  /// What an archive's tar stream is put into.
  enum Form: String, CaseIterable, Sendable {
    /// Nothing.
    case tar
    /// One zstd frame.
    case zstd
    /// Frames without content size and skippable ones, cut anywhere.
    case frames
    /// An archive of ours with an index, where the tar can be one; else as `zstd`.
    case indexed
  }

  var way: Way
  var form: Form
  var isPipe: Bool
  var threadCount: Int
  var isPlainUser: Bool

  static let threadCounts = [1, 2, 8]

  /// The factors' sizes, the case first.
  static func levels(caseCount: Int) -> [Int] {
    [caseCount, Way.allCases.count, Form.allCases.count, 2, threadCounts.count, 2]
  }

  /// - Parameter row: as ``CoveringSelection`` gives it.
  init(row: [Int]) {
    way = Way.allCases[row[1]]
    form = Form.allCases[row[2]]
    isPipe = row[3] == 1
    threadCount = Self.threadCounts[row[4]]
    isPlainUser = row[5] == 1
  }

  /// Every combination.
  static var all: [MatrixSetting] {
    var result: [MatrixSetting] = []
    for way in Way.allCases.indices {
      for form in Form.allCases.indices {
        for pipe in 0...1 {
          for threads in threadCounts.indices {
            for user in 0...1 { result.append(MatrixSetting(row: [0, way, form, pipe, threads, user])) }
          }
        }
      }
    }
    return result
  }

  var description: String {
    "\(way.rawValue), \(form) from a \(isPipe ? "pipe" : "file"), \(threadCount) threads, \(isPlainUser ? "plain user" : "root")"
  }
}
