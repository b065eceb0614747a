"""Memory and disk fail at every step in turn: the recorded program ends as it would have."""

import json
import pathlib
import random

import pytest

from tests.faults.planned import run_planned
from tests.support import compiler, recording

CHILD = pathlib.Path(__file__).with_name("failing_child.py")

pytestmark = pytest.mark.usefixtures("compiler_module")

PLAIN = b"""\
import threading


class Box:
    def __init__(self, value):
        self.value = value


def count(name, last):
    for i in range(last):
        here = (name, i, {"k": [i]})
        yield here


def fail(x):
    y = x
    raise ValueError(y)


def work(k, results):
    box = Box(k)
    box.value += 1
    for pair in zip(count("a", 3), count("b", 3)):
        results.append((k, pair))
    try:
        fail(k)
    except ValueError as error:
        text = str(error)
        results.append(text)
    return box


def main():
    results = []
    work(0, results)
    threads = [threading.Thread(target=work, args=(k, [])) for k in (1, 2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return results
"""

ARRAYS = b"""\
import numpy


def step(x, i):
    y = x * 2
    y[0] = i
    z = {"y": y, "both": (y, y[1:])}
    return z


def main():
    found = []
    x = numpy.arange(300.0).reshape(3, 100)
    for i in range(40):
        out = step(x[:, : i + 1], i)
        found.append(float(out["y"].sum()))
    return found
"""

LONG = b"""\
import numpy


def main():
    total = 0.0
    x = numpy.arange(300.0)
    for i in range(20000):
        y = x[: i % 300] * 2
        total += float(y.sum())
    return total
"""

TENSORS = b"""\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.rest = nn.ModuleList([nn.Linear(4, 4)])

    def forward(self, x):
        y = self.first(x)
        y.mul_(2)
        for layer in self.rest:
            y = layer(y).relu()
        out = {"y": y, "both": (y, y.t())}
        return out


def main():
    torch.manual_seed(0)
    net = Net()
    found = []
    for i in range(3):
        out = net(torch.randn(2, 4))
        loss = out["y"].sum()
        loss.backward()
        found.append(loss.item())
    found.append(net.first.weight.grad.tolist())
    return found
"""


def run_all(folder, source, modules, runs, limit=0):
    """How each run ended, and what it printed: {name: (exit code, output, errors)}"""
    made = folder / "program.py"
    made.write_bytes(compiler.instrument(source, "program.py", all=True).text)
    plan = {"source": str(made), "modules": modules, "runs": runs, "file_size_limit": limit}
    run_planned(CHILD, folder, plan)
    ended = json.loads((folder / "ended.json").read_text())
    return {
        name: (
            code,
            (folder / f"{name}.out").read_text(),
            (folder / f"{name}.err").read_text(errors="replace"),
        )
        for name, code in ended.items()
    }


def numbers(whole, some, seed):
    """1 to `whole`, and `some` at random from behind that."""
    choose = random.Random(seed)
    return list(range(1, whole + 1)) + sorted(choose.sample(range(whole + 1, 20 * whole), some))


def assert_ended_alike(folder, found):
    """Each run as the first, in which nothing failed; returns how many noticed a failure."""
    expected = found["sound"]
    assert expected[0] == 0 and expected[2] == "", expected
    whole = len(recording.read(folder / "sound.mtrace").events)
    assert whole > 50
    noticed = 0
    for name, (code, out, errors) in found.items():
        assert (code, out) == expected[:2], f"{name}: {code}\n{errors}"
        lines = [line for line in errors.splitlines() if line]
        assert "Traceback" not in errors, f"{name}:\n{errors}"
        assert len(lines) <= 2, f"{name}: more than one warning:\n{errors}"
        noticed += bool(lines)
        trace = folder / f"{name}.mtrace"
        if "not started" in errors or not trace.exists():
            continue
        shown = recording.show(trace)
        assert shown.returncode in (0, 1, 3), f"{name}: {shown.stderr}"
        if shown.returncode == 3:
            assert shown.stderr, name
    return noticed


PROGRAMS = {"plain": (PLAIN, []), "arrays": (ARRAYS, ["numpy"])}


@pytest.mark.parametrize("kind", sorted(PROGRAMS))
@pytest.mark.parametrize("what", ["ALLOCATION", "WRITE"])
@pytest.mark.parametrize("how", ["once", "on"])
def test_each_step_fails(kind, what, how, tmp_path):
    source, modules = PROGRAMS[kind]
    steps = numbers(60, 40, kind) if what == "ALLOCATION" else list(range(1, 30))
    runs = [("sound", {})]
    for n in steps:
        value = f"{n}+" if how == "on" else str(n)
        runs.append((f"at{n}", {f"MONITORCH_TEST_FAIL_{what}": value}))
    found = run_all(tmp_path, source, modules, runs)
    assert_noticed = assert_ended_alike(tmp_path, found)
    if how == "on":
        assert assert_noticed >= 5


@pytest.mark.torch
@pytest.mark.parametrize("what", ["ALLOCATION", "WRITE"])
def test_each_step_fails_with_tensors(what, tmp_path):
    steps = numbers(60, 20, 1) if what == "ALLOCATION" else list(range(1, 20))
    runs = [("sound", {})]
    for n in steps:
        runs.append((f"at{n}", {f"MONITORCH_TEST_FAIL_{what}": str(n)}))
        runs.append((f"from{n}", {f"MONITORCH_TEST_FAIL_{what}": f"{n}+"}))
    found = run_all(tmp_path, TENSORS, ["torch"], runs)
    assert assert_ended_alike(tmp_path, found) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(PROGRAMS))
def test_every_allocation_fails(kind, tmp_path):
    source, modules = PROGRAMS[kind]
    runs = [("sound", {})]
    runs += [(f"at{n}", {"MONITORCH_TEST_FAIL_ALLOCATION": str(n)}) for n in range(1, 1200)]
    runs += [(f"from{n}", {"MONITORCH_TEST_FAIL_ALLOCATION": f"{n}+"}) for n in range(1, 1200)]
    assert_ended_alike(tmp_path, run_all(tmp_path, source, modules, runs))


@pytest.mark.parametrize("limit", [4096, 65_536, 70_000, 1_000_000])
def test_a_file_that_may_not_grow(limit, tmp_path):
    """As on a full disk: recording ends with one warning, the program goes on."""
    runs = [("sound", {}), ("limited", {"FILE_SIZE_LIMIT": "1"})]
    found = run_all(tmp_path, LONG, ["numpy"], runs, limit)
    assert assert_ended_alike(tmp_path, found) == 1
