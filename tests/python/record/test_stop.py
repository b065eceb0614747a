"""Recordings that stop at a NaN: the exception, where it is raised, and what is in the trace."""

import json
import subprocess

import pytest

from tests.python.run.test_run import PYTHONS, run
from tests.python.run.test_run_equality import make_files
from tests.support import compiler, paths, recording, viewer

pytestmark = pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)")

# Each function makes one NaN, which the line that says `here` raises.
LINES = """\
import asyncio, threading
NAN = float("nan")

def generator():
    def count():
        for i in range(3):
            v = NAN if i == 2 else i  # here: v is NaN
            yield v
    return list(count())

def coroutine():
    async def work():
        await asyncio.sleep(0)
        z = NAN * 1  # here: z is NaN
        return z
    return asyncio.run(work())

def returned():
    return NAN  # here: the returned value is NaN

def walrus():
    if (n := NAN):  # here: n is NaN
        pass

def loop_header():
    while (m := NAN):  # here: m is NaN
        break

def for_target():
    for x in [1.0, NAN]:
        y = 1  # here: x is NaN

def with_body():
    with open("/dev/null") as f: w = NAN  # here: w is NaN

def with_target():
    class Manager:
        __enter__ = lambda self: NAN
        __exit__ = lambda self, *a: None
    with Manager() as entered:
        pass  # here: entered is NaN

def attribute():
    class Box: pass
    box = Box()
    box.scale = complex(1, NAN)  # here: box.scale is NaN

def element():
    items = [1, 2]
    items[1] = NAN  # here: items[1] is NaN

def leaf():
    pair = {"a": [1.5, 2], "b": NAN}  # here: pair['b'] is NaN

def augmented():
    total = 1.0
    total += NAN  # here: total is NaN

def unpacked():
    a, (b, *c) = 1, (NAN, 2)  # here: b is NaN

def one_line(): t = NAN  # here: t is NaN

def parameter():
    def take(p):
        q = 1  # here: p is NaN
    take(NAN)

def twice():
    x = 1; y = NAN; z = 2  # here: y is NaN
"""
# Those are told of by the line before: what a body's first line is given, it raises.
GIVEN = ("for_target", "with_target", "parameter")
NAMES = [line[4:].partition("(")[0] for line in LINES.splitlines() if line.startswith("def ")]


def line_of(name):
    """(the line that says `here` in that function, what it says)."""
    lines = LINES.splitlines()
    start = lines.index(next(line for line in lines if line.startswith(f"def {name}(")))
    for number in range(start, len(lines)):
        if "# here: " in lines[number]:
            return number + 1, lines[number].partition("# here: ")[2]
    raise AssertionError(name)


RUNNER = """
import json, sys, traceback
import monitorch, lines
told = {}
for name in sys.argv[1:]:
    recording = monitorch.record(f"{name}.mtrace", stop="nan")
    recording.is_quiet = True
    recording.start()
    try:
        getattr(lines, name)()
    except FloatingPointError as error:
        kind = type(error).__module__ + "." + type(error).__qualname__
        frames = traceback.extract_tb(error.__traceback__)
        told[name] = {
            "kind": kind,
            "text": str(error),
            "place": [error.file, error.line, error.trace],
            "frames": [[f.filename, f.lineno] for f in frames],
            "active": recording.is_active,
            "stopped": recording.summary.stopped,
        }
print(json.dumps(told))
"""


