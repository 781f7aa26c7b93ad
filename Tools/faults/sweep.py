"""Every call of every run fails once, with each error that it may give."""
import collections
import concurrent.futures
import os
import random
import threading

from scenarios import Base, Fault, all_scenarios, expect, fresh
from tool import Problem

NAMES = ["EIO", "ENOSPC", "EDQUOT", "EACCES", "EINTR"]
KINDS = {
    "openat": ["EMFILE", "ENFILE", "EACCES", "EIO", "ENOSPC", "EINTR"],
    "read": ["EIO", "EINTR", "SHORT"], "pread": ["EIO", "EINTR", "SHORT"],
    "write": ["EIO", "ENOSPC", "EDQUOT", "EFBIG", "EINTR", "SHORT"],
    "pwrite": ["EIO", "ENOSPC", "EDQUOT", "EFBIG", "EINTR", "SHORT"],
    "statx": ["EIO", "EACCES", "EINTR"], "getdents64": ["EIO", "ENOMEM", "EINTR"], "readlinkat": ["EIO", "EINTR"],
    "mkdirat": NAMES, "symlinkat": NAMES, "linkat": NAMES, "mknodat": NAMES, "unlinkat": ["EIO", "EACCES", "EINTR"],
    "renameat": ["EIO", "ENOSPC", "EDQUOT", "EACCES", "EINTR"],
    "renameat2": ["EIO", "ENOSPC", "EDQUOT", "EINVAL", "EINTR"],
    "fchmod": ["EIO", "EPERM", "EINTR"], "fchmodat": ["EIO", "EPERM", "EINTR"],
    "fchown": ["EIO", "EPERM", "EDQUOT", "EINTR"], "fchownat": ["EIO", "EPERM", "EINTR"],
    "utimensat": ["EIO", "EPERM", "EINTR"],
    "getxattr": ["EIO", "EOPNOTSUPP", "EINTR"], "listxattr": ["EIO", "EOPNOTSUPP", "EINTR"],
    "setxattr": ["EIO", "ENOSPC", "EOPNOTSUPP", "EINTR"], "removexattr": ["EIO", "EINTR"],
    "fsync": ["EIO", "ENOSPC", "EDQUOT", "EINTR"], "syncfs": ["EIO", "ENOSPC", "EINTR"],
    "close": ["EIO", "ENOSPC", "EDQUOT", "EINTR"], "ftruncate": ["EIO", "ENOSPC", "EFBIG", "EINTR"],
    "fallocate": ["EIO", "ENOSPC", "EOPNOTSUPP", "EINTR"], "lseek": ["EIO", "EINVAL", "EINTR"],
    "flock": ["EIO", "ENOLCK", "EINTR"], "dup": ["EMFILE", "EINTR"], "fcntl": ["EIO", "EINTR"],
    "eventfd": ["EMFILE", "ENOMEM"], "poll": ["ENOMEM", "EINTR"], "getrandom": ["ENOSYS", "EINTR"],
    "mmap": ["ENOMEM"], "malloc": ["ENOMEM"], "realloc": ["ENOMEM"], "fstatvfs": ["EIO", "EINTR"], "fadvise": ["EIO"],
    "sched_getaffinity": ["EPERM"], "eventfd_write": ["EIO"],
}
# From some call on all fail: a full disk stays full.
LASTING = {
    "write": ["ENOSPC"], "pwrite": ["ENOSPC"], "mkdirat": ["ENOSPC"], "openat": ["EMFILE"], "malloc": ["ENOMEM"],
    "mmap": ["ENOMEM"], "close": ["EIO"], "fsync": ["EIO"], "getxattr": ["EIO"], "setxattr": ["ENOSPC"],
    "pread": ["EIO"], "read": ["EIO"], "statx": ["EIO"],
}


def faults_of(scenario, directory):
    """All faults of one run, from the calls that it makes. Two threads may make some more or fewer."""
    scenario.prepare(fresh(directory))
    scenario.undisturbed = result = scenario.run(directory, counting=True)
    expect(result.status == (1 if scenario.name == "salvage" else 0), f"exit {result.status}: {result.text}")
    if hasattr(scenario, "learn"):
        scenario.learn(directory)
    expect(result.counts, "this build of the tool knows no faults: only debug builds do")
    unknown = set(result.counts) - set(KINDS)
    expect(not unknown, f"no errors are known for {unknown}")
    faults = []
    for call, count in sorted(result.counts.items()):
        numbers = range(1, count + 3)
        faults += [Fault(call, nth, kind) for kind in KINDS[call] for nth in numbers]
        faults += [Fault(call, -nth, kind) for kind in LASTING.get(call, []) for nth in numbers]
    return faults


def disturbed(scenario, directory, fault):
    """What the run came to; a problem is raised."""
    scenario.prepare(fresh(directory))
    result = scenario.run(directory, fault)
    if result.fired is False and fault.nth > 0:
        return "not reached"
    if fault.changes_nothing:
        expect(result.status == scenario.undisturbed.status, f"exit {result.status}: {result.text}")
    scenario.check(directory, result, fault)
    return f"exit {result.status}"


def sweep(tool, root, share, seed, jobs, only=None):
    """Returns the number of problems. Of all faults one in `share` is tried."""
    generator = random.Random(seed)
    scenarios = all_scenarios(Base(tool, root, generator))
    work = []
    for scenario in scenarios:
        if only and only not in scenario.name:
            continue
        faults = faults_of(scenario, os.path.join(root, "run"))
        calls = len({(fault.call, fault.nth) for fault in faults if fault.nth > 0})
        chosen = faults if share == 1 else generator.sample(faults, max(1, len(faults) // share))
        print(f"{scenario.name}: {calls} calls, {len(chosen)} of {len(faults)} faults", flush=True)
        work += [(scenario, fault) for fault in chosen]
    outcomes, problems = collections.Counter(), []
    messages = collections.defaultdict(list)

    def one(item):
        scenario, fault = item
        directory = os.path.join(root, f"run-{threading.get_ident()}")
        try:
            return scenario, fault, disturbed(scenario, directory, fault), None
        except Problem as problem:
            return scenario, fault, "problem", problem

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for scenario, fault, outcome, problem in pool.map(one, work):
            outcomes[outcome] += 1
            if problem is not None:
                problems.append(problem)
                messages[f"{scenario.name}: {fault.call} {fault.kind}: {problem}"].append(fault.nth)
    for message, numbers in sorted(messages.items()):
        print(f"PROBLEM {message} (at {', '.join(map(str, numbers[:8]))}{', …' if len(numbers) > 8 else ''})")
    print("; ".join(f"{outcome}: {count}" for outcome, count in sorted(outcomes.items())), flush=True)
    return len(problems)
