"""The runs that are disturbed, and what has to hold after each."""
import errno
import os
import shutil

from tool import Problem, content_of, leftovers, make_tree, remove, snapshot

CREATE = ["--chunk-size", "64K", "--threads", "2"]


def expect(condition, text):
    if not condition:
        raise Problem(text)


class Fault:
    """`call:nth:kind`; a negative `nth` is that call and all later ones."""

    def __init__(self, call, nth, kind):
        self.call, self.nth, self.kind = call, nth, kind

    def __str__(self):
        return f"{self.call}:{self.nth}:{self.kind}"

    @property
    def changes_nothing(self):
        return self.kind in ("SHORT", "EINTR")

    @property
    def may_leave_names(self):
        """Where removing itself fails, or everything does from some moment on, cleaning up is left to the next run."""
        return self.call == "unlinkat" or self.nth < 0


class Base:
    """What all runs read: a tree, its archive, a damaged one and a tree that an extraction goes into."""

    def __init__(self, tool, root, random, **options):
        self.tool, self.root = tool, root
        self.source = os.path.join(root, "tree")
        make_tree(os.path.join(self.source, "src"), random, **options)
        self.archive = os.path.join(root, "a.tar.zst")
        made = tool.run(["create", "-q", *CREATE, self.archive, "-C", self.source, "src"], root)
        expect(made.status == 0, f"creating: {made.text}")
        with open(self.archive, "rb") as file:
            self.bytes = file.read()
        self.damaged = os.path.join(root, "damaged.tar.zst")
        middle = len(self.bytes) // 3
        with open(self.damaged, "wb") as file:
            file.write(self.bytes[:middle] + bytes(64) + self.bytes[middle + 64:])
        self.existing = os.path.join(root, "existing")
        os.makedirs(os.path.join(self.existing, "src/inner"))
        for name in ("large-random", "inner/0", "inner/1", "link", "hard", "other", "inner/other"):
            with open(os.path.join(self.existing, "src", name), "w") as file:
                file.write(f"old {name}")
        self.tree = snapshot(self.source)


class Scenario:
    """One command. `prepare` makes what it changes in an empty directory; `check` looks at what is left."""

    FILES = ("src", "a.tar.zst", "damaged", "out", "standard output", "standard input", "tree", "starc: .: ", "starc: -: ")
    WITHOUT_FILE = ("mmap", "malloc", "realloc", "eventfd", "poll", "getrandom", "dup", "fcntl", "sched_getaffinity")
    OTHER_WORDS = ()
    # Whether an undisturbed run has something to say.
    warns = False

    def __init__(self, name, base):
        self.name, self.base = name, base
        self.undisturbed = None

    def run(self, directory, fault=None, counting=False):
        return self.base.tool.run(
            self.arguments(), directory, fault=str(fault) if fault else None, counting=counting, piped=self.piped())

    def piped(self):
        return None

    def prepare(self, directory):
        pass

    def check(self, directory, result, fault):
        raise NotImplementedError

    def failed_to_report(self, result, fault):
        """All is done, but what it came to could not be written; where no write succeeds any more, not even that."""
        is_silent = fault.call == "write" and fault.nth < 0 and result.err == b""
        return is_silent or b"starc: standard output: " in result.err

    def expect_named(self, result, fault):
        """A run that did not end clean says what failed and why; missing memory and the like have no file."""
        if fault.call == "write" and (fault.nth < 0 or self.warns):
            return  # the message itself may not have been written
        expect(result.err.startswith(b"starc: "), f"exit {result.status} with the message {result.text!r}")
        expect(len(result.text.splitlines()) < 60, "more than 60 lines of messages")
        if fault.kind in errno.__dict__ and not fault.changes_nothing:
            reasons = [os.strerror(getattr(errno, fault.kind)), "no memory", *self.OTHER_WORDS]
            expect(any(reason in result.text for reason in reasons), f"without the cause: {result.text!r}")
            if fault.call not in self.WITHOUT_FILE:
                expect(any(name in result.text for name in self.FILES), f"without a file: {result.text!r}")


