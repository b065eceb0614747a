"""`monitorch why`: which line made a NaN, of what, and the cause, on programs recorded here."""

import fcntl
import functools
import json
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

from tests.commands import hostile
from tests.support import paths, recording, viewer
from tests.trace import made

SAMPLES = paths.ROOT / "samples"
GOLDEN = paths.ROOT / "tests/view/why/golden"


def why(*words, env=None):
    return hostile.run("why", *words, env=env)


def head(*words):
    """The first line without its file's folder, and the exit code."""
    run = why(*words)
    first = run.stdout.split("\n", 1)[0] or run.stderr.split("\n", 1)[0]
    return re.sub(r"^\S*/", "", first), run.returncode


def record(folder, source, *words):
    """The trace of a program that ends well."""
    run = recording.run_program(source, folder, words, sources="yes")
    assert run.returncode == 0, run.stderr
    return folder / "run.mtrace"


def sample(name):
    """A sample's text without its own recording; lines keep their numbers."""
    text = (SAMPLES / f"{name}.py").read_text()
    return re.sub(r"(?m)^( *)(import monitorch|monitorch\..*)$", r"\1pass", text)


# ---- statements and the causes that are told ----

CASES = [
    (
        "d = {'w': [torch.tensor([0.0, 1.0])]}",
        'r = 1.0 / d["w"][0]',
        'division by zero: `d["w"][0]` has 1 zero',
    ),
    (
        "a = torch.tensor([1.0, 2.0]); b = torch.tensor([0.0, 1.0])",
        "r = a / b",
        "division by zero: `b` has 1 zero",
    ),
    (
        "a = torch.tensor([0.0, 2.0]); b = torch.tensor([0.0, 1.0])",
        "r = a / b",
        "0/0: `b` has 1 zero, `a` has 1 zero",
    ),
    (
        "a = torch.tensor([-1.0, 0.0, 2.0])",
        "r = torch.log(a)",
        "log of a negative number: min of `a` is -1; log of 0 gives -Inf: `a` has 1 zero",
    ),
    (
        "a = torch.tensor([-0.2, 2.0])",
        "r = a.sqrt()",
        "sqrt of a negative number: min of `a` is -0.2",
    ),
    (
        "a = torch.tensor([1.0, 103.2])",
        "r = a.exp()",
        "exp overflows above 88.72 in float32: `a` has max 103.2",
    ),
    (
        "a = torch.tensor([1.0, 12.0]).half()",
        "r = a.exp()",
        "exp overflows above 11.09 in float16: `a` has max 12",
    ),
    (
        "a = torch.tensor([1.0, 70000.0])",
        "r = a.half()",
        "overflow of float16: `a.half()` is 70000, above 65504",
    ),
    (
        "a = torch.tensor([1.0, 70000.0])",
        "r = a.to(torch.float16)",
        "overflow of float16: `a.to(torch.float16)` is 70000, above 65504",
    ),
    (
        "a = torch.tensor([300.0, 400.0]).half()",
        "r = a * a",
        "overflow of float16: `a * a` is 160000, above 65504",
    ),
    (
        "q = torch.full((2, 64), 60.0).half(); k = torch.full((64, 2), 60.0).half()",
        "r = q @ k",
        "overflow of float16: `q @ k` can reach 230400, above 65504",
    ),
    (
        "a = torch.full((2, 3), -torch.inf)",
        "r = torch.softmax(a, dim=-1)",
        "softmax of a row that is -Inf everywhere: `a` has 6 -Inf of 6",
    ),
    (
        "a = torch.ones(1)",
        "r = a.std()",
        "std of one element: `a` has no more",
    ),
    (
        "a = torch.ones(4, 1)",
        "r = a.var(dim=1)",
        "var of one element: `a` has a dimension of size 1",
    ),
    (
        "a = torch.ones(0)",
        "r = a.mean()",
        "mean of nothing: `a` is empty",
    ),
    (
        "a = torch.tensor([3e38, 3e38, 1.0])",
        "r = a.mean()",
        "overflow of float32: the sum of `a` is 6e+38, above 3.403e+38",
    ),
    (
        "a = torch.tensor([[3e38, 3e38, 1.0], [0.0, 1.0, 2.0]])",
        "r = a.mean(dim=1)",
        "overflow of float32: the sum of `a` can reach 1.8e+39, above 3.403e+38",
    ),
    (
        "a = torch.ones(3); mask = a > 5",
        "r = a[mask].mean()",
        "mean of nothing: `a[mask]` was empty",
    ),
    (
        "a = torch.ones(3); mask = a > 5",
        "r = (a[mask] - a[mask]).pow(2).mean()",
        "mean of nothing: `(a[mask] - a[mask]).pow(2)` was empty",
    ),
    (
        "a = torch.ones(3)",
        "r = a.masked_select(a > 5).mean()",
        "mean of nothing: `a.masked_select(a > 5)` was empty",
    ),
    (
        "a = torch.ones(3)",
        "r = a[:0].mean()",
        "mean of nothing: `a[:0]` was empty",
    ),
    (
        "a = torch.ones(0); b = torch.ones(0)",
        "r = (a * b).mean()",
        "mean of nothing: `a * b` was empty",
    ),
    (
        "a = torch.ones(3); mask = a > 5",
        "r = a[mask].std()",
        "std of one element or none: `a[mask]` had no more",
    ),
    (
        "a = torch.ones(3); mask = a > 5",
        "r = a[mask].sum() / mask.sum()",
        "0/0: `mask.sum()` was 0, `a[mask].sum()` was 0",
    ),
    (
        "a = torch.ones(3, 4)",
        "r = a[:, 1].mean() - a[0].mean() + a[..., -1].mean() / (a[0, 0] - 1).abs()",
        "division by zero: `(a[0, 0] - 1).abs()` was 0",
    ),
    (
        "x = torch.tensor([[1.0, -1.0], [2.0, 1.0]])",
        "r = x / x.sum(dim=1, keepdim=True)",
        "division by zero: `x.sum(dim=1, keepdim=True)` was 0",
    ),
    (
        "a = torch.tensor([0.0, 4.0])",
        "r = a.rsqrt()",
        "rsqrt of 0 gives Inf: `a` has 1 zero",
    ),
    (
        "a = torch.tensor([0.0, 4.0])",
        "r = a.reciprocal()",
        "reciprocal of 0 gives Inf: `a` has 1 zero",
    ),
    (
        "a = torch.tensor([0.5, 1.5])",
        "r = torch.acos(a)",
        "acos above 1: max of `a` is 1.5",
    ),
    (
        "a = torch.tensor([0.5, 1.0])",
        "r = torch.atanh(a)",
        "atanh of 1 gives Inf: `a` has it",
    ),
    (
        "a = torch.tensor([0.5, 1.0])",
        "r = torch.acosh(a)",
        "acosh below 1: min of `a` is 0.5",
    ),
    (
        "a = torch.tensor([-1.0, 1.0])",
        "r = torch.log1p(a)",
        "log1p of -1 gives -Inf: `a` has it",
    ),
    (
        "a = torch.tensor([-8.0, 1.0])",
        "r = a ** 0.5",
        "a negative number to the power 0.5: min of `a` is -8",
    ),
    (
        "a = torch.tensor([0.0, 1.0])",
        "r = a ** -1",
        "0 to a negative power gives Inf: `a` has 1 zero",
    ),
    (
        "a = torch.tensor([1.0, 2.0]); b = torch.tensor([0.0, 1.0])",
        "r = a % b",
        "remainder of a division by zero: `b` has 1 zero",
    ),
    (
        "a = torch.tensor([torch.inf, 1.0]); b = torch.tensor([torch.inf, 1.0])",
        "r = a - b",
        "Inf - Inf: in `a` and `b`",
    ),
    (
        "a = torch.tensor([0.0, 1.0]); b = torch.tensor([torch.inf, 1.0])",
        "r = a * b",
        "0 * Inf: in `a` and `b`",
    ),
    (
        "a = torch.tensor([1.0, 2.0]); b = torch.tensor([0.0, 1.0])",
        "r = a.clone(); r.div_(b)",
        "division by zero: `b` has 1 zero",
    ),
    (
        "a = torch.tensor([1.0, 2.0]); b = torch.tensor([0.0, 1.0])",
        "r = a.clone(); r /= b",
        "division by zero: `b` has 1 zero",
    ),
    (
        "a = torch.full((64,), 20.0)",
        "r = a.cumprod(dim=0)",
        "overflow of float32: cumprod of 64 values of up to 20 in `a`",
    ),
    (
        "p = torch.tensor([0.0, 1.0])",
        "r = p * p.log()",
        "log of 0 gives -Inf: `p` has 1 zero",
    ),
    (
        "p = torch.tensor([0.0, 1.0])",
        "r = (\n        -p\n        * torch.log2(p)  # of shares\n    )",
        "log2 of 0 gives -Inf: `p` has 1 zero",
    ),
    (
        "m = torch.tensor([True, False]); a = torch.ones(2)",
        "r = a.masked_fill(m, float('-inf'))",
        "the statement names it: `float('-inf')`",
    ),
    (
        "a = torch.full((40000,), 30.0).half()",
        "r = a.sum()",
        "overflow of float16: `a.sum()` can reach 1.2e6, above 65504",
    ),
    (
        "x = torch.zeros(2, 3)",
        "r = x / x.norm(dim=-1, keepdim=True)",
        "0/0: `x.norm(dim=-1, keepdim=True)` was 0, `x` has 6 zeros",
    ),
    (
        "x = torch.ones(4)",
        "r = (x - x.mean()) / x.std()",
        "0/0",
    ),
    (
        "a = np.array([0.0, 1.0])",
        "r = np.log(a)",
        "log of 0 gives -Inf: `a` has 1 zero",
    ),
    (
        "a = torch.tensor([3.0, 1.0])",
        "r = a / (a - 1)",
        "division by zero: `a - 1` was 0",
    ),
    (
        "a = torch.tensor([0.0, 1.0])",
        "r = a / a",
        "made here: r: 0/0: `a` has 1 zero",
    ),
    (
        "a = torch.ones(2)",
        "r = a / torch.zeros(2)",
        "made here: r: division by zero: `torch.zeros(2)` was 0",
    ),
    (
        "a = 1.0",
        "r = torch.log(torch.tensor([1.0 - a]))",
        "made here: r: log of 0 gives -Inf: `torch.tensor([1.0 - a])` was 0",
    ),
    (
        "a = torch.ones(2); b = -torch.ones(2)",
        "r = torch.cat([a, b]).sqrt()",
        "made here: r: sqrt of a negative number: min of `torch.cat([a, b])` can be -1",
    ),
    (
        "a = torch.randn(2, 2); m = torch.eye(2, dtype=torch.bool) & False",
        "r = torch.where(m, a, torch.tensor(-torch.inf)).softmax(-1)",
        "then softmax of a row that is -Inf everywhere",
    ),
    (
        "a = torch.tensor([3.0, 1.0])",
        "r = unknown(a)",
        "inside `unknown(a)`",
    ),
    (
        "a = torch.tensor([3.0, 1.0], requires_grad=True); (a - 1).sqrt().sum().backward()",
        "r = a.grad",
        "is a gradient",
    ),
]

