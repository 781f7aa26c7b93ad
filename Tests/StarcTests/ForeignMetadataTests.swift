internal import ArchiveIO
internal import TestSupport
internal import Testing

/// Archives by other programs come back as those programs themselves bring them back.
@Suite(.inTemporaryDirectory(.memory)) struct ForeignMetadataTests {
  /// How an archive "f" of "src" is made, and how its maker extracts it to the current directory.
  struct Maker: Sendable, CustomTestStringConvertible {
    let make: String
    let extract: String
    /// The format holds long names, large numbers and all the rest.
    var isComplete = true

    var testDescription: String { make }
  }

  private static let gnu = "tar --warning=no-timestamp -xpf ../f"
  private static let bsd = "bsdtar -xpf ../f"
  private static let python = "python3 ../extract.py"
  private static let makers = [
    Maker(make: "tar --format=v7 -cf f src", extract: gnu, isComplete: false),
    Maker(make: "tar --format=ustar -cf f src", extract: gnu, isComplete: false),
    Maker(make: "bsdtar --format ustar -cf f src", extract: bsd, isComplete: false),
    Maker(make: "tar --format=oldgnu -cf f src", extract: gnu), Maker(make: "tar --format=gnu -cf f src", extract: gnu),
    Maker(make: "tar --format=gnu -Scf f src", extract: gnu),
    Maker(make: "tar --format=oldgnu -Scf f src", extract: gnu),
    Maker(make: "tar --format=posix -cf f src", extract: gnu),
    Maker(make: "tar --format=posix --sparse-version=0.0 -Scf f src", extract: gnu),
    Maker(make: "tar --format=posix --sparse-version=0.1 -Scf f src", extract: gnu),
    Maker(make: "tar --format=posix --sparse-version=1.0 -Scf f src", extract: gnu),
    Maker(make: "tar --format=posix --xattrs --acls -cf f src", extract: gnu + " --xattrs --xattrs-include='*' --acls"),
    Maker(make: "bsdtar --format pax -cf f src", extract: bsd),
    Maker(make: "bsdtar --format gnutar -cf f src", extract: bsd),
    Maker(make: "python3 make.py PAX", extract: python), Maker(make: "python3 make.py GNU", extract: python),
  ]

  @Test(arguments: makers) private func comesBackAsByItsMaker(_ maker: Maker) throws {
    let tree =
      #"""
      mkdir -p src/d/empty; cd src
      seq 30000 > d/numbers; : > zero; ln d/numbers linked; ln -s d/numbers link; mkfifo fifo; chmod 640 d/numbers
      chmod 2711 d; chmod 1777 d/empty; echo "not UTF-8" > $'\377\376'; echo newline > $'a\nb'
      touch -d '2001-02-03 04:05:06.789012345 UTC' zero; touch -hd '2002-02-02 02:02:02 UTC' link
      """#
      + (maker.isComplete
        ? #"""

        long=$(printf 'x%.0s' $(seq 90)); mkdir -p "$long/$long/$long"; echo deep > "$long/$long/$long/$long$long"
        ln "$long/$long/$long/$long$long" "hard$long$long"; ln -s "$long/$long/$long" short
        for n in 99 100 101 155 156 255; do echo $n > "$(printf 'y%.0s' $(seq $n))"; done
        touch -d '1905-01-02 03:04:05 UTC' d/old; touch -d '2250-01-02 03:04:05 UTC' d/far
        truncate -s 5M d/sparse; for i in $(seq 0 64); do printf data$i | dd of=d/sparse bs=1 seek=$((i * 65536 + 4096)) conv=notrunc status=none; done
        for i in 0 9 2000000; do printf few | dd of=d/few bs=1 seek=$i conv=notrunc status=none; done; truncate -s 3M d/only
        python3 -c 'import os; os.setxattr("zero", "user.x", b"\0=\n"); os.setxattr("d", "user.d", b"1")'
        setfacl -m u:1234:rw,g:daemon:r d/numbers; setfacl -d -m u:1234:rwx d/empty
        if [ $(id -u) = 0 ]; then echo o > owned; chown 3000000000:2500000 owned; mknod null c 1 3; mknod block b 7 300; fi
        """# : "")
      // Times of now would be rounded differently by those who keep them as doubles.
      + "\nfind . -depth -newermt 2015-01-01 -exec touch -hd '2011-11-11 11:11:11.5 UTC' {} +\ncd ..\n"
    try Starc.expectSuccess(
      tree + #"""
        cat > make.py <<'END'
        import sys, tarfile
        with tarfile.open('f', 'w', format=getattr(tarfile, sys.argv[1] + '_FORMAT')) as t: t.add('src')
        END
        echo 'import tarfile; tarfile.open("../f").extractall(numeric_owner=True)' > extract.py
        cat > show.py <<'END'
        import hashlib, os, stat, sys
        os.chdir(os.fsencode(sys.argv[1]))
        for d, ds, fs in os.walk(b'.'):
            ds.sort()
            for p in sorted([d] + [os.path.join(d, n) for n in fs + [x for x in ds if os.path.islink(os.path.join(d, x))]]):
                s = os.lstat(p); t = s.st_mtime_ns
                if stat.S_ISLNK(s.st_mode): t = os.readlink(p)
                elif p == b'.': t = 0
                # A double keeps no nanoseconds.
                elif sys.argv[2] == 'python': t //= 10000
                print(p, oct(s.st_mode), s.st_uid, s.st_gid, s.st_size, t, s.st_nlink if not stat.S_ISDIR(s.st_mode) else 0,
                      s.st_rdev, hashlib.md5(open(p, 'rb').read()).hexdigest() if stat.S_ISREG(s.st_mode) else '',
                      sorted((k, os.getxattr(p, k, follow_symlinks=False)) for k in os.listxattr(p, follow_symlinks=False)))
        END

        """# + """
          \(maker.make) 2> errors || test -s f; mkdir theirs; (cd theirs; \(maker.extract))
          kind=$(echo '\(maker.extract)' | cut -c1-6); python3 show.py theirs $kind > want; test $(wc -l < want) -gt 9
          zstd -qc f > f.zst
          for threads in 1 8; do for file in f f.zst; do
            attributes=--no-xattrs; case '\(maker.extract)' in *--acls*|bsdtar*) attributes= ;; esac
            $S extract -q --no-sync $attributes --same-permissions --devices --threads $threads $file ours
            python3 show.py ours $kind | diff want - >&2; $S compare -q $file ours; rm -r ours
            $S extract -q --no-sync $attributes --same-permissions --devices --threads $threads - ours < <(cat $file)
            python3 show.py ours $kind | diff want - >&2; rm -r ours
          done; done
          """, directory: try #require(TemporaryDirectory.current).path)
  }
}
