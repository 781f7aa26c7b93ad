internal import TestSupport
internal import Testing

/// Imports in which the extension fails in every way: the container is emptied, or is again what it was, bit by bit.
@Suite(.inTemporaryDirectory(.memory), .timeLimit(.minutes(10))) struct ImportWatchTests {
  /// What the extension does, and what comes of it.
  struct Ending: Sendable {
    var steps: [String]
    var says: String
    var domain = "AppMigrationHost"
    var code = 3
  }

  static let endings: [Ending] = [
    Ending(steps: ["throw-nserror"], says: "the photos are from the future", domain: "org.example.behaving", code: 42),
    Ending(steps: ["throw"], says: "Refusal", domain: "BehavingExtension.Refusal", code: 1),
    Ending(steps: ["signal 11"], says: "SIGSEGV (signal 11) before it was done"),
    Ending(steps: ["child", "exit 0"], says: "exited with status 0 before it was done"),
    Ending(steps: ["child", "hang"], says: "did nothing for 0.5 seconds"),
    Ending(steps: ["progress 5 10", "hang"], says: "did nothing for 0.5 seconds"),
  ]

  @Test(arguments: endings) func failure(_ ending: Ending) async throws {
    let steps = ending.steps.map { "'\($0)'" }.joined(separator: " ")
    try await Appmigrate.script(
      """
      arriving 'move data' 'touch 3 1' 'mark ran' \(steps); pack
      importing 2 --hang-timeout 0.5 in.tar; said '\(ending.says)'; is "$(contents)" ""; [ -e $G/ran ]; no_orphans; clean_state
      status_is status failure; status_is domain \(ending.domain); status_is code \(ending.code); status_is interrupted false
      field description | grep -qF '\(ending.says)'
      # Of `userInfo` what is text.
      \(ending.code == 42 ? "grep -q '\"advice\" : \"wait\"' apps/.one.migration/status; ! grep -q '\"number\"' apps/.one.migration/status" : ":")
      status 1 $A status --bundle-id org.example.behaving --container $C; grep -qF '\(ending.says)' out

      mkdir -p $C/Library/x; printf old > $C/Library/x/old; ln -s x $C/Library/l; chmod 4750 $C/Library/x/old; touch -d 2001-01-01 $C/Library/x
      shot() { (cd apps; find one -printf '%p %y %m %u %g %s %T@ %i %n %l\\n' | sort; cat one/Library/x/old); }
      before=$(shot); rm $G/ran
      importing 2 --replace --hang-timeout 0.5 --json in.tar; is "$(field status)" failure; is "$(field error.domain)" \
      \(ending.domain == "AppMigrationHost" ? "null" : ending.domain)
      is "$(shot)" "$before"; [ -e $G/ran ]; no_orphans; clean_state; status_is status failure
      """)
  }

  /// Each keeps an extension alive that takes several times the timeout.
  @Test(arguments: ["progress 30 100", "touch 30 100", "busy 3000"]) func activity(_ step: String) async throws {
    try await Appmigrate.script(
      "arriving '\(step)'; pack; importing 0 --hang-timeout 1 in.tar; status_is status success")
  }

  /// Processor time alone is believed for ten times the timeout.
  @Test func endlessLoop() async throws {
    try await Appmigrate.script(
      """
      arriving 'busy 60000'; pack; start=$(date +%s%N); importing 2 --hang-timeout 0.2 in.tar; said 'did nothing for'
      took=$((($(date +%s%N) - start) / 1000000)); [ $took -ge 1900 ] && [ $took -lt 6000 ] || { echo "$took ms" >&3; false; }
      """)
  }

  @Test(arguments: ["hang", "progress 100000 1"], ["", "--replace"]) func cancel(_ step: String, _ option: String)
    async throws
  {
    try await Appmigrate.script(
      """
      arriving 'move data' 'say here' '\(step)'; pack; \(option.isEmpty ? ":" : "mkdir -p $C; printf old > $C/old"); mkdir -p $C; before=$(contents)
      $A import -e $E --container $C --source-version 1 --source-bundle-id o --cancel-grace 0.5 \(option) in.tar 2> err & pid=$!
      wait_for grep -q here err; is "$($A status --bundle-id org.example.behaving --container $C)" none
      kill -INT $pid; got=0; wait $pid || got=$?; is $got 130; is "$(contents)" "$before"; clean_state
      said 'went on for 0.5 seconds'; status_is status failure
      """)
  }

  /// While an archive trickles in nothing is started; a cancel ends it at once.
  @Test func cancelWhileUnpacking() async throws {
    try await Appmigrate.script(
      """
      arriving 'mark ran'; head -c 3000000 /dev/urandom > src/big; pack; mkfifo p
      $A import -e $E --container $C --source-version 1 --source-bundle-id o - < p 2> err & pid=$!
      exec 4> p; head -c 2000000 in.tar >&4; wait_for [ -n "$(find apps -name big)" ]; kill -INT $pid; got=0; wait $pid || got=$?; is $got 130
      [ ! -e $G/ran ]; is "$(contents)" ""; clean_state; status_is status failure
      """)
  }

  @Test func successThatLingers() async throws {
    try await Appmigrate.script(
      """
      arriving 'move data' linger; pack; importing 2 in.tar; said 'did not exit'; is "$(contents)" ""
      arriving 'move data' child; pack; importing 0 in.tar; is "$(cat $C/Documents/data)" data
      """)
  }
}