PRELUDE = """\
import numpy as np
import torch

np.seterr(all="ignore")


def unknown(x):  # monitorch: off
    return x / (x - 1)


"""


def program():
    lines = []
    for number, (setup, statement, _) in enumerate(CASES):
        lines.append(f"def case{number}():")
        lines += ["    " + part.strip() for part in setup.split(";")]
        lines += ["    " + statement.replace("; ", "\n    "), "", ""]
    lines += [f"case{number}()" for number in range(len(CASES))]
    return PRELUDE + "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    pytest.importorskip("torch")
    trace = record(tmp_path_factory.mktemp("why"), program())
    calls = {e.function: e.call for e in recording.read(trace, "--name=r").events}
    return trace, calls


@pytest.mark.parametrize("number", range(len(CASES)))
def test_cause(cases, number):
    trace, calls = cases
    setup, statement, wanted = CASES[number]
    first, code = head(trace, "r", "--call", calls[f"case{number}"])
    assert wanted in first, (setup, statement)
    assert re.match(r"program\.py:\d+: (NaN|-?Inf|NaN and -?Inf) (made|written|entered)", first)
    assert code == 1


# ---- where nothing may be claimed ----


def test_a_division_that_cannot_be_the_cause_is_not_named(tmp_path):
    pytest.importorskip("torch")
    trace = record(
        tmp_path,
        "import torch\n\n\ndef hidden(x):  # monitorch: off\n    return x * float('nan')\n\n\n"
        "def f(a, b):\n    r = hidden(a) + a / b\n    return r\n\n\n"
        "f(torch.ones(2), torch.ones(2))\n",
    )
    first, _ = head(trace, "r")
    assert first == "program.py:9: NaN made here: r: inside `hidden(a)`"


