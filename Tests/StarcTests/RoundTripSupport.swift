internal import TestSupport
internal import Testing

extension Starc {
  /// What scripts of ``expectSuccess(_:directory:tool:userID:sourceLocation:)`` begin with.
  ///
  /// - `status N COMMAND...` runs a command that must exit with N.
  /// - `peak COMMAND...` prints the KiB that a command had in memory at its peak.
  /// - `until_exists FILE` waits, for ten seconds at the most.
  private static let prelude = #"""
    exec 3>&2
    set -euE -o pipefail
    trap 'echo "failed: $BASH_COMMAND" >&3' ERR
    status() {
      local want=$1 got=0; shift
      "$@" || got=$?
      [ $got -eq $want ] || { echo "exit $got instead of $want: $*" >&3; exit 99; }
    }
    peak() {
      python3 -c '
    import resource, subprocess, sys
    code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    sys.exit(code)' "$@"
    }
    until_exists() {
      for _ in $(seq 1000); do [ -e "$1" ] && return; sleep 0.01; done
      echo "$1 never came" >&3; exit 98
    }

    """#

  /// Runs a script of bash that ends at the first command that fails; `$S` is the tool. Anything but success is a
  /// failure of the test, which names the command.
  @discardableResult
  static func expectSuccess(
    _ text: String, directory: String, tool: String = path, userID: UInt32? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    let result = try Shell.run(
      ["bash", "-c", prelude + text], environment: ["S": tool, "LC_ALL": "C.UTF-8", "TZ": "UTC"],
      directory: directory, userID: userID, timeout: 300)
    #expect(
      result.status == 0, "exit \(result.status): \(result.outputText)\(result.errorText)",
      sourceLocation: sourceLocation)
    return result.outputText
  }
}
