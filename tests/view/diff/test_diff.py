"""`monitorch diff`: the first divergence of two programs that are recorded here, what is own and
what follows, and what is said of traces that are cut, damaged or of other programs."""

import json
import os
import re
import shutil

import pytest

from tests.support import recording, viewer
from tests.trace import made
from tests.trace.made import Trace, scalar

torch = pytest.importorskip("torch")

MODEL = """
import torch


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def forward(self, x):
        return x * self.factor


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(8, eps=1e-5)
        self.scale = Scale(2.0)

    def forward(self, x):
        h = self.norm(x)
        if h.sum() > -1000:
            h = h + 1
        else:
            h = h - 1
        y = self.scale.forward(h)
        parts = [y, y * 2]
        z = parts[0].t()
        return (z * z).sum(0)


def main():
    torch.manual_seed(0)
    net = Net()
    results = []
    for step in range(3):
        x = torch.randn(4, 8)
        out = net(x)
        unrelated = x * 3
        results.append(out)
    total = sum(results)
    return total


main()
"""


def line_of(text, source=MODEL):
    """The number of the line that has the text, where it stands once."""
    lines = [n for n, line in enumerate(source.strip("\n").split("\n"), 1) if text in line]
    assert len(lines) == 1, (text, lines)
    return lines[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("traces")


@pytest.fixture(scope="module")
def recorded(folder):
    """Gives the trace of MODEL with texts replaced; each is recorded once, in a folder that has
    the program: traces hold its lines then."""
    known = {}
    home = os.getcwd()

    def record(*changes, source=MODEL, **options):
        key = (changes, source, tuple(sorted(options.items())))
        if key not in known:
            for old, new in changes:
                assert source.count(old) == 1, old
                source = source.replace(old, new)
            path = folder / f"{len(known)}.mtrace"
            (folder / "program.py").write_text(source.lstrip("\n"))
            os.chdir(folder)
            try:
                recording.trace_of(source, path, **options)
            finally:
                os.chdir(home)
            known[key] = path
        return known[key]

    return record


def diff(*words, env=None):
    return viewer.run("diff", *words, env=env)


def first(*words):
    run = diff(*words)
    assert run.stderr == ""
    assert run.returncode == 1, run.stdout
    return run.stdout.split("\n", 1)[0]


def findings(*words):
    run = diff("--json", *words)
    records = [json.loads(line) for line in run.stdout.splitlines()]
    assert [r["record"] for r in records] == ["difference"] * (len(records) - 1) + ["verdict"]
    assert run.returncode == (0 if records[-1]["equal"] else 1)
    return records[:-1], records[-1]


# ---- equal ----


def test_two_runs_are_equal(recorded):
    a, again = recorded(), recorded(source=MODEL + "\n")
    for words in ([], ["--exact"], ["--rtol", "0", "--atol", "0"]):
        run = diff(*words, a, again)
        assert (run.returncode, run.stderr) == (0, "")
        assert run.stdout.startswith("equal: ") and run.stdout.count("\n") == 1
    events = recording.count_events(a)
    assert f"equal: {events} events" in run.stdout


BACKWARD = """
import torch

x = torch.ones(3, requires_grad=True)
y = x * 2
y.register_hook(lambda gradient: gradient * 1)
y.sum().backward()
"""


def test_gradients_are_compared(recorded):
    change = ("gradient * 1", "gradient * 3")
    good, bad = [
        recorded(*changes, source=BACKWARD, backward=True) for changes in ((), (change,))
    ]
    run = diff(good, good)
    assert (run.returncode, run.stderr) == (0, "")
    assert re.match(r"equal: \d+ events; \d+ gradients and parameters\n", run.stdout)
    run = diff(good, bad)
    assert (run.returncode, run.stderr) == (1, "")
    assert re.match(r"program.py:\d+: first divergence: gradient of ", run.stdout)
    found = [json.loads(line) for line in diff("--json", good, bad).stdout.splitlines()]
    first = next(row for row in found if row.get("first"))
    assert (first["class"], first["cause"]) == ("own", "gradient")
    assert found[-1]["updates_own"] == 1 and not found[-1]["equal"]
    # Without gradients the two are equal.
    assert diff(recorded(source=BACKWARD), recorded(change, source=BACKWARD)).returncode == 0


def test_gradients_of_one_run_alone_are_named(recorded):
    run = diff(recorded(source=BACKWARD, backward=True), recorded(source=BACKWARD))
    assert (run.returncode, run.stdout.split(":")[0]) == (0, "equal")
    assert run.stderr == (
        "remark: one run alone recorded gradients or parameters: only the values of lines were compared\n"
    )


def test_lines_that_change_nothing_are_no_divergence(recorded):
    a = recorded()
    b = recorded(
        ("        h = self.norm(x)\n", "        size = x.numel()\n        h = self.norm(x)\n"),
        ("import torch\n", "import torch\n\nUNUSED = 1\n"),
    )
    run = diff(a, b)
    assert run.returncode == 0
    assert "4 events in lines that only B has" in run.stdout
    run = diff("--all", a, b)
    assert "    program.py:3   UNUSED\n    program.py:21  size    (3 times)\n" in run.stdout


# ---- the first divergence ----

CAUSES = [
    ("h = self.norm(x)", "h = self.norm(x.double().float()) * 1.001", "h: values "),
    ("eps=1e-5", "eps=1e-2", "h: this line reads differently; first seen at line "),
    ("y = self.scale.forward(h)", "y = self.scale.forward(h).half()", "y: dtype float16, A has"),
    ("z = parts[0].t()", "z = parts[0]", "z: shape [4, 8], A has [8, 4]"),
    ("unrelated = x * 3", "unrelated = None", "unrelated: None, A has a tensor"),
    ("parts = [y, y * 2]", "parts = [y]", "parts: list of 1, A has list of 2"),
    ("Scale(2.0)", "Scale(2)", "factor: int, A has float"),
    ("Scale(2.0)", "Scale(3.0)", "factor: 3, A has 2"),
    ("(z * z).sum(0)", "(z * z).sum(0).detach()", "return: requires_grad False, A has True"),
]


@pytest.mark.parametrize("old, new, wanted", CAUSES)
def test_the_first_line_names_the_line(recorded, old, new, wanted):
    told = first(recorded(), recorded((old, new)))
    assert told.startswith(f"program.py:{line_of(old)}: first divergence: {wanted}")


@pytest.mark.parametrize("old, new, wanted", CAUSES)
def test_it_is_found_after_lines_were_added(recorded, old, new, wanted):
    changed = recorded(
        (old, new),
        ("import torch\n", "import torch\n\n# More.\nMORE = [1, 2]\n"),
        ("    results = []\n", "    results = []\n    noted = 'nothing'\n"),
    )
    told = first(recorded(), changed)
    assert f": first divergence: {wanted}" in told
    assert told != first(recorded(), recorded((old, new)))


def test_what_is_told_below(recorded):
    a, b = recorded(), recorded(("eps=1e-5", "eps=1e-2"), ("import torch\n", "import torch\n\n"))
    run = diff(a, b)
    lines = run.stdout.splitlines()
    number = line_of("eps=1e-5")
    assert lines[1] == f"    {number + 1}| self.norm = torch.nn.LayerNorm(8, eps=1e-2)"
    assert lines[2] == f"  in A, program.py:{number}: self.norm = torch.nn.LayerNorm(8, eps=1e-5)"
    assert lines.pop(3) == f"  first seen at program.py:{line_of('h = self.norm(x)') + 1}: h = self.norm(x)"
    loop = line_of("for step in range(3)") + 1
    assert lines[3] == f"  in main (turn 1 of line {loop}) > Net.forward"
    assert lines[4].startswith("  A:  float32 [4, 8] grad  min ")
    assert lines[5].startswith("  B:  float32 [4, 8] grad  min ")
    assert lines[6].startswith("  distance: at least ")
    assert lines[7:9][0] == "  inputs, equal in both:"
    assert lines[8].startswith("      x = float32 [4, 8]  min ")


def test_a_turn_later_is_told(recorded):
    b = recorded(("        out = net(x)\n", "        x[0] += step // 2\n        out = net(x)\n"))
    told, _ = findings(recorded(), b)
    (only,) = [f for f in told if f["first"]]
    assert "(turn 3 of line " in only["text"]


def test_requires_grad_is_the_least(recorded):
    b = recorded(("(z * z).sum(0)", "(z * z).sum(0).detach() * 2"))
    assert ": return: values " in first(recorded(), b)


# ---- own and inherited ----


def test_what_follows_is_inherited(recorded):
    told, verdict = findings(recorded(), recorded(("h = self.norm(x)", "h = self.norm(x) * 2")))
    own = {(f["name"], f["line"]) for f in told if f["class"] == "own"}
    assert own == {("h", line_of("h = self.norm(x)"))}
    names = {f["name"] for f in told if f["class"] == "inherited"}
    assert {"h", "x", "return", "y", "z", "out", "total", "parts[1]"} <= names
    assert "unrelated" not in names
    assert verdict["own"] == 3 and verdict["inherited"] == len(told) - 3
    assert sum(f["first"] for f in told) == 1


def test_two_faults_are_two_own_differences(recorded):
    b = recorded(("h = self.norm(x)", "h = self.norm(x) * 2"), ("x * 3", "x * 4"))
    told, _ = findings(recorded(), b)
    own = {f["name"] for f in told if f["class"] == "own"}
    assert own == {"h", "unrelated"}


def test_an_attribute_hands_it_on(recorded):
    told, _ = findings(recorded(), recorded(("self.factor = factor", "self.factor = factor * 2")))
    assert [(f["name"], f["class"]) for f in told][:2] == [
        ("self.factor", "own"),
        ("return", "inherited"),
    ]
    assert {f["class"] for f in told[1:]} == {"inherited"}


def test_what_a_line_of_b_alone_has_written_is_told_there(recorded):
    b = recorded(
        ("        y = self.scale", "        h.mul_(3)\n        y = self.scale"),
    )
    told = first(recorded(), b)
    assert told.startswith(f"program.py:{line_of('y = self.scale')}: first divergence: h: ")
    assert "A has no such line" in told


def test_backward_hands_it_on(recorded):
    source = """
import torch

torch.manual_seed(0)
weight = torch.nn.Parameter(torch.randn(4))
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(3):
    y = 1.0 * weight
    loss = (y * 2).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
    told, verdict = findings(
        recorded(source=source), recorded(("y * 2", "y * 3"), source=source)
    )
    assert told[0]["name"] == "loss" and verdict["own"] == 1
    assert {f["class"] for f in told[1:]} == {"inherited"} and len(told) > 3


# ---- control flow ----


def test_another_arm(recorded):
    run = diff(recorded(), recorded(("h.sum() > -1000", "h.sum() > 1000")))
    line = line_of("if h.sum()")
    lines = run.stdout.splitlines()
    assert lines[0] == (
        f"program.py:{line}: first divergence: control flow: B took the else, A the if; all "
        "values before were equal"
    )
    assert lines[1] == f"    {line}| if h.sum() > 1000:"
    assert lines[2] == f"  in A, program.py:{line}: if h.sum() > -1000:"
    assert "  the condition reads, equal in both:\n      h = float32 [4, 8]" in run.stdout
    assert "the paths differ 3 times" in run.stdout


def test_what_unrecorded_code_may_have_made_is_perhaps_own(recorded):
    hidden = "import types\nhelper = types.ModuleType('helper')\nexec('def mix(a, b): return a + b', vars(helper))\n"
    source = hidden + "def run(x):\n    a = x * 2\n    b = x * 3\n    return helper.mix(a, b)\nout = run(2.5)\n"
    a, b = recorded(source=source), recorded(("x * 3", "x * 5"), source=source)
    done = viewer.run("diff", a, b)
    assert "inherited, 1 of them perhaps own" in done.stdout
    listed = viewer.run("diff", "--inherited", a, b).stdout
    assert "inherited or own: code that is not recorded got an input that differs" in listed
    lines = [json.loads(line) for line in viewer.run("diff", "--json", a, b).stdout.splitlines()]
    assert [line["name"] for line in lines if line.get("certain") is False] == ["return"]
    assert lines[-1]["perhaps_own"] == 1


def test_another_arm_because_of_a_value_is_inherited(recorded):
    told, _ = findings(recorded(), recorded(("h = self.norm(x)", "h = self.norm(x) - 500")))
    flows = [f for f in told if f["cause"] == "control flow" and f["class"] != "only"]
    assert [f["class"] for f in flows] == ["inherited"] * 3
    assert told[0]["name"] == "h" and told[0]["first"]


def test_more_turns_and_fewer(recorded):
    a, b = recorded(), recorded(("range(3)", "range(4)"))
    line = line_of("for step in range(3)")
    assert first(a, b) == (
        f"program.py:{line}: first divergence: control flow: B made 4 turns of the loop, A 3; "
        "all values before were equal"
    )
    assert "B made 3 turns of the loop, A 4" in first(b, a)


def test_an_exception(recorded):
    source = """
def work(n):
    a = n + 1
    b = 10 // DIVISOR
    c = a + b
    return c


def main():
    try:
        r = work(3)
    except ZeroDivisionError:
        r = None
    return r


DIVISOR = 2
main()
"""
    told = first(recorded(source=source), recorded(("DIVISOR = 2", "DIVISOR = 0"), source=source))
    assert told.startswith("program.py:16: first divergence: DIVISOR: 0, A has 2")
    lost = recorded(("10 // DIVISOR", "10 // 0"), source=source)
    told = first(recorded(source=source), lost)
    assert told.startswith("program.py:3: first divergence: control flow: ")
    assert "A reached line 3, B did not: it left work earlier" in told


# ---- what is no difference ----


def test_strides_count_where_something_follows(recorded):
    source = """
import torch

torch.manual_seed(0)
a = torch.randn(4, 6)
b = a.t().contiguous()
c = b + 1
d = torch.as_strided(c, (2, 2), (2, 1))
e = a * 2
"""
    a = recorded(source=source)
    b = recorded(("b = a.t().contiguous()", "b = a.t()"), source=source)
    assert "program.py:5: first divergence: b: strides [1, 6] (not contiguous), A" in first(a, b)
    harmless = source.replace("torch.as_strided(c, (2, 2), (2, 1))", "c[:2, :2]")
    a = recorded(source=harmless)
    b = recorded(("b = a.t().contiguous()", "b = a.t()"), source=harmless)
    run = diff(a, b)
    assert run.returncode == 0 and "equal except for strides" in run.stdout
    assert "b: strides [1, 6]" in first("--exact", a, b)


def test_clocks_are_left_out(recorded):
    source = """
import time

started = time.perf_counter()
work = sum(range(100))
elapsed = time.perf_counter() - started
rate = 100 / elapsed
"""
    run = diff(recorded(source=source), recorded(source=source + "\n"))
    assert run.returncode == 0
    assert " skipped (read from a clock, or ignored)" in run.stdout
    told = first(
        recorded(source=source), recorded(("range(100)", "range(99)"), source=source)
    )
    assert told == "program.py:4: first divergence: work: 4851, A has 4950"


def test_times_within_tolerance_are_clocks_too(recorded):
    source = """
def perf_counter():
    return 1e-6


elapsed = perf_counter()
rate = 100 / elapsed
"""
    later = recorded(("1e-6", "1.0005e-6"), source=source)
    run = diff(recorded(source=source), later)
    assert run.returncode == 0, run.stdout
    assert "2 skipped (read from a clock, or ignored)" in run.stdout


def test_tolerance(recorded):
    a, b = recorded(), recorded(("self.norm(x)", "self.norm(x) * 1.000001"))
    run = diff(a, b)
    assert run.returncode == 0 and "within tolerance" in run.stdout
    assert ": h: values " in first("--exact", a, b)
    assert ": h: values " in first("--rtol", "1e-9", "--atol", "0", a, b)
    b = recorded(("eps=1e-5", "eps=1e-2"))
    assert diff("--rtol", "0.5", "--atol", "10", a, b).returncode == 0


def test_across_precisions(recorded):
    a, b = recorded(), recorded(("x = torch.randn(4, 8)", "x = torch.randn(4, 8).double().float()"))
    assert diff("--across-precisions", a, b).returncode == 0
    source = """
import torch

torch.manual_seed(0)
x = torch.randn(16, 16).to(torch.float32)
y = x @ x
z = y.softmax(-1)
"""
    a = recorded(source=source)
    b = recorded(("torch.float32", "torch.bfloat16"), source=source)
    assert ": x: dtype bfloat16, A has float32" in first(a, b)
    assert diff("--across-precisions", "--rtol", "0.1", "--atol", "0.1", a, b).returncode == 0
    c = recorded(("torch.float32", "torch.bfloat16"), ("x @ x", "x @ x * 2"), source=source)
    assert ": y: values" in first("--across-precisions", "--rtol", "0.1", "--atol", "0.1", a, c)


def test_across_precisions_a_sum_is_as_coarse_as_what_is_in_it(recorded):
    """As under autocast: what goes on is float32 in both runs, but made of bfloat16 in one."""
    source = """
import torch

torch.manual_seed(0)
x = torch.randn(16, 16)
w = torch.randn(16, 16)
before = x.softmax(-1)
y = x.to(torch.float32) @ w.to(torch.float32)
y = x + y.float()
loss = y.mean()
number = loss.item()
"""
    a = recorded(source=source)
    changes = [(f"{name}.to(torch.float32)", f"{name}.to(torch.bfloat16)") for name in "xw"]
    b = recorded(*changes, source=source)
    assert ": y: dtype bfloat16, A has float32" in first(a, b)
    run = diff("--across-precisions", a, b)
    assert (run.returncode, "within tolerance" in run.stdout) == (0, True), run.stdout
    c = recorded(*changes, ("y.float()", "1.1 * y.float()"), source=source)
    assert ":8: first divergence: y: values" in first("--across-precisions", a, c)
    d = recorded(*changes, ("x.softmax(-1)", "x.softmax(-1) * 1.001"), source=source)
    assert ": before: values" in first("--across-precisions", a, d)


def test_nan_equals_nan(recorded):
    source = """
import torch

x = torch.tensor([1.0, float("nan"), 2.0, float("inf")])
y = x * 2
n = float("nan")
"""
    assert diff(recorded(source=source), recorded(source=source + "\n")).returncode == 0
    told = first(recorded(source=source), recorded(("y = x * 2", "y = x / 0"), source=source))
    assert ": y: values " in told and "Inf" in told


def test_renamed(recorded):
    a = recorded()
    b = recorded(
        ("        h = self.norm(x)\n", "        hidden = self.norm(x)\n"),
        ("if h.sum()", "if hidden.sum()"),
        ("h = h + 1", "hidden = hidden + 1"),
        ("h = h - 1", "hidden = hidden - 1"),
        ("self.scale.forward(h)", "self.scale.forward(hidden)"),
    )
    assert diff("--map", "h=hidden", a, b).returncode == 0


def test_map_of_a_type(recorded):
    source = "class Scale:\n    pass\n\n\nscale = Scale()\n"
    a = recorded(source=source)
    b = recorded(("class Scale:", "class Factor:"), ("= Scale()", "= Factor()"), source=source)
    assert "Factor, A has program.Scale" in first(a, b)
    assert diff("--map", "Scale=Factor", a, b).returncode == 0


def test_numbers_of_processes_are_left_out(recorded):
    source = "import os\n\nparent = os.getppid() + 1\npid = os.fork()\nif pid == 0:\n    os._exit(0)\n"
    a = recorded(source=source)
    run = diff(a, recorded(("getppid() + 1", "getppid() + 2"), source=source))
    assert run.returncode == 0
    assert "2 skipped (read from a clock, or ignored)" in run.stdout


def test_a_class_is_known_by_its_methods(recorded):
    b = recorded(
        ("class Scale:", "class Factor:"), ("self.scale = Scale(2.0)", "self.scale = Factor(2.0)")
    )
    assert diff(recorded(), b).stdout.startswith("equal: ")


def test_map_of_what_is_not_there(recorded):
    run = diff("--map", "nosuch=h", recorded(), recorded(source=MODEL + "\n"))
    assert run.returncode == 0
    assert run.stderr == "remark: --map: no name matches nosuch in A\n"


def test_ignored_names(recorded):
    source = "run_id = 3\nnext_id = run_id + 1\nother = 5\n"
    a = recorded(source=source)
    b = recorded(("run_id = 3", "run_id = 4"), source=source)
    assert "first divergence: run_id: 4, A has 3" in first(a, b)
    run = diff("--ignore", "run_*", a, b)
    assert run.returncode == 0 and "2 skipped" in run.stdout
    b = recorded(("run_id = 3", "run_id = 4"), ("other = 5", "other = 6"), source=source)
    assert "first divergence: other: 6, A has 5" in first("--ignore", "run_*", a, b)


def test_lines_that_read_differently(recorded):
    a, b = recorded(), recorded(("LayerNorm(8, eps=1e-5)", "LayerNorm(8, eps=1e-2)"))
    line, norm = line_of("eps=1e-5"), "self.norm = torch.nn.LayerNorm"
    assert (
        "  lines of code that differ:\n"
        f"    program.py:{line}: {norm}(8, eps=1e-2)\n"
        f"      in A, program.py:{line}: {norm}(8, eps=1e-5)\n"
    ) in diff(a, b).stdout
    assert "  not recorded: values read from self\n" in diff(a, b).stdout
    run = diff(a, recorded(("results = []", "results = list()")))
    assert run.returncode == 0 and run.stdout.endswith("; 1 line of code differs (--all)\n")


# ---- whole values ----


def test_whole_values(recorded):
    a = recorded(values="all")
    b = recorded(("(z * z).sum(0)", "(z * z).sum(0) + torch.eye(4)[2] * 0.5"), values="all")
    told, _ = findings(a, b)
    found = told[0]
    assert found["name"] == "return" and found["whole_values"]
    assert found["count"] == 4 and found["beyond"] == 1 and found["worst"] == 2
    assert abs(found["max_abs"] - 0.5) < 1e-5
    assert abs(found["worst_value"] - found["worst_value_a"] - 0.5) < 1e-5
    assert 0 < found["cosine"] <= 1 and found["max_ulp"] > 0
    assert diff(a, recorded()).returncode == 0


# ---- bad input ----


def test_other_programs(recorded):
    other = recorded(source="first = 1\nsecond = first + 1\nthird = [second]\n")
    run = diff(recorded(), other)
    assert run.returncode == 1
    assert run.stdout.startswith("different programs: ") and "are in both\n" in run.stdout
    _, verdict = findings(recorded(), other)
    assert verdict["different_programs"] and not verdict["equal"]


def counting(count, kill=False):
    trace = Trace()
    source = "def f(n):\n    for i in range(n):\n        x = i\n"
    trace.module(
        "count.py",
        [("<module>", 1), ("f", 1)],
        [("loop", 2, 1, "i", (5,)), ("assign", 3, 1, "x", (9,))],
        source=source,
    )
    call = trace.call(1)
    for i in range(count):
        trace.event(0, call, scalar(i))
        trace.event(1, call, scalar(i))
    if kill:
        trace.kill()
    else:
        trace.ended(call)
    return trace


RING = """
import numpy


def step(x, turn):
    y = x * turn
    if turn == -1:
        y = y + 1
    return y


def main():
    x = numpy.ones(4)
    for turn in range(300):
        z = step(x, turn)
        w = z + 1
    return w


main()
"""


@pytest.mark.parametrize("last", [10, 57, 600])
def test_a_ring_is_compared_with_what_it_has(recorded, last):
    whole, ring = recorded(source=RING), recorded(source=RING, last=last)
    for pair in [(whole, ring), (ring, whole), (ring, recorded(source=RING, last=600))]:
        run = diff(*pair)
        assert run.returncode == 0, run.stdout
        assert run.stdout.startswith(f"equal: {last} events")
        assert (" precede " in run.stdout) == (whole in pair or last < 600)


def test_what_differs_within_a_ring(recorded):
    ring = recorded(("turn == -1", "turn == 295"), source=RING, last=600)
    assert ": first divergence: control flow: B took the if" in diff(
        recorded(source=RING), ring
    ).stdout


def test_a_ring_of_a_program_with_more_lines(recorded):
    ring = recorded(("    if turn", "    extra = y\n    if turn"), source=RING, last=60)
    run = diff(recorded(source=RING), ring)
    assert run.returncode == 0, run.stdout
    assert "in lines that only B has" in run.stdout


def two_threads(mean):
    """Whose last values, tensors, stand in calls that never ended."""
    trace = Trace()
    trace.module("work.py", [("<module>", 1), ("run", 1)], [("assign", 2, 1, "a")])
    trace.thread(0, "MainThread")
    trace.thread(1, "worker")
    for thread in (0, 1):
        call = trace.call(1, thread=thread)
        figures = dict(min=0.0, max=mean * 2, mean=mean, std=1.0, hash=int(mean))
        trace.event(0, call, made.tensor((4, 4), **figures), thread=thread)
    return trace


def test_each_thread_s_last_value_is_judged(folder):
    traces = [two_threads(mean).write(folder / f"mean{mean}.mtrace") for mean in (1.0, 2.0)]
    run = diff(*traces)
    assert run.returncode == 1
    assert run.stdout.startswith("work.py:2: first divergence: a: values ")
    assert "2 events in both: 0 equal, 2 own differences, 0 inherited" in run.stdout


@pytest.mark.parametrize("swapped", [False, True])
def test_a_killed_recording_is_no_divergence(folder, swapped):
    traces = [
        counting(10, kill=True).write(folder / f"killed{swapped}.mtrace"),
        counting(30).write(folder / f"whole{swapped}.mtrace"),
    ]
    run = diff(*(traces[::-1] if swapped else traces))
    assert run.returncode == 0
    assert run.stdout.startswith("equal: 20 events; ")
    assert ("B ends there, A" if swapped else "A ends there, B") in run.stdout
    assert "remark: the recording is unfinished" in run.stderr
    assert "remark: its recording ends earlier than the other: 40 later events" in run.stderr
    assert diff("-q", *traces).stderr == ""


def test_a_damaged_trace_is_compared_as_far_as_it_goes(recorded, folder):
    cut = folder / "cut.mtrace"
    data = recorded().read_bytes()
    cut.write_bytes(data[: len(data) - 3000])
    run = diff(recorded(), cut)
    assert run.returncode == 3
    assert "cut.mtrace: offset " in run.stderr
    assert run.stdout.startswith("equal: ")


@pytest.mark.parametrize(
    "words, told",
    [
        ([], "monitorch diff: no traces, expected two: monitorch diff A B"),
        (["A"], "monitorch diff: one trace, expected two: monitorch diff A B"),
        (["A", "B", "C"], "monitorch diff: 3 traces, expected two"),
        (["--rtol", "x", "A", "B"], "monitorch diff: --rtol x: expected a number from 0 on"),
        (["--rtol", "-1", "A", "B"], "--rtol -1: expected a number from 0 on"),
        (["--atol", "nan", "A", "B"], "--atol nan: expected a number"),
        (["--map", "a", "A", "B"], "--map a: expected OLD=NEW"),
        (["--exact", "--rtol", "1", "A", "B"], "--exact excludes --rtol"),
        (["--exat", "A", "B"], "--exact"),
    ],
)
def test_wrong_usage(words, told):
    run = diff(*words)
    assert run.returncode == 2 and told in run.stderr and run.stdout == ""


def test_a_trace_that_is_not_there(recorded, folder):
    run = diff(recorded(), folder / "none.mtrace")
    assert run.returncode == 3 and "none.mtrace: cannot be read" in run.stderr


def test_help():
    run = diff("--help")
    assert run.returncode == 0 and run.stdout.startswith("usage: monitorch diff ")
    assert max(map(len, run.stdout.splitlines())) <= 100


# ---- how ----


def test_colour_and_quiet(recorded):
    a, b = recorded(), recorded(("eps=1e-5", "eps=1e-2"))
    coloured = diff("--color", "always", a, b).stdout
    assert "\x1b[" in coloured
    assert "\x1b[" not in diff(a, b).stdout
    quiet = diff("-q", a, b).stdout
    assert quiet == diff(a, b).stdout.split("\n")[0] + "\n"


def test_lists_are_cut(recorded):
    source = "\n".join(f"name{i} = {i}" for i in range(30))
    a, b = recorded(source=source), recorded(source=source.replace("= ", "= 1"))
    run = diff(a, b)
    assert "and 10 more lines (--all)" in run.stdout
    assert run.stdout.count(", A has") == 20 + 1
    assert diff("--all", a, b).stdout.count(", A has") == 30 + 1


# ---- ranks ----


def test_ranks(recorded, tmp_path):
    a, b = recorded(), recorded(("eps=1e-5", "eps=1e-2"))
    late = recorded(("total = sum(results)", "total = sum(results) * 2"))
    for name, traces in {"old": [a, a, a], "new": [a, late, b]}.items():
        (tmp_path / name).mkdir()
        for rank, trace in enumerate(traces):
            shutil.copy(trace, tmp_path / name / f"run.rank{rank}.mtrace")
    for words in (
        [tmp_path / "old", tmp_path / "new"],
        [tmp_path / "old" / "run.mtrace", tmp_path / "new" / "run.mtrace"],
    ):
        run = diff(*words)
        assert run.returncode == 1
        lines = run.stdout.splitlines()
        assert f":{line_of('eps=1e-5')}: first divergence: h: " in lines[0]
        assert "  this is rank 2, the first to differ:" in lines
        assert lines[-3].startswith("  rank 0: equal: ")
        assert ": first divergence: total: " in lines[-2] and "rank 1: " in lines[-2]
    run = diff("--ranks", *sorted((tmp_path / "new").iterdir()))
    assert run.returncode == 1 and "  run.rank1.mtrace: " in run.stdout
    for word in (tmp_path / "new", tmp_path / "new" / "run.mtrace"):
        alone = diff("--ranks", word)
        assert (alone.returncode, alone.stdout) == (1, run.stdout)
    run = diff("--ranks", tmp_path / "new" / "run.rank0.mtrace")
    assert run.returncode == 3 and "is one trace, expected several ranks' traces" in run.stderr
    assert diff("--ranks", tmp_path / "new" / "other.mtrace").returncode == 3
    assert diff(tmp_path / "old", tmp_path / "old").stdout.startswith("equal: 3 pairs")
    (tmp_path / "new" / "run.rank1.mtrace").unlink()
    run = diff(tmp_path / "old", tmp_path / "new")
    assert run.returncode == 3
    assert "old/run.rank1.mtrace: the other folder has no such trace" in run.stderr
    records = diff("--json", tmp_path / "old" / "run.rank0.mtrace", b).stdout.splitlines()
    assert "trace_a" not in json.loads(records[0])