# ---- the way back ----

PLACES = """\
import torch


def scale(x, factor):
    y = x * factor
    return y


class State:
    pass


KEPT = []


def hidden():  # monitorch: off
    KEPT[0].fill_(float("nan"))


def f(start):
    total = start.sum() - start.sum()
    handed = scale(start / total, 2.0)
    later = handed + 1
    view = start[:1]
    view.div_(total)
    used = start * 2
    clean = torch.ones(2)
    KEPT.append(clean)
    hidden()
    late = clean + 1
    return later, used, late


def g(came):
    out = came + 1
    return out


f(torch.tensor([1.0, 2.0]))
g(torch.tensor([1.0, float("inf")]))
for step in range(3):
    number = 1.0 if step < 2 else float("inf") - float("inf")
    turn = number * 2
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    pytest.importorskip("torch")
    return record(tmp_path_factory.mktemp("places"), PLACES)


def line_of(text, source=PLACES):
    return 1 + source[: source.index(text)].count("\n")


def test_an_argument_is_made_on_the_line_of_the_call(places):
    first, code = head(places, "later")
    assert first.startswith(f"program.py:{line_of('handed =')}: Inf made here: x: division by zero")
    assert code == 1


def test_written_through_another_name(places):
    first, _ = head(places, "used")
    assert first.startswith(f"program.py:{line_of('view.div_')}: Inf made here: view: division")


def test_what_no_recorded_line_wrote_is_first_seen(places):
    first, _ = head(places, "late")
    assert re.match(r"program\.py:\d+: NaN first seen here: late: the recorded values cannot", first)
    assert f"changed `clean` after line {line_of('clean = torch')} (#" in first


STEPS = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(8))

    def forward(self, x):
        h = x * self.scale
        return h.sum()


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=3e38)
for step in range(2):
    loss = net(torch.full((8,), 2.0))
    loss.backward()
    optimizer.step()
"""


