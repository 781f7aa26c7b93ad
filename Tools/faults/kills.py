"""Runs that a signal ends at random moments, and the run after each."""
import os
import random
import signal
import statistics
import subprocess
import time

from scenarios import Base, Create, Extract, Fault, expect, fresh
from tool import Problem, leftovers

SIGNALS = [signal.SIGKILL, signal.SIGINT, signal.SIGTERM]


def timed(scenario, directory):
    scenario.prepare(fresh(directory))
    start = time.monotonic()
    scenario.undisturbed = scenario.run(directory)
    return time.monotonic() - start


def kill(scenario, directory, number, delay):
    """Whether the signal came before the end."""
    scenario.prepare(fresh(directory))
    process = subprocess.Popen(
        [scenario.base.tool.path, *scenario.arguments()], cwd=directory, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(delay)
    process.send_signal(number)
    try:
        _, errors = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Problem("did not end")
    # Before the tool has taken the signals over they end it as they end any process.
    ended = {0, -number, 128 + number}
    expect(process.returncode in ended, f"exit {process.returncode}: {errors.decode(errors='replace')}")
    return process.returncode != 0


def check(scenario, directory, number, was_ended):
    if number != signal.SIGKILL:
        expect(not leftovers(directory), f"left {leftovers(directory)}")
    left = bool(leftovers(directory))
    if isinstance(scenario, Create):
        path = os.path.join(directory, "a.tar.zst")
        found = open(path, "rb").read() if os.path.exists(path) else None
        old = Create.OLD if scenario.is_over else None
        expect(found == scenario.base.bytes or (was_ended and found == old), "neither the old nor the new archive")
        again = scenario.run(directory)
        expect(again.status == 0, f"the next run: exit {again.status}: {again.text}")
        expect(open(path, "rb").read() == scenario.base.bytes, "the next run made another archive")
        expect(os.listdir(directory) == ["a.tar.zst"], f"the next run left {os.listdir(directory)}")
        return left
    found = scenario.look(directory)
    if not scenario.is_existing:
        expect(found in (None, scenario.expected), "the new directory is there and not complete")
        if found is None:
            scenario.check_next(directory)
        return left
    scenario.check_contents(found)
    scenario.check_next(directory)
    return left


def kills(tool, root, count, seed, only=None):
    """Returns the number of problems."""
    generator = random.Random(seed)
    base = Base(tool, root, generator, files=300, large=3_000_000)
    scenarios = [
        Create("create", base), Create("create over an old one", base, is_over=True), Extract("extract", base),
        Extract("extract into a directory", base, is_existing=True),
    ]
    directory, problems = os.path.join(root, "run"), 0
    for scenario in scenarios:
        if only and only not in scenario.name:
            continue
        length = statistics.median(timed(scenario, directory) for _ in range(5))
        if isinstance(scenario, Extract):
            scenario.learn(directory)
        for number in SIGNALS:
            ended = left = 0
            for _ in range(count):
                delay = generator.random() * length
                try:
                    was_ended = kill(scenario, directory, number, delay)
                    ended += was_ended
                    left += check(scenario, directory, number, was_ended)
                except Problem as problem:
                    problems += 1
                    print(f"PROBLEM {scenario.name}, {number.name} after {delay * 1000:.1f} ms: {problem}")
            print(
                f"{scenario.name}: {number.name} at {count} moments of {length * 1000:.0f} ms: {ended} ended by it, "
                f"{left} left something for the next run", flush=True)
    return problems
