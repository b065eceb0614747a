"""What monitors measure and savers write is in a recording that goes on, as arguments of their calls."""

import json

import pytest

from tests.support import recording, viewer, warm

pytestmark = pytest.mark.torch

PROGRAM = """\
import sys
import torch, monitorch
from torch import nn
from monitorch.monitor import ModuleMonitor
from monitorch.spy import DebugContext, TensorSaver, spy_save

model = nn.Linear(2, 2)
with torch.no_grad():
    model.weight.fill_(0.5)
    model.bias.zero_()
monitor = ModuleMonitor(lambda step: step < 2)
monitor.set_module(model)
monitor.add_activation_metric("mean", "mean")
monitor.add_gradient_metric("norm", "norm")
saver = TensorSaver("saved")
saver.register_modules(model)

def step(number):
    y = model(torch.full((1, 2), 1.0 + number))
    spy_save("y", y, model)
    y.sum().backward()
    monitor.monitor_gradients()

options = eval(sys.argv[1])
with monitorch.record("run.mtrace", **options):
    with DebugContext(saver, prefix="run"):
        for number in range(3):
            monitor.begin_step(number)
            step(number)
            monitor.log_scalar("odd", float("nan"))
            monitor.end_step()
            monitorch.step()
print(sorted(torch.load(f"saved/run.root.y.call{i}.pt").tolist() for i in range(3)))
"""


def run(folder, options, *words):
    (folder / "train.py").write_text(PROGRAM)
    done = recording.run_python(
        *words, "train.py", repr(options), python=warm.python(), folder=folder, env=recording.environment("off")
    )
    assert done.returncode == 0, done.stderr
    events = viewer.run("show", "--json", folder / "run.mtrace")
    lines = [json.loads(line) for line in events.stdout.splitlines()]
    return done.stdout, [event for event in lines if event["record"] == "event"]


def of(events, function):
    return [event for event in events if event["function"] == function]


def test_metrics_and_saved_tensors_are_events(tmp_path):
    _, events = run(tmp_path, {"include": "__main__"})
    metrics = of(events, "ModuleMonitor.end_step")
    assert [event["name"] for event in metrics] == 2 * [
        "activation/[root module]/mean", "gradient/weight/norm", "gradient/bias/norm", "odd",
    ]  # fmt: skip
    assert [event["value"] for event in metrics[::4]] == [1.0, 2.0]
    saved = of(events, "TensorSaver.save")
    assert [event["name"] for event in saved] == 3 * ["root.y"]
    assert [event["mean"] for event in saved] == [1.0, 2.0, 3.0]
    tree = viewer.run("show", tmp_path / "run.mtrace", "--name", "odd,root.y").stdout
    assert tree.count("from line 31") == 2 and tree.count("from line 20") == 3


def test_steps_that_are_left_out_have_none(tmp_path):
    _, events = run(tmp_path, {"include": "__main__", "steps": "1"})
    assert len(of(events, "ModuleMonitor.end_step")) == 4
    assert len(of(events, "TensorSaver.save")) == 1


def test_they_end_no_recording(tmp_path):
    printed, _ = run(tmp_path, {"stop": "nan"}, "-m", "monitorch", "run", "-q", "--no-record")
    assert printed == "[[[1.0, 1.0]], [[2.0, 2.0]], [[3.0, 3.0]]]\n"


def test_why_does_not_say_that_a_metric_was_made_there(tmp_path):
    run(tmp_path, {"include": "__main__"})
    answer = viewer.run("why", tmp_path / "run.mtrace").stdout
    assert "NaN entered here: odd" in answer and "made" not in answer.replace("made from", "")


GROWING = """\
import torch, monitorch
from monitorch.monitor import ModuleMonitor

monitor = ModuleMonitor(lambda step: True)
monitor.set_module(torch.nn.Linear(1, 1))
with monitorch.record("run.mtrace", include="__main__"):
    for number in range(5):
        monitor.begin_step(number)
        monitor.log_scalars({"loss": 0.5, "rate": 0.1, f"new{number}": 1.0})
        monitor.end_step()
from monitorch._record import reported
assert reported._count == 3 + 2 + 4, reported._count
"""


def test_names_that_change_need_no_new_place_for_the_others(tmp_path):
    (tmp_path / "grow.py").write_text(GROWING)
    done = recording.run_python(
        "grow.py", python=warm.python(), folder=tmp_path, env=recording.environment("off")
    )
    assert done.returncode == 0, done.stderr
    listed = viewer.run("sql", tmp_path / "run.mtrace", "select name from events where function like '%end_step'")
    assert sorted(listed.stdout.split()[1:]) == sorted(["loss", "rate"] * 5 + [f"new{i}" for i in range(5)])
