internal import TestSupport
internal import Testing

/// Names, attributes, files with holes and times at their limits: made, archived, read back and compared with `stat`
/// and friends, so that no two sides of the engine can share a mistake.
@Suite(.inTemporaryDirectory()) struct RoundTripTests {
  private func run(_ text: String) throws {
    try Starc.expectSuccess(
      """
      # Archives "src", brings it back in five ways and calls "check DIR" for each.
      everyway() {
        $S create -q --no-sync a.tar.zst src "$@"; $S create -q --no-sync --threads 8 - src "$@" | cmp - a.tar.zst
        $S create -q --no-sync --threads 1 - src "$@" | cmp - a.tar.zst
        $S verify -q a.tar.zst
        for threads in 1 2 8; do $S extract -q --no-sync --threads $threads a.tar.zst out; check out/src; rm -r out; done
        $S extract -q --no-sync - out < <(cat a.tar.zst); check out/src; $S compare -q a.tar.zst out; rm -r out
        zstd -qdc a.tar.zst > a.tar; $S extract -q --no-sync a.tar out; check out/src; rm -r out
      }

      """ + text, directory: try #require(TemporaryDirectory.current).path)
  }

  /// Lengths around every limit of the header formats, for names, whole paths and link targets, in ASCII and not UTF-8.
  @Test func namesOfEveryLength() throws {
    try run(
      """
      cat > make.py <<'END'
      import os
      os.mkdir('src'); os.chdir('src')
      for letter in (b'n', b'\\xfe'):
          top = letter * 3; os.mkdir(top)
          for l in (1, 98, 99, 100, 101, 154, 155, 156, 157, 254, 255):
              open(os.path.join(top, letter * l), 'w').close()
          for l in (1, 99, 100, 101, 155, 255, 256, 511, 512, 513, 4094, 4095):
              os.symlink(letter * l, os.path.join(top, b'link%d' % l))
          # Paths, "src/" included, whose length is exactly l.
          for l in (255, 256, 257, 511, 512, 513, 1000, 4000):
              path = top + b'/p%d' % l; os.mkdir(path)
              while l - 4 - len(path) > 130: path += b'/' + letter * 120; os.mkdir(path)
              path += b'/' + letter * (l - 4 - len(path) - 1); assert len(path) + 4 == l
              open(path, 'wb').write(b'%d' % l)
              os.link(path, top + b'/hard%d' % l)
      END
      python3 make.py
      (cd src; find . -printf '%P %y %s %l %n\\0' | sort -z) > want
      check() { (cd $1; find . -printf '%P %y %s %l %n\\0' | sort -z) | cmp - want; }
      everyway
      test $($S list -0 a.tar.zst | tr -cd '\\0' | wc -c) = $(find src -printf x | wc -c)
      # And by the others, who may not warn.
      for program in "tar -xf" "bsdtar -xf"; do
        mkdir out; $program a.tar -C out 2> errors; test ! -s errors; check out/src; rm -r out
      done
      """)
  }

  /// 40 directories of 200 bytes: twice what a system call takes as a path.
  @Test func pathsBeyondTheLimitOfSystemCalls() throws {
    try run(
      """
      python3 -c '
      import os
      os.mkdir("src"); os.chdir("src")
      for i in range(40): os.mkdir("d" * 200); os.chdir("d" * 200)
      open("leaf", "w").write("deep"); os.link("leaf", "again"); os.symlink("leaf", "link"); os.chmod(".", 0o1711)'
      check() {
        python3 - $1 <<'END'
      import os, sys
      os.chdir(sys.argv[1])
      for i in range(40): os.chdir('d' * 200)
      assert open('leaf').read() == 'deep' and os.stat('leaf').st_nlink == 2 and os.readlink('link') == 'leaf'
      assert os.stat('.').st_mode & 0o7777 == 0o1711
      END
      }
      everyway
      """)
  }

  @Test func timesAndOwnersAtTheirLimits() throws {
    try run(
      """
      mkdir src
      cat > times.py <<'END'
      import os, sys
      # ext4 and tmpfs hold these: from 1901 to 2446 with nanoseconds.
      seconds = (-2147483647, -1000000000, -2, -1, 0, 1, 2147483647, 2147483648, 4294967296, 8589934591, 8589934592, 15032385534)
      nanoseconds = (0, 1, 10, 500000000, 999999999, 120000000)
      for s in seconds:
          for n in nanoseconds:
              path = '%s/%d.%d' % (sys.argv[2], s, n); time = s * 10**9 + n
              if sys.argv[1] == 'make': open(path, 'w').close(); os.utime(path, ns=(time, time))
              assert os.stat(path).st_mtime_ns == time, (path, os.stat(path).st_mtime_ns)
      if os.geteuid() == 0:
          for i, o in enumerate(((0, 0), (2097151, 2097151), (2097152, 1), (1, 2097152), (4294967294, 4294967294))):
              path = '%s/owner%d' % (sys.argv[2], i)
              if sys.argv[1] == 'make': open(path, 'w').close(); os.chown(path, *o)
              s = os.stat(path); assert (s.st_uid, s.st_gid) == o, (path, s)
      for m in list(range(0o1000)) + [0o1777, 0o2755, 0o4711, 0o6777, 0o7777, 0o7000]:
          path = '%s/mode%o' % (sys.argv[2], m)
          if sys.argv[1] == 'make': open(path, 'w').close(); os.chmod(path, m)
          assert os.stat(path).st_mode & 0o7777 == m, path
      END
      [ $(id -u) = 0 ] || exit 0
      python3 times.py make src; check() { python3 times.py check $1; }; everyway
      mkdir out; tar --warning=no-timestamp --numeric-owner -xpf a.tar -C out 2> errors; test ! -s errors; check out/src
      """)
  }

  /// Attributes of every kind of name and value, of files, directories and links, with many on one file.
  @Test func attributes() throws {
    try run(
      """
      cat > attributes.py <<'END'
      import os, sys
      root = os.fsencode(sys.argv[2]); rooted = os.geteuid() == 0
      def at(path, name, value, follow=True):
          path = root + b'/' + path
          if sys.argv[1] == 'make': os.setxattr(path, name, value, follow_symlinks=follow)
          assert os.getxattr(path, name, follow_symlinks=follow) == value, (path, name)
      if sys.argv[1] == 'make':
          for n in ('values', 'many', 'big'): open(os.path.join(root, n.encode()), 'w').close()
          os.mkdir(root + b'/directory'); os.symlink(b'values', root + b'/link')
      for i, v in enumerate((b'', b'\\0', b'\\n', b'=', b'\\0\\n=\\0', bytes(range(256)), b'1\\n2 user.fake=3\\n')): at(b'values', b'user.v%d' % i, v)
      for n in (b'=', b'a=b', b'%', b'%3D', b'a%b=c%%', b'\\xff\\xfe', b'new\\nline', b' ', 'ü'.encode(), b'x' * 200): at(b'values', b'user.' + n, b'of ' + n)
      for i in range(40): at(b'many', b'user.number%d' % i, b'%d' % i)
      at(b'big', b'user.big', b'v' * 2500); at(b'directory', b'user.d', b'of a directory')
      if rooted: at(b'link', b'trusted.l', b'of a link', False); at(b'values', b'trusted.t', b'1'); at(b'values', b'security.own', b'2')
      for d, ds, fs in os.walk(root):
          for n in ds + fs:
              if n != b'values': continue
              assert len(os.listxattr(os.path.join(d, n))) == 17 + 2 * rooted, os.listxattr(os.path.join(d, n))
      END
      mkdir src; python3 attributes.py make src; check() { python3 attributes.py check $1; }; everyway
      mkdir out; tar --xattrs --xattrs-include='*' -xpf a.tar -C out 2> errors; test ! -s errors; check out/src; rm -r out
      $S create -q --no-sync --no-xattrs b.tar.zst src; $S extract -q --no-sync b.tar.zst out
      test -z "$(python3 -c 'import os; print(*os.listxattr("out/src/values"))')"; rm -r out
      $S extract -q --no-sync --no-xattrs a.tar.zst out; test -z "$(python3 -c 'import os; print(*os.listxattr("out/src/values"))')"
      """)
  }

  /// Access lists as `getfacl` shows them.
  @Test func accessLists() throws {
    try run(
      """
      mkdir -p src/d src/mask; touch src/f src/g src/none
      setfacl -m u:1234:rw,u:daemon:x,g:4321:r,g:daemon:rwx,m::rx src/f; setfacl -m u:2147483647:- src/g
      setfacl -m u:1234:rwx -d -m u:1234:rw,g:daemon:r,m::rwx,o::- src/d; setfacl -d -m u::rwx src/mask
      list() { (cd $1; getfacl -np d mask f g none); }
      list src > want; check() { list $1 | cmp - want; }
      everyway
      for program in "tar --acls -xpf" "bsdtar -xpf"; do
        mkdir out; $program a.tar -C out 2> errors; test ! -s errors; check out/src; rm -r out
      done
      """)
  }

  /// What is neither file nor directory, and cannot be opened, can have an access list too.
  @Test func accessListsOfNodes() throws {
    try run(
      """
      mkdir src; mkfifo src/p; setfacl -m u:1234:rw,g:4321:r src/p
      list() { (cd $1; getfacl -np p); }
      list src > want; grep -q user:1234:rw- want; check() { list $1 | cmp - want; }
      everyway
      """)
  }

  /// Holes of six kinds, the largest of a tebibyte: content, size and room on the disk stay.
  @Test func holes() throws {
    try run(
      """
      cat > holes.py <<'END'
      import os, sys, hashlib
      M = 1 << 20; root = sys.argv[2]
      files = {
          'middle': (64 * M, [(0, b'x' * 5000), (17 * M + 1, b'y'), (64 * M - 1, b'z')]), 'only': (100 * M, []),
          'end': (30 * M + 17, [(0, b'hi\\n')]), 'start': (30 * M + 2, [(30 * M, b'hi')]),
          'many': (48 * M, [(i * 16384, b'%d' % i) for i in range(3000)]), 'huge': (1 << 40, [(1 << 39, b'mid')]),
          'hugest': (1 << 40, [((1 << 40) - 1, b'!')]), 'small': (512, []), 'odd': (5000001, [(4096 * 300, b'a' * 4096)]),
      }
      for name, (size, parts) in files.items():
          path = root + '/' + name
          if sys.argv[1] == 'make':
              with open(path, 'wb') as f:
                  f.truncate(size)
                  for o, b in parts: f.seek(o); f.write(b)
          with open(path, 'rb') as f:
              s = os.fstat(f.fileno()); assert s.st_size == size, (name, s.st_size)
              assert s.st_blocks * 512 <= max(65536, (len(parts) + 2) * 8192), (name, s.st_blocks)
              for o, b in parts: f.seek(o); assert f.read(len(b)) == b, (name, o)
              # All else is zero.
              known = {p for o, b in parts for p in range(o, o + len(b))}; place = 0
              while place < size:
                  try: place = os.lseek(f.fileno(), place, os.SEEK_DATA)
                  except OSError: break
                  end = os.lseek(f.fileno(), place, os.SEEK_HOLE); f.seek(place)
                  for i, c in enumerate(f.read(end - place)):
                      assert c == 0 or place + i in known, (name, place + i)
                  place = end
      END
      mkdir src; python3 holes.py make src; check() { python3 holes.py check $1; }; everyway
      test $(stat -c %s a.tar.zst) -lt 300000
      for program in "tar -xf" "bsdtar -xf"; do
        mkdir out; $program a.tar -C out 2> errors; test ! -s errors; check out/src; rm -r out
      done
      """)
  }

  /// Two names of everything that can have two, across directories and orders of names.
  @Test func hardLinks() throws {
    try run(
      """
      mkdir -p src/a src/z/y; echo 1 > src/z/file; ln src/z/file src/a/file; ln src/z/file src/zz; : > src/empty; ln src/empty src/a/empty
      ln -s nowhere src/link; ln -P src/link src/a/link; mkfifo src/fifo; ln src/fifo src/z/fifo
      head -c 9000000 /dev/urandom > src/big; ln src/big src/z/y/big; truncate -s 9M src/holes; ln src/holes src/z/y/holes
      echo outside > elsewhere; ln elsewhere src/partner
      if [ $(id -u) = 0 ]; then mknod src/null c 1 3; ln src/null src/z/null; fi
      check() {
        for pair in "z/file a/file" "zz a/file" "empty a/empty" "fifo z/fifo" "big z/y/big" "holes z/y/holes"; do
          set -- $1 $pair; test $1/$2 -ef $1/$3
        done
        test $(stat -c %i $1/link) = $(stat -c %i $1/a/link); test -L $1/a/link; cmp src/big $1/big
        test "$(cat $1/partner)" = outside; test $(stat -c %h $1/partner) = 1
      }
      rm -f src/null src/z/null; everyway
      for program in "tar -xf" "bsdtar -xf"; do mkdir out; $program a.tar -C out; check out/src; rm -r out; done
      """)
  }
}