def test_a_parameter_that_the_optimizer_wrote(tmp_path):
    pytest.importorskip("torch")
    first, code = head(record(tmp_path, STEPS))
    line = line_of("h = x", STEPS)
    assert re.fullmatch(
        rf"program\.py:{line}: -Inf first seen here: self\.scale: between line \d+ \(#\d+\), "
        rf"where `self\.scale` was finite, and line {line} \(#\d+\) no recorded line made "
        r"it; an optimizer's step\(\) writes to parameters",
        first,
    )
    assert code == 1


BACKWARD = """
import torch

weight = torch.nn.Parameter(torch.zeros(4))
scale = torch.ones(4)
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(2):
    loss = torch.sqrt((weight * scale).pow(2).sum())
    loss.backward()
    optimizer.step()
"""


def test_a_gradient_that_was_nan(tmp_path):
    pytest.importorskip("torch")
    first, code = head(record(tmp_path, BACKWARD), "loss")
    assert re.search(
        rf"NaN first seen here: weight: between line {line_of('weight =', BACKWARD)} \(#\d+\), where "
        r"`weight` was finite, and line \d+ \(#\d+\) no recorded line made it; an optimizer's "
        r"step\(\) writes to parameters$",
        first,
    )
    assert code == 1


def test_an_argument_that_came_in(places):
    assert head(places, "came") == (
        f"program.py:{line_of('def g')}: Inf entered here: came: it was already in `came`, "
        f"an argument given on line {line_of('g(torch')}",
        1,
    )


