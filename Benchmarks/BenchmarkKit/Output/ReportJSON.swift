internal import Foundation

/// The report as JSON: the fields are the properties of ``BenchmarkReport``, by name.
package enum ReportJSON {
  /// One line without breaks, or indented.
  package static func encode(_ report: BenchmarkReport, indented: Bool) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = indented ? [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes] : [.sortedKeys]
    // All values are finite: distributions refuse others, and ratios have positive divisors.
    guard let data = try? encoder.encode(report) else { return [] }
    return Array(data) + [0x0A]
  }

  /// Reads what ``encode(_:indented:)`` wrote.
  package static func decode(_ bytes: [UInt8]) throws -> BenchmarkReport {
    try JSONDecoder().decode(BenchmarkReport.self, from: Data(bytes))
  }
}
