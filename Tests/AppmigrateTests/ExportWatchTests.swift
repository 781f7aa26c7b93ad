internal import TestSupport
internal import Testing

/// Exports that hang, crash, fail or are cancelled: whatever happens, no archive and no process is left.
@Suite(.inTemporaryDirectory(.memory), .timeLimit(.minutes(10))) struct ExportWatchTests {
  /// The status and what the message says.
  struct Ending: Sendable {
    var steps: [String]
    var status = 2
    var says: [String]
    var hangTimeout = 1
  }

  @Test(arguments: [
    Ending(steps: ["estimate-hangs"], says: ["did nothing for 1.0 seconds"]),
    Ending(steps: ["append Documents/f", "hang"], says: ["did nothing for 1.0 seconds", "--hang-timeout"]),
    Ending(
      steps: ["append Documents/f", "sleep 300", "append Documents/f 2", "child", "hang"], says: ["did nothing for"]),
    Ending(steps: ["append Documents/f", "busy 60000"], says: ["did nothing for"]),
    Ending(steps: ["append Documents/f", "signal 11"], says: ["SIGSEGV (signal 11) before it was done"]),
    Ending(steps: ["child", "signal 6"], says: ["SIGABRT (signal 6)"]),
    Ending(steps: ["estimate-crashes"], says: ["SIGSEGV"]),
    Ending(steps: ["child", "exit 3"], says: ["exited with status 3 before it was done"]),
    Ending(steps: ["exit 0"], says: ["exited with status 0 before it was done"]),
    Ending(steps: ["append Documents/f", "throw"], says: ["the extension failed: ", "Refusal"]),
    Ending(
      steps: ["append Documents/f", "throw-nserror"], says: ["the photos are from the future (org.example.behaving 42)"]
    ),
    Ending(steps: ["append Documents/missing"], says: ["Documents/missing", "No such file"]),
    Ending(steps: ["append Documents/f", "linger"], says: ["said that it was done but did not exit"], hangTimeout: 20),
    Ending(steps: ["append Documents/f", "child"], status: 0, says: ["child"]),
  ])
  func endings(_ ending: Ending) async throws {
    try await Appmigrate.script(
      """
      printf f > $C/Documents/f; printf old > a.tar.zst
      behave \(ending.steps.map { "'\($0)'" }.joined(separator: " "))
      exporting \(ending.status) -o a.tar.zst --hang-timeout \(ending.hangTimeout)
      \(ending.says.map { "said '\($0)'" }.joined(separator: "; "))
      no_orphans; clean_state; is "$(ls -A | tr '\\n' ' ')" "a.tar.zst all-errors apps err ext groups out "
      [ \(ending.status) = 0 ] || is "$(cat a.tar.zst)" old
      """)
  }

  /// Steps that take less than the timeout each, and more together.
  @Test func slowStepsAreNoHang() async throws {
    try await Appmigrate.script(
      """
      for n in 1 2 3 4; do printf $n > $C/Documents/$n; done
      behave 'sleep 600' 'append Documents/1' 'sleep 600' 'append Documents/2' 'sleep 600' 'append Documents/3' 'sleep 600' 'append Documents/4'
      exporting 0 -o a.tar.zst --hang-timeout 1.5
      behave 'sleep 1500'; exporting 0 -o a.tar.zst --hang-timeout 0
      """)
  }

  /// One long call, into a pipe whose reader first takes nothing for longer than the timeout and then reads slowly.
  @Test func oneLongCallAndASlowReaderAreNoHang() async throws {
    try await Appmigrate.script(
      """
      head -c 40000000 /dev/urandom > $C/Documents/big; behave 'append Documents/big' 'say done'; mkfifo p
      $A export -e $E --container $C -o - --hang-timeout 0.5 > p 2> err & pid=$!
      exec 4< p; sleep 1.5; nothing_said done
      for n in $(seq 30); do head -c 1000000 <&4; sleep 0.05; done > a.tar.zst; cat <&4 >> a.tar.zst; wait $pid; said done
      $S extract -q a.tar.zst x; cmp x/big $C/Documents/big
      """)
  }

  @Test(arguments: ["INT", "TERM"]) func cancel(_ signal: String) async throws {
    try await Appmigrate.script(
      """
      printf f > $C/Documents/f; behave 'say here' 'until-cancelled Documents/f'
      $A export -e $E --container $C -o a.tar.zst 2> err & pid=$!
      wait_for grep -q here err; kill -\(signal) $pid; got=0; wait $pid || got=$?; is $got \(signal == "INT" ? 130 : 143)
      said 'cancelled by CancellationError, task true'; [ ! -e a.tar.zst ]; clean_state; is "$(ls -A | tr '\\n' ' ')" "apps err ext groups "
      """)
  }

  /// The extension has ended and nobody reads the rest of the archive: a cancel still ends the export.
  @Test func cancelWhileTheArchiveIsFinished() async throws {
    try await Appmigrate.script(
      """
      head -c 1000000 /dev/urandom > $C/Documents/f; behave incompressible 'append Documents/f' 'say here'; mkfifo p; exec 4<> p
      timeout -s KILL 20 $A export -e $E --container $C -o - > p 2> err 4>&- & pid=$!
      wait_for grep -q here err; tool=$(pgrep -P $pid); wait_for sh -c "! pgrep -P $tool"
      kill -INT $tool; got=0; wait $pid || got=$?; is $got 130; clean_state
      """)
  }

  @Test(arguments: ["swallow Documents/f", "hang", "estimate-hangs"]) func cancelThatIsNotHeeded(_ step: String)
    async throws
  {
    try await Appmigrate.script(
      """
      printf f > $C/Documents/f; behave 'say here' '\(step)'
      $A export -e $E --container $C -o a.tar.zst --cancel-grace 0.7 2> err & pid=$!
      wait_for grep -q '^behaving: group' err; sleep 0.3; start=$(date +%s%N); kill -INT $pid; got=0; wait $pid || got=$?; is $got 130
      took=$((($(date +%s%N) - start) / 1000000)); [ $took -ge 650 ] && [ $took -lt 5000 ] || { echo "$took ms" >&3; false; }
      said 'went on for 0.7 seconds after that and was ended'
      \(step.hasPrefix("swallow") ? "said 'swallowed CancellationError'" : ":"); [ ! -e a.tar.zst ]; clean_state
      """)
  }

  /// A reader that goes away ends the export quietly, as `head` does.
  @Test func readerThatGoesAway() async throws {
    try await Appmigrate.script(
      """
      head -c 20000000 /dev/urandom > $C/Documents/big; behave 'append Documents/big' hang; mkfifo p
      $A export -e $E --container $C -o - > p 2> err & pid=$!
      exec 4< p; head -c 1000 <&4 > a; exec 4<&-; got=0; wait $pid || got=$?; [ $got -ne 0 ]; nothing_said 'Fatal'; clean_state
      """)
  }
}