def test_iterations(places):
    assert head(places, "turn", "--iteration", "0") == (
        f"program.py:{line_of('turn =')}: fine: turn: no NaN or Inf in it",
        0,
    )
    first, code = head(places, "turn")
    assert (first.split(":")[1], code) == (str(line_of("number = 1.0")), 1)
    assert "the value of your question passes it on" in why(places, "turn").stdout


def test_places_and_numbers_choose_the_same(places):
    line = line_of("used =")
    event = next(e for e in recording.read(places, "--name=used").events)
    wanted = why(places, f"#{event.seq}").stdout
    assert wanted == why(places, event.seq).stdout
    for words in (f"program.py:{line}", f"program.py:{line}:used", f"prog*:{line}:u*", "us?d"):
        assert why(places, words).stdout == wanted


@pytest.mark.parametrize(
    "words, message",
    [
        (["nothing"], "no value fits nothing"),
        (["#999999"], "there is no event #999999"),
        (["program.py:1:x"], "no value fits program.py:1:x"),
        (["used", "--call", "77"], "in that call and iteration"),
    ],
)
def test_no_such_event(places, words, message):
    run = why(places, *words)
    assert (run.returncode, run.stdout) == (1, "")
    assert message in run.stderr


def test_a_terminal_gets_lines_that_fit(places):
    """Of a pseudo-terminal with 80 columns: every line but those of code fits, and no word is lost."""
    control, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {**viewer.environment(), "TERM": "dumb"}
    environment.pop("COLUMNS", None)
    process = subprocess.Popen([viewer.PATH, "why", places], stdout=terminal, env=environment)
    os.close(terminal)
    printed = b""
    try:
        while piece := os.read(control, 4096):
            printed += piece
    except OSError:
        pass  # the end of what a terminal was given
    os.close(control)
    assert process.wait() == 1
    lines = printed.decode().replace("\r\n", "\n").splitlines()
    wide = [line for line in lines if len(line) > 80 and "/" not in line and " | " not in line]
    assert wide == [] and printed.decode().split() == why(places).stdout.split()


@pytest.mark.parametrize(
    "word, nearest",
    [("usde", "used"), ("program.py:3:trun", "turn"), ("porgram.py:3", "program.py")],
)
def test_a_misspelt_event_names_the_nearest(places, word, nearest):
    run = why(places, word)
    assert (run.returncode, run.stdout) == (1, "")
    assert f"did you mean {nearest}?" in run.stderr


@pytest.mark.parametrize(
    "words, message",
    [
        ([], "no trace"),
        (["a", "b", "c"], "expected one TRACE and at most one EVENT"),
        (["a", "--call", "3"], "choose a visit of an EVENT"),
        (["a", "b", "--iteration", "x"], "--iteration x: expected a number"),
        (["a", "-o", "why.gif"], "must end in .png, .svg, .pdf or .dot"),
        (["a", "--json", "-s"], "remove it, or --json"),
    ],
)
def test_wrong_usage(words, message):
    run = why(*words)
    assert (run.returncode, run.stdout) == (2, "")
    assert message in run.stderr


def test_json_tells_the_same(places):
    run = why(places, "later", "--json")
    told = json.loads(run.stdout)
    first = told["producers"][0]
    assert (run.returncode, told["verdict"]) == (1, "nonfinite")
    assert first["line"] == line_of("handed =") and first["how"] == "made"
    assert first["certain"] and not first["meant"]
    assert {i["name"] for i in first["inputs"]} == {"start", "total"}
    assert [r["depth"] for r in told["slice"]] == sorted(r["depth"] for r in told["slice"])
    assert {"made", "passes", "finite"} == {r["role"] for r in told["slice"]}


# `pick` is unrecorded code that may use both of its arguments.
UNSURE = """
import torch
pick = eval("lambda a, b: torch.full_like(b, float('nan'))")
a = torch.full((2,), {first})
b = torch.tensor([1.0, 2.0])
y = pick(a, b)
z = y * 2
"""


