"""Subcommands run as a user runs them, and what each has to bear: damaged traces, and an n-th allocation
that fails."""

import random

from tests.support import viewer

HEADER = 4096  # bytes; what stands there is tested by itself


def run(*words, env=None):
    """`monitorch WORDS…`, as text."""
    return viewer.run(*words, env=env)


def damaged(data, count, seed):
    """So many copies of a trace's bytes, with some of them changed; one of three is cut, too."""
    chance = random.Random(seed)
    for attempt in range(count):
        bad = bytearray(data[: chance.randrange(HEADER, len(data))] if attempt % 3 == 0 else data)
        for _ in range(chance.randrange(1, 20)):
            bad[chance.randrange(HEADER, len(bad))] = chance.randrange(256)
        yield bytes(bad)


def fail_allocations(run, and_all_after="", most=2000):
    """How often `run(env=…)` ended for want of memory, until it does no more: all it tells otherwise is
    what it tells with memory enough."""
    good = run(env={})
    failed = 0
    for attempt in range(1, most):
        done = run(env={"MONITORCH_TEST_FAIL_ALLOCATION": f"{attempt}{and_all_after}"})
        if done.returncode == good.returncode:
            assert done.stdout == good.stdout, attempt
        else:
            assert done.returncode == 3 and "memory" in done.stderr, (attempt, done.stderr)
            failed += 1
        if done.returncode != 3 and attempt > failed + 20:
            return failed
    raise AssertionError("it never came to an end")
