"""Metrics of values inside of forwards, of alerts, and of updates."""

import copy
import logging
import math
import sys

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch._recorder", reason="the recorder is not built (make)")

from monitorch.monitor import ModuleMonitor, MonitorAlert  # noqa: E402
from torch import nn  # noqa: E402

from tests.python.monitor.models import (  # noqa: E402
    Attention,
    Net,
    make_batches,
    make_mlp,
    make_monitor,
    run_step,
)

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]
near = pytest.approx


def make_net():
    torch.manual_seed(0)
    return Net(), torch.randn(3, 5, 8)


def by_hand(attention, x):
    q, k = attention.q(x), attention.k(x)
    raw = q @ k.transpose(-1, -2)
    return {"q": q, "k": k, "raw": raw, "scores": raw / 2, "weights": (raw / 2).softmax(-1) * 2}


def test_values_inside_of_a_forward():
    model, x = make_net()
    expected = by_hand(model.attn, x)
    monitor = make_monitor(model, steps=lambda step: step % 2 == 0)
    monitor.add_activation_metric("max", "max", r"attn\.(forward|score):(scores|raw)$")
    monitor.add_activation_metric("own", lambda t: t.std(), r"attn\.forward:(q|k)$")
    monitor.add_activation_metric("kept", "max", r"attn\.forward:self\.last")
    monitor.add_activation_metric("returned", "calls", r"attn\.score:return")
    outputs = []
    for step in range(3):
        monitor.begin_step(step)
        outputs.append(model(x)["y"])
        monitor.end_step()
        assert "forward" not in model.attn.__dict__ and "score" not in model.attn.__dict__
    assert torch.equal(outputs[0], outputs[1]) and torch.equal(outputs[1], outputs[2])
    assert sorted(monitor.get_all_metrics()) == [0, 2]
    assert monitor.get_step_metrics() == near(
        {
            "activation/attn.forward:scores/max": expected["scores"].max().item(),
            "activation/attn.score:raw/max": expected["raw"].max().item(),
            "activation/attn.forward:q/own": expected["q"].std().item(),
            "activation/attn.forward:k/own": expected["k"].std().item(),
            "activation/attn.forward:self.last/kept": expected["weights"].max().item(),
            "activation/attn.score:return/returned": 1.0,
        },
        rel=1e-5,
    )


def test_a_metric_of_every_module_is_of_no_local():
    model, x = make_net()
    monitor = make_monitor(model)
    monitor.add_activation_metric("max", "max")
    monitor.add_activation_metric("group", "max", "(?:attn|out)$")
    monitor.begin_step(0)
    assert "forward" not in model.attn.__dict__
    model(x)
    monitor.end_step()
    assert set(monitor.get_step_metrics()) == {
        "activation/attn/max", "activation/attn.q/max", "activation/attn.k/max",
        "activation/out/max", "activation/attn/group", "activation/out/group"}  # fmt: skip


def test_values_that_are_changed_in_place():
    """`weights.mul_(2)` makes a second value of that name."""
    model, x = make_net()
    expected = by_hand(model.attn, x)["weights"]
    monitor = make_monitor(model)
    monitor.add_activation_metric("calls", "calls", r"attn\.forward:(weights|x)")
    monitor.add_activation_metric("max", "max", r"attn\.forward:weights")
    assert run_step(monitor, 0, x) == near(
        {
            "activation/attn.forward:weights/calls": 2.0,
            "activation/attn.forward:weights/max": expected.max().item(),
            "activation/attn.forward:x/calls": 1.0,
        },
        rel=1e-6,
    )


def test_differences_of_locals():
    model, x = make_net()
    monitor = make_monitor(model)
    reference = copy.deepcopy(model)
    monitor.set_reference_module(reference)
    with torch.no_grad():
        model.attn.q.bias.add_(0.5)
    monitor.add_activation_difference_metric("max", "absmax", r"attn\.forward:q")
    monitor.add_activation_difference_metric("own", lambda a, b: (a - b).mean(), r"attn\.forward:q")
    monitor.begin_step(0)
    with monitor.no_monitor():
        reference(x)
    model(x)
    monitor.end_step()
    assert monitor.get_step_metrics() == near(
        {
            "activation_difference/attn.forward:q/max": 0.5,
            "activation_difference/attn.forward:q/own": 0.5,
        },
        rel=1e-5,
    )


def test_no_monitor_and_other_models():
    """A model of the same classes that is not monitored is not measured."""
    model, x = make_net()
    other = copy.deepcopy(model)
    monitor = make_monitor(model)
    monitor.add_activation_metric("calls", "calls", r"attn\.forward:q")
    monitor.begin_step(0)
    model(x)
    other(x)
    with monitor.no_monitor():
        model(x)
    monitor.end_step()
    assert monitor.get_step_metrics() == {"activation/attn.forward:q/calls": 1.0}


