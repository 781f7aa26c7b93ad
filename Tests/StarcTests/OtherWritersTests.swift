internal import TestSupport
internal import Testing

/// Archives as the libraries of other languages and systems write them: read as GNU tar reads them.
@Suite(.inTemporaryDirectory(.memory)) struct OtherWritersTests {
  struct Writer: Sendable, CustomTestStringConvertible {
    /// What has to be there; where it is not, this writer is not asked.
    let program: String
    /// Makes `f.tar` of the directory `p`.
    let script: String
    var testDescription: String { program }

    static let all = [
      // node-tar
      Writer(program: "npm", script: "(cd p; npm pack --offline --silent > ../name); gzip -dc p/p-1.0.0.tgz > f.tar"),
      // tar-rs
      Writer(
        program: "cargo",
        script: """
          (cd p; cargo package --quiet --offline --no-verify --allow-dirty 2> ../log); gzip -dc p/target/package/*.crate > f.tar
          """),
      Writer(
        program: "git",
        script: """
          git -C p init -q; git -C p add .; git -C p -c user.name=n -c user.email=e commit -qm m
          git -C p archive --format=tar --prefix=q/ HEAD > f.tar
          """),
      // Archive::Tar of Perl
      Writer(program: "ptar", script: "ptar -cf f.tar $(find p)"),
      Writer(
        program: "dpkg-deb",
        script: """
          mkdir p/DEBIAN; printf 'Package: p\\nVersion: 1\\nArchitecture: all\\nMaintainer: m\\nDescription: d\\n' > p/DEBIAN/control
          dpkg-deb -b p p.deb > log; dpkg-deb --fsys-tarfile p.deb > f.tar
          """),
      Writer(program: "busybox", script: "busybox tar -cf f.tar p"),
      Writer(program: "cpio", script: "find p | cpio --quiet -o -H ustar > f.tar"),
    ]
    static let installed = all.filter { (try? Shell.run(["which", $0.program]).status) == 0 }
  }

  @Test(arguments: Writer.installed) func isReadAsByTar(_ writer: Writer) throws {
    try Starc.expectSuccess(
      """
      long=$(printf 'x%.0s' $(seq 95)); mkdir -p p/src/$long; echo deep > p/src/$long/$long; echo 'fn main() {}' > p/src/main.rs
      head -c 300000 /dev/urandom > p/src/data; chmod 755 p/src/main.rs
      echo '{"name":"p","version":"1.0.0","files":["src"]}' > p/package.json
      printf '[package]\\nname="p"\\nversion="1.0.0"\\nedition="2021"\\ninclude=["src/**"]\\n' > p/Cargo.toml
      \(writer.script)
      mkdir want; tar -xf f.tar -C want; zstd -q f.tar
      for source in f.tar f.tar.zst '- < f.tar' '- < f.tar.zst'; do
        eval "$S extract -q --no-sync $source out"; diff -r want out; eval "$S compare -q ${source% <*} out ${source#${source% <*}}"
        (cd want; find . -type f -printf '%p %m %T@\\n' | sort) > a; (cd out; find . -type f -printf '%p %m %T@\\n' | sort) > b
        cmp a b; rm -r out
        eval "$S list $source" > names; test $(tar -tf f.tar | wc -l) = $(wc -l < names); eval "$S verify -q $source"
      done
      test -s want/*/src/data || test -s want/src/data
      """, directory: try #require(TemporaryDirectory.current).path)
  }
}
