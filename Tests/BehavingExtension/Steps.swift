import Foundation
import Glibc

/// An error of this extension.
struct Refusal: Error {}

/// Steps of exports and imports alike.
enum Steps {
  static func perform(_ step: Script.Step) throws {
    switch step[0] {
    case "say": Report.say(step.dropFirst().joined(separator: " "))
    case "hang": hang()
    case "sleep": usleep(number(step) * 1000)
    case "busy": loop(milliseconds: Int(number(step)))
    case "signal": endBySignal(Int32(number(step)))
    case "exit": _exit(Int32(number(step)))
    case "child": try startChild(inheritsAll: true)
    case "child-apart": try startChild(inheritsAll: false)
    // What runs at the exit of the process keeps it there.
    case "linger": atexit { Steps.hang() }
    case "throw": throw Refusal()
    case "throw-nserror":
      throw NSError(
        domain: "org.example.behaving", code: 42,
        userInfo: [
          NSLocalizedDescriptionKey: "the photos are from the future", "advice": "wait", "number": 7,
        ])
    // Read before the run, see `BehavingExtension`.
    case "version", "estimate", "incompressible", "estimate-hangs", "estimate-crashes": break
    default: throw NSError(domain: "no such step: \(step)", code: 1)
    }
  }

  private static func number(_ step: Script.Step) -> UInt32 { step.count > 1 ? UInt32(step[1]) ?? 0 : 0 }

  static func hang() -> Never { while true { pause() } }

  static func endBySignal(_ number: Int32) -> Never {
    signal(number, SIG_DFL)
    kill(getpid(), number)
    hang()
  }

  private static func loop(milliseconds: Int) {
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    while ContinuousClock.now < end {}
  }

  /// Starts a process that stays, with all descriptors or only the standard ones.
  private static func startChild(inheritsAll: Bool) throws {
    var process: pid_t = 0
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    if !inheritsAll { for number in Int32(3)..<64 { posix_spawn_file_actions_addclose(&actions, number) } }
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("1000"), nil]
    let error = posix_spawn(&process, "/usr/bin/sleep", &actions, nil, &arguments, environ)
    if error != 0 { throw NSError(domain: NSPOSIXErrorDomain, code: Int(error)) }
    Report.say("child \(process)")
  }
}
