internal import ArchiveIO
internal import TestSupport
internal import Testing

/// Owners, device nodes and mounted file systems, which need root.
@Suite(.inTemporaryDirectory(.memory), .enabled(if: ProcessFacts.effectiveUserID == 0, "needs root"))
struct CommandLineOwnerTests {
  private func run(_ text: String, userID: UInt32? = nil) throws {
    let path = try #require(TemporaryDirectory.current).path
    // A plain user may not reach the build directory.
    try Shell.script("[ -e starc ] || cp '\(Starc.path)' starc; chmod 755 starc; chmod 777 .", directory: path)
    try Starc.expectSuccess(text, directory: path, tool: path + "/starc", userID: userID)
  }

  /// How the archive comes to `extract`.
  private static let ways = """
    ways() { # COMMAND...: with an index, without one, from a pipe
      for source in a.tar.zst a.tar -; do
        rm -rf out; from=$source; x() { $S extract --no-sync "$@" $from out < <(cat a.tar.zst) > /dev/null 2> errors; }
        "$@"
      done
    }

    """

  @Test func devices() throws {
    try run(
      Self.ways + """
        mkdir src; mknod -m 640 src/c c 1 3; mknod -m 604 src/b b 7 200; mknod src/wide c 511 70000; mkfifo src/p; touch src/f
        chown 12:34 src/c; touch -d 2001-01-01 src/b; $S create -q --no-sync a.tar.zst src; tar -cf a.tar src
        facts() { (cd $1; stat -c '%n %F %t:%T %a %u:%g %Y' src/b src/c src/wide src/p src/f); }
        made() { x --devices; test "$(facts out)" = "$(facts .)"; }
        leftOut() { status 1 x; test "$(ls out/src | tr '\\n' ' ')" = 'f p '; test $(grep -c 'src/.*: is a device node' errors) = 3; }
        ways made; ways leftOut
        # One that is there is replaced, not written to.
        mkdir -p there/src; touch there/src/c; $S extract -q --no-sync --devices --overwrite replace a.tar.zst there
        test "$(facts there)" = "$(facts .)"
        """)
  }

  @Test func ownersAsRoot() throws {
    try run(
      Self.ways + """
        mkdir src; touch src/f src/nobody src/none; ln -s f src/l; mkdir src/d; chown -h 1234:4321 src/* src; chmod 4751 src/f
        chown 65534:65534 src/nobody; chown 3000000000:2500000000 src/none; chmod 4751 src/f
        $S create -q --no-sync a.tar.zst src; tar -cf a.tar src
        facts() { (cd $1; stat -c '%n %a %u:%g' src src/*); }
        same() { x "$@"; test "$(facts out)" = "$(facts .)"; }
        own() { x --no-same-owner; test "$(stat -c %u:%g out/src out/src/* | sort -u)" = 0:0; test $(stat -c %a out/src/f) = 751; }
        ways same; ways same --same-owner; ways same --numeric-owner; ways own
        """)
  }

  /// A plain user gets files of his own; asked for more, one line says that it cannot be.
  @Test func ownersAsAUser() throws {
    try run(
      """
      mkdir src; touch src/f; ln -s f src/l; mkdir src/d; chown -h 1234:4321 src/* src; chmod 2771 src/d
      $S create -q --no-sync a.tar.zst src; tar -cf a.tar src; chmod 644 a.tar.zst
      """)
    try run(
      Self.ways + """
        umask 027
        own() { x "$@"; test "$(stat -c %u:%g out/src out/src/* | sort -u)" = 65534:65534; test ! -s errors; }
        ways own; ways own --no-same-owner; ways own --no-same-owner --numeric-owner
        asked() {
          status 1 x --same-owner; grep -q 'owner not restored' errors; test $(wc -l < errors) = 1
          test "$(stat -c %u:%g out/src/f)" = 65534:65534; test $(stat -c %a out/src/f out/src/d | tr '\\n' ' ' | tr -d ' ') = 640750
        }
        ways asked
        """, userID: Shell.plainUser)
  }

  /// Whether a file system can be mounted in a name space of its own: containers may forbid it.
  static let canMount =
    ProcessFacts.effectiveUserID == 0
    && (try? Shell.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"]).status) == 0

  /// What is mounted in a tree is a directory without content in the archive; a path that names it is archived.
  @Test(.enabled(if: canMount, "needs the right to mount")) func oneFileSystem() throws {
    try run(
      """
      mkdir -p src/a/mounted src/b; touch src/a/before src/b/f src/a/mounted/hidden
      export S; unshare -m bash -euc '
        mount -t tmpfs -o mode=751 none src/a/mounted; mkdir -p src/a/mounted/sub/inner; touch src/a/mounted/f
        mount -t tmpfs none src/a/mounted/sub/inner; touch src/a/mounted/sub/inner/g
        list() { $S create -q --no-sync "$@"; $S verify -q a; $S list a | tr "\\n" " "; }
        base="src/ src/a/ src/a/before src/a/mounted/"
        test "$(list --one-file-system a src)" = "$base src/b/ src/b/f "
        $S list -l a | grep -q "^drwxr-x--x .* src/a/mounted/"
        all="$base src/a/mounted/f src/a/mounted/sub/ src/a/mounted/sub/inner/"
        test "$(list a src)" = "$all src/a/mounted/sub/inner/g src/b/ src/b/f "
        # Named, it counts as a tree of its own, and so does what lies in it.
        test "$(list --one-file-system a src/b src/a/mounted)" = "src/b/ src/b/f src/a/mounted/ src/a/mounted/f src/a/mounted/sub/ src/a/mounted/sub/inner/ "
        inner="src/a/mounted/sub/inner/ src/a/mounted/sub/inner/g"
        test "$(list --one-file-system a src src/a/mounted/sub/inner)" = "$base src/b/ src/b/f $inner "
        mounted="src/a/mounted/f src/a/mounted/sub/ src/a/mounted/sub/inner/"
        test "$(list --one-file-system a src src/a/mounted)" = "$base src/b/ src/b/f $mounted "
        test "$(list --one-file-system a src/a/mounted src)" = "src/a/mounted/ $mounted src/ src/a/ src/a/before src/b/ src/b/f "
        find src | $S create -q --no-sync --one-file-system --files-from - a
        cmp <($S list a | sed "s,/$,," | sort) <(find src | sort)
      '
      """)
  }
}
