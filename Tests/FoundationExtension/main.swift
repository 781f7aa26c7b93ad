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
// What an older kernel keeps from an export altogether.
let changes = environment["CHANGES"] != nil
let isCopied = (try? FileManager.default.copyItem(at: file, to: temporary.appendingPathComponent("copy"))) != nil
check(5, isCopied == changes)
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

// Changes of modes, owners and times in the temporary directory, which many of Foundation's methods make by the way.
func mode(_ url: URL) -> Int? {
  (try? FileManager.default.attributesOfItem(atPath: url.path))?[.posixPermissions] as? Int
}
if changes {
  let copied = temporary.appendingPathComponent("kept")
  check(12, (try? FileManager.default.copyItem(at: container.appendingPathComponent("kept"), to: copied)) != nil)
  check(13, (try? Data(contentsOf: copied)) == Data("kept".utf8))
  check(14, mode(copied) == mode(container.appendingPathComponent("kept")))
  check(15, (try? FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: copied.path)) != nil)
  check(16, mode(copied) == 0o640)
  check(17, (try? Data("new".utf8).write(to: copied, options: .atomic)) != nil)
  let past = Date(timeIntervalSince1970: 5)
  let attributes: [FileAttributeKey: Any] = [.modificationDate: past, .ownerAccountID: Int(getuid())]
  check(18, (try? FileManager.default.setAttributes(attributes, ofItemAtPath: copied.path)) != nil)
  check(
    19, (try? FileManager.default.attributesOfItem(atPath: copied.path))?[.modificationDate] as? Date == past)
  let tree = temporary.appendingPathComponent("tree")
  check(20, (try? FileManager.default.copyItem(at: container, to: tree)) != nil)
  check(25, mode(tree) == mode(container))
  check(
    26,
    FileManager.default.createFile(
      atPath: tree.appendingPathComponent("c").path, contents: Data(), attributes: [.posixPermissions: 0o604]))
  check(27, mode(tree.appendingPathComponent("c")) == 0o604)
  check(28, (try? FileManager.default.moveItem(at: tree, to: temporary.appendingPathComponent("moved"))) != nil)
}
if environment["IMPORT"] == nil {
  let path = container.appendingPathComponent("kept").path
  check(29, (try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)) == nil)
}

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