def test_the_root_module():
    model = Attention()
    monitor = make_monitor(model)
    monitor.add_activation_metric("calls", "calls", r"\[root module\]\.forward:scores")
    told = run_step(monitor, 0, torch.randn(2, 3, 8))
    assert told == {"activation/[root module].forward:scores/calls": 1.0}


def test_two_modules_of_a_class():
    model = nn.Sequential(Attention(), Attention())
    monitor = make_monitor(model)
    monitor.add_activation_metric("calls", "calls", r"1\.forward:scores")
    told = run_step(monitor, 0, torch.randn(2, 3, 8))
    assert told == {"activation/1.forward:scores/calls": 1.0}


def test_checkpointed_locals():
    class Checkpointed(nn.Module):
        def __init__(self):
            super().__init__()
            self.attn = Attention()

        def forward(self, x):
            return torch.utils.checkpoint.checkpoint(self.attn, x, use_reentrant=False).sum()

    monitor = make_monitor(Checkpointed())
    monitor.add_activation_metric("calls", "calls", r"attn\.forward:scores")
    monitor.begin_step(0)
    monitor.module(torch.randn(2, 3, 8, requires_grad=True)).backward()
    monitor.end_step()
    assert monitor.get_step_metrics() == {"activation/attn.forward:scores/calls": 1.0}


