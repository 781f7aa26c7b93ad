internal import TestSupport
internal import Testing

/// The tool is killed with SIGKILL, in every phase: before each of its durable steps, and while the extension runs. Afterwards the status is
/// true, and the next run, or the launch of the app, cleans up: the container is what it was before, or complete.
@Suite(
  .inTemporaryDirectory(.memory), .timeLimit(.minutes(10)),
  .enabled(if: RunningTool.canTrace, "needs strace, and to be allowed to start processes under it"))
struct KilledTests {
  /// `killed CALL N COMMAND...` kills the command at its n-th call of a kind on its main thread; false if it comes to its end before.
  /// `recover` cleans up, in turn by the launch of the app and by another run.
  private static let helpers = #"""
    killed() {
      local call=$1 nth=$2; shift 2; got=0
      strace -qq -o trace -e trace=$call -e inject=$call:signal=SIGKILL:when=$nth "$@" > out 2> err || got=$?
      cat err >> all-errors; [ $got -eq 137 ]
    }
    turn=0
    recover() {
      turn=$((turn + 1))
      if [ $((turn % 2)) = 0 ]; then status 0 $APP $C < /dev/null
      else status 2 $A import -e $E --container $C --source-version 1 --source-bundle-id o $PWD/missing --replace; fi
    }
    record() { $A status --bundle-id org.example.behaving --container $C --json || true; }

    """#

  @Test(arguments: [
    ("fsync", false), ("renameat syncfs", false), ("unlinkat", false), ("mkdirat renameat2", false), ("fsync", true),
    ("renameat unlinkat", true),
  ])
  func anImportAtEachDurableStep(_ calls: String, isFailing: Bool) async throws {
    try await Appmigrate.script(
      Self.helpers + #"""
        arriving 'move data' 'touch 1 0' \#(isFailing ? "throw-nserror" : ""); pack; cp -a src keep
        shot() { (cd apps; find one -printf '%p %y %m %s %T@ %i %l\n' | sort; cat one/Library/old); }
        for call in \#(calls); do for nth in $(seq 40); do
          rm -rf apps; mkdir -p $C/Library; printf old > $C/Library/old; before=$(shot)
          killed $call $nth $A import -e $E --container $C --replace --source-version 1 --source-bundle-id o in.tar || break
          first=$(record); is "$(record)" "$first"
          status 0 $APP $C < /dev/null; after=$(record); clean_state
          case "$first" in
            *none*) is "$(shot)" "$before"; is "$after" "$first" ;;
            *success*) is "$(cat $C/Documents/data)" data; [ ! -e $C/Library/old ]; is "$after" "$first"; [ \#(isFailing) = false ] ;;
            *org.example.behaving*) is "$(shot)" "$before"; is "$after" "$first"; [ \#(isFailing) = true ] ;;
            *'"interrupted":true'*) is "$(shot)" "$before"; echo "$after" | grep -q '"status":"failure".*"interrupted":true' ;;
            *) echo "$first" >&3; false ;;
          esac
          echo "$call $nth $first" | sed 's/"description.*//'
        done; [ $nth -gt 1 ]; done
        """#)
  }

  @Test func anExportAtEachStep() async throws {
    try await Appmigrate.script(
      Self.helpers + #"""
        printf f > $C/Documents/f; behave 'append Documents/f'
        for call in fsync renameat renameat2 unlinkat; do for nth in $(seq 20); do
          rm -f a.tar.zst; killed $call $nth $A export -e $E --container $C -o a.tar.zst || break
          [ ! -e a.tar.zst ] || is "$($S cat a.tar.zst f)" f
          is "$($A status --bundle-id org.example.behaving --container $C)" none
          [ $((nth % 2)) = 0 ] || { status 0 $APP $C < /dev/null; clean_state; }
          exporting 0 -o a.tar.zst; clean_state; is "$($S cat a.tar.zst f)" f; is "$(contents)" "Documents Documents/behaviour Documents/f "
          is "$(ls -A | grep -c partial || true)" 0
        done; done
        """#)
  }

  /// What the extension has started lives on and is found, also when it closes all descriptors: it cannot close the lock.
  @Test(arguments: ["child", "child-apart"], ["", "--replace"]) func whileTheExtensionImports(
    _ step: String, _ option: String
  ) async throws {
    try await Appmigrate.script(
      Self.helpers + #"""
        arriving 'move data' \#(step) 'say here' hang; pack; mkdir -p $C; \#(option.isEmpty ? ":" : "printf old > $C/old"); before=$(contents)
        for turn in 0 1; do
          $A import -e $E --container $C --source-version 1 --source-bundle-id o \#(option) in.tar 2> err & pid=$!
          wait_for grep -q here err; cat err >> all-errors; child=$(sed -n 's/behaving: child //p' err); kill -KILL $pid; wait $pid || true
          is "$(cat $C/Documents/data)" data; kill -0 $child
          status_is status failure; status_is interrupted true; status_is domain AppMigrationHost; status_is code 1
          is "$(cat $C/Documents/data)" data; kill -0 $child
          recover; is "$(contents)" "$before"; clean_state; no_orphans
          status_is code $([ $turn = 1 ] && echo 3 || echo 1)
        done
        """#)
  }

  @Test(arguments: ["child", "child-apart"]) func whileTheExtensionExports(_ step: String) async throws {
    try await Appmigrate.script(
      Self.helpers + #"""
        printf f > $C/Documents/f; behave 'append Documents/f' \#(step) 'say here' hang
        $A export -e $E --container $C -o a.tar.zst 2> err1 & pid=$!
        wait_for grep -q here err1; kill -KILL $pid; wait $pid || true; [ ! -e a.tar.zst ]
        status 0 $APP $C < /dev/null; grep -q 'launched, found interruptedExport' out; no_orphans; clean_state
        behave 'append Documents/f'; exporting 0 -o a.tar.zst; is "$(ls -A | grep -c partial || true)" 0
        """#)
  }

  /// The container is not touched as long as the archive is unpacked; what was unpacked goes.
  @Test func whileTheArchiveIsUnpacked() async throws {
    try await Appmigrate.script(
      Self.helpers + #"""
        arriving 'mark ran'; head -c 3000000 /dev/urandom > src/big; pack; mkdir -p $C; printf old > $C/old; mkfifo p
        for turn in 0 1; do
          $A import -e $E --container $C --replace --source-version 1 --source-bundle-id o - < p 2> err & pid=$!
          exec 4> p; head -c 2000000 in.tar >&4; wait_for [ -d apps/.one.migration/.staging.starc-partial ]
          kill -KILL $pid; wait $pid || true; exec 4>&-
          status_is status failure; status_is interrupted true; recover; is "$(contents)" "old "; clean_state; [ ! -e $G/ran ]
          # The launch of the app changes nothing about it; a further run has a result of its own.
          status_is code $([ $turn = 1 ] && echo 3 || echo 1)
        done
        """#)
  }

  /// A run in between does not forget what came of an interrupted one before the app has seen it.
  @Test func anExportAfterAnInterruptedImport() async throws {
    try await Appmigrate.script(
      Self.helpers + #"""
        arriving 'move data' 'say here' hang; pack
        $A import -e $E --container $C --source-version 1 --source-bundle-id o in.tar 2> err & pid=$!
        wait_for grep -q here err; kill -KILL $pid; wait $pid || true
        behave; rm $C/Documents/behaviour; exporting 0 -o a.tar.zst; is "$(contents)" ""; status_is interrupted true
        status 0 $A clear-status --bundle-id org.example.behaving --container $C; status_is status none
        """#)
  }
}
