"""What is followed is recorded as if it had been instrumented, by each CPython that is found."""

import difflib
import os
import pathlib
import random
import subprocess
import sys

import pytest

from tests.properties import runnable
from tests.support import paths, recording

HERE = pathlib.Path(__file__).parent
PROGRAMS = sorted((HERE / "followed").glob("*.py"))
PYTHONS = [(sys.version_info[:2], sys.executable), *paths.other_pythons()]
PYTHONS = [(version, path) for version, path in PYTHONS if (3, 10) <= version <= (3, 13)]
FIELDS = ("function", "line", "kind", "name", "path", "arm", "iteration", "value_kind", "type",
          "length", "value", "change")  # fmt: skip
WAYS = ("instrumented", "followed")

pytestmark = [
    pytest.mark.usefixtures("compiler_module"),
    pytest.mark.parametrize(
        "python", [path for _, path in PYTHONS], ids=["%d.%d" % version for version, _ in PYTHONS]
    ),
]


def run(python, way, program, folder, cwd=None):
    """What it printed, and its trace."""
    trace = folder / f"{way}.mtrace"
    trace.unlink(missing_ok=True)
    done = subprocess.run(
        [python, str(HERE / "follow_child.py"), way, str(program), str(trace)],
        env={**os.environ, "PYTHONPATH": str(paths.PYTHON_PATH), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=cwd or folder, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, recording.read(trace)


def tell(trace, kinds=None, fields=FIELDS):
    """A trace's events as lines; calls are numbered in the order of their first events."""
    calls = {}
    told = []
    for event in trace.events:
        call = calls.setdefault(event.call, len(calls))
        if kinds is None or event.kind in kinds:
            told.append(" ".join([str(call), *(str(getattr(event, field)) for field in fields)]))
    return told


def assert_same(traces, **options):
    instrumented, followed = (tell(trace, **options) for trace in traces)
    lines = difflib.unified_diff(instrumented, followed, *WAYS, lineterm="", n=1)
    assert instrumented == followed, "\n".join(lines)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_the_same_events(python, program, tmp_path):
    (printed, one), (printed_too, other) = (run(python, way, program, tmp_path) for way in WAYS)
    assert printed == printed_too
    assert_same((one, other))
    assert len(one.events) >= 10
    assert not other.notes


def returned_late(python, tmp_path, source):
    program = tmp_path / "program.py"
    program.write_text(source)
    (_, one), (_, other) = (run(python, way, program, tmp_path) for way in WAYS)
    assert sorted(tell(one)) == sorted(tell(other))
    return [(event.kind, event.name) for event in other.events]


def test_a_value_that_a_return_computes_is_told_when_the_call_is_left(python, tmp_path):
    told = returned_late(python, tmp_path, """\
def f(x):
    try:
        return x + 1
    finally:
        y = 2
z = f(1)
""")  # fmt: skip
    assert told == [("enter", "x"), ("assign", "y"), ("return", "return"), ("assign", "z")]


def test_random_programs(python, tmp_path):
    """Bindings of all kinds; what a return computes may be told later, or never, where what
    stands behind it raises or returns something else."""
    seeds = range(40)
    program = tmp_path / "program.py"
    text = ["import sys, types", f"sys.path.insert(0, {str(paths.ROOT)!r})",
            "import random", "from tests.properties import runnable"]  # fmt: skip
    kept = []
    for seed in seeds:
        source = runnable.program(random.Random(seed).randrange)
        try:
            compile(source, "<program>", "exec")
        except SyntaxError:
            continue
        kept.append(seed)
        text.append(source.replace("def main(", f"def main_{seed}(", 1))
    text.append(RUN_ALL.format(seeds=kept))
    program.write_text("\n".join(text))
    (printed, one), (printed_too, other) = (run(python, way, program, tmp_path) for way in WAYS)
    assert printed == printed_too
    # An address that is used again for another value says "same"; a call that is left by its
    # return alone is counted in another place: names, lines and kinds of values stay.
    fields = ("function", "line", "kind", "name", "path", "value_kind", "type")
    kinds = ("enter", "assign", "mutate", "loop", "spy")
    instrumented, followed = (sorted(tell(t, kinds, fields)) for t in (one, other))
    missing = list(difflib.ndiff(instrumented, followed))
    missing = [line for line in missing if line[0] in "+-"]
    assert len(instrumented) > 500
    assert len(missing) <= len(instrumented) / 200, "\n".join(missing)


RUN_ALL = """
def take(seed):
    space = runnable.namespace(random.Random(seed).randrange)
    globals().update(space)
    sys.modules["things"] = space["things"]
    main = globals()["main_%d" % seed]
    for turn in range(2):
        try:
            result = main(space["mix"](), space["mix"]())
            if hasattr(result, "__next__"):
                for count in zip(range(20), result):
                    pass
        except (Exception, runnable.Exhausted):
            pass
for seed in {seeds}:
    take(seed)
"""