@pytest.mark.parametrize("first", ["1.0", "float('nan')", "float('inf')"])
def test_json_says_what_is_not_certain(tmp_path, first):
    """A NaN throughout is like any other: that `a` has the same content proves nothing."""
    run = why(record(tmp_path, UNSURE.format(first=first)), "z", "--json")
    found = json.loads(run.stdout)
    rows = {row["name"]: row["certain"] for row in found["slice"]}
    assert rows == {"z": True, "y": True, "a": False, "b": False}
    inputs = [i for p in found["producers"] for i in p["inputs"] if p["value"]["name"] == "y"]
    assert all(not i["certain"] for i in inputs)


def test_equal_contents_are_evidence(tmp_path):
    source = UNSURE.format(first="3.0").replace("torch.full_like(b, float('nan'))", "b.clone()")
    run = why(record(tmp_path, source), "z", "--json")
    rows = {row["name"]: row["certain"] for row in json.loads(run.stdout)["slice"]}
    assert rows == {"z": True, "y": True, "a": False, "b": True}


def test_nothing_is_drawn_where_all_is_fine(tmp_path):
    trace = made.Trace()
    site = trace.module("m.py", [("<module>", 1)], [("assign", 1, 0, "x")])
    trace.event(site, trace.call(0), made.scalar(1.0))
    run = why(trace.write(tmp_path / "run.mtrace"), "-o", tmp_path / "why.svg")
    assert run.returncode == 0 and "not drawn" in run.stderr
    assert not (tmp_path / "why.svg").exists()


def test_depth_and_all(places):
    def rows(*words):
        text = why(places, "later", *words).stdout
        return text.split("nearest first:\n")[1].split("\n\n")[0].splitlines()

    assert len(rows("--depth", "0")) == 2 and "more places" in rows("--depth", "0")[-1]
    assert len(rows("--all")) > len(rows("--depth", "1")) > 2
    assert any("| handed = scale" in row for row in rows("-s"))


def test_each_line_of_a_long_way_is_a_row(tmp_path):
    """700 lines write `x` and one `x[0]`: none is counted as another, and the first is printed."""
    lines = ["import torch", "x = [torch.ones(2)]", "x = x[0]", *["x = x + 1"] * 700, "x = x / 0"]
    rows = why(record(tmp_path, "\n".join(lines) + "\n"), "--all").stdout.split("nearest first:\n")[1]
    printed = re.findall(r"program\.py:(\d+)  x", rows)
    assert sorted(map(int, printed)) == list(range(2, 705)) and "more time" not in rows


@pytest.mark.parametrize("suffix", ["svg", "dot"])
def test_picture(places, suffix, tmp_path):
    """Of the answer and what is nearest to it."""
    picture = tmp_path / f"why.{suffix}"
    run = why(places, "later", "-o", picture)
    text = picture.read_text()
    assert run.returncode == 1
    assert "later" in text and "total" in text and "late =" not in text


MASKED_ROW = """
import numpy as np

def attend(scores, mask, size):
    scores = scores / size
    scores = np.where(mask, scores, -np.inf)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return np.exp(shifted)

with np.errstate(all="ignore"):
    size = 2
    loss = np.float64(4.25)
    late = attend(np.ones((2, 3)), np.zeros((2, 3), bool), size) * loss
"""


def test_a_mask_in_a_picture_is_no_accident(tmp_path):
    """The mask's infinity has a mark of its own; numbers that made nothing bad have no box."""
    trace = record(tmp_path, MASKED_ROW)
    picture = tmp_path / "why.svg"
    run = why(trace, "-o", picture)
    text = picture.read_text()
    assert run.returncode == 1 and "NaN made here: shifted" in run.stdout
    assert text.count(">Inf by name<") == 1 and text.count(">! NaN or Inf made here<") == 1
    assert "<title>size" not in text


