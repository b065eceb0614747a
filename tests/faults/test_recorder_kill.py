"""A process that dies at any moment leaves every event that it had returned from in its trace."""

import json
import os
import pathlib
import random
import signal

import pytest

from tests.faults.planned import run_planned
from tests.support import compiler, recording

CHILD = pathlib.Path(__file__).with_name("killed_child.py")
SIGNALS = {"kill": signal.SIGKILL, "segfault": signal.SIGSEGV}

# Each turn is recorded line by line, then counted: what is counted must be in the trace.
SOURCE = b"""\
def turn(n, x):
    y = x + 1
    y[0] = n
    return y


def work(make, counts, slot):
    x = make(0)
    n = 0
    while True:
        n += 1
        x = turn(n, x)
        counts[slot] = n
"""

pytestmark = pytest.mark.usefixtures("compiler_module")


def unhandled():
    """A segfault is to be one also where a sanitizer is there to report it."""
    return os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0"


def kill(folder, kind, how, count, seed, **options):
    """{trace: what each of its threads had counted}, of programs killed at random moments."""
    source = folder / "working.py"
    source.write_bytes(compiler.instrument(SOURCE, "working.py", all=True).text)
    choose = random.Random(seed)
    deaths = [(f"{n}.mtrace", how, choose.uniform(0, 0.004)) for n in range(count)]
    plan = {"source": str(source), "kind": kind, "options": {"scalars": "all", **options}, "deaths": deaths}
    run = run_planned(CHILD, folder, plan, ASAN_OPTIONS=unhandled())
    told = json.loads((folder / "counts.json").read_text())
    for name, one in told.items():
        assert one["signal"] == SIGNALS[how], f"{name}: {run.stderr[-3000:]}"
    return {folder / name: one["counts"] for name, one in told.items()}


def read(path):
    """What assert_whole looks at."""
    return recording.read(path, "--name", "n", "--name", "y")


def slot_of(trace, event):
    return int(trace.calls[event.call].thread_name.removeprefix("slot "))


def turns(trace):
    """{slot: [(n, y)]} of the turns whose last line was recorded, in the order of the trace; y
    as (min, max)."""
    found = {}
    for event in trace.events:
        if event.function == "turn" and event.kind == "mutate" and event.name == "y":
            found.setdefault(slot_of(trace, event), []).append((event.min, event.max))
    return found


def counted(trace):
    """{slot: the values of n that its events tell, in their order}"""
    found = {}
    for event in trace.events:
        if event.function == "work" and event.name == "n" and event.value:
            found.setdefault(slot_of(trace, event), []).append(event.value)
    return found


def assert_whole(trace, counts):
    """Every turn that a thread had counted is there, in order, and right."""
    numbers, results = counted(trace), turns(trace)
    for slot, count in enumerate(counts):
        found, ys = numbers[slot], results[slot]
        assert count > 0
        assert found == list(range(1, len(found) + 1))
        assert ys == [(n, n) for n in range(1, len(ys) + 1)]
        assert count <= len(ys) <= len(found) <= count + 1


@pytest.mark.parametrize("how", ["kill", "segfault"])
@pytest.mark.parametrize("count", [20, pytest.param(100, marks=pytest.mark.slow)])
def test_every_event_returned_from_is_read(how, count, tmp_path):
    for path, counts in kill(tmp_path, "numpy", how, count, seed=how).items():
        assert_whole(read(path), counts)


@pytest.mark.torch
@pytest.mark.parametrize("how", ["kill", "segfault"])
@pytest.mark.parametrize("count", [20, pytest.param(100, marks=pytest.mark.slow)])
def test_every_event_of_tensors_is_read(how, count, tmp_path):
    for path, counts in kill(tmp_path, "torch", how, count, seed=how).items():
        assert_whole(read(path), counts)


@pytest.mark.parametrize("how", ["kill", "segfault"])
def test_the_newest_events_of_a_ring_are_read(how, tmp_path):
    last, has_dropped = 500, 0
    for path, counts in kill(tmp_path, "numpy", how, 20, seed=how, last=last).items():
        trace = recording.read(path)
        numbers = [event.seq for event in trace.events]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        assert len(numbers) >= min(last, numbers[-1] + 1)
        has_dropped += numbers[0] > 0
        found = counted(trace)
        assert found
        for slot, values in found.items():
            assert values == list(range(values[0], values[-1] + 1))
            assert counts[slot] <= values[-1] <= counts[slot] + 1
    assert has_dropped > 0
