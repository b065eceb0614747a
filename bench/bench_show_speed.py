"""How fast `monitorch show` prints a trace, beside the shell of SQLite printing the same figures.

Claims: at least 4 times as fast as sqlite3 with the same rows in a table of its own, and memory that
does not grow with the trace. Exit code 1 where a claim does not hold.

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
from claims import Claims, best
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
        times = {peer: [] for peer in peers}
        for _ in range(ROUNDS):
            for peer, words in peers.items():
                times[peer].append(run(words))
        print(f"{count:,} events, printed:")
        for peer, seconds in times.items():
            each = count / min(seconds) / 1e6
            print(f"  {peer:24} {min(seconds):6.3f} s {each:7.2f} million a second")
        peak, small_peak = (peak_memory([SHOW, "show", path]) for path in (trace, small))
        print(f"memory: {peak} kB; {small_peak} kB for a small trace")
    claims = Claims("How fast monitorch show prints a trace")
    what = "monitorch show"
    if SQLITE:
        faster = best(times["sqlite3"], times["monitorch show"])
        peer = "the shell of SQLite, the rows in a table of its own"
        claims.at_least(4, what, faster, peer=peer, unit="times faster")
    else:
        claims.not_measured(f"{what}, against the shell of SQLite", "sqlite3 is not installed")
    more = (peak - small_peak) / 1024
    claims.at_most(2, "memory of monitorch show", more, peer="that for a small trace", unit="MB more")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