def test_a_picture_is_at_most_a_screen_and_a_half(tmp_path):
    """Of 1,280 x 800 pixels, though each box is as wide as it can be, and the chain is long."""
    name = "a_name_that_is_as_wide_as_a_box_can_be_{}"
    lines = ["import numpy as np", f"{name.format(0)} = np.zeros((7, 7, 7))"]
    lines.append(f"{name.format(1)} = {name.format(0)} / {name.format(0)}")
    for i in range(1, 20):
        lines.append(f"{name.format(i + 1)} = {name.format(i)} * 2 + np.abs({name.format(0)} + {i})")
    trace = record(tmp_path, "\n".join(lines))
    picture = tmp_path / "why.svg"
    assert why(trace, name.format(20), "-o", picture).returncode == 1
    text = picture.read_text()
    width, height = (float(re.search(rf'{side}="([\d.]+)pt"', text)[1]) / 0.75 for side in ("width", "height"))
    assert width <= 1280 and height <= 1200
    assert text.count('class="node"') >= 4 and name.format(1) in text


# ---- samples ----


def masked(text):
    """Without folders, and figures that the machine may round in another way."""
    text = re.sub(r"(?m)\S*/(?=\S+\.py)", "", text)
    return re.sub(r"(min|max|mean|std) \S+", r"\1 ~", text)


