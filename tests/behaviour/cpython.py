"""CPython's own tests, with and without instrumentation.

python -m tests.behaviour.cpython --mode MODE [-j N] [--quick] [MODULE ...]

  a-off, a-on   the whole standard library instrumented, the original test modules
  b-off, b-on   the test modules themselves instrumented by compile_source
  baseline-a, baseline-b   the same ways of running, nothing instrumented (kept in a cache)

Prints every test whose outcome differs from the baseline's, then one line of counts, and writes
build/tests/cpython/MODE.json. Exit code 1 where something differs that
tests/behaviour/cpython_differences.json does not list.
"""

import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from tests.support import compiler, paths, recording

FOLDER = pathlib.Path(__file__).resolve().parent
CHILD = FOLDER / "cpython_child.py"
LIST = FOLDER / "cpython_modules.txt"
KNOWN = FOLDER / "cpython_differences.json"
PYTHON = getattr(sys, "_base_executable", sys.executable)
MODES = ("a-off", "a-on", "b-off", "b-on", "baseline-a", "baseline-b")
QUICK = (
    "test_generators test_scope test_with test_dataclasses test_contextlib test_unpack_ex "
    "test_sys_settrace test_functools"
).split()
TIMEOUT = 600
# Some modules visit sites many million times: the newest events are kept.
LAST = 200_000
# What the overlay leaves out: the tests themselves, and what no test module here imports.
LEFT_OUT = {"test", "site-packages", "lib-dynload", "ensurepip", "idlelib", "turtledemo", "lib2to3"}


def modules():
    return [line for line in LIST.read_text().split() if not line.startswith("#")]


def cache(name):
    return paths.scratch("cpython") / name


# The standard library, copied or instrumented, put before the real one


def make_overlay(is_instrumented):
    """The folder of a copy of the standard library; made anew when the compiler is newer."""
    folder = cache("instrumented" if is_instrumented else "copied")
    stamp = folder / "complete"
    if stamp.exists() and (
        not is_instrumented or stamp.stat().st_mtime > _compiler_time()
    ):
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    copied = folder if not is_instrumented else cache("original")
    shutil.rmtree(copied, ignore_errors=True)

    def ignored(directory, names):
        left = {n for n in names if n == "__pycache__" or n.startswith("config-")}
        if pathlib.Path(directory) == paths.STDLIB:
            left |= LEFT_OUT & set(names)
        return left

    shutil.copytree(paths.STDLIB, copied, ignore=ignored)
    if is_instrumented:
        shutil.copytree(copied, folder)
        run = compiler.instrument_tree(copied, folder)
        if run.returncode not in (0, 3):
            raise SystemExit(f"instrumenting the standard library failed: {run.stderr}")
        # Tests stay as they are, wherever they lie.
        for kept in (f for name in ("test", "tests") for f in copied.rglob(f"{name}/**/*.py")):
            shutil.copyfile(kept, folder / kept.relative_to(copied))
        if b"monitorch" not in (folder / "functools.py").read_bytes():
            raise SystemExit(f"the standard library was not instrumented: {run.stderr}")
        shutil.rmtree(copied)
    stamp.touch()
    return folder


def _compiler_time():
    files = [paths.COMMAND, *paths.PACKAGE.glob("_instrument*")]
    return max((f.stat().st_mtime for f in files if f.exists()), default=0)


# Running


def run_module(name, mode):
    """{'tests': {id: [outcome, details]}, 'ended': how the process ended, ...}"""
    base = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    words = [PYTHON, "-X", "frozen_modules=off", str(CHILD), name]
    if mode in ("a-off", "a-on", "baseline-a"):
        base["PYTHONPATH"] = str(cache("copied" if mode == "baseline-a" else "instrumented"))
    with tempfile.TemporaryDirectory(prefix="monitorch-cpython-") as folder:
        result = pathlib.Path(folder, "result.json")
        trace = pathlib.Path(folder, "run.mtrace")
        environment = recording.environment(
            "on" if mode.endswith("-on") else "off", trace, base, last=LAST
        )
        work = pathlib.Path(folder, "work")
        work.mkdir()
        words.append(str(result))
        if mode in ("b-off", "b-on", "baseline-b"):
            words.append("plain" if mode == "baseline-b" else "instrumented")
        started = time.perf_counter()
        try:
            run = subprocess.run(
                words,
                cwd=work,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=TIMEOUT,
                start_new_session=True,
            )
            ended = run.returncode
            tail = run.stderr[-2000:].decode(errors="replace")
        except subprocess.TimeoutExpired:
            ended, tail = "timeout", ""
        told = {"tests": {}, "skipped": None}
        if result.exists():
            told = json.loads(result.read_text())
        if mode.endswith("-on"):
            told["events"] = recording.count_events(trace)
    told.update(ended=ended, seconds=time.perf_counter() - started)
    if ended:
        told["tail"] = tail
    return told


