internal import ArchiveIO
internal import TestSupport
internal import Testing

/// What a user without privileges gets from archives of his own and of root.
@Suite(.enabled(if: ProcessFacts.effectiveUserID == 0, "needs root to become another user"))
struct UnprivilegedTests {
  /// Runs a script as root and then one as the user, in a directory of the user. The user may not reach the build
  /// directory, so the tool is copied.
  private func run(asRoot: String = "", asUser: String) throws {
    let place = try TemporaryDirectory(.memory)
    try Shell.script(
      "cp '\(Starc.path)' starc; chmod 755 starc; mkdir home; chown 65534:65534 home", directory: place.path)
    let tool = place.file("starc")
    try Starc.expectSuccess("cd home\n" + asRoot, directory: place.path, tool: tool)
    try Starc.expectSuccess("cd home\n" + asUser, directory: place.path, tool: tool, userID: Shell.plainUser)
  }

  /// Owners, set-id bits and devices of root's archive do not come to a user; all the rest does.
  @Test func archiveOfRoot() throws {
    try run(
      asRoot: """
        mkdir -p src/shared; echo 1 > src/su; chmod 6755 src/su; echo 2 > src/other; chown 1234:4321 src/other
        chmod 2775 src/shared; mknod src/null c 1 3; mkfifo src/fifo; echo 3 > src/none; chmod 0 src/none
        setfattr -n user.kept -v 1 src/other 2> /dev/null || true
        echo 4 > src/capable; setcap cap_net_raw+ep src/capable 2> /dev/null || true
        $S create -q --no-sync a.tar.zst src; chmod 644 a.tar.zst
        """,
      asUser: """
        umask 022
        status 1 $S extract --no-sync a.tar.zst out > /dev/null 2> errors
        grep -q 'src/null: is a device node' errors; test ! -e out/src/null
        test "$(stat -c '%u %a' out/src/su out/src/other out/src/shared out/src/none | tr '\\n' ' ')" = '65534 755 65534 644 65534 755 65534 0 '
        test -p out/src/fifo; test "$(cat out/src/other)" = 2
        # Asked for by name: modes come exactly, set-id bits too, but owned by the user himself.
        $S extract --no-sync a.tar.zst exact --same-permissions > /dev/null 2>&1 || [ $? = 1 ]
        test "$(stat -c '%u %a' exact/src/shared)" = '65534 2775'
        status 1 $S extract --no-sync a.tar.zst devices --devices > /dev/null 2> errors; grep -q 'src/null: ' errors
        status 1 $S extract --no-sync a.tar.zst owned --same-owner > /dev/null 2> errors; grep -q 'owner not restored' errors
        test $(grep -c owner errors) = 1; test "$(cat owned/src/su)" = 1
        """)
  }

  /// Directories that may not be written to are made, filled, replaced in a second run, and removed after a failure.
  @Test func readOnlyDirectories() throws {
    try run(
      asUser: """
        umask 077
        mkdir -p src/a/b/c; echo 1 > src/a/b/f; echo 2 > src/a/b/c/g; touch -d 2001-01-01 src/a/b/c src/a/b
        chmod 555 src/a/b/c src/a/b; chmod 500 src/a
        $S create -q --no-sync a.tar.zst src
        for source in a.tar.zst -; do for threads in 1 8; do
          $S extract -q --no-sync --same-permissions --threads $threads $source out < a.tar.zst
          test "$(cd src; stat -c '%a %Y %n' a a/b a/b/c a/b/f)" = "$(cd out/src; stat -c '%a %Y %n' a a/b a/b/c a/b/f)"
          $S compare -q a.tar.zst out; chmod -R u+w out; rm -r out
        done; done
        head -c -300 a.tar.zst > cut; status 2 $S extract -q - out < cut 2> /dev/null
        test "$(ls -A | tr '\\n' ' ')" = 'a.tar.zst cut src '
        # Without the option the umask holds.
        $S extract -q --no-sync a.tar.zst masked; test "$(stat -c %a masked/src/a/b masked/src/a/b/f | tr '\\n' ' ')" = '500 600 '
        """)
  }

  /// What may not be read is named, left out and makes the exit 1; the rest is complete.
  @Test func unreadableSources() throws {
    try run(
      asRoot:
        "mkdir src; echo s > src/secret; chmod 600 src/secret; mkdir src/closed; touch src/closed/x; chmod 700 src/closed",
      asUser: """
        status 1 $S create --no-sync a.tar.zst src > /dev/null 2> errors
        grep -q 'src/secret: .*ermission denied' errors; grep -q 'src/closed.*ermission denied' errors
        $S verify -q a.tar.zst; test "$($S list a.tar.zst | tr '\\n' ' ')" = 'src/ src/closed/ '
        status 2 $S create -q --no-sync /a.tar.zst src 2> errors; test -s errors; test ! -e /a.tar.zst
        status 2 $S list src/secret 2> errors; grep -q 'src/secret: .*ermission denied' errors
        """)
  }

  /// A destination that may not be written to: an error that names it, and nothing else.
  @Test func destinationThatIsClosed() throws {
    try run(
      asRoot: "mkdir closed; echo 1 > f; $S create -q --no-sync a.tar.zst f; chmod 644 a.tar.zst",
      asUser: """
        for way in "closed" "closed/new"; do
          status 2 $S extract -q a.tar.zst $way 2> errors; grep -q 'ermission denied' errors
          status 2 $S extract -q - $way < a.tar.zst 2> errors; grep -q 'ermission denied' errors
        done
        test -z "$(ls -A closed)"
        """)
  }
}