class Reading(Scenario):
    """A command that only reads: its output is that of the undisturbed run, or it says that it failed."""

    def __init__(self, name, base, arguments, is_piped=False):
        super().__init__(name, base)
        self.command, self.is_piped = arguments, is_piped

    def arguments(self):
        return self.command

    def piped(self):
        return self.base.bytes if self.is_piped else None

    def check(self, directory, result, fault):
        if result.status == self.undisturbed.status:
            expect(result.out == self.undisturbed.out, f"exit {result.status} with another output")
        else:
            expect(result.status in (1, 2), f"exit {result.status}")
            # Differences and losses are results.
            if result.status == 2 or not result.out:
                self.expect_named(result, fault)
        expect(os.listdir(directory) == [], f"left {os.listdir(directory)}")


class Create(Scenario):
    OLD = b"what was there before"

    def __init__(self, name, base, is_over=False, is_piped=False):
        super().__init__(name, base)
        self.is_over, self.is_piped = is_over, is_piped

    def arguments(self):
        return ["create", *CREATE, "-" if self.is_piped else "a.tar.zst", "-C", self.base.source, "src"]

    def prepare(self, directory):
        if self.is_over:
            with open(os.path.join(directory, "a.tar.zst"), "wb") as file:
                file.write(self.OLD)

    def check(self, directory, result, fault):
        names = sorted(os.listdir(directory))
        made = result.out if self.is_piped else None
        if not self.is_piped and "a.tar.zst" in names:
            with open(os.path.join(directory, "a.tar.zst"), "rb") as file:
                made = file.read()
        before = b"" if self.is_piped else self.OLD if self.is_over else None
        if result.status == 0 and made != self.base.bytes and (fault.call in ("lseek", "realloc") or fault.kind == "EOPNOTSUPP"):
            # Holes that nobody knows are zeros, a file system may have no attributes, and a user no name.
            self.verify(directory, made)
        elif result.status == 0:
            expect(made == self.base.bytes, "exit 0 with another archive")
        elif result.status == 1:
            self.expect_named(result, fault)
            self.verify(directory, made)
        else:
            expect(result.status == 2, f"exit {result.status}")
            self.expect_named(result, fault)
            # Only the step after the renaming may have failed, or what is said then.
            is_late = made == self.base.bytes and (fault.call == "fsync" or self.failed_to_report(result, fault))
            is_late = is_late or self.failed_to_report(result, fault) and b"left out" in result.err
            expect(self.is_piped or is_late or made == before, "exit 2, and the file is neither the old nor the new one")
        allowed = [] if made is None or self.is_piped else ["a.tar.zst"]
        if not fault.may_leave_names:
            expect(names == allowed, f"exit {result.status} left {names}")
        elif names != allowed:
            again = self.run(directory)
            expect(again.status == 0 and os.listdir(directory) == ["a.tar.zst"], f"the next run left {os.listdir(directory)}")

    def verify(self, directory, archive):
        verified = self.base.tool.run(["verify", "-q", "-"], directory, piped=archive)
        expect(verified.status == 0, f"the archive is not right: {verified.text}")


