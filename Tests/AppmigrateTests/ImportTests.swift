internal import TestSupport
internal import Testing

/// Imports that succeed, and those that are refused before the extension is started: it would leave a mark in its group's directory.
@Suite(.inTemporaryDirectory(), .timeLimit(.minutes(10))) struct ImportTests {
  @Test func success() async throws {
    try await Appmigrate.script(
      #"""
      behave 'version 2.5' 'append Documents/tree .'; mkdir -p $C/Documents/tree; arriving request list 'move data' 'mark ran'
      cp src/* $C/Documents/tree; behave 'version 2.5' 'append Documents/tree/data data' 'append Documents/tree/behaviour behaviour'
      exporting 0 -o a.tar.zst --store-id shop; rm -r $C
      status 0 $A import -e $E --container $C --json a.tar.zst
      said 'version 2.5 of org.example.behaving'; said shop; said 'container Documents,Library,Library/Application Support'
      is "$(field status)" success; is "$(field items)" 2; is "$(field bytes)" $(cat src/* | wc -c); is "$(field sourceVersion)" 2.5
      is "$(field sourceBundleIdentifier)" org.example.behaving; is "$(field sourcePlatform)" linux; is "$(field error)" null
      is "$(field sandbox.complete)" true; python3 -c "import sys; sys.exit(not 0 < $(field seconds) < 60)"
      is "$(contents)" "Documents Documents/data Library Library/Application Support "; is "$(cat $G/ran)" mark; clean_state
      status_is status success; status_is domain null; status_is interrupted false
      status 0 $A status --bundle-id org.example.behaving --container $C; is "$(cat out)" success
      status 0 $A clear-status --bundle-id org.example.behaving --container $C; status_is status none
      """#)
  }

  /// What comes of any tar, from a pipe too, and what the caller says about it.
  @Test func foreignArchives() async throws {
    try await Appmigrate.script(
      """
      arriving request 'move data'; pack; gzip -k in.tar; zstd -q in.tar
      status 2 $A import -e $E --container $C in.tar; said '--source-version and --source-bundle-id'; is "$(contents)" ""
      status 2 $A import -e $E --container $C --source-version 1 in.tar; said '--source-bundle-id'
      status_is status failure; status_is code 3
      importing 0 --source-platform ios --source-store s in.tar --json; said 'version 1 of org.example.old'; said ios
      is "$(field sourcePlatform)" ios; rm -r $C; importing 0 in.tar.zst; rm -r $C
      status 0 $A import -e $E --container $C --source-version 1 --source-bundle-id o - < <(cat in.tar); is "$(cat $C/Documents/data)" data
      status 2 $A import -e $E --container ${C}3 --source-version 1 --source-bundle-id o in.tar.gz
      status 2 $A import -e $E --container ${C}4 --source-version 1 --source-bundle-id o missing; said missing
      status 2 $A import -e $E --container ${C}4 --source-version 1 --source-bundle-id o apps
      """)
  }

  @Test func containerThatIsNotEmpty() async throws {
    try await Appmigrate.script(
      """
      arriving 'move data' 'mark ran'; pack; mkdir -p $C/Library; printf old > $C/Library/old; before=$(contents)
      importing 2 in.tar; said 'is not empty; --replace'; is "$(contents)" "$before"; [ ! -e $G/ran ]; status_is status none; clean_state
      importing 0 --replace in.tar; is "$(contents)" "Documents Documents/data Library Library/Application Support "; clean_state
      arriving throw; tar -C src -cf in.tar .; before=$(contents)
      importing 2 in.tar; said 'is not empty'; is "$(contents)" "$before"; status_is status success
      importing 2 --replace in.tar; is "$(contents)" "$before"; status_is status failure
      """)
  }

  /// A byte wrong in any of many places, or an end that is missing.
  @Test func archivesThatAreDamaged() async throws {
    try await Appmigrate.script(
      #"""
      head -c 2500000 /dev/urandom > $C/Documents/big; for i in $(seq 200); do echo $i > $C/Documents/$i; done
      arriving 'mark ran'; cp src/behaviour $C/Documents/b; behave 'append Documents docs' 'append Documents/b behaviour'
      exporting 0 -o a.tar.zst; rm -r $C; size=$(stat -c %s a.tar.zst)
      for part in $(seq 0 19); do
        place=$((part * (size - 1) / 19)); cp a.tar.zst b.tar.zst
        python3 -c "
      f = open('b.tar.zst', 'r+b'); f.seek($place); x = f.read(1)[0]; f.seek($place); f.write(bytes([x ^ 0x41]))"
        status 2 $A import -e $E --container $C b.tar.zst; [ ! -e $G/ran ]; nothing_said behaving:
        is "$(contents)" ""; status_is status failure; status_is domain AppMigrationHost; clean_state
        status 2 $A import -e $E --container ${C}2 - < <(cat b.tar.zst); [ ! -e $G/ran ]
        rm -r apps
      done
      for size in 0 1 1000 $((size / 2)) $((size - 1)); do
        head -c $size a.tar.zst > b.tar.zst; status 2 $A import -e $E --container $C b.tar.zst; [ ! -e $G/ran ]
        status_is status failure
      done
      status 0 $A import -e $E --container $C a.tar.zst; [ -e $G/ran ]
      """#)
  }

  @Test func limits() async throws {
    try await Appmigrate.script(
      """
      arriving 'mark ran'; head -c 5000000 /dev/zero > src/zeros; for i in $(seq 50); do touch src/$i; done; pack; zstd -q in.tar
      importing 2 --max-size 4M in.tar.zst; said 4194304; is "$(contents)" ""
      importing 2 --max-entries 50 in.tar.zst; said 50; importing 2 --max-ratio 20 in.tar.zst; said 20
      [ ! -e $G/ran ]; status_is status failure; clean_state
      importing 0 --max-size 6M --max-entries 60 --max-ratio 100000 in.tar.zst; [ -e $G/ran ]
      """)
  }

  /// What may not arrive is refused by name.
  @Test(arguments: [
    ("mkfifo src/evil", "FIFO"), ("mknod src/evil c 1 3", "device"), ("mknod src/evil b 7 0", "device"),
    ("ln -s /etc/passwd src/evil", "leads"), ("ln -s ../evil src/evil", "leads"),
    ("mkdir src/d; ln -s d/../../x src/evil", "leads"), ("ln -s . src/evil; ln -s evil/.. src/n2", "n2"),
  ])
  func whatMayNotArrive(_ make: String, _ word: String) async throws {
    if make.contains("mknod"), !Appmigrate.isRoot { return }
    try await Appmigrate.script(
      """
      arriving 'mark ran'; \(make); pack
      importing 2 in.tar; said '\(word)'; \(word == "n2" ? ":" : "said evil"); [ ! -e $G/ran ]; is "$(contents)" ""
      status_is status failure; clean_state
      """)
  }

  @Test func linksThatStayInside() async throws {
    try await Appmigrate.script(
      """
      arriving 'move d' 'move l' 'move h' 'mark ran'; mkdir src/d; printf i > src/d/i; ln -s d/i src/l; ln -s ../d src/d/up; ln src/d/i src/h; pack
      importing 0 in.tar; is "$(readlink $C/Documents/l)" d/i; is "$(stat -c %h $C/Documents/h)" 2; is "$(cat $C/Documents/l)" i
      """)
  }

  @Test(.enabled(if: Appmigrate.isRoot, "root imports for a user")) func rightsAndOwner() async throws {
    try await Appmigrate.script(
      """
      arriving 'move s' 'move d' 'move cap' 'move closed' 'mark ran'; mkdir src/d src/closed; printf s > src/s; cp src/s src/cap; cp src/s src/d/s
      printf x > src/closed/x; chown 1234:1234 src/s; setcap cap_net_raw+ep src/cap; chmod 6755 src/s src/d/s; chmod 3777 src/d; chmod 0 src/closed
      tar --xattrs --xattrs-include='*' -C src -cf in.tar .; rm -r $C; mkdir -p $C; chown 4321:4322 apps $C
      importing 0 in.tar
      is "$(cd $C/Documents; stat -c '%n %a %u %g' s d d/s cap | tr '\\n' ' ')" "s 755 4321 4322 d 777 4321 4322 d/s 755 4321 4322 cap 644 4321 4322 "
      is "$(stat -c '%a %u' $C/Documents/closed)" "700 4321"; is "$(getcap -r $C)" ""; is "$(find $C ! -user 4321)" ""
      """)
  }

  @Test(.enabled(if: Appmigrate.isRoot, "mounts")) func mountPoint() async throws {
    try await Appmigrate.script(
      """
      arriving 'mark ran'; tar -C src -cf in.tar .; mount -t tmpfs none $C; trap "umount -l $C" EXIT
      importing 2 in.tar; said 'is a mount point'; [ ! -e $G/ran ]
      status 2 $A check -e $E --container $C --json; field problems | grep -q 'is a mount point'
      """)
  }

  /// As soon as the manifest is known, and not only when the disk is full.
  @Test(.enabled(if: Appmigrate.isRoot, "mounts a small disk")) func spaceForTheImport() async throws {
    try await Appmigrate.script(
      """
      behave 'estimate 50000000' 'append Documents'; exporting 0 -o a.tar.zst; head -c 9000000 /dev/urandom > $C/Documents/big
      behave 'append Documents'; exporting 0 -o b.tar.zst
      mkdir small; mount -t tmpfs -o size=8m none small; trap 'umount -l small' EXIT
      status 2 $A import -e $E --container $PWD/small/c a.tar.zst; said 'holds 50000000 bytes'; grep -qE 'and [0-9]+ bytes are free' err
      status 2 $A import -e $E --container $PWD/small/c b.tar.zst; nothing_said behaving:
      is "$(find small/c -mindepth 1)" ""; is "$(ls -A small/.c.migration | tr '\\n' ' ')" "lock status system "
      """)
  }

  /// The old container cannot be removed: the import has succeeded all the same, and a later run goes on removing.
  @Test(.enabled(if: Appmigrate.isRoot, "needs root, to make a file that nobody can remove"))
  func oldContainerThatStays() async throws {
    try await Appmigrate.script(
      """
      arriving 'move data'; pack; mkdir -p $C; printf old > $C/old; chattr +i $C/old || exit 0
      importing 1 --replace in.tar --json; chattr -i apps/.one.migration/previous/old; is "$(field status)" success
      said 'has succeeded, but cleaning up has not'; is "$(cat $C/Documents/data)" data; status_is status success
      status 0 $APP $C < /dev/null; clean_state; is "$(cat $C/Documents/data)" data; status_is status success
      """)
  }

  @Test func clearing() async throws {
    try await Appmigrate.script(
      """
      clear() { status $1 $A clear-status --bundle-id org.example.behaving --container $C; }
      clear 0; [ ! -e apps/.one.migration ]
      arriving 'move data' 'say here' 'await go' 'throw'; pack
      $A import -e $E --container $C --source-version 1 --source-bundle-id o in.tar 2> err1 & pid=$!
      wait_for grep -q here err1; clear 2; said 'is under way'; touch $G/go; wait $pid || true; status_is status failure; clear 0; status_is status none
      rm $G/go; $A import -e $E --container $C --source-version 1 --source-bundle-id o in.tar 2> err1 & pid=$!
      wait_for grep -q here err1; kill -KILL $pid; wait $pid || true; status_is status failure; clear 0; status_is status none
      is "$(contents)" ""; clean_state
      """)
  }
}
