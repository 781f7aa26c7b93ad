"""Archives in which names repeat, change their type and link to each other: the tree is the same every time."""
import io
import os
import random
import subprocess
import tarfile

from scenarios import fresh
from tool import snapshot

NAMES = [f"d{number % 3}/n{number}" for number in range(24)]


def hostile_tar(generator, members=600):
    """Any order of files, directories, symlinks and hard links with few names. What is refused is so in archive order too."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for _ in range(members):
            name = generator.choice(NAMES)
            info = tarfile.TarInfo(name)
            info.mtime, info.mode = generator.randrange(1 << 30), generator.choice([0o600, 0o644, 0o755])
            kind = generator.random()
            data = b""
            if kind < 0.55:
                data = generator.randbytes(generator.choice([0, 10, 3000, 70_000]))
                info.size = len(data)
            elif kind < 0.7:
                info.type, info.linkname = tarfile.LNKTYPE, generator.choice(NAMES)
            elif kind < 0.8:
                info.type, info.linkname = tarfile.SYMTYPE, generator.choice(NAMES)
            elif kind < 0.9:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
            else:
                info.name = name + "/below"
                data = generator.randbytes(100)
                info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def framed(content, size=50_000):
    """zstd frames of their own for short pieces, which several threads decode."""
    frames = b""
    for start in range(0, len(content), size):
        frames += subprocess.run(
            ["zstd", "-q", "-1", "-c", f"--stream-size={len(content[start:start + size])}"],
            input=content[start:start + size], stdout=subprocess.PIPE, check=True).stdout
    return frames


def races(tool, root, count, seed):
    """Returns the number of problems."""
    generator = random.Random(seed)
    problems = 0
    for archive in range(5):
        tar = hostile_tar(generator)
        path = os.path.join(root, f"{archive}.tar.zst")
        with open(path, "wb") as file:
            file.write(framed(tar))

        def extract(threads, is_existing):
            directory = fresh(os.path.join(root, "run"))
            if is_existing:
                os.mkdir(os.path.join(directory, "out"))
            result = tool.run(
                ["extract", "--no-sync", "--lenient", "--overwrite", "replace", "--threads", str(threads), path, "out"],
                directory)
            return result.status, snapshot(os.path.join(directory, "out")), sorted(line for line in result.text.splitlines() if line.startswith("starc: "))

        reference = extract(1, False)
        different = 0
        for turn in range(count // 5):
            found = extract(8, turn % 2 == 1)
            # A new destination's parents get times that nothing states; all that the archive states has to be the same.
            if strip(found[1], tar) != strip(reference[1], tar) or found[0] != reference[0] or found[2] != reference[2]:
                different += 1
        problems += different
        print(f"archive {archive}: {count // 5 - different} of {count // 5} trees equal that of one thread "
              f"(exit {reference[0]}, {len(reference[1])} names, {len(reference[2])} refused)", flush=True)
    return problems


def strip(tree, tar):
    """Without the times of directories that the archive does not list."""
    listed = {member.name for member in tarfile.open(fileobj=io.BytesIO(tar)) if member.isdir()}
    return {
        name: entry if name in listed or entry[0] != 0o040000 else entry[:2] + (None,) + entry[3:]
        for name, entry in tree.items()
    }
