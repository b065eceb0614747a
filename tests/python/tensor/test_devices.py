"""Tensors of another device: measured there, told later. CPU tensors are treated so by a switch."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from tests.support import paths, recording, viewer, warm

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch._recorder", reason="the recorder is not built (make)")
if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
    pytest.skip("torch before 2.10 has no lists in its C interface", allow_module_level=True)

pytestmark = pytest.mark.torch

MODEL = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        y = x * 2
        z = y.relu()
        y.add_(1)
        y[0] = float("nan")
        for turn in range(4):
            z = z + y.nan_to_num() / (turn + 1)
        empty = z[:0]
        wide = z.expand(3, *z.shape)
        whole = z.to(torch.int64)
        return [z, {"whole": whole}]
"""

TENSORS = 14  # told by one call

PRELUDE = """
import os, signal, sys, torch, monitorch, model
from monitorch import _recorder
torch.manual_seed(0)
net = model.Model()
def run(count):
    for number in range(count):
        net(torch.arange(-5.0, 5.0).reshape(2, 5) * number)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("devices")
    source = folder / "source.py"
    source.write_text(MODEL)
    subprocess.run([paths.COMMAND, source, "-o", folder / "model.py"], check=True)
    return folder


@pytest.fixture(autouse=True, params=["layout", "getters"])
def how_tensors_are_read(request, monkeypatch):
    """Where the layout of tensor objects is not found, getters tell the same."""
    if request.param == "getters":
        monkeypatch.setenv("MONITORCH_TEST_TENSORS", "getters")


def record(folder, program, on_device=True, status=0):
    trace = folder / "run.mtrace"
    for old in folder.glob("*.mtrace"):
        old.unlink()
    search = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": search, "MONITORCH_TEST_DEVICE": str(int(on_device))}
    child = recording.run_python(
        "-c", PRELUDE + program, python=warm.python(), folder=folder, env=environment
    )
    assert child.returncode == status, child.stderr
    return trace


def events_of(trace):
    shown = viewer.run("show", "--json", trace, check=True)
    events = (json.loads(line) for line in shown.stdout.splitlines())
    return [event for event in events if event["record"] == "event" and "shape" in event]


FACTS = "seq name path change shape dtype count min max mean std nan posinf neginf zeros".split()


def facts_of(event):
    """What must be the same however it was measured; sums are rounded in another order."""
    facts = {name: event.get(name) for name in FACTS}
    for name in ("mean", "std"):
        if isinstance(facts[name], float):
            facts[name] = float(f"{facts[name]:.9g}")
    return facts


@pytest.mark.parametrize(
    "options, count", [("", 400), ("last=300", 400), ("every=3", 40), ("stats=False", 20)]
)
def test_events_are_as_on_the_cpu(folder, options, count):
    program = f"with monitorch.record('run.mtrace', {options}): run({count})"
    here = events_of(record(folder, program, on_device=False))
    there = events_of(record(folder, program))
    assert [facts_of(event) for event in there] == [facts_of(event) for event in here]
    assert [event["seq"] for event in there if "hash" in event] == []
    assert len(here) > 100 and any("mean" in event for event in here) == (options != "stats=False")


def test_values_are_those_of_the_visit(folder):
    """`y` is written in place right after, before anything is waited for."""
    events = events_of(record(folder, "with monitorch.record('run.mtrace'): run(2)"))
    first, second = [event for event in events if event["name"] == "y" and event["call"] == 2][:2]
    assert (first["min"], first["max"], first["nan"]) == (-10.0, 8.0, 0)
    assert (second["min"], second["max"]) == (-9.0, 9.0)


def test_killed(folder):
    program = """
monitorch.record('run.mtrace').start()
run(150)
os.kill(os.getpid(), signal.SIGKILL)
"""
    events = events_of(record(folder, program, status=-signal.SIGKILL))
    measured = ["mean" in event for event in events]
    assert len(events) == 150 * TENSORS
    assert all(measured[: -2 * 128]) and not measured[-1]


def test_fork(folder):
    program = """
with monitorch.record('run.mtrace'):
    run(3)
    child = os.fork()
    run(4)
    if child == 0:
        monitorch.stop()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
    record(folder, program)
    traces = {trace.name: events_of(trace) for trace in folder.glob("*.mtrace")}
    assert sorted(len(events) for events in traces.values()) == [4 * TENSORS, 7 * TENSORS]
    for events in traces.values():
        assert all("mean" in event for event in events)


def test_nobody_sees_it(folder):
    """No mode is called, no graph is changed, no tensor is kept, no random number is drawn."""
    program = """
import weakref
from torch.utils._python_dispatch import TorchDispatchMode
seen = []
class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        seen.append(str(function))
        return function(*args, **(kwargs or {}))
def operations():
    seen.clear()
    with Mode():
        run(2)
    return list(seen)
plain = operations()
state = torch.get_rng_state()
with monitorch.record('run.mtrace'):
    assert operations() == plain
    x = torch.ones(2, 5, requires_grad=True)
    z = net(x)[0]
    reference = weakref.ref(z)
    z.sum().backward()
    assert x.grad is not None
    del z
    assert reference() is None
    torch.func.vmap(lambda t: t.sum())(torch.ones(2, 5))
assert torch.equal(torch.get_rng_state(), state)
"""
    record(folder, program)


def test_a_profile_shows_no_operation_of_ours(folder):
    program = """
with monitorch.record('run.mtrace'):
    run(1)
    with torch.profiler.profile() as profile:
        run(1)
names = {event.name for event in profile.events()}
assert "aten::relu" in names and "aten::isfinite" not in names, names
"""
    record(folder, program)


def test_a_graph_traced_before_dispatch_has_no_operation_of_ours(folder):
    program = """
from torch.fx.experimental.proxy_tensor import make_fx
def graph():
    return [node.name for node in make_fx(net, pre_dispatch=True)(torch.ones(2, 5)).graph.nodes]
plain = graph()
with monitorch.record('run.mtrace'):
    assert graph() == plain
"""
    record(folder, program)
