"""Training loops that a monitor stumbles over: transforms, compilers, tensors without values,
monitors that nobody closes."""

import gc
import os
import subprocess
import sys
import textwrap
import weakref

import pytest

from tests.support import paths

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.monitor", reason="the package is not built (make)")

from monitorch.monitor import ModuleMonitor, StorageManager  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = pytest.mark.torch


def watch(model, every=1):
    monitor = ModuleMonitor(monitor_step_fn=lambda step: step % every == 0)
    monitor.set_module(model)
    monitor.add_activation_metric("mean", lambda x: x.mean())
    monitor.add_activation_metric("rows", lambda x: x.sum(-1))
    monitor.add_activation_metric("largest", lambda x: x.amax(-1), metric_aggregation_fn=torch.max)
    return monitor


def test_functions_under_vmap_and_grad():
    """They see what one sample is made of; all samples are in the mean."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
    monitor = watch(model)
    parameters = {name: value.detach() for name, value in model.named_parameters()}
    inputs = torch.randn(5, 3)

    def loss(parameters, sample):
        return torch.func.functional_call(model, parameters, (sample,)).sum()

    monitor.begin_step(0)
    each = torch.func.vmap(torch.func.grad(loss), (None, 0))(parameters, inputs)
    monitor.end_step()
    told = monitor.get_step_metrics()
    outputs = model(inputs)
    assert each["0.weight"].shape == (5, 2, 3)
    assert told["activation/1/mean"] == pytest.approx(outputs.mean().item(), rel=1e-5)
    assert told["activation/1/rows"] == pytest.approx(outputs.sum(-1).mean().item(), rel=1e-5)
    assert told["activation/1/largest"] == pytest.approx(outputs.max().item(), rel=1e-6)
    monitor.begin_step(1)
    torch.func.jacrev(loss)(parameters, inputs)
    monitor.end_step()
    again = monitor.get_step_metrics()
    assert again["activation/1/mean"] == pytest.approx(told["activation/1/mean"], rel=1e-5)


def test_tensors_without_values_log_nothing():
    from torch._subclasses.fake_tensor import FakeTensorMode

    storage = StorageManager()
    with FakeTensorMode():
        for shape in ((), (3,), (0,)):
            storage.log_tensor(0, "fake", torch.ones(shape))
    for shape in ((), (3,)):
        storage.log_tensor(0, "meta", torch.ones(shape, device="meta"))
        storage.log_tensor(0, "meta function", torch.ones(shape, device="meta"), torch.max)
        storage.log_tensor(0, "both", torch.ones(shape, device="meta"))
    storage.log_tensor(0, "both", torch.tensor([4.0]))
    storage.aggregate_step(0)
    assert storage.get_step_metrics(0) == {"both": 4.0}

    model = nn.Sequential(nn.Linear(2, 2, device="meta"))
    monitor = watch(model)
    monitor.begin_step(0)
    model(torch.ones(1, 2, device="meta"))
    monitor.end_step()
    assert monitor.get_step_metrics() == {}


def test_forced_scalars_of_steps_that_are_not_monitored(tmp_path):
    """They reach sinks and files, whether or not the step is ended."""
    pytest.importorskip("h5py")
    told = []

    class Run:
        def log(self, metrics, step):
            told.append((step, metrics))

    model = nn.Sequential(nn.Linear(2, 2))
    monitor = watch(model, every=10)
    monitor.to_wandb(Run())
    monitor.storage.append_hdf5(tmp_path / "m.h5")
    for step in range(1, 4):
        monitor.begin_step(step)
        monitor.log_scalar("loss", step, force=True)
        monitor.log_scalar("loss", step + 1, force=True)
        monitor.log_scalar("dropped", 1)
        if step != 2:
            monitor.end_step()
            monitor.end_step()
    monitor.storage.close_hdf5()
    assert told == [(step, {"loss": step + 0.5}) for step in (1, 2, 3)]
    assert StorageManager.load_hdf5(tmp_path / "m.h5") == {"loss": {1: 1.5, 2: 2.5, 3: 3.5}}


@pytest.mark.parametrize("with_dynamo", [False, True])
def test_a_monitor_that_nobody_closes_is_freed(with_dynamo):
    """With its model; Dynamo keeps what it was told of for good."""
    program = """
        import gc, sys, weakref
        import torch
        from torch import nn
        from monitorch.monitor import ModuleMonitor, RefinedCoordinateCheck
        if sys.argv[1] == "True":
            torch.compile(nn.Linear(2, 2), backend="eager")(torch.ones(1, 2))
        def run():
            model, reference = nn.Sequential(nn.Linear(3, 3)), nn.Sequential(nn.Linear(3, 3))
            monitor = ModuleMonitor(monitor_step_fn=lambda step: True)
            monitor.set_module(model)
            monitor.set_reference_module(reference)
            monitor.add_activation_metric("rms", "rms")
            monitor.add_activation_metric("mean", lambda x: x.mean())
            check = RefinedCoordinateCheck(monitor)
            for step in range(3):
                monitor.begin_step(step)
                reference(torch.ones(2, 3))
                model(torch.ones(2, 3)).sum().backward()
                check.refined_coordinate_check()
                monitor.end_step()
            assert len(monitor.get_step_metrics()) > 8
            return [weakref.ref(thing) for thing in (monitor, check, model, reference)]
        gone = run()
        gc.collect()
        print([thing() is None for thing in gone])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(with_dynamo)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(paths.PYTHON_PATH)},
    )
    assert done.stdout.split("\n")[0] == str([True] * 4), done.stdout + done.stderr


def test_steps_leave_nothing_behind():
    model = nn.Sequential(nn.Linear(30, 30), nn.ReLU())
    monitor = watch(model)

    def run(steps):
        for step in steps:
            monitor.begin_step(step)
            model(torch.randn(4, 30)).sum().backward()
            monitor.end_step()
            monitor.storage.clear()
        gc.collect()
        return len(gc.get_objects())

    before = run(range(20))
    assert run(range(20, 120)) - before < 50
    last = weakref.ref(model(torch.ones(1, 30)))
    assert last() is None
