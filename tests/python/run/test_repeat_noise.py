"""`monitorch run --repeat-noise`, and noise= of a recording: the second trace, and what it leaves alone."""

import json

import pytest

from tests.support import viewer
from tests.verdicts import forked_runs

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

PROGRAM = """
import sys

import torch

torch.manual_seed(0)
layer = torch.nn.Linear(8, 8)
counts = torch.tensor([[0.0, 1.0, 2.0, -3.0, 4.0, 5.0, 6.0, 7.0]])
limit = torch.tensor([[0.1, float("inf"), float("nan"), -1e38, 3e-38, 3.4e38, 2.5, -0.0]])
x = torch.randn(4, 8)
row = x[0]
h = layer(x)
g = h * h
g += 1
loss = g.sum()
loss.backward()
print(loss.item(), layer.weight.grad.sum().item(), len(sys.argv))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "prog.py").write_text(PROGRAM)
    return tmp_path


def run(folder, *words):
    return forked_runs.run(folder, ["monitorch", "run", *words])


def events(trace):
    done = viewer.run("show", "--json", trace)
    records = map(json.loads, done.stdout.splitlines())
    return {r["name"]: r for r in records if r["record"] == "event" and "hash" in r}


def test_the_first_run_is_as_without(folder):
    alone = run(folder, "-q", "-o", "alone.mtrace", "prog.py", "word")
    both = run(folder, "-q", "--repeat-noise", "prog.py", "word")
    assert both.output == alone.output and alone.output.endswith(" 2\n")
    done = viewer.run("diff", "--exact", folder / "alone.mtrace", folder / "run.mtrace")
    assert done.returncode == 0, done.stdout
    assert (folder / "run.noise.mtrace").exists()


def test_what_is_disturbed(folder):
    assert run(folder, "-q", "--repeat-noise", "prog.py").code == 0
    calm, loud = (events(folder / f"run{word}.mtrace") for word in ("", ".noise"))
    for name in ("counts", "limit", "x"):  # recorded before they are disturbed
        assert calm[name]["hash"] == loud[name]["hash"]
    assert calm["row"]["hash"] != loud["row"]["hash"]  # a view of x
    assert calm["loss"]["hash"] != loud["loss"]["hash"]
    assert calm["loss"]["mean"] == pytest.approx(loud["loss"]["mean"], rel=1e-5)


def test_values_that_stay(folder):
    text = PROGRAM + "again = counts.clone()\nonce = limit.clone()\n"
    (folder / "prog.py").write_text(text)
    assert run(folder, "-q", "-o", "n.noise.mtrace", "--record", "noise", "prog.py").code == 0
    loud = events(folder / "n.noise.mtrace")
    assert loud["again"]["hash"] == loud["counts"]["hash"]
    before, after = loud["limit"], loud["once"]
    assert before["hash"] != after["hash"]
    assert all(before[key] == after[key] for key in ("nan", "posinf", "neginf", "zeros"))
    for key in ("min", "max", "mean"):
        assert after[key] == pytest.approx(before[key], rel=3e-7)


def test_line_at_the_end(folder):
    done = run(folder, "--repeat-noise", "prog.py")
    assert "noise floor in run.noise.mtrace: monitorch diff uses it" in done.output
    (folder / "prog.py").write_text("import os\nassert not os.path.exists('seen')\nopen('seen', 'w')\n")
    done = run(folder, "--repeat-noise", "prog.py")
    assert done.code == 0
    assert "the second run, with noise, ended with exit code 1: AssertionError" in done.output


@pytest.mark.parametrize(
    "words, message",
    [
        (["--repeat-noise=int8", "prog.py"], "noise must be True or one of 'float64', 'float32'"),
        (["--repeat-noise", "-"], "the program is read from standard input"),
        (["--repeat-noise", "--no-record", "prog.py"], "exclude each other"),
        (["--record", "noise=much", "prog.py"], "noise must be True or one of"),
    ],
)
def test_mistakes(folder, words, message):
    done = run(folder, *words)
    assert done.code == 2 and message in done.output


def test_unlike_runs_have_no_floor(folder):
    (folder / "prog.py").write_text(PROGRAM.replace("torch.manual_seed(0)", ""))
    assert run(folder, "-q", "--repeat-noise", "prog.py").code == 0
    trace = folder / "run.mtrace"
    done = viewer.run("diff", trace, trace)
    assert "noise floor" not in done.stdout
    assert "no noise floor from prog.py:" in done.stderr and "add --seed 0" in done.stderr


def test_noise_of_another_recording_is_not_used(folder):
    assert run(folder, "-q", "--repeat-noise", "prog.py").code == 0
    assert run(folder, "-q", "prog.py").code == 0
    trace, noise = folder / "run.mtrace", folder / "run.noise.mtrace"
    done = viewer.run("diff", trace, trace)
    assert "belongs to another recording" in done.stderr and "floor" not in done.stdout
    done = viewer.run("diff", "--noise", noise, trace, trace)
    assert "noise floor (ulp): measured at" in done.stdout and done.stderr == ""
    done = viewer.run("diff", "--noise", trace, trace, trace)
    assert "recorded without noise" in done.stderr
    done = viewer.run("diff", "--noise", folder / "none.mtrace", trace, trace)
    assert done.returncode == 3 and "none.mtrace" in done.stderr
