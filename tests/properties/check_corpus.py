"""Checks whole corpora: python -m tests.properties.check_corpus [--jobs N] [corpus or path ...]

Corpora: stdlib, torch, site (everything else installed beside torch). Prints every problem and
one line of counts; exit code 1 where something was wrong. Outputs are also compiled by every
other CPython >= 3.10 that is found, wherever that CPython compiles the original.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from tests.properties.check_source import check_source
from tests.support import compiler, paths

CORPORA = {
    "stdlib": paths.stdlib_files,
    "torch": lambda: paths.package_files("torch"),
    "site": paths.site_files,
}

# Runs under the other CPythons: pairs of original and output, one a line.
COMPILE_PAIRS = """
import sys, warnings
warnings.simplefilter("ignore")
sys.setrecursionlimit(5000)
def reason(path):
    try:
        with open(path, "rb") as file:
            compile(file.read(), path, "exec", dont_inherit=True)
    except Exception as error:
        return "%s: %s" % (type(error).__name__, error)
compiled = 0
for line in sys.stdin:
    original, output = line.rstrip("\\n").split("\\t")
    if reason(original) is None:
        compiled += 1
        found = reason(output)
        if found:
            print("%s: does not compile: %s" % (original, found))
print("compiled %d" % compiled)
"""


class Totals:
    def __init__(self):
        self.files = self.size = self.changed = self.functions = self.skipped = 0
        self.refused = self.seconds = 0
        self.problems = []

    def add(self, report, size):
        self.files += 1
        self.size += size
        self.changed += report.is_changed
        self.functions += report.functions
        self.skipped += report.skipped
        self.refused += report.refusal is not None
        self.seconds += report.seconds
        self.problems += [f"{report.path}: {problem}" for problem in report.problems]

    def line(self):
        share = 100 * self.skipped / self.functions if self.functions else 0
        return (
            f"{self.files} files, {self.size / 1e6:.1f} MB, {self.changed} changed, "
            f"{self.refused} refused, {self.functions} functions, "
            f"{self.skipped} skipped ({share:.4f}%), compiler {self.seconds:.1f} s, "
            f"{len(self.problems)} problems"
        )


def _check_file(job):
    path, keep, every_line = job
    source = pathlib.Path(path).read_bytes()
    report = check_source(source, path, {"all": True, "every_line": every_line})
    if keep and report.text is not None and report.compiles:
        pathlib.Path(keep).write_bytes(report.text)
    report.text = None
    return report, len(source), keep


def _compile_elsewhere(pairs):
    """Problems that the other CPythons have with outputs, and a line of counts each."""
    problems, lines = [], []
    text = "".join(f"{original}\t{output}\n" for original, output in pairs)
    for version, python in paths.other_pythons():
        run = subprocess.run(
            [python, "-c", COMPILE_PAIRS], input=text, capture_output=True, text=True
        )
        shown = "%d.%d" % version
        told = run.stdout.splitlines()
        if run.returncode or not told:
            problems.append(f"CPython {shown} ended with {run.returncode}: {run.stderr}")
            continue
        problems += [f"CPython {shown}: {line}" for line in told[:-1]]
        lines.append(f"CPython {shown} {told[-1]} of {len(pairs)} outputs")
    return problems, lines


def check_files(files, jobs=1, elsewhere=None, every_line=False):
    """Totals for the files, and lines about other CPythons: `elsewhere` is how many outputs
    they compile, None for all."""
    totals = Totals()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="monitorch-corpus-"))
    try:
        chosen = set(range(len(files)))
        if elsewhere is not None and elsewhere < len(files):
            chosen = set(random.Random(1).sample(range(len(files)), elsewhere))
        work = [
            (str(file), str(folder / f"{i}.py") if i in chosen else None, every_line)
            for i, file in enumerate(files)
        ]
        pairs = []
        if jobs == 1:
            results = map(_check_file, work)
            pool = None
        else:
            pool = concurrent.futures.ProcessPoolExecutor(jobs)
            results = pool.map(_check_file, work, chunksize=8)
        for report, size, keep in results:
            totals.add(report, size)
            if keep and os.path.exists(keep):
                pairs.append((report.path, keep))
        if pool:
            pool.shutdown()
        problems, lines = _compile_elsewhere(pairs)
        totals.problems += problems
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return totals, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--elsewhere", type=int, help="outputs that other CPythons compile")
    parser.add_argument("what", nargs="*", default=list(CORPORA))
    options = parser.parse_args()
    if not compiler.is_built():
        sys.exit("nothing to check: build the compiler first (make)")
    sys.setrecursionlimit(5000)
    failed = False
    for what in options.what:
        path = pathlib.Path(what)
        if what in CORPORA:
            files = CORPORA[what]()
        else:
            files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        started = time.perf_counter()
        totals, lines = check_files(files, options.jobs, options.elsewhere)
        for problem in totals.problems:
            print(problem)
        seconds = time.perf_counter() - started
        print(f"{what}: {totals.line()}; all checks {seconds:.0f} s")
        for line in lines:
            print(f"{what}: {line}")
        sys.stdout.flush()
        failed = failed or bool(totals.problems)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
