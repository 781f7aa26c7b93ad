internal import ArchiveEngine
internal import ArchiveFormat
import CommandLineTool
internal import Testing

@testable import starc

/// How sizes, times and JSON are written.
struct CommandLineTextTests {
  @Test(
    arguments: [
      ("0", 0), ("1", 1), ("4K", 4096), ("4k", 4096), ("2MiB", 2 << 20), ("1G", 1 << 30), ("3T", 3 << 40), ("7B", 7),
      ("", nil), ("K", nil), ("-1", nil), ("1.5G", nil), ("4KB", nil), ("4 K", nil), ("١", nil), ("16777216T", nil),
      ("18446744073709551616", nil), ("+1", nil),
    ] as [(String, UInt64?)])
  func sizes(_ text: String, _ size: UInt64?) {
    #expect(SizeText.parse(text) == size)
  }

  @Test(
    arguments: [
      (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1049, "1.0 kB"), (1050, "1.1 kB"), (999_949, "999.9 kB"),
      (999_950, "1.0 MB"), (4_194_304, "4.2 MB"), (UInt64.max, "18.4 EB"),
    ] as [(UInt64, String)])
  func decimalSizes(_ size: UInt64, _ text: String) {
    #expect(SizeText.decimal(size) == text)
  }

  @Test(
    arguments: [
      (0, "1970-01-01 00:00"), (-1, "1969-12-31 23:59"), (951_782_399, "2000-02-28 23:59"),
      (951_782_400, "2000-02-29 00:00"), (951_868_800, "2000-03-01 00:00"), (4_107_542_399, "2100-02-28 23:59"),
      (4_107_542_400, "2100-03-01 00:00"), (-62_167_219_200, "0000-01-01 00:00"), (253_402_300_799, "9999-12-31 23:59"),
      (Int64.max, "292277026596-12-04 15:30"), (Int64.min, "-292277022657-01-27 08:29"),
    ] as [(Int64, String)])
  func times(_ seconds: Int64, _ text: String) {
    #expect(TimeText.minute(Timestamp(seconds: seconds)) == text)
  }

  @Test(arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")])
  func base64(_ plain: String, _ encoded: String) {
    #expect(Base64Text.encode(Array(plain.utf8)) == encoded)
  }

  @Test func jsonIsEscaped() {
    let line = JSONText.line { text in
      text.field("a\"\\", "\u{0}\n\t\r\u{1F}\u{7F}é\"\\")
      text.field("n", nil as Int?)
      text.name("list")
      text.array { text in
        text.value(-1)
        text.object { $0.field("b", true) }
        text.array { _ in }
      }
      text.field("seconds", seconds: .milliseconds(12_034))
      text.field("path", lossy: [0x61, 0xFF])
    }
    let expected =
      #"{"a\"\\":"\u0000\n\t\r\u001f\u007fé\"\\","n":null,"list":[-1,{"b":true},[]],"seconds":12.034,"#
      + "\"path\":\"a\u{FFFD}\",\"pathBase64\":\"Yf8=\"}\n"
    #expect(String(decoding: line, as: UTF8.self) == expected)
  }

  @Test func progressStaysWithinItsTotal() {
    var state = ProgressState(totalByteCount: 1000)
    #expect(state.percent == 0)
    var shown: [Int] = []
    for (index, count) in ([10, 500, 400, 999, 1000, 5000, 0] as [UInt64]).enumerated() {
      var progress = ArchiveProgress()
      progress.contentByteCount = count
      state.update(progress, elapsed: .seconds(index + 1))
      shown.append(state.percent ?? -1)
    }
    #expect(shown == [1, 50, 50, 99, 99, 99, 99])
    state.finish(elapsed: .seconds(9))
    #expect(state.percent == 100)
    for width in 0...120 { #expect(state.line(label: "create", width: width).count <= width) }
    var empty = ProgressState(totalByteCount: 0)
    empty.finish(elapsed: .zero)
    #expect(empty.percent == 100)
    #expect(ProgressState(totalByteCount: nil).percent == nil)
  }

  @Test("A total that becomes known late, and is less than what is done, is no total")
  func lateTotal() {
    for (done, total) in [(5, 3), (UInt64.max, 1)] as [(UInt64, UInt64)] {
      var state = ProgressState(totalByteCount: nil, unit: .steps)
      state.update(completed: done, of: 0, elapsed: .seconds(1))
      #expect(state.percent == nil && state.secondsRemaining == nil)
      state.update(completed: 1, of: total, elapsed: .seconds(2))
      #expect(state.byteCount == done && state.totalByteCount == done && state.percent == 99)
      #expect(state.secondsRemaining == 0 && state.line(label: "import", width: 80).contains("99 %"))
    }
  }
}
