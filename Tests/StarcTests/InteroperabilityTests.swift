internal import Foundation
internal import TestSupport
import Testing

/// Archives of a tree with every hard case, read back by the tool and by the programs that people have.
@Suite(.inTemporaryDirectory(.memory)) struct InteroperabilityTests {
  /// Makes "hard" below the directory that is its argument.
  static let makeTree = #"""
    import os, sys, subprocess
    root = sys.argv[1]; os.makedirs(root + '/hard'); os.chdir(root + '/hard'); rooted = os.geteuid() == 0
    def w(p, b=b'x', m=None, t=None):
        d = os.path.dirname(p)
        if d: os.makedirs(d, exist_ok=True)
        with open(p, 'wb') as f: f.write(b)
        if m is not None: os.chmod(p, m)
        if t is not None: os.utime(p, ns=(t, t))
    for n in (b'\xff\xfe', b'a\nb', b'a\tb\x01', b' ', b'-rf', 'é'.encode(), b'e\xcc\x81', b'back\\slash', b'*'):
        w(b'names/' + n, n)
    for l in (99, 100, 101, 155, 156, 250): w('len/' + 'n' * l)
    deep = 'deep/' + '/'.join(['d' * 200] * 8); os.makedirs(deep); w(deep + '/leaf')
    other = b'nu/' + b'/'.join([b'\xff' * 120] * 3); os.makedirs(other); w(other + b'/f')
    os.symlink(b'\xfe' * 150, b'nu/link'); os.symlink('t' * 3000, 'longlink'); os.symlink('nowhere', 'dangling')
    os.symlink('.', 'loop')
    M = 1 << 20
    for s in (0, 1, 511, 512, 513, 4096, 2*M - 512, 2*M, 4*M - 1, 4*M, 4*M + 1, 8*M + 5):
        w('sizes/%d' % s, os.urandom(min(s, 1000)) + bytes(max(0, s - 1000)))
    w('modes/su', b'#!', 0o6755); w('modes/ro', b'1', 0o444); os.mkdir('modes/sticky'); os.chmod('modes/sticky', 0o1777)
    if rooted: w('modes/none', b'1', 0)
    w('times/old', t=-86400 * 365 * 10**9); w('times/far', t=(2**33 + 5) * 10**9 + 123456000)
    w('times/us', t=1700000000123456000); w('times/zero', t=0)
    if sys.argv[2] == 'all': w('times/half', t=-5 * 10**8); w('times/ns', t=1700000000123456789)
    os.link('modes/ro', 'hl1'); os.link('modes/ro', 'zz-hl2'); os.link('dangling', 'hl-sym', follow_symlinks=False)
    os.mkfifo('fifo')
    def sparse(p, size, *places):
        with open(p, 'wb') as f:
            f.truncate(size)
            for o, b in places: f.seek(o); f.write(b)
    sparse('sp_mid', 64*M, (0, b'x'), (17*M, b'y'), (64*M - 1, b'z')); sparse('sp_hole', 100*M)
    sparse('sp_end', 30*M, (0, b'hi')); sparse('sp_beg', 30*M + 2, (30*M, b'hi'))
    sparse('sp_many', 48*M, *[(i * 16384, b'y' * 100) for i in range(3000)])
    if sys.argv[2] == 'all':
        sparse('sp_huge', 1 << 40, (1 << 39, b'mid'))
        w('xa/a')
        for k, v in (('bin', b'\x00\n=\x00'), ('a=b', b'1'), ('a%b', b'2'), ('empty', b'')):
            os.setxattr('xa/a', 'user.' + k, v)
        os.mkdir('xa/dir'); os.setxattr('xa/dir', 'user.d', b'dir')
        w('acl/f'); os.mkdir('acl/d')
        subprocess.run(['setfacl', '-m', 'u:1234:rw,g:4321:r,u:daemon:x', 'acl/f'], check=True)
        subprocess.run(['setfacl', '-m', 'u:1234:rwx', '-d', '-m', 'u:1234:rw,g:daemon:r', 'acl/d'], check=True)
        if rooted: w('cap'); subprocess.run(['setcap', 'cap_net_raw+ep', 'cap'], check=True)
    if rooted:
        os.mknod('null', 0o600 | 0o020000, os.makedev(1, 3)); os.mknod('blk', 0o600 | 0o060000, os.makedev(259, 70000))
        w('own/a'); os.chown('own/a', 3000000000, 2097159); w('own/b'); os.chown('own/b', 1, 1)
    os.mkdir('rodir'); w('rodir/f'); os.utime('rodir', ns=(10**18, 10**18)); os.chmod('rodir', 0o555)
    for i in range(300): w('many/%d' % i, b'%d\n' % i)
    """#

  /// Compares two trees and prints what differs; "us" rounds times to two microseconds and leaves attributes out.
  static let compareTrees = #"""
    import os, sys, stat
    mode = sys.argv[3]
    def snap(root):
        root = os.fsencode(root); out = {}; names = {}
        for d, ds, fs in os.walk(root):
            for p in [d] + [os.path.join(d, n) for n in fs + [x for x in ds if os.path.islink(os.path.join(d, x))]]:
                r = os.path.relpath(p, root); s = os.lstat(p); t = s.st_mtime_ns
                e = {'type': stat.S_IFMT(s.st_mode), 'mode': stat.S_IMODE(s.st_mode), 'time': t}
                if mode != 'us': e['owner'] = (s.st_uid, s.st_gid)
                if stat.S_ISREG(s.st_mode):
                    e['size'] = s.st_size
                    if s.st_size < 200 << 20: e['content'] = hash(open(p, 'rb').read())
                if stat.S_ISLNK(s.st_mode): e['target'] = os.readlink(p)
                if stat.S_ISBLK(s.st_mode) or stat.S_ISCHR(s.st_mode): e['device'] = s.st_rdev
                if mode == 'all':
                    e['attributes'] = sorted((k, os.getxattr(p, k, follow_symlinks=False))
                                             for k in os.listxattr(p, follow_symlinks=False))
                if not stat.S_ISDIR(s.st_mode) and not (mode == 'us' and stat.S_ISLNK(s.st_mode)): e['links'] = s.st_nlink
                out[r] = e
        return out
    a, b = snap(sys.argv[1]), snap(sys.argv[2])
    for k in sorted(set(a) | set(b)):
        x, y = a.get(k), b.get(k)
        if x is None or y is None: print('only in one:', k); continue
        if mode == 'us':
            if stat.S_ISLNK(x['type']): x['time'] = y['time'] = 0  # tarfile leaves the times of links alone
            if abs(x['time'] - y['time']) <= 2000: x['time'] = y['time']
        if x != y: print(k, {n: (x.get(n), y.get(n)) for n in x if x.get(n) != y.get(n)})
    """#

  private func directory() throws -> String { try #require(TemporaryDirectory.current).path }

  private func prepare(_ kind: String) throws -> String {
    let directory = try directory()
    try FileTree.write(Array(Self.makeTree.utf8), to: directory + "/make.py", mode: 0o644)
    try FileTree.write(Array(Self.compareTrees.utf8), to: directory + "/compare.py", mode: 0o644)
    let made = try Shell.run(["python3", "make.py", directory, kind], directory: directory)
    try #require(made.status == 0, "\(made.errorText)")
    return directory
  }

  private func script(_ text: String, _ directory: String, userID: UInt32? = nil) throws -> ShellResult {
    try Shell.run(
      ["bash", "-c", text], environment: ["S": Starc.path], directory: directory, userID: userID, timeout: 100)
  }

  /// Differences of "hard" and `OUT/hard`.
  private func differences(_ out: String, _ mode: String, _ directory: String) throws -> String {
    let result = try Shell.run(
      ["python3", "compare.py", "hard", out + "/hard", mode], environment: ["PYTHONHASHSEED": "0"],
      directory: directory)
    return result.outputText + result.errorText
  }

  @Test func everythingComesBackThroughTheTool() throws {
    let directory = try prepare("all")
    let created = try script("$S create a.tar.zst hard --quiet --no-sync", directory)
    #expect(created.status == 0 && created.errorText == "", "\(created.errorText)")
    #expect(try script("$S verify a.tar.zst && $S verify --quick a.tar.zst", directory).status == 0)
    for (out, command) in [
      ("x1", "$S extract a.tar.zst x1 --devices --threads 1"), ("x8", "$S extract a.tar.zst x8 --devices --threads 8"),
      ("xp", "cat a.tar.zst | $S extract - xp --devices"),
    ] {
      let result = try script(command + " --quiet --no-sync", directory)
      #expect(result.status == 0, "\(command): \(result.errorText)")
      #expect(try differences(out, "all", directory) == "", "\(command)")
      let compared = try script("$S compare a.tar.zst \(out)", directory)
      #expect(compared.status == 0, "\(compared.outputText)")
    }
    // Holes come back as holes.
    #expect(
      try script("test $(stat -c %b x1/hard/sp_huge) -le 64 -a $(stat -c %b x1/hard/sp_hole) -le 8", directory).status
        == 0)
  }

  @Test func gnuTarRestoresEverything() throws {
    let directory = try prepare("all")
    let result = try script(
      "$S create a.tar.zst hard --quiet --no-sync && mkdir g && tar --xattrs --xattrs-include='*' --acls -xpf a.tar.zst -C g",
      directory)
    let errors = result.errorText.split(separator: "\n").filter { !$0.contains("time stamp") }
    #expect(result.status == 0 && errors.isEmpty, "\(errors)")
    #expect(try differences("g", "all", directory) == "")
    for command in ["tar -tf a.tar.zst", "cp a.tar.zst plain; tar -tf plain", "cat a.tar.zst | tar --zstd -tf -"] {
      let listed = try script(command + " | wc -l", directory)
      #expect(listed.status == 0 && listed.errorText == "", "\(command): \(listed.errorText)")
    }
  }

  @Test func bsdtarRestoresWhatItCan() throws {
    let directory = try prepare("all")
    let result = try script(
      "$S create a.tar.zst hard --quiet --no-sync && mkdir b && bsdtar -xpf a.tar.zst -C b", directory)
    #expect(result.status == 0 && result.errorText == "", "\(result.errorText)")
    // It reads -0.5 as 0.5 and leaves the escapes in attribute names.
    let left = try differences("b", "all", directory).split(separator: "\n").filter {
      !$0.contains("times/half") && !$0.contains("xa/a'")
    }
    #expect(left.isEmpty, "\(left)")
  }

  @Test func pythonRestoresContentAndMetadata() throws {
    let directory = try prepare("plain")
    let result = try script(
      #"""
      $S create a.tar.zst hard --quiet --no-sync && zstd -qdc a.tar.zst > a.tar && mkdir p && python3 -W error -c '
      import tarfile
      with tarfile.open("a.tar") as t:
          t.errorlevel = 1
          t.extractall("p", numeric_owner=True)'
      """#, directory)
    #expect(result.status == 0 && result.errorText == "", "\(result.errorText)")
    let left = try differences("p", "us", directory).split(separator: "\n").filter {
      !$0.contains("hl-sym") && !$0.contains("dangling")
    }
    #expect(left.isEmpty, "\(left)")
  }

  @Test func aPlainUserGetsHisTreeBack() throws {
    // The user may not reach the build directory, so the tool is copied to where he may.
    let place = try TemporaryDirectory(.disk)
    let (directory, user) = (place.path, Shell.plainUser)
    try FileTree.write(Array(Self.makeTree.utf8), to: directory + "/make.py")
    try FileTree.write(Array(Self.compareTrees.utf8), to: directory + "/compare.py")
    try Shell.script("cp '\(Starc.path)' starc; chmod 755 starc; chmod 777 .", directory: directory)
    let result = try script(
      """
      set -e
      /usr/bin/python3 make.py . all
      ./starc create a.tar.zst hard --quiet --no-sync
      ./starc extract a.tar.zst x --same-permissions --quiet --no-sync
      /usr/bin/python3 compare.py hard x/hard all
      umask 027; ./starc extract a.tar.zst y --quiet --no-sync; stat -c %a y/hard/modes/su
      """, directory, userID: user)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(result.outputText == "750\n", "\(result.outputText) \(result.errorText)")
    try Shell.script("chmod -R u+rwX .", directory: directory)
  }

  @Test func seekingReadersOpenTheArchive() throws {
    let directory = try prepare("plain")
    let result = try script(
      "$S create a.tar.zst hard --quiet --no-sync && zstd -qt a.tar.zst && zstd -qdc a.tar.zst > a.tar && pzstd -q -d -c a.tar.zst | cmp - a.tar",
      directory)
    #expect(result.status == 0, "\(result.errorText)")
    let available = try script("python3 -c 'import pyzstd, indexed_zstd'", directory)
    guard available.status == 0 else {
      return print("pyzstd and indexed_zstd are not installed: seeking with them is not tested")
    }
    let seeks = try script(
      #"""
      python3 -c '
      import pyzstd, indexed_zstd
      plain = open("a.tar", "rb").read()
      for reader in (pyzstd.SeekableZstdFile("a.tar.zst"), indexed_zstd.IndexedZstdFile("a.tar.zst")):
          for place in (0, 5000001, len(plain) // 2, len(plain) - 100):
              reader.seek(place)
              assert reader.read(100) == plain[place:place + 100], place'
      """#, directory)
    #expect(seeks.status == 0, "\(seeks.errorText)")
  }

  @Test func listedHashesAreThoseOfXxhsum() throws {
    let directory = try prepare("plain")
    let result = try script(
      #"""
      $S create a.tar.zst hard --quiet --no-sync && $S list --json a.tar.zst hard/sizes | python3 -c '
      import json, sys, subprocess
      for line in sys.stdin:
          e = json.loads(line)
          if e["type"] == "file":
              assert subprocess.check_output(["xxhsum", "-q", "-H2", e["path"]]).split()[0].decode() == e["hash"], e'
      """#, directory)
    #expect(result.status == 0, "\(result.errorText)")
  }

  @Test(arguments: [
    "tar --format=v7 -cf F small", "tar --format=ustar -cf F small", "tar --format=oldgnu -cf F small",
    "tar --format=gnu -Scf F small", "tar --format=posix -cf F small",
    "tar --format=pax --sparse-version=0.0 -Scf F small",
    "tar --format=pax --sparse-version=0.1 -Scf F small", "tar --format=pax --sparse-version=1.0 -Scf F small",
    "bsdtar --format pax -cf F small", "bsdtar --format gnutar -cf F small", "bsdtar --format ustar -cf F small",
    "python3 -c 'import tarfile; t = tarfile.open(\"F\", \"w\", format=tarfile.PAX_FORMAT); t.add(\"small\"); t.close()'",
    "python3 -c 'import tarfile; t = tarfile.open(\"F\", \"w\", format=tarfile.GNU_FORMAT); t.add(\"small\"); t.close()'",
  ])
  func foreignArchivesAreRead(make: String) throws {
    let directory = try directory()
    let result = try script(
      """
      mkdir -p small/d && seq 1 50000 > small/d/numbers && ln -s numbers small/d/link && ln small/d/numbers small/hard
      truncate -s 3M small/sparse; for i in $(seq 0 40); do printf data | dd of=small/sparse bs=1 seek=$((i*65536)) conv=notrunc status=none; done
      find small -exec touch -h -d '2024-02-03 04:05:06' {} +
      \(make)
      set -e
      zstd -qc F > one.zst; split -b 300000 F part.; for p in part.*; do zstd -qc $p; done > many.zst; zstd -q --long=27 -c < F > long.zst
      pzstd -q -c F > pz.zst
      for f in F one.zst many.zst long.zst pz.zst; do
        $S extract $f out.$f --no-sync --quiet; diff -r --no-dereference small out.$f/small
        $S extract - pipe.$f --no-sync --quiet < <(cat $f); diff -r --no-dereference small pipe.$f/small
        $S list $f > list.$f; cmp list.F list.$f; $S verify --quiet $f; $S compare $f out.$f > /dev/null
        $S cat $f small/d/numbers | cmp - small/d/numbers; $S cat $f small/sparse | cmp - small/sparse
      done
      test "$(stat -c %i out.F/small/hard)" = "$(stat -c %i out.F/small/d/numbers)"
      """, directory)
    #expect(result.status == 0, "\(make): \(result.outputText) \(result.errorText)")
  }

  @Test func otherFormatsAreNamed() throws {
    let directory = try directory()
    try Shell.script("mkdir s; echo 1 > s/f; tar cf t.tar s", directory: directory)
    for (make, name) in [
      ("gzip -c t.tar > f", "gzip"), ("xz -c t.tar > f", "xz"), ("bzip2 -c t.tar > f", "bzip2"),
      ("zip -qr f.zip s; mv f.zip f", "zip"),
    ] {
      let result = try script("\(make); $S list f", directory)
      #expect(result.status == 2 && result.errorText.contains(name), "\(make): \(result.errorText)")
    }
    let window = try script("head -c 1000 /dev/zero | zstd -q --long=31 -c - > w.zst; $S verify w.zst", directory)
    #expect(window.status == 2 && window.errorText.contains("--memory-limit"), "\(window.errorText)")
    for (make, status) in [
      (": > f", 2), ("head -c 1024 /dev/zero > f", 0), ("head -c -1024 t.tar | head -c 1536 > f", 1),
      ("cat t.tar t.tar > f", 1), ("head -c 700 t.tar > f", 2),
    ] as [(String, Int32)] {
      let result = try script("\(make); $S list f", directory)
      #expect(result.status == status, "\(make): \(result.status) \(result.errorText)")
    }
  }
}
