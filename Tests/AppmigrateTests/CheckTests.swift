internal import TestSupport
internal import Testing

/// What is looked at before anything is started.
@Suite(.inTemporaryDirectory(.memory), .timeLimit(.minutes(10))) struct CheckTests {
  @Test func whatWouldStopAMigration() async throws {
    try await Appmigrate.script(
      """
      status 0 $A check -e $E --container $C --json
      is "$(field ok)" true; is "$(field bundleIdentifier)" org.example.behaving; is "$(field groups)" '["group.behaving"]'
      is "$(field container)" $C; is "$(field problems)" '[]'; [ "$(field landlockABI)" -ge 6 ]; is "$(field metadataProtection)" true
      is "$(contents)" "Documents "
      status 0 $A check -e $E --container $C; grep -q 'nothing stops a migration' out

      rm $E; status 2 $A check -e $E --container $C --json; is "$(field ok)" false
      field problems | grep -q 'No such file'; ln -s $BEHAVING $E

      rm -r $C; status 0 $A check -e $E --container $C; grep -q 'missing: an export needs it' out
      touch $C; status 2 $A check -e $E --container $C; grep -q 'no directory' out
      """)
  }

  /// Each is refused by the check, the export and the import with the same reason.
  @Test(arguments: [
    ("", "property list"), ("<array></array>", "0 elements"),
    ("<string>org.example.behaving</string>", "not an array of strings"),
    ("<array><string>a.b</string><string>c.d</string></array>", "2 elements"),
    ("<array><integer>1</integer></array>", "not an array of strings"),
    ("<array><string>../evil</string></array>", "no identifier"), (nil, "does not exist"),
  ])
  func entitlementsThatDoNotHold(_ value: String?, _ reason: String) async throws {
    try await Appmigrate.script(
      """
      \(value.map { "entitle '\($0)'" } ?? "rm $E.entitlements")
      arriving 'mark ran'; tar -C src -cf in.tar .
      status 2 $A check -e $E --container $C --json; is "$(field ok)" false; is "$(field bundleIdentifier)" null
      reason="$(python3 -c 'import json; print(json.load(open("out"))["problems"][0].split("\\n")[0])')"
      echo "$reason" | grep -q -- '\(reason)'
      exporting 2 -o x.tar.zst; said "$reason"; [ ! -e x.tar.zst ]
      importing 2 in.tar; said "$reason"; [ ! -e $G/ran ]
      status 2 $A estimate -e $E --container $C; said "$reason"
      """)
  }

  @Test func estimates() async throws {
    try await Appmigrate.script(
      """
      behave 'version 7.1' 'estimate 12345' 'incompressible' 'throw'
      status 0 $A estimate -e $E --container $C --json
      is "$(field sizeEstimate)" 12345; is "$(field version)" 7.1; is "$(field compressible)" false
      is "$(field exports)" true; is "$(field imports)" true
      status 0 $A estimate -e $E --container $C; is "$(cat out)" '12.3 kB, version 7.1, not compressible'
      behave estimate-hangs; status 2 $A estimate -e $E --container $C --hang-timeout 0.3; said 'did nothing for 0.3 seconds'
      behave estimate-crashes; status 2 $A estimate -e $E --container $C; said 'SIGSEGV (signal 11) before it was done'
      rm -r $C; status 2 $A estimate -e $E --container $C; said 'apps/one'
      """)
  }

  @Test func wrongUsage() async throws {
    try await Appmigrate.script(
      """
      status 64 $A export -e $E; said '--output is missing'
      status 64 $A export -o x; said '--extension is missing'
      status 64 $A import -e $E; said 'ARCHIVE is missing'
      status 64 $A import -e $E a b; said 'one archive at a time'
      status 64 $A export -e $E -o x --hang-timeout soon; said '"soon" is no number of seconds'
      status 64 $A export -e $E -o x --option =1; said 'KEY=VALUE'
      status 64 $A import -e $E a --max-size much; said 'max-size'
      status 64 $A status; said '--bundle-id is missing'
      status 64 $A nothing
      """)
  }

  /// All of it is enforced where the tests run, or the command says what is not and fails.
  @Test func sandboxThatIsRequired() async throws {
    try await Appmigrate.script(
      """
      behave 'append Documents'; exporting 0 -o a.tar.zst --require-sandbox --json
      is "$(field sandbox.complete)" true; is "$(field sandbox.problems)" '[]'
      status 0 $A import -e $E --container ${C}2 --require-sandbox --json a.tar.zst; is "$(field sandbox.complete)" true
      """)
  }

  /// A kernel without Landlock, played by a filter of system calls that knows none of its calls.
  @Test func sandboxThatCannotBeEnforced() async throws {
    try await Appmigrate.script(
      #"""
      cat > older.py << 'END'
      import ctypes, os, struct, sys
      # Calls 444 to 446 fail with ENOSYS; all others are allowed.
      code = [(0x20, 0, 0, 0), (0x35, 0, 2, 444), (0x25, 1, 0, 446), (0x06, 0, 0, 0x00050026), (0x06, 0, 0, 0x7fff0000)]
      filter = b"".join(struct.pack("HBBI", *step) for step in code)
      buffer = ctypes.create_string_buffer(filter)
      program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(buffer)))
      libc = ctypes.CDLL(None, use_errno=True)
      assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
      os.execv(sys.argv[1], sys.argv[1:])
      END
      sed -i 's/^      //' older.py
      older() { status $1 python3 older.py $A "${@:2}"; }
      behave 'append Documents'
      older 0 check -e $E --container $C --json; is "$(field ok)" true; is "$(field landlockABI)" 0
      field problems | grep -q 'can read and write all files of this user'
      older 0 export -e $E --container $C -o a.tar.zst --json; is "$(field sandbox.complete)" false; is "$(field sandbox.landlockABI)" 0
      older 2 export -e $E --container $C -o b.tar.zst --require-sandbox; said 'cannot enforce the sandbox as required'; [ ! -e b.tar.zst ]
      nothing_said behaving; rm -r $C
      older 2 import -e $E --container $C --require-sandbox --source-version 1 --source-bundle-id o a.tar.zst
      said 'cannot enforce the sandbox as required'; is "$(contents)" ""; status_is status failure; clean_state
      older 0 import -e $E --container $C --json a.tar.zst; is "$(field sandbox.complete)" false
      """#)
  }
}
