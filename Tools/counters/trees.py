"""Trees that are the same on every machine: made from a seed, with fixed names, times, modes and owners."""
import hashlib
import os
from pathlib import Path

WORDS = [hashlib.md5(bytes([number])).hexdigest()[: 2 + number % 9].encode() + b" " for number in range(256)]


def noise(name, byte_count):
    """Bytes that do not compress."""
    return hashlib.shake_256(name.encode()).digest(byte_count)


def text(name, byte_count):
    """Bytes that compress like text."""
    return b"".join(WORDS[byte] for byte in noise(name, byte_count // 6 + 1))[:byte_count].ljust(byte_count, b".")


def small_files(root):
    """400 files of up to 24 kB in 25 directories, links of both kinds, an empty directory."""
    for number in range(400):
        directory = root / f"d{number % 5}" / f"e{number % 25:02}"
        directory.mkdir(parents=True, exist_ok=True)
        size = int.from_bytes(noise(f"size {number}", 2), "big") % 24_000 if number % 17 else 0
        content = (noise if number % 11 == 0 else text)(f"file {number}", size)
        (directory / f"file-{number:03}.txt").write_bytes(content)
    for number in range(0, 60, 3):
        os.symlink(f"../e{number % 25:02}/file-{number:03}.txt", root / "d0" / f"link-{number:02}")
    for number in range(0, 40, 4):
        name = f"d{number % 5}/e{number % 25:02}/file-{number:03}.txt"
        os.link(root / name, root / "d1" / f"second-{number:02}")
    (root / "empty").mkdir()


def large_files(root):
    """Two files of several chunks, one of which does not compress, a sparse one, and a few small ones."""
    root.mkdir()
    (root / "text").write_bytes(text("large text", 9_500_000))
    (root / "noise").write_bytes(noise("large noise", 5_000_000))
    with open(root / "sparse", "wb") as file:
        for offset in (0, 3 << 20, 12 << 20):
            file.seek(offset)
            file.write(text(f"extent {offset}", 256 << 10))
        file.truncate(16 << 20)
    for number in range(8):
        (root / f"small-{number}").write_bytes(text(f"small {number}", 3_000 + 500 * number))


def settle(root):
    """Gives everything its mode, its time and, where that is possible, its owner."""
    for place, directories, files in os.walk(root, topdown=False):
        for name in files + directories + ["."]:
            path = os.path.join(place, name)
            if os.geteuid() == 0:
                os.lchown(path, 0, 0)
            if not os.path.islink(path):
                os.chmod(path, 0o755 if os.path.isdir(path) else 0o644)
            os.utime(path, ns=(0, 1_600_000_000_123_456_789), follow_symlinks=False)


TREES = {"small-files": (small_files, "d2/e07/file-032.txt"), "large-files": (large_files, "text")}


def make(name, root: Path):
    """Makes the tree; returns a member for `cat`."""
    maker, member = TREES[name]
    maker(root)
    settle(root)
    assert (root / member).is_file(), member
    return member