class Extract(Scenario):
    def __init__(self, name, base, is_existing=False, is_piped=False, archive=None, verb="extract"):
        super().__init__(name, base)
        self.is_existing, self.is_piped, self.verb = is_existing, is_piped, verb
        self.warns = verb == "salvage"
        self.archive = archive or base.archive
        self.before = snapshot(base.existing) if is_existing else {}
        self.expected = None

    def arguments(self):
        overwrite = ["--overwrite", "replace"] if self.is_existing else []
        if self.verb == "salvage":
            return ["salvage", "--threads", "2", self.archive, "out"]
        return [self.verb, "--threads", "2", *overwrite, "-" if self.is_piped else self.archive, "out"]

    def piped(self):
        return self.base.bytes if self.is_piped else None

    def prepare(self, directory):
        if self.is_existing:
            shutil.copytree(self.base.existing, os.path.join(directory, "out"), symlinks=True)

    def learn(self, directory):
        """What an undisturbed run has made. Of directories that the archive does not list times are as they come."""
        self.expected = self.look(directory)

    def look(self, directory, fault=None):
        found = snapshot(os.path.join(directory, "out")) if os.path.isdir(os.path.join(directory, "out")) else None
        if found and fault is not None and fault.may_leave_names:
            found = {name: entry for name, entry in found.items() if not os.path.basename(name).startswith(".starc-")}
        return found

    def check(self, directory, result, fault):
        found = self.look(directory, fault)
        clean = self.undisturbed.status
        if result.status not in (clean, 1):
            expect(result.status == 2, f"exit {result.status}")
        if result.status == 2 or result.status != 0 and not result.out:
            self.expect_named(result, fault)
        if result.status == 0 or (result.status == clean and fault.changes_nothing):
            expect(found == self.expected, f"exit {result.status}, but {self.difference(found)}")
        elif not self.is_existing and result.status == 2:
            # Only the step after the renaming may have failed, or what is said then.
            is_late = fault.call in ("fsync", "syncfs") or self.failed_to_report(result, fault)
            is_known = found == self.expected or b"not restored" in result.err
            expect(found is None or is_late and is_known, "exit 2, but the new directory is there")
        self.check_contents(found or {})
        if not fault.may_leave_names:
            expect(not leftovers(directory), f"left {leftovers(directory)}")
            expect(set(os.listdir(directory)) <= {"out"}, f"left {os.listdir(directory)}")
        if self.is_existing or leftovers(directory):
            self.check_next(directory)

    def check_contents(self, found):
        for name, entry in found.items():
            if os.path.basename(name).startswith(".starc-"):
                continue
            known = {content_of(self.expected.get(name)), content_of(self.before.get(name))}
            expect(content_of(entry) in known, f"{name} is neither the old nor the new one")
        for name in self.before:
            expect(name in found, f"{name} is gone")

    def check_next(self, directory):
        """The next run gives everything, and leaves nothing of the one before."""
        again = self.run(directory)
        expect(again.status == self.undisturbed.status, f"the next run: exit {again.status}: {again.text}")
        expect(self.look(directory) == self.expected, f"the next run: {self.difference(self.look(directory))}")
        expect(not leftovers(directory), f"the next run left {leftovers(directory)}")

    def difference(self, found):
        if found is None:
            return "nothing is there"
        names = [name for name in {**found, **self.expected} if found.get(name) != self.expected.get(name)]
        return "; ".join(f"{name}: {found.get(name)} instead of {self.expected.get(name)}" for name in names[:3])


def all_scenarios(base):
    archive, source = base.archive, base.source
    result = [
        Create("create", base), Create("create over an old one", base, is_over=True),
        Create("create to a pipe", base, is_piped=True),
        Extract("extract", base), Extract("extract into a directory", base, is_existing=True),
        Extract("extract from a pipe", base, is_piped=True),
        Extract("extract from a pipe into a directory", base, is_existing=True, is_piped=True),
        Extract("salvage", base, archive=base.damaged, verb="salvage"),
        Reading("verify", base, ["verify", "--threads", "2", archive]),
        Reading("verify a pipe", base, ["verify", "--threads", "2", "-"], is_piped=True),
        Reading("verify --quick", base, ["verify", "--quick", "--threads", "2", archive]),
        Reading("list", base, ["list", "--json", archive]),
        Reading("list a pipe", base, ["list", "-l", "-"], is_piped=True),
        Reading("compare", base, ["compare", "--threads", "2", archive, source]),
        Reading("cat", base, ["cat", archive, "src/large-random"]),
        Reading("info", base, ["info", "--json", archive]),
    ]
    return result


def fresh(path):
    remove(path)
    os.mkdir(path)
    return path