def test_torchs_own_modules():
    """Their source is there too."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.MultiheadAttention(8, 2, batch_first=True))
    x = torch.randn(2, 3, 8)
    monitor = make_monitor(model)
    monitor.add_activation_metric("norm", "norm", r"0\.forward:attn_output$")
    monitor.begin_step(0)
    output = model[0](x, x, x)[0]
    monitor.end_step()
    assert set(monitor.get_step_metrics()) == {"activation/0.forward:attn_output/norm"}
    assert output.shape == x.shape


def test_code_that_is_not_to_be_found(caplog):
    space = {}
    exec(
        "from torch import nn\n"
        "class Made(nn.Module):\n    def forward(self, x):\n        y = x + 1\n        return y\n",
        space,
    )
    model = nn.Sequential(space["Made"]())
    monitor = make_monitor(model, logger=logging.getLogger("test"))
    monitor.add_activation_metric("max", "max", r"0\.forward:y")
    assert run_step(monitor, 0, torch.ones(2)) == {}
    (record,) = caplog.records
    assert "Variables of 0.forward are not monitored: " in record.getMessage()


# ---- alerts ----


def log_step(monitor, step, **metrics):
    monitor.begin_step(step)
    monitor.log_scalars({key.replace("__", "/"): value for key, value in metrics.items()})
    monitor.end_step()


def test_an_alert_raises():
    monitor = make_monitor(make_mlp())
    monitor.add_activation_metric("nan", "nan")
    monitor.alert("activation/*/nan > 0", action="raise")
    run_step(monitor, 0, torch.zeros(2, 10))
    monitor.begin_step(1)
    monitor.module(torch.full((2, 10), math.nan))
    with pytest.raises(MonitorAlert, match=r"step 1: activation/\*/nan > 0: .*/0/nan = 40,"):
        monitor.end_step()
    assert monitor.get_step_metrics()["activation/0/nan"] == 40.0, "what was measured is there"
    assert not monitor.is_monitoring()


def test_an_alert_calls():
    monitor = make_monitor(make_mlp())
    seen = []
    monitor.alert("a/* >= 2", action=seen.append)
    log_step(monitor, 0, a__x=1.0, b__y=5.0)
    log_step(monitor, 1, a__x=2.0, a__y=3.0, b__y=5.0)
    (alert,) = seen
    assert (alert.step, alert.condition, alert.found) == (1, "a/* >= 2", {"a/x": 2.0, "a/y": 3.0})


def test_an_alert_stops(caplog):
    monitor = make_monitor(make_mlp(), logger=logging.getLogger("test"))
    monitor.alert("loss > 10", action="stop")
    log_step(monitor, 0, loss=10.0)
    assert not monitor.is_stopped
    log_step(monitor, 1, loss=11.0)
    assert monitor.is_stopped
    assert [record.getMessage() for record in caplog.records] == ["step 1: loss > 10: loss = 11"]


@pytest.mark.parametrize(
    "condition, value, is_met",
    [
        ("x > 1", 2, True), ("x > 1", 1, False), ("x<1", 0, True), ("x < -1e3", -1001, True),
        ("x <= 1", 1, True), ("x == nan", math.nan, True), ("x != nan", math.nan, False),
        ("x != 0", 1, True), ("x >= inf", math.inf, True), ("x > 1", math.nan, False),
    ],
)  # fmt: skip
def test_conditions(condition, value, is_met):
    monitor = make_monitor(make_mlp())
    seen = []
    monitor.alert(condition, seen.append)
    log_step(monitor, 0, x=value, y=5.0)
    assert len(seen) == is_met


@pytest.mark.parametrize("condition", ["", "x", "x >", "> 1", "x > one", "x => 1", "x > 1 2"])
def test_conditions_that_are_none(condition):
    with pytest.raises(ValueError, match="an alert must have the form 'activation/\\*/nan > 0', not"):
        ModuleMonitor().alert(condition)


def test_actions_that_are_none():
    with pytest.raises(ValueError, match="'raise', 'stop' or a function, not 'halt'"):
        ModuleMonitor().alert("x > 1", "halt")
    with pytest.raises(TypeError, match="'raise', 'stop' or a function, not 3"):
        ModuleMonitor().alert("x > 1", 3)


# ---- updates ----


def test_updates():
    model = make_mlp()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    monitor = make_monitor(model, steps=lambda step: step == 1)
    monitor.watch_updates(optimizer, "0")
    inputs, targets = make_batches(1)[0]
    for step in range(3):
        monitor.begin_step(step)
        nn.functional.cross_entropy(model(inputs), targets).backward()
        before = copy.deepcopy(model)
        optimizer.step()
        optimizer.zero_grad()
        monitor.end_step()
        if step == 1:
            expected = {}
            for (name, new), old in zip(model.named_parameters(), before.parameters()):
                if name.startswith("0"):
                    change = (new - old).norm().item()
                    expected[f"update/{name}/norm"] = change
                    expected[f"update/{name}/ratio"] = change / old.norm().item()
    assert monitor.get_all_metrics() == {1: near(expected, rel=1e-4)}
    monitor.close()
    assert not optimizer._optimizer_step_pre_hooks and not optimizer._optimizer_step_post_hooks


def test_updates_of_a_parameter_of_zeros():
    model = nn.Linear(2, 2)
    nn.init.zeros_(model.bias)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    monitor = make_monitor(model)
    monitor.watch_updates(optimizer, "bias")
    monitor.begin_step(0)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    monitor.end_step()
    assert monitor.get_step_metrics() == {
        "update/bias/norm": near(math.sqrt(2)), "update/bias/ratio": math.inf}  # fmt: skip


def test_the_sample(tmp_path):
    """samples/monitored.py ends at the first NaN, and names who has it."""
    import os
    import subprocess

    from tests.support import paths, warm

    done = subprocess.run(
        [warm.python(), str(paths.ROOT / "samples" / "monitored.py")],
        env=dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH)),
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("step 0: second block up to ")
    assert lines[-1].startswith("stopped: activation/") and len(lines) < 100


def test_python_is_asked_once_for_a_variable():
    from monitorch.monitor import _locals

    model, x = make_net()
    expected = by_hand(model.attn, x)
    asked = []

    def profile(frame, event, _):
        if event == "call" and frame.f_code is _locals.Locals._visit.__code__:
            asked.append(frame.f_locals["name"])

    monitor = make_monitor(model)
    monitor.add_activation_metric("calls", "calls", r"attn\.forward:(q|scores)$")
    monitor.add_activation_metric("max", "max", r"attn\.forward:(q|scores)$")
    for step in range(3):
        monitor.begin_step(step)
        sys.setprofile(profile)
        try:
            for _ in range(4):
                model(x)
        finally:
            sys.setprofile(None)
        monitor.end_step()
        found = monitor.get_step_metrics()
        assert found["activation/attn.forward:q/calls"] == 4
        assert found["activation/attn.forward:q/max"] == near(expected["q"].max().item())
    assert 2 <= len(asked) <= 4, asked  # once for each line that writes one of the names


def test_a_variable_that_is_written_in_place():
    class Writer(nn.Module):
        def forward(self, x, other):
            y = x + 0
            y.add_(other)
            y.mul_(2)
            return y

    model, x = nn.Sequential(), torch.ones(3)
    model.writer = Writer()
    monitor = make_monitor(model)
    monitor.add_activation_metric("calls", "calls", r"writer\.forward:(y|other)$")
    for step in range(2):
        monitor.begin_step(step)
        with torch.inference_mode(step == 1):
            model.writer(x + 0, x + 1)
        monitor.end_step()
        found = monitor.get_step_metrics()
        assert found["activation/writer.forward:y/calls"] == 3
        # Nothing counts how often a tensor of inference mode is written to.
        assert found["activation/writer.forward:other/calls"] == (1 if step == 0 else 2)
