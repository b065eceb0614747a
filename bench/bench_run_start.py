"""What `python -m monitorch run` adds to the start of a training script.

Claim: at most 0.3 s for samples/train_digits.py, with its first step recorded. Exit code 1 where it
does not hold.

The two ways take turns. All that disturbs only adds to a time, so the difference of the best times
counts; the median of the differences is printed too. An empty program shows what the package
itself costs, and a project of many modules what instrumenting them does.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

LIMIT = 0.3
ROUNDS = 15
MODULES = 50
ROOT = pathlib.Path(__file__).resolve().parents[1]
SCRIPT = str(ROOT / "samples" / "train_digits.py")
SOURCE = (ROOT / "samples" / "transformer_block.py").read_text()


def duration(folder, *words):
    start = time.perf_counter()
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{words}: exit code {done.returncode}\n{done.stderr}")
    return seconds


def compare(title, folder, words, rounds):
    """The best difference, in seconds."""
    ours = ["-m", "monitorch", "run", "-q", "-o", "start.mtrace"]
    for way in ([], ours):  # what is read from disk for the first time, and bytecode written
        duration(folder, *way, *words)
    times = [(duration(folder, *words), duration(folder, *ours, *words)) for _ in range(rounds)]
    plain, run = (min(column) for column in zip(*times))
    median = statistics.median(b - a for a, b in times)
    print(
        f"{title:<42} python {plain:6.3f} s   run {run:6.3f} s   "
        f"added {run - plain:6.3f} s (median {median:.3f})"
    )
    return run - plain


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
    with tempfile.TemporaryDirectory() as folder:
        compare("an empty program", folder, ["-c", "pass"], ROUNDS)
        compare(make_project(folder), folder, ["many.py"], ROUNDS)
        added = compare("train_digits.py, one step", folder, [SCRIPT, "--steps", "1"], ROUNDS)
    if added > LIMIT:
        print(f"the start takes {added:.3f} s longer, more than {LIMIT} s")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
