"""What `python -m monitorch run` adds to the start of a training script.

Claim: at most 0.3 s for samples/train_digits.py, with its first step recorded. Exit code 1 where it
does not hold.

The two ways take turns. All that disturbs only adds to a time, so the difference of the best times
counts: of the clock's, or of the processor's, which other programs disturb less (nothing here waits
for anything). The median of the clock's differences is printed too. An empty program shows what the package
itself costs, and a project of many modules what instrumenting them does, and taking from the cache
what was instrumented in an earlier run.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from claims import Claims

LIMIT = 0.3
ROUNDS = 15
MODULES = 50
ROOT = pathlib.Path(__file__).resolve().parents[1]
SCRIPT = str(ROOT / "samples" / "train_digits.py")
SOURCE = (ROOT / "samples" / "transformer_block.py").read_text()


def duration(folder, *words):
    """(seconds by the clock, seconds of the processor)"""
    before = os.times()
    start = time.perf_counter()
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{words}: exit code {done.returncode}\n{done.stderr}")
    after = os.times()
    worked = sum(after[2:4]) - sum(before[2:4])  # of children, user and system
    return seconds, worked


def compare(title, folder, words, rounds):
    """The best difference, in seconds."""
    ours = ["-m", "monitorch", "run", "-q", "-o", "start.mtrace"]
    for way in ([], ours):  # what is read from disk for the first time, and bytecode written
        duration(folder, *way, *words)
    times = [(duration(folder, *words), duration(folder, *ours, *words)) for _ in range(rounds)]
    plain, run = (min(clock for clock, _ in column) for column in zip(*times))
    worked = [min(work for _, work in column) for column in zip(*times)]
    median = statistics.median(b[0] - a[0] for a, b in times)
    print(
        f"{title:<42} python {plain:6.3f} s   run {run:6.3f} s   added {run - plain:6.3f} s "
        f"(median {median:.3f}), of the processor {worked[1] - worked[0]:.2f} s"
    )
    return min(run - plain, worked[1] - worked[0])


def make_project(folder):
    """Modules of the sample's text without its main program; torch is not what is timed here."""
    text = "import math\n" + SOURCE[SOURCE.index("class Attention") :].split("\ndef main")[0]
    text = text.replace("(nn.Module)", "")
    for number in range(MODULES):
        pathlib.Path(folder, f"part{number}.py").write_text(text)
    names = ", ".join(f"part{number}" for number in range(MODULES))
    pathlib.Path(folder, "many.py").write_text(f"import {names}\n")
    return f"a project of {MODULES} modules, {MODULES * len(text) / 1e3:.0f} KB"


def main():
    os.environ.pop("MONITORCH", None)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        compare("an empty program", folder, ["-c", "pass"], ROUNDS)
        title = make_project(folder)
        compare(title, folder, ["many.py"], ROUNDS)
        os.environ["XDG_CACHE_HOME"] = "none"  # not absolute: no cache
        compare("the same, never run before", folder, ["many.py"], ROUNDS)
        added = compare("train_digits.py, one step", folder, [SCRIPT, "--steps", "1"], ROUNDS)
    claims = Claims("What python -m monitorch run adds to the start of a training script")
    what = "start of samples/train_digits.py, its first step recorded"
    claims.at_most(LIMIT, what, added, peer="python alone", unit="s more")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