def stop_everywhere(folder, words, python):
    environment = recording.environment("off")
    done = recording.run_python(
        *words, "runner.py", *NAMES, python=python, folder=folder, env=environment
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("python", [path for _, path in PYTHONS])
@pytest.mark.parametrize("way", ["imported", "written"])
def test_each_line(tmp_path, way, python):
    make_files(tmp_path, {"lines.py": LINES, "runner.py": RUNNER})
    words = ["-m", "monitorch", "run", "--no-record", "--include", "lines"]
    if way == "written":
        words = []
        subprocess.run([paths.COMMAND, "--all", "--in-place", "lines.py"], cwd=tmp_path, check=True)
    told = stop_everywhere(tmp_path, words, python)
    assert list(told) == NAMES
    for name in NAMES:
        line, what = line_of(name)
        found = told[name]
        site = line - 1 if name in GIVEN else line
        assert found["kind"] == "monitorch.NonFinite"
        command = f"`monitorch why {name}.mtrace` names its origin"
        assert found["text"] == f"lines.py:{site}: {what}; {command}", name
        assert found["place"][1:] == [site, f"{name}.mtrace"]
        assert not found["active"] and found["stopped"] == f"lines.py:{site}: {what}"
        files = [file for file, _ in found["frames"]]
        assert not any("monitorch/" in file for file in files)
        assert found["frames"][-1][0].endswith("lines.py")
        assert found["frames"][-1][1] == line, name
        last = recording.read(tmp_path / f"{name}.mtrace").events[-1]
        assert last.line == site


def test_the_trace_ends_with_it(tmp_path):
    script = "def f(x):\n    y = x * 2\n    return y\na = f(float('nan'))\nb = 1\n"
    make_files(tmp_path, {"s.py": script})
    done = run(tmp_path, "run", "--record", "stop=nan", "s.py")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert f'  File "{tmp_path}/s.py", line 4, in <module>' in lines
    what = "s.py:1: x is NaN"
    assert f"monitorch.NonFinite: {what}; `monitorch why run.mtrace` names its origin" in lines
    assert lines[-1].startswith("monitorch: 1 events in run.mtrace")
    assert lines[-1].endswith(f"recording ended early: {what}: monitorch why run.mtrace")
    shown = viewer.run("show", tmp_path / "run.mtrace")
    assert shown.stderr == "" and shown.stdout.endswith("enter x = !! NaN\n")


def test_the_variable(tmp_path):
    script = "x = [1.0]\nx = -1e308 * 10\ny = 2\n"
    make_files(tmp_path, {"s.py": script})
    subprocess.run([paths.COMMAND, "--all", "--in-place", "s.py"], cwd=tmp_path, check=True)

    def python(options):
        environment = {**recording.environment("off"), "MONITORCH": f"r.mtrace,{options}"}
        return recording.run_python("s.py", folder=tmp_path, env=environment)

    assert python("stop=nan").returncode == 0
    for choice in ("inf", "nonfinite"):
        done = python(f"stop={choice}")
        assert done.returncode == 1 and "NonFinite: s.py:2: x is -Inf; `mon" in done.stderr
    done = python("stop=nans")
    assert "MONITORCH: stop must be 'nan' or 'inf' or 'nonfinite', not 'nans'" in done.stderr
    assert done.returncode == 0
    done = python("stop=nan,stats=no")
    assert "stop='nan' looks at statistics" in done.stderr and done.returncode == 0


MEANT = """
import monitorch
class TopK:
    def __init__(self, k, filter_value: float = -float("inf"), best=
                 float("inf")):
        self.k, self.filter_value, self.best = k, filter_value, best
        worst = self.best
    def __call__(self, scores):
        least = {"at": float("inf")}
        kept = [self.filter_value if s < self.k else s for s in scores]
        return kept
def made(k=float("inf")):
    big = 1e308
    over = big * 10
with monitorch.record("r.mtrace", stop="inf") as recording:
    print(TopK(2)([1, 2, 3]), recording.is_active)
    made()
"""


def test_infinities_that_a_line_or_a_default_names_are_meant(tmp_path):
    make_files(tmp_path, {"s.py": MEANT})
    done = run(tmp_path, "run", "--no-record", "s.py")
    assert done.stdout == "[-inf, 2, 3] True\n"
    assert "NonFinite: s.py:13: over is +Inf" in done.stderr


def test_what_catches_it_goes_on_unrecorded(tmp_path):
    script = """
    import monitorch
    def f(x):
        try:
            y = x * 2
            z = 1
        except monitorch.NonFinite:
            a = float("nan")
            return "caught"
        finally:
            b = 3
    with monitorch.record("r.mtrace", stop="nan") as recording:
        print(f(float("inf") * 0 if False else 1.0), recording.is_active)
        print(f(2.0), recording.is_active)
        def g(x):
            try:
                y = x * float("nan")
            except ArithmeticError:
                y = float("nan")
                return "caught"
        print(g(1), recording.is_active, recording.summary.stopped)
    """
    make_files(tmp_path, {"s.py": script})
    done = run(tmp_path, "run", "--no-record", "s.py")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["None True", "None True"]
    assert lines[2].startswith("caught False s.py:") and lines[2].endswith(": y is NaN")
    assert done.stderr == ""


def test_a_thread_gets_its_own(tmp_path):
    script = """
    import monitorch, threading
    def work():
        n = float("nan")
        m = 1
    seen = []
    threading.excepthook = lambda given: seen.append((given.exc_type.__name__, given.thread.name))
    with monitorch.record("r.mtrace", stop="nan") as recording:
        thread = threading.Thread(target=work, name="worker")
        thread.start()
        thread.join()
        after = 2
    print(seen, recording.summary.stopped)
    """
    make_files(tmp_path, {"s.py": script})
    done = run(tmp_path, "run", "--no-record", "s.py")
    text = (tmp_path / "s.py").read_text().splitlines()
    line = next(i for i, words in enumerate(text, 1) if "n = float" in words)
    assert done.stdout == f"[('NonFinite', 'worker')] s.py:{line}: n is NaN\n"
    assert done.stderr == ""


def test_a_forked_child_stops_for_itself(tmp_path):
    script = """
    import os, sys
    def work(x):
        y = x * 2
        return y
    a = work(1.0)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            work(float("nan"))
        except FloatingPointError as error:
            print(error.trace != "run.mtrace", str(os.getpid()) in error.trace, flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
    b = work(2.0)
    print("parent goes on")
    """
    make_files(tmp_path, {"s.py": script})
    done = run(tmp_path, "run", "-q", "--record", "stop=nan", "s.py")
    assert (done.stdout, done.stderr) == ("True True\nparent goes on\n", "")
    assert recording.read(tmp_path / "run.mtrace").events[-1].name == "b"


@pytest.mark.parametrize(
    "stop, error, text",
    [
        ("NaN", ValueError, "stop must be 'nan' or 'inf' or 'nonfinite', not 'NaN'"),
        (True, TypeError, "stop must be 'nan' or 'inf' or 'nonfinite', not True"),
    ],
)
def test_wrong_options(tmp_path, stop, error, text):
    with pytest.raises(error, match=text):
        recording.record(tmp_path / "r.mtrace", stop=stop)


def test_without_statistics(tmp_path):
    with pytest.raises(ValueError, match="does not go with stats=False"):
        recording.record(tmp_path / "r.mtrace", stop="nan", stats=False)


TENSORS = """
import sys, torch, traceback, monitorch
NAN = float("nan")
def make(n):
    for i in range(n):
        good = torch.ones(2, 3)
        bad = torch.full((2, 3), 1.0) if i < 5 else torch.tensor([[1, NAN, 2], [NAN, NAN, 4]])
    return bad
def inplace():
    t = torch.zeros(3)
    t[1] = -torch.full((), 3e38) * 2
def nested():
    out = {"logits": [torch.zeros(1), torch.full((2,), NAN, dtype=torch.float16)]}
def inner(what, *arguments, **options):
    recording = monitorch.record("t.mtrace", **options)
    recording.is_quiet = True
    with recording:
        try:
            what(*arguments)
        except monitorch.NonFinite as error:
            print(str(error).partition("; `")[0], error.__traceback__.tb_next.tb_lineno == error.line)
        else:
            print("nothing", options)
inner(make, 7, stop="nan")
inner(make, 7, stop="nan", every=1000)
inner(make, 7, stop="nan", max_elements=2)
inner(make, 7, stop="nan", hash=False, sample=0)
inner(make, 5, stop="nan")
inner(make, 7, stop="inf")
inner(inplace, stop="inf")
inner(inplace, stop="nonfinite")
inner(nested, stop="nan")
"""


class TestWithTorch:
    pytestmark = pytest.mark.torch

    @pytest.mark.parametrize("device", ["0", "1"])
    def test_tensors(self, tmp_path, device):
        make_files(tmp_path, {"s.py": TENSORS})
        done = run(tmp_path, "run", "--no-record", "s.py", MONITORCH_TEST_DEVICE=device)
        assert done.returncode == 0, done.stderr
        text = (tmp_path / "s.py").read_text().splitlines()

        def line(start):
            return next(i for i, words in enumerate(text, 1) if words.strip().startswith(start))

        made = f"s.py:{line('bad = ')}: bad holds 3 NaN of 6: float32 [2, 3] True"
        written = f"s.py:{line('t[1] = ')}: t holds 1 -Inf of 3: float32 [3] True"
        leaf = f"s.py:{line('out = ')}: out['logits'][1] holds 2 NaN of 2: float16 [2] True"
        nothing = "nothing {'stop': 'nan'}", "nothing {'stop': 'inf'}"
        expected = [made] * 4 + [*nothing, written, written, leaf]
        told = done.stdout.splitlines()
        assert told == expected
        trace = tmp_path / "t.mtrace"
        shown = viewer.run("show", trace)
        assert shown.stderr == "" and "!! 2 NaN of 2" in shown.stdout.splitlines()[-1]

    def test_a_model(self, tmp_path):
        """From outside, and without a change of code."""
        script = str(paths.ROOT / "samples" / "transformer_block.py")
        words = [script, "--empty-row", "--steps", "1"]
        done = run(tmp_path, "run", "--record", "stop=nan", "-o", "n.mtrace", *words)
        assert done.returncode == 1 and "monitorch.NonFinite: " in done.stderr
        place = done.stderr.partition("monitorch.NonFinite: ")[2].split(":")[1]
        assert f'transformer_block.py", line {place}, in' in done.stderr
        last = recording.read(tmp_path / "n.mtrace").events[-1]
        assert last.name == "weights" and last.line == int(place)
