import Dispatch
import Foundation

// An extension in the usual way of Swift: what the language and Foundation need must work in the sandbox. It tells what did not
// as an exit status.
let environment = ProcessInfo.processInfo.environment
if environment["TRIVIAL"] != nil { exit(0) }

func check(_ status: Int32, _ holds: Bool) {
  if !holds { exit(status) }
}

let container = URL(fileURLWithPath: environment["CONTAINER"] ?? "/missing")
let temporary = FileManager.default.temporaryDirectory
check(1, (try? String(contentsOf: container.appendingPathComponent("kept"), encoding: .utf8)) == "kept")
check(2, (try? FileManager.default.contentsOfDirectory(atPath: container.path))?.contains("kept") == true)

let file = temporary.appendingPathComponent("made")
check(3, (try? Data("made".utf8).write(to: file)) != nil)
check(4, (try? Data("made again".utf8).write(to: file, options: .atomic)) != nil)
// A copy gets the mode of its original, and an export cannot set modes.
let isCopied = (try? FileManager.default.copyItem(at: file, to: temporary.appendingPathComponent("copy"))) != nil
check(5, isCopied == (environment["IMPORT"] != nil))
check(
  6,
  (try? FileManager.default.createDirectory(
    at: temporary.appendingPathComponent("a/b"), withIntermediateDirectories: true)) != nil)
check(7, TimeZone(identifier: "Europe/Berlin")?.secondsFromGMT(for: Date(timeIntervalSince1970: 0)) == 3600)
check(
  8,
  DateFormatter().then {
    $0.locale = Locale(identifier: "de_DE"); $0.dateFormat = "MMMM"
  }
  .string(from: Date(timeIntervalSince1970: 0)) == "Januar")
check(9, ProcessInfo.processInfo.activeProcessorCount > 0 && !NSUserName().isEmpty)

let group = DispatchGroup()
// Long enough for Dispatch to look at the threads that it has.
for _ in 0..<16 { DispatchQueue.global().async(group: group) { usleep(100_000) } }
check(10, group.wait(timeout: .now() + 10) == .success)
check(11, await Task.detached { 55 }.value == 55)

if environment["IMPORT"] != nil {
  let target = container.appendingPathComponent("imported")
  check(21, (try? Data("imported".utf8).write(to: target, options: .atomic)) != nil)
  check(22, (try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target.path)) != nil)
  check(23, (try? FileManager.default.copyItem(at: target, to: container.appendingPathComponent("copied"))) != nil)
  let staged = URL(fileURLWithPath: environment["STAGING"] ?? "/missing").appendingPathComponent("arrived")
  check(24, (try? FileManager.default.moveItem(at: staged, to: container.appendingPathComponent("arrived"))) != nil)
}
exit(0)

extension DateFormatter {
  func then(_ change: (DateFormatter) -> Void) -> DateFormatter {
    change(self)
    return self
  }
}
