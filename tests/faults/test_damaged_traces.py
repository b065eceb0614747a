"""Damaged traces, and pairs of them, through every command: an answer, a message, never a crash.

With `MODE=asan` the same finds reads beside what there is. The damage follows from a number, which
a failure tells."""

import random

import pytest

from tests.support import viewer
from tests.trace import scenarios

SCENARIOS = [
    scenarios.nested_calls,
    scenarios.threads,
    scenarios.values,
    scenarios.parts,
    scenarios.branches,
    scenarios.no_beginning,
]
QUICK, LONG = 13, 400
COMMANDS = [
    ["show", "A"],
    ["show", "--canonical", "A"],
    ["graph", "A", "-o", "OUT.svg"],
    ["calls", "A"],
    ["calls", "A", "-o", "OUT.svg"],
    ["diff", "A", "B"],
    ["diff", "--exact", "--json", "A", "B"],
    ["diff", "--all", "A", "B"],
    ["diff", "A", "B", "-o", "OUT.html"],
    ["check", "--no-nan", "--zeros", "--shape", "*=...,B", "A"],
    ["why", "A"],
    ["why", "A", "*", "-o", "OUT.svg"],
    ["sql", "A", "B", "select count(*), sum(nan), max(absmax), max(module) from events"],
    ["sql", "A", "select count(*) from events join edges on target = seq join calls using (call)"],
    ["export", "A", "B", "--perfetto", "OUT.json"],
    ["export", "A", "--annotate=-", "--csv=OUT.csv", "--jsonl=OUT.jsonl", "--sqlite", "OUT.sqlite"],
]
EXITS = {0, 1, 3}


def damage(data, number):
    """Some bytes changed, or the end cut off, or a piece left out or twice."""
    chance = random.Random(number)
    data = bytearray(data)
    for _ in range(chance.choice([1, 3, 20])):
        # What is behind the header counts, and there what is not zero.
        at = chance.choice([i for i in range(4096, len(data)) if data[i]] or [0])
        data[at] = chance.choice([0, 1, 0x7F, 0xFF, chance.randrange(256)])
    kind = chance.randrange(6)
    at = chance.randrange(len(data))
    if kind == 0:
        del data[at:]
    elif kind == 1:
        del data[at : at + chance.choice([1, 8, 64, 4096])]
    elif kind == 2:
        data[at:at] = data[at : at + chance.choice([8, 64, 4096])]
    return bytes(data)


def run_all(folder, numbers):
    whole = [scenario().write(folder / f"{scenario.__name__}.mtrace") for scenario in SCENARIOS]
    for number in numbers:
        original = whole[number % len(whole)]
        places = {"A": folder / "a.mtrace", "B": folder / "b.mtrace"}
        places["A"].write_bytes(damage(original.read_bytes(), number))
        places["B"].write_bytes(
            original.read_bytes() if number % 3 == 0 else damage(original.read_bytes(), -number)
        )
        for words in COMMANDS:
            given = [
                str(places.get(word, word)).replace("OUT", str(folder / "out")) for word in words
            ]
            run = viewer.run(*given, encoding=None)
            told = (number, words, run.returncode, run.stderr[-2000:])
            assert run.returncode in EXITS, told
            assert b"Sanitizer" not in run.stderr, told
            assert b"runtime error" not in run.stderr, told


def test_damaged_traces(tmp_path):
    run_all(tmp_path, range(1, QUICK))


@pytest.mark.slow
def test_many_damaged_traces(tmp_path):
    run_all(tmp_path, range(QUICK, LONG))
