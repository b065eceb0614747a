"""What instrumented code costs while recording is off, each loop against itself uninstrumented.

Claims, every line selected: at most 1.02 times on a loop of operations on 64x64 tensors, at most 1.8
times on a bare loop of integer additions; both also in a recording of training steps, outside of the
range. Exit code 1 where a claim does not hold.
"""

import sys
import tempfile
import time
import warnings

import torch
from claims import Claims, median
from loops import TENSORS

from tests.support import compiler, recording

INTEGERS = b"""
def run(count):
    total = 0
    other = 0
    for i in range(count):
        total = total + i
        other = other + total
        total = total + 1
        other = other + 2
    return total, other
"""


def load(source, is_instrumented):
    text = compiler.instrument(source, "loop.py", all=True).text if is_instrumented else source
    space = {"__name__": "loop"}
    exec(compile(text, "loop.py", "exec", dont_inherit=True), space)
    return space["run"]


def ratio(source, count, rounds):
    """Instrumented over plain, the two taking turns."""
    with recording.active("off"):
        plain, traced = load(source, False), load(source, True)
    return compare(plain, traced, count, rounds)


def ratio_outside(source, count, rounds):
    """The same while a recording waits for a step that never comes."""
    with tempfile.TemporaryDirectory() as folder:
        plain, traced = load(source, False), load(source, True)
        with warnings.catch_warnings(), recording.record(f"{folder}/a.mtrace", steps=10**6):
            warnings.simplefilter("ignore")
            return compare(plain, traced, count, rounds)


def compare(plain, traced, count, rounds):
    plain(count // 10), traced(count // 10)
    ratios = []
    for turn in range(rounds):
        seconds = {}
        order = (plain, traced) if turn % 2 else (traced, plain)
        for function in order:
            started = time.perf_counter()
            function(count)
            seconds[function] = time.perf_counter() - started
        ratios.append(seconds[traced] / seconds[plain])
    return median(ratios)


def main():
    claims = Claims("What instrumented code costs while recording is off")
    torch.set_num_threads(1)
    loops = [
        ("integer additions", INTEGERS, 200_000, 41, 1.8),
        ("operations on 64x64 tensors", TENSORS.encode(), 1500, 61, 1.02),
    ]
    for name, source, count, rounds, claim in loops:
        what = f"a loop of {name}, every line with a site"
        claims.at_most(claim, what, ratio(source, count, rounds), peer="the plain loop")
        outside = f"{what}, outside of the recorded steps"
        claims.at_most(claim, outside, ratio_outside(source, count, rounds), peer="the plain loop")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
