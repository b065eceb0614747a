"""What benchmarks of commands that read traces share: traces as large as wanted, and what a command takes."""

import contextlib
import pathlib
import shutil
import subprocess
import tempfile
import time

import monitorch
import numpy
from monitorch import _instrument

COMMAND = shutil.which("monitorch")
SMALL = 1000  # turns; what memory is compared with, to see whether it grows
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


def record(path, turns, source=SOURCE):
    """Gives how many events there are."""
    x = numpy.linspace(-3, 3, 64, dtype=numpy.float32).reshape(8, 8)
    names = {"__name__": "model"}
    text = _instrument.instrument(source.encode(), "model.py", all=True).text
    exec(compile(text, "model.py", "exec"), names)
    with monitorch.record(str(path)) as recording:
        names["run"](x, turns)
    return recording.summary.events


@contextlib.contextmanager
def large_and_small(turns):
    """The paths of a trace of so many turns and of a small one, in a folder that goes with the block."""
    with tempfile.TemporaryDirectory() as folder:
        large, small = (pathlib.Path(folder, f"{name}.mtrace") for name in ("run", "small"))
        record(large, turns)
        record(small, SMALL)
        yield large, small


def seconds(work, codes=(0,)):
    """That a function takes, or a program of these words, which must end with one of the codes."""
    started = time.perf_counter()
    if callable(work):
        work()
    else:
        assert subprocess.run(work, stdout=subprocess.DEVNULL).returncode in codes, work
    return time.perf_counter() - started


def in_turns(works, rounds, codes=(0,)):
    """{name: [seconds]} of so many rounds in which they take turns."""
    times = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(seconds(work, codes))
    return times


def peak_memory(words, codes=(0,)):
    """In kilobytes, asked again and again while it works: the figure that is told at the end of
    a process counts what it was forked from too."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    status = pathlib.Path(f"/proc/{process.pid}/status")
    peak = 0
    while process.poll() is None:
        lines = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        peak = max([peak, *(int(line.split()[1]) for line in lines)])
    assert process.wait() in codes
    return peak


def memory_growth(words, small_words, codes=(0,)):
    """How many MB more a command holds over a large trace than over a small one."""
    peak, small_peak = peak_memory(words, codes), peak_memory(small_words, codes)
    print(f"memory of {' '.join(map(str, words[1:]))}: {peak} kB; {small_peak} kB for a small trace")
    return (peak - small_peak) / 1024
