"""Runs the tool and looks at what is left: shared by the parts of Tools/fault-sweep."""
import hashlib
import os
import shutil
import stat
import subprocess
import threading

TIME_LIMIT = 30  # seconds; a run takes hundredths of one, but the machine may be busy


class Problem(Exception):
    """A run that did what no run may do."""


class Result:
    def __init__(self, status, out, err, fired, counts):
        self.status, self.out, self.err, self.fired, self.counts = status, out, err, fired, counts

    @property
    def text(self):
        return self.err.decode(errors="replace").strip()


class Tool:
    def __init__(self, path):
        self.path = path

    def run(self, arguments, directory, fault=None, stdin=None, counting=False, piped=None):
        """`stdin` is a file, `piped` the bytes of a pipe. A run that does not end is a problem."""
        environment = dict(os.environ, LC_ALL="C.UTF-8", SWIFT_BACKTRACE="enable=no")
        environment.pop("STARC_FAULT", None)
        counts = None
        if fault is not None or counting:
            counts = os.path.join(directory, f".counts-{threading.get_ident()}")
            environment["STARC_FAULT_COUNTS"] = counts
        if fault is not None:
            environment["STARC_FAULT"] = fault
        process = subprocess.Popen(
            [self.path, *arguments], cwd=directory, env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, stdin=subprocess.PIPE if piped is not None else stdin or subprocess.DEVNULL)
        try:
            out, err = process.communicate(piped, timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Problem(f"did not end within {TIME_LIMIT} s")
        number, numbers = None, {}
        if counts is not None and os.path.exists(counts):
            with open(counts) as file:
                numbers = {name: int(count) for name, count in (line.split() for line in file)}
            os.unlink(counts)
            number = numbers.pop("fired", 0)
        return Result(process.returncode, out, err, number == 1, numbers)


def snapshot(root, times=True):
    """What a tree is: type, mode, time, content, target, attributes and which names share a file, by path."""
    result, links = {}, {}

    def add(path, name):
        status = os.lstat(path)
        kind = stat.S_IFMT(status.st_mode)
        content = None
        if stat.S_ISREG(kind):
            with open(path, "rb") as file:
                content = hashlib.sha256(file.read()).hexdigest()
        elif stat.S_ISLNK(kind):
            content = os.readlink(path)
        attributes = ()
        if stat.S_ISREG(kind) or stat.S_ISDIR(kind):
            attributes = tuple((key, os.getxattr(path, key)) for key in sorted(os.listxattr(path)))
        shared = None
        if not stat.S_ISDIR(kind) and status.st_nlink > 1:
            shared = links.setdefault((status.st_dev, status.st_ino), name)
        result[name] = (kind, stat.S_IMODE(status.st_mode), status.st_mtime_ns if times else None, content, attributes, shared)

    for directory, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.join(directory, name)
            add(path, os.path.relpath(path, root))
    return result


def content_of(entry):
    """The part of an entry that has to be one or the other, never half: type and content."""
    return (entry[0], entry[3]) if entry else None


def remove(path):
    if os.path.islink(path) or not os.path.isdir(path):
        if os.path.lexists(path):
            os.unlink(path)
        return
    for directory, folders, _ in os.walk(path):
        for name in folders:
            inner = os.path.join(directory, name)
            if not os.path.islink(inner):
                os.chmod(inner, 0o700)
    shutil.rmtree(path)


def leftovers(root):
    """Names of ours that no run that ended by itself may leave."""
    found = []
    for directory, folders, files in os.walk(root):
        found += [os.path.join(directory, name) for name in folders + files if "starc-" in name and name.startswith(".")]
    return found


def make_tree(root, random, files=8, large=200_000):
    """Small, but with everything in it: all types, holes, links, attributes, odd names, modes and times."""
    os.makedirs(os.path.join(root, "inner/deep"))
    os.mkdir(os.path.join(root, "empty"))
    os.mkdir(os.path.join(root, "closed"))

    def write(name, data):
        with open(os.path.join(root, name), "wb") as file:
            file.write(data)

    for number in range(files):
        write(f"inner/{number}", b"a line of text\n" * random.randrange(200))
    write("empty/../nothing", b"")
    write("closed/inside", b"inside\n")
    write("new\nline", b"x")
    write("inner/deep/leaf", b"leaf\n")
    write("large-random", random.randbytes(large))
    write("large-text", b"".join(b"%d\n" % n for n in range(large // 6)))
    with open(os.path.join(root, "holes"), "wb") as file:
        file.seek(1 << 20)
        file.write(b"d" * 4096)
        file.truncate(2 << 20)
    os.link(os.path.join(root, "inner/0"), os.path.join(root, "hard"))
    os.link(os.path.join(root, "large-text"), os.path.join(root, "inner/deep/hard-too"))
    os.symlink("inner/0", os.path.join(root, "link"))
    os.symlink("x" * 300, os.path.join(root, "long-link"))
    os.mkfifo(os.path.join(root, "fifo"), 0o640)
    try:
        os.setxattr(os.path.join(root, "inner/1"), "user.one", b"\0 value\n")
        os.setxattr(os.path.join(root, "inner"), "user.two", b"2")
    except OSError:
        pass  # an old tmpfs
    os.chmod(os.path.join(root, "inner/2"), 0o4750)
    os.utime(os.path.join(root, "inner/3"), ns=(0, -5_500_000_000))
    os.chmod(os.path.join(root, "closed"), 0o555)
    for directory in ("inner/deep", "inner", "closed", "empty", "."):
        os.utime(os.path.join(root, directory), ns=(0, 1_000_000_007_000_000_000))