def run_modules(names, mode, jobs=1, is_shown=False):
    """{module: what became of it}, the modules run one after another in `jobs` lanes."""
    if mode in ("a-off", "a-on"):
        make_overlay(True)
    elif mode == "baseline-a":
        make_overlay(False)
    results = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, told in zip(names, pool.map(lambda n: run_module(n, mode), names)):
            results[name] = told
            if is_shown:
                count = len(told["tests"])
                print(f"{name}: {count} tests, {told['seconds']:.1f} s", file=sys.stderr)
    return results


def baseline(names, mode, jobs=1):
    """The baseline's results, from the cache where they are there."""
    kind = "baseline-" + mode[0]
    version = "%d.%d.%d" % sys.version_info[:3]
    file = cache(f"{kind}-{version}.json")
    known = json.loads(file.read_text()) if file.exists() else {}
    missing = [name for name in names if name not in known]
    if missing:
        known.update(run_modules(missing, kind, jobs))
        file.write_text(json.dumps(known))
    return {name: known[name] for name in names}


# Comparing


def module_outcome(told):
    """How the module as a whole ended, in words."""
    if told["skipped"] is not None:
        return "skipped"
    if told["ended"] == 0:
        return "ended"
    return f"ended with {told['ended']}"


def differences(before, after):
    """[(module, test, outcome before, outcome after, details)], the modules' own ends too."""
    found = []
    for name, old in before.items():
        new = after[name]
        ends = module_outcome(old), module_outcome(new)
        if ends[0] != ends[1]:
            found.append((name, "", *ends, new.get("tail", "")))
        for test in sorted(old["tests"].keys() | new["tests"].keys()):
            one = old["tests"].get(test, ["not run", ""])
            two = new["tests"].get(test, ["not run", ""])
            if one[0] != two[0]:
                found.append((name, test, one[0], two[0], two[1]))
    return found


def known_reasons(mode):
    """[(pattern of test ids, reason)] for differences that are listed in the docs."""
    if not KNOWN.exists():
        return []
    listed = json.loads(KNOWN.read_text())
    return [(e["test"], e["reason"]) for e in listed if mode in e["modes"]]


def split_known(found, mode):
    """The differences not listed, and those listed."""
    reasons = known_reasons(mode)
    new, listed = [], []
    for difference in found:
        module, test = difference[:2]
        name = test or module
        is_known = any(fnmatch.fnmatchcase(name, pattern) for pattern, _ in reasons)
        (listed if is_known else new).append(difference)
    return new, listed


def compare(names, mode, jobs=1, is_shown=False):
    before = baseline(names, mode, jobs)
    after = run_modules(names, mode, jobs, is_shown)
    found = differences(before, after)
    tests = sum(len(told["tests"]) for told in before.values())
    changed = {difference[0] for difference in found}
    summary = {
        "mode": mode,
        "modules": len(names),
        "modules unchanged": len(names) - len(changed),
        "tests": tests,
        "tests that differ": len(found),
        "events": sum(told.get("events", 0) for told in after.values()),
        "differences": found,
    }
    cache(f"{mode}.json").write_text(json.dumps(summary, indent=1))
    return summary


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--mode", choices=MODES, required=True)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--details", action="store_true")
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    # In the background of a shell it is ignored, and tests that send it to themselves fail.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    names = options.modules or (list(QUICK) if options.quick else modules())
    if options.mode.startswith("baseline"):
        results = run_modules(names, options.mode, options.jobs, is_shown=True)
        for name, told in results.items():
            bad = [t for t, o in told["tests"].items() if o[0] in ("failure", "error")]
            print(f"{name}\t{module_outcome(told)}\t{len(told['tests'])}\t{len(bad)}\t"
                  f"{told['seconds']:.1f}")
        return 0
    summary = compare(names, options.mode, options.jobs, is_shown=True)
    new, listed = split_known(summary["differences"], options.mode)
    for module, test, old, now, details in new:
        print(f"{module}  {test or '(the module)'}: {old} -> {now}")
        if options.details:
            print(details)
    print(
        f"{options.mode}: {summary['modules']} modules, {summary['modules unchanged']} "
        f"unchanged; {summary['tests']} tests, {summary['tests that differ']} differ, "
        f"{len(listed)} of them listed; {summary['events']} events read"
    )
    return int(bool(new))


if __name__ == "__main__":
    sys.exit(main())
