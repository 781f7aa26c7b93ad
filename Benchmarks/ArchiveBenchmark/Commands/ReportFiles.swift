internal import ArchiveIO
internal import BenchmarkKit
internal import CommandLineTool
internal import Foundation

/// Writes reports as files.
enum ReportFiles {
  /// The page, the values and the samples. What has these names is replaced.
  static func write(_ report: BenchmarkReport, to directory: String) throws(Failure) {
    do {
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    } catch { throw .failed("\(directory): \(error.localizedDescription)") }
    try SmallFile.write(Array(HTMLReport.text(report).utf8), to: directory + "/report.html")
    try SmallFile.write(ReportJSON.encode(report, indented: true), to: directory + "/report.json")
    try SmallFile.write(Array(RawCSV.text(report).utf8), to: directory + "/raw.csv")
  }

  /// The same and a README in a new folder, whose path is returned.
  static func save(_ report: BenchmarkReport, below directory: String) throws(Failure) -> String {
    let day = String(report.startedAt.prefix(10))
    var folder = "\(directory)/\(day)-\(report.machine.label)"
    var number = 1
    // Stored results are never changed.
    while FileManager.default.fileExists(atPath: folder) {
      number += 1
      folder = "\(directory)/\(day)-\(report.machine.label)-\(number)"
    }
    try write(report, to: folder)
    try SmallFile.write(Array(ReportMarkdown.text(report).utf8), to: folder + "/README.md")
    return folder
  }
}
