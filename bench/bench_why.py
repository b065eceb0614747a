"""What `why` and `graph` take of a long trace, beside one read of it.

The trace has 1,200,000 events, all of them arrays: an attention of 64 numbers in a loop, and a last line that divides
zero by zero. One read is `monitorch check`, which decodes each event and finds the same NaN. `graph` writes the
whole, folded, as DOT. The three alternate; the best time of each counts. Memory is the largest that the process had.
Exit code 1 where a claim does not hold.
"""

import os
import subprocess
import sys
import tempfile
import time

import numpy
from claims import Claims
from traces import COMMAND, record

ROUNDS = 3
TURNS = 109_000  # of eleven events each
SOURCE = """
def attend(x, mask):
    q = x * 1
    scores = q * mask
    if mask is not None:
        scores = scores + x
    weights = scores * q
    return weights

def run(x, turns):
    y = x
    for i in range(turns):
        y = attend(x, x)
        z = y - x
    lost = (z - z) / (z - z)
    return lost
"""
LIMITS = {"why": (16.0, 240.0), "graph": (16.0, 300.0)}  # times one read; MB


def cost(words):
    """Seconds, and the most megabytes."""
    start = time.perf_counter()
    done = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(done.pid, 0)
    done.returncode = os.waitstatus_to_exitcode(status)
    assert done.returncode in (0, 1), words
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main():
    claims = Claims("What why and graph cost on a trace of 1,200,000 events")
    with tempfile.TemporaryDirectory() as folder:
        trace, picture = f"{folder}/run.mtrace", f"{folder}/run.dot"
        with numpy.errstate(all="ignore"):
            events = record(trace, TURNS, SOURCE)
        print(f"{events:,} events, {os.path.getsize(trace) / 1e6:.0f} MB")
        works = {
            "read": [COMMAND, "check", trace],
            "why": [COMMAND, "why", trace],
            "graph": [COMMAND, "graph", "-q", "--step", "all", "--depth", "all", trace, "-o", picture],
        }
        rounds = [{name: cost(words) for name, words in works.items()} for _ in range(ROUNDS)]
    read = min(one["read"][0] for one in rounds)
    for name, (times, megabytes) in LIMITS.items():
        seconds = min(one[name][0] for one in rounds)
        memory = min(one[name][1] for one in rounds)
        print(f"{name}: {seconds:.2f} s, {seconds / read:.1f} reads of {read:.2f} s, {memory:.0f} MB")
        claims.at_most(times, f"the time of {name}", seconds / read, peer="one read of the trace", unit="times")
        claims.at_most(megabytes, f"the memory of {name}", memory, peer="nothing", unit="MB")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
