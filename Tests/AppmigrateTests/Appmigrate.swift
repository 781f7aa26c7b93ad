internal import ArchiveIO
internal import TestSupport
internal import Testing

/// Runs the tool with real extensions, in scripts.
enum Appmigrate {
  static let isRoot = ProcessFacts.effectiveUserID == 0
  /// Whether this is a build without optimization, whose times say little.
  static var isDebug: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }

  /// What scripts begin with. `$A` is the tool, `$S` starc, `$E` the extension that does what a file tells it, `$C` the container, `$G` the
  /// directory of its app group.
  ///
  /// - `behave STEP...` tells the extension what to do in an export.
  /// - `arriving STEP...` makes `src` with such steps for an import; `pack` makes `in.tar` of it.
  /// - `exporting STATUS ARGUMENT...`, `importing STATUS ARGUMENT...` run the tool, which must exit with the status; what it wrote is in `out` and `err`.
  ///   `importing` takes any tar.
  /// - `said TEXT`: `err` holds the text; `nothing_said` the contrary.
  /// - `field NAME` prints a value of the JSON object in `out`, `a.b` one of an object in it.
  /// - `status_is NAME VALUE` compares what `status --json` says.
  /// - `wait_for COMMAND` waits until the command succeeds, for 20 seconds at the most.
  /// - `no_orphans` looks for processes in the groups of all extensions that ran.
  private static let prelude = #"""
    exec 3>&2
    set -euE -o pipefail
    trap 'echo "failed in line $LINENO: $BASH_COMMAND; $(head -c 3000 err out 2> /dev/null || true)" >&3' ERR
    C=$PWD/apps/one G=$PWD/groups/group.behaving E=$PWD/ext/Behaving
    export APP_GROUPS_ROOT=$PWD/groups
    mkdir -p ext $C/Documents groups
    ln -s $BEHAVING $E
    entitle() {
      printf '<?xml version="1.0"?><plist version="1.0"><dict><key>com.apple.developer.app-migration.data-container-access</key>
        %s<key>com.apple.security.application-groups</key><array><string>group.behaving</string></array></dict></plist>' \
        "$1" > $E.entitlements
    }
    entitle '<array><string>org.example.behaving</string></array>'
    behave() { printf '%s\n' "$@" > $C/Documents/behaviour; }
    arriving() { mkdir -p src; printf '%s\n' "$@" > src/behaviour; printf data > src/data; }
    pack() { rm -rf $C; tar -C src -cf in.tar .; }
    status() {
      local want=$1 got=0; shift
      "$@" > out 2> err || got=$?
      cat err >> all-errors
      [ $got -eq $want ] || { echo "exit $got instead of $want: $*; $(head -c 3000 err)" >&3; exit 99; }
    }
    exporting() { status "$1" $A export -e $E --container $C "${@:2}"; }
    importing() { status "$1" $A import -e $E --container $C --source-version 1 --source-bundle-id org.example.old "${@:2}"; }
    said() { grep -qF -- "$1" err || { echo "never said: $1; $(cat err)" >&3; exit 97; }; }
    nothing_said() { ! grep -qF -- "$1" err || { echo "said: $1; $(cat err)" >&3; exit 96; }; }
    field() { python3 -c '
    import json, sys
    value = json.load(open("out"))
    for name in sys.argv[1].split("."): value = value[name]
    print(json.dumps(value) if not isinstance(value, str) else value)' $1; }
    is() { [ "$1" = "$2" ] || { echo "\"$1\" is not \"$2\"" >&3; exit 95; }; }
    status_is() {
      $A status --bundle-id org.example.behaving --container $C --json > out 2>> err || true
      is "$(field $1)" "$2"
    }
    wait_for() {
      local turn
      for turn in $(seq 2000); do "$@" > /dev/null 2>&1 && return; sleep 0.01; done
      echo "never: $*; $(cat err* 2> /dev/null)" >&3; exit 98
    }
    contents() { (cd $C && find . -mindepth 1 -printf '%P\n' | sort | tr '\n' ' '); }
    # Nothing of a run is left beside the container, but the locks and the result.
    clean_state() { is "$(ls -A apps/.one.migration | grep -vx 'lock\|system\|status' || true)" ""; }
    no_orphans() {
      local group turn
      for group in $(cat all-errors err* 2> /dev/null | sed -n 's/^behaving: group \([0-9]*\)$/\1/p' | sort -u); do
        # One that the kernel still takes down may be seen for a moment.
        for turn in $(seq 300); do
          [ -n "$(ps -eo pgid=,stat= | awk -v g=$group '$1 == g && $2 !~ /^Z/')" ] || continue 2; sleep 0.01
        done
        echo "left: $(ps -eo pid,pgid,stat,args | awk -v g=$group '$2 == g')" >&3; exit 94
      done
    }

    """#

  private static let turnstile = Turnstile(2)

  /// Runs a script of bash that ends at the first command that fails. Anything but success is a failure of the test, which names the command.
  @discardableResult
  static func script(
    _ text: String, userID: UInt32? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> String {
    let directory = try #require(TemporaryDirectory.current).path
    if let userID { try Shell.script("chown \(userID) .", directory: directory) }
    let environment = [
      "A": Shell.builtProduct("appmigrate"), "S": Shell.builtProduct("starc"),
      "BEHAVING": Shell.builtProduct("BehavingExtension"), "APP": Shell.builtProduct("LaunchedApp"),
      "LC_ALL": "C.UTF-8", "TZ": "UTC", "SWIFT_BACKTRACE": "enable=no",
    ]
    let result = try await turnstile.pass {
      try Shell.run(
        ["bash", "-c", prelude + text + "\nno_orphans"], environment: environment, directory: directory, userID: userID,
        timeout: 240)
    }
    #expect(
      result.status == 0, "exit \(result.status): \(result.outputText)\(result.errorText)",
      sourceLocation: sourceLocation)
    return result.outputText
  }
}
