"""How fast `monitorch show` prints a trace, beside the shell of SQLite printing the same figures.

Claims: at least 1.5 million events a second, at least as fast as sqlite3 with the same rows in a table
of its own, and memory that does not grow with the trace. Exit code 1 where a claim does not hold.

The peers take turns, and the best time of each counts, since all that disturbs only adds to it.
"""

import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

try:
    import numpy
except ImportError:
    print("numpy is not installed: there is nothing to record")
    sys.exit(0)

import monitorch
from monitorch import _instrument

TURNS = 60000
ROUNDS = 7
COLUMNS = (
    "seq time thread call iteration site kind name path file line function module change dtype shape"
    " device strides requires_grad min max mean std absmax nan posinf neginf zeros hash"
).split()
SOURCE = """
def attend(x, mask):
    q = x
    scores = q
    if mask is not None:
        scores = x
    weights = scores
    return weights

def run(x, turns):
    for i in range(turns):
        y = attend(x, x)
        z = y
"""
SHOW = shutil.which("monitorch")
SQLITE = shutil.which("sqlite3")


def record(path, turns, source=SOURCE):
    """Gives how many events there are."""
    x = numpy.linspace(-3, 3, 64, dtype=numpy.float32).reshape(8, 8)
    names = {"__name__": "model"}
    text = _instrument.instrument(source.encode(), "model.py", all=True).text
    exec(compile(text, "model.py", "exec"), names)
    with monitorch.record(str(path)) as recording:
        names["run"](x, turns)
    return recording.summary.events


def import_rows(trace, database):
    """The same rows in a table of SQLite; gives how many."""
    marks = ",".join("?" * len(COLUMNS))
    connection = sqlite3.connect(database)
    connection.execute(f"create table events ({','.join(COLUMNS)})")
    reading = subprocess.Popen([SHOW, "show", "--json", trace], stdout=subprocess.PIPE, text=True)
    count = 0
    for line in reading.stdout:
        row = json.loads(line)
        if row["record"] == "event":
            values = [str(v) if isinstance(v, list) else v for v in map(row.get, COLUMNS)]
            connection.execute(f"insert into events values ({marks})", values)
            count += 1
    connection.commit()
    connection.close()
    return count


def run(words):
    """Seconds. Exit code 0 is expected."""
    started = time.perf_counter()
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def peak_memory(words):
    """In kilobytes, asked again and again while it works: the figure that is told at the end of
    a process counts what it was forked from too."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    status = pathlib.Path(f"/proc/{process.pid}/status")
    peak = 0
    while process.poll() is None:
        lines = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        peak = max([peak, *(int(line.split()[1]) for line in lines)])
    assert process.wait() == 0
    return peak


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        trace, small = folder / "run.mtrace", folder / "small.mtrace"
        record(trace, TURNS)
        record(small, 1000)
        database = folder / "events.sqlite"
        count = import_rows(trace, database)
        peers = {
            "monitorch show": [SHOW, "show", trace],
            "monitorch show --json": [SHOW, "show", "--json", trace],
            "monitorch show --name=z": [SHOW, "show", "--name=z", trace],
        }
        if SQLITE:
            peers["sqlite3"] = [SQLITE, database, f"select {','.join(COLUMNS)} from events"]
        best = dict.fromkeys(peers, float("inf"))
        for _ in range(ROUNDS):
            for peer, words in peers.items():
                best[peer] = min(best[peer], run(words))
        print(f"{count:,} events, printed:")
        for peer, seconds in best.items():
            print(f"  {peer:24} {seconds:6.3f} s {count / seconds / 1e6:7.2f} million a second")
        peak, small_peak = (peak_memory([SHOW, "show", path]) for path in (trace, small))
        print(f"memory: {peak} kB; {small_peak} kB for a small trace")
        holds = count / best["monitorch show"] >= 1.5e6 and 0 < peak < small_peak + 2048
        if SQLITE:
            holds &= best["monitorch show"] <= best["sqlite3"]
        else:
            print("sqlite3 is not installed: the claim beside it was not tried")
    print("the claims hold" if holds else "a claim does not hold")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