@pytest.mark.parametrize(
    "name, words", [("nan_in_entropy", ()), ("transformer_block", ("--empty-row", "--steps=1"))]
)
def test_sample(name, words, tmp_path):
    pytest.importorskip("torch")
    run = why(record(tmp_path, sample(name), *words))
    golden = GOLDEN / f"why_{name}.txt"
    if os.environ.get("MONITORCH_WRITE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(masked(run.stdout))
    assert masked(run.stdout) == golden.read_text()
    assert (run.returncode, run.stderr) == (1, "")


@pytest.mark.parametrize(
    "lines",
    [
        "def mask(n): return np.triu(np.full((n, n), -np.inf), k=1)\nm = mask(3)",
        "π = 'π'; m = np.full(3, -np.inf)",
        "if True: m = np.full(3, -np.inf)",
        "for i in range(2): m = np.full((i + 1,\n  2), -np.inf)",
    ],
)
def test_a_statement_behind_another_on_its_line(tmp_path, lines):
    trace = record(tmp_path, f"import numpy as np\n\n{lines}\n")
    run = why(trace)
    assert run.stdout.startswith("ok: no NaN"), run.stdout
    assert run.returncode == 0 and "written here" in run.stdout


@pytest.mark.parametrize(
    "line",
    [
        "h = (a - a) / (a - a).sum(); q, k = abs(h).reshape(2, -1)",
        "b = ';'; h = (a - a) / (a - a).sum() if b == ';' else a; q = abs(h)",
        "h = ((a - a) /  # one;\n  (a - a).sum()); q = abs(h)",
    ],
)
def test_a_statement_in_front_of_another_on_its_line(tmp_path, line):
    trace = record(tmp_path, f"import numpy as np\n\na = np.arange(4.0)\n{line}\n")
    run = why(trace)
    assert re.match(r"\S+:4: NaN made here: h: 0/0", run.stdout), run.stdout


def test_infinities_that_are_meant(tmp_path):
    """A causal mask's -Inf is no alarm."""
    pytest.importorskip("torch")
    trace = record(tmp_path, sample("transformer_block"), "--steps=1")
    run = why(trace)
    assert run.returncode == 0
    assert run.stdout.startswith("ok: no NaN, and no Inf except those that lines write by name")


# ---- traces that are not as they should be ----


START = """
import numpy, sys
numpy.seterr(all="ignore")

def first(x):
    y = x / x
    return y

def second(x):
    mask = numpy.where(x > 0, -numpy.inf, x)
    z = numpy.exp(x * 1000)
    return z, mask

first(numpy.zeros(2))
calm = numpy.ones(2)
second(calm)
end = 1.0
"""


def test_from_an_event_on(tmp_path):
    """As if the trace began there, but for what is known of where values came from."""
    trace = record(tmp_path, START)
    events = {}
    for line in hostile.run("show", "--json", trace).stdout.splitlines():
        event = json.loads(line)
        if "name" in event:
            events.setdefault(event["name"], event["seq"])
    assert head(trace)[0].startswith("program.py:6: NaN made here: y: 0/0")
    assert head(trace, "#0+") == head(trace)
    found, code = head(trace, f"#{events['y']}+")
    assert found.startswith("program.py:6: NaN made here: y: 0/0") and code == 1
    found, code = head(trace, f"#{events['calm']}+")
    assert found.startswith("program.py:11: Inf made here: z: exp overflows") and code == 1
    number = events["end"]
    assert head(trace, f"#{number}+") == (f"ok: no NaN or Inf from event #{number} on", 0)
    assert head(trace, "#99999+")[1] == 0
    assert head(trace, "#+")[1] == 1 and head(trace, "#1+", "--call", "1")[1] == 2


def test_nothing_in_it(tmp_path):
    run = why(made.Trace().write(tmp_path / "run.mtrace"))
    assert (run.returncode, run.stdout) == (1, "")
    assert "has no events" in run.stderr


def test_finite(tmp_path):
    trace = made.Trace()
    site = trace.module("m.py", [("<module>", 1)], [("assign", 1, 0, "x")])
    trace.event(site, trace.call(0), made.scalar(1.0))
    run = why(trace.write(tmp_path / "run.mtrace"))
    assert (run.returncode, run.stdout) == (0, "ok: no NaN or Inf in 1 event\n")


def test_control_characters_do_not_reach_the_terminal(tmp_path):
    trace = made.Trace()
    site = trace.module(
        "m\x1b[2J.py",
        [("<module>", 1), ("f\x1b]0;x\x07", 1)],
        [("assign", 1, 1, "x\x1b[31m")],
        source="x = \x1b[5m1 / 0\n",
    )
    trace.event(site, trace.call(1, path="\x1b[1m"), made.scalar(float("nan")))
    path = trace.write(tmp_path / "run.mtrace")
    for words in ([], ["-s"], ["--json"]):
        run = why(path, *words)
        assert run.returncode == 1
        assert "\x1b" not in run.stdout + run.stderr and "\x07" not in run.stdout
    assert "\x1b[1;31m" in why(path, "--color=always").stdout


def test_a_ring_says_that_what_made_it_may_be_older(tmp_path):
    trace = made.Trace(last=1000)
    site = trace.module("m.py", [("<module>", 1), ("f", 1)], [("assign", 1, 1, "x")])
    call = trace.call(1)
    trace.repeat(50000)
    trace.event(site, call, made.tensor((4,), nan=2, min=0, max=1, mean=0, std=0))
    trace.again()
    run = why(trace.write(tmp_path / "run.mtrace"))
    assert run.returncode == 1
    assert "remark: the trace keeps only its newest events, from #" in run.stderr


def test_damaged(nested, tmp_path):
    path = tmp_path / "damaged.mtrace"
    codes = set()
    for bad in hostile.damaged(nested.read_bytes(), 60, seed=6):
        path.write_bytes(bad)
        for words in ([], ["x"], ["--json", "weights"]):
            run = why(path, *words)
            codes.add(run.returncode)
            assert run.returncode in (0, 1, 3), run
            if run.returncode == 3:
                assert "offset" in run.stderr or "trace" in run.stderr
    assert 3 in codes


@pytest.mark.parametrize(
    "words, and_all_after", [([], ""), (["--json"], ""), (["weights", "-s", "--all"], "+")]
)
def test_allocations_fail(nested, words, and_all_after):
    run = functools.partial(why, nested, *words)
    assert hostile.fail_allocations(run, and_all_after) > 20


def test_a_limit_of_memory(nested):
    run = why(nested, "--memory", "2k")
    assert (run.returncode, run.stdout) == (3, "")
    assert re.search(
        r"\d+ values: to explain one needs about \S+ GB of memory, above the limit of 2e-06 GB\. "
        r"Allow it with --memory 1G, or record less",
        run.stderr,
    )
    assert why(nested, "--memory", "1G").returncode == 1
    for word in ("0", "G", "8X", "-1", "nan", "1e40"):
        run = why(nested, f"--memory={word}")
        assert (run.returncode, run.stdout) == (
            2,
            "",
        ) and "expected a size such as 8G" in run.stderr


def test_help_names_every_option():
    text = why("--help").stdout
    for (
        option
    ) in "call iteration memory depth all source output json quiet color version help".split():
        assert f"--{option}" in text
    assert all(len(line) <= 92 for line in text.splitlines())
