"""How fast `monitorch diff` compares two traces, beside `monitorch show` printing one of them.

Claims, with a million events in each trace: at most 3 times as long as one `show`, whether the
programs are equal or one has a line more in its loop; and memory that does not grow with the traces.
Exit code 1 where a claim does not hold.

The peers take turns, and the best time of each counts, since all that disturbs only adds to it.
"""

import pathlib
import shutil
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

TURNS = 91000
ROUNDS = 5
LIMIT = 3.0
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
LONGER = SOURCE.replace("    scores = q\n", "    scores = q\n    extra = q\n")
COMMAND = shutil.which("monitorch")


def record(path, turns, source=SOURCE):
    x = numpy.linspace(-3, 3, 64, dtype=numpy.float32).reshape(8, 8)
    names = {"__name__": "model"}
    text = _instrument.instrument(source.encode(), "model.py", all=True).text
    exec(compile(text, "model.py", "exec"), names)
    with monitorch.record(str(path)) as recording:
        names["run"](x, turns)
    return recording.summary.events


def run(words, expected):
    """Seconds."""
    started = time.perf_counter()
    process = subprocess.run(words, stdout=subprocess.DEVNULL)
    assert process.returncode == expected, (words, process.returncode)
    return time.perf_counter() - started


def peak_memory(words):
    """In kilobytes, asked again and again while it works."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    status = pathlib.Path(f"/proc/{process.pid}/status")
    peak = 0
    while process.poll() is None:
        lines = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        peak = max([peak, *(int(line.split()[1]) for line in lines)])
    return peak


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        a, b, longer, small = (folder / f"{word}.mtrace" for word in ("a", "b", "longer", "small"))
        count = record(a, TURNS)
        record(b, TURNS)
        record(longer, TURNS, LONGER)
        record(small, 1000)
        peers = {
            "show": ([COMMAND, "show", a], 0),
            "diff, equal": ([COMMAND, "diff", "-q", a, b], 0),
            "diff --exact, equal": ([COMMAND, "diff", "-q", "--exact", a, b], 0),
            "diff, a line more": ([COMMAND, "diff", "-q", a, longer], 0),
        }
        best = dict.fromkeys(peers, float("inf"))
        for _ in range(ROUNDS):
            for peer, (words, expected) in peers.items():
                best[peer] = min(best[peer], run(words, expected))
        print(f"{count:,} events in each trace:")
        for peer, seconds in best.items():
            print(f"  monitorch {peer:20} {seconds:6.3f} s {seconds / best['show']:6.2f} of show")
        peak = max(peak_memory([COMMAND, "diff", "-q", a, other]) for other in (b, longer))
        small_peak = peak_memory([COMMAND, "diff", "-q", small, small])
        print(f"memory: {peak} kB; {small_peak} kB for small traces")
        holds = max(best.values()) <= LIMIT * best["show"] and peak < small_peak + 16384
    print("the claims hold" if holds else "a claim does not hold")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
