internal import Foundation
internal import TestSupport

/// A run of the tool, with what it took.
struct Measured: Decodable {
  /// The exit status; 128 and the signal's number when one ended it.
  var status: Int32
  /// The most that was resident, in KiB.
  var kibibytes: Int
  /// Of processors.
  var seconds: Double
  /// The last of what it wrote as errors.
  var errors: String

  private struct Failure: Error {
    let errors: String
  }

  private static let program = #"""
    import json, os, subprocess, sys, tempfile, threading
    for line in sys.stdin:
        want = json.loads(line)
        cat = subprocess.Popen(["cat", want["pipe"]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) if "pipe" in want else None
        with tempfile.TemporaryFile() as errors:
            run = subprocess.Popen(want["command"], stdin=cat.stdout if cat else subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
            timer = threading.Timer(120, run.kill)
            timer.start()
            _, status, usage = os.wait4(run.pid, 0)
            timer.cancel()
            seconds = usage.ru_utime + usage.ru_stime
            if cat:
                cat.stdout.close()
                cat.wait()
            errors.seek(max(0, errors.seek(0, 2) - 600))
            text = errors.read().decode(errors="replace")
        code = os.waitstatus_to_exitcode(status)
        print(json.dumps({"status": code if code >= 0 else 128 - code, "kibibytes": usage.ru_maxrss, "seconds": seconds, "errors": text}))
    """#

  /// Runs the tool once for each list of arguments, one after the other; a file that is given comes through a pipe.
  static func runs(_ commands: [(arguments: [String], pipe: String?)], directory: String) throws -> [Measured] {
    var input: [UInt8] = []
    for (arguments, pipe) in commands {
      var want: [String: Any] = ["command": [Starc.path] + arguments]
      if let pipe { want["pipe"] = pipe }
      input += [UInt8](try JSONSerialization.data(withJSONObject: want)) + [0x0A]
    }
    let result = try Shell.run(["python3", "-c", program], input: input, directory: directory, timeout: 600)
    guard result.status == 0 else { throw Failure(errors: result.errorText) }
    return try result.output.split(separator: 0x0A).map { line in
      try JSONDecoder().decode(Measured.self, from: Data(line))
    }
  }
}
