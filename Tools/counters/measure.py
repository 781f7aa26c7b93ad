"""Runs a program under strace and valgrind and counts what it does."""
import re
import subprocess

ALLOCATORS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign"}
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}


class MeasureError(Exception):
    pass


def run(command):
    """Runs a command with the same environment everywhere; its output."""
    result = subprocess.run(command, cwd="/", env=ENVIRONMENT, umask=0o022, stdin=subprocess.DEVNULL, capture_output=True)
    if result.returncode != 0:
        raise MeasureError(f"{' '.join(map(str, command))}: status {result.returncode}: {result.stderr.decode()[-800:]}")
    return result.stdout


def system_calls(command, work, label, prefix):
    """Calls that name a path in `work` or use a descriptor of one, by kind. What a program's start and its libraries do is not among
    them, nor is waiting, so that they do not depend on the machine."""
    log = work / f"{label}.strace"
    run([*prefix, "strace", "-f", "-y", "-s", "0", "-e", "trace=%file,%desc", "-e", "signal=none", "-o", log, *command])
    counts = {}
    place = str(work)
    for line in log.read_text(errors="replace").splitlines():
        # "<... read resumed>" is the second half of a call that was counted.
        match = re.match(r"\d+ +(\w+)\(", line)
        if match and match[1] != "execve" and place in line:
            counts[match[1]] = counts.get(match[1], 0) + 1
    if not counts:
        raise MeasureError("strace saw no system call")
    return dict(sorted(counts.items()))


def instructions(command, work, label, prefix):
    """Instructions of all threads, and calls of functions that allocate."""
    log = work / f"{label}.callgrind"
    run([*prefix, "valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={log}", *command])
    total = allocations = 0
    names = {}
    called = None
    with open(log, errors="replace") as file:
        for line in file:
            if line.startswith(("fn=", "cfn=")):
                # A name is written once, as "(number) name", and then only its number.
                match = re.match(r"c?fn=\((\d+)\)(?: (\S+))?", line)
                if match[2]:
                    names[match[1]] = match[2]
                called = names[match[1]]
            elif line.startswith("calls=") and called in ALLOCATORS:
                allocations += int(line[6:].split()[0])
            elif line.startswith("totals:"):
                total += int(line.split()[1])
    if total == 0 or allocations == 0:
        raise MeasureError("callgrind counted nothing")
    return total, allocations
