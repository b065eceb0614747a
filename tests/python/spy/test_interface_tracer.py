"""What the old package's interface says of CallTracer, fact by fact."""

from __future__ import annotations

import pathlib

import pytest

torch = pytest.importorskip("torch")
spy = pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import CallTracer  # noqa: E402

from tests.python.spy.facts import Inner, Model, X  # noqa: E402
from tests.python.spy.signatures import begins_with, names_in, takes_modules_to_register  # noqa: E402

nn = torch.nn
pytestmark = pytest.mark.torch

LINEARS = ["encoder.0.proj", "encoder.2.proj", "decoder.proj"]


@pytest.fixture
def tracer(tmp_path):
    return CallTracer(tmp_path)


@pytest.fixture
def model():
    return Model()


def test_tracer_arguments():
    assert begins_with(CallTracer, output_dir=..., enabled=True)


def test_tracer_makes_the_folder(tmp_path):
    tracer = CallTracer(str(tmp_path / "a" / "b"))
    assert tracer.output_dir == tmp_path / "a" / "b" and tracer.output_dir.is_dir()


def test_tracer_starts_empty(tracer):
    assert tracer.enabled is True
    assert tracer.call_trace == [] and tracer.hooks == [] and tracer.get_trace() == []


def test_register_hooks_arguments():
    assert takes_modules_to_register(CallTracer.register_hooks)


def test_traces_calls_in_their_order(tracer, model):
    tracer.register_hooks(model, target_classes=(nn.Linear,))
    model(X)
    assert tracer.call_trace == LINEARS
    model.decoder(X)
    assert tracer.call_trace == [*LINEARS, "decoder.proj"]
    assert tracer.call_counts == {LINEARS[0]: 1, LINEARS[1]: 1, "decoder.proj": 2}
    assert tracer.call_counts["never"] == 0


def test_every_module_is_traced_unless_asked(tracer, model):
    tracer.register_hooks(model)
    model(X)
    assert sorted(tracer.call_trace) == sorted(p or "root" for p, _ in model.named_modules())


def test_forward_hooks_run_when_a_module_has_ended(tracer, model):
    tracer.register_hooks(model, target_names=["decoder", "root"])
    model(X)
    assert tracer.call_trace == ["decoder.proj", "decoder", "root"]


def test_hooks_by_name(tracer, model):
    tracer.register_hooks(model, (nn.Module,), ["encoder"], ["proj", "1"])
    model(X)
    assert tracer.call_trace == ["encoder.0", "encoder.2", "encoder"]


def test_one_hook_a_module(tracer, model):
    tracer.register_hooks(model, (Inner, nn.ReLU))
    assert len(tracer.hooks) == 4


def test_hooks_can_be_removed_one_by_one(tracer, model):
    tracer.register_hooks(model, (nn.Linear,))
    tracer.hooks[0].remove()
    model(X)
    assert tracer.call_trace == LINEARS[1:]


def test_get_trace_is_a_copy(tracer, model):
    tracer.register_hooks(model, (nn.Linear,))
    model(X)
    trace = tracer.get_trace()
    assert trace == LINEARS and type(trace) is list
    trace.append("x")
    assert tracer.call_trace == LINEARS


def test_disabled_traces_nothing(tmp_path, model):
    tracer = CallTracer(tmp_path, enabled=False)
    tracer.register_hooks(model)
    model(X)
    assert tracer.call_trace == []
    tracer.enabled = True
    model.decoder.proj(X)
    assert tracer.call_trace == ["decoder.proj"]


def test_save_trace_arguments():
    assert begins_with(CallTracer.save_trace, filename="call_trace.txt")


def test_save_trace(tracer, tmp_path, model):
    tracer.register_hooks(model, (nn.Linear,))
    model(X)
    path = tracer.save_trace()
    assert path == tmp_path / "call_trace.txt" and isinstance(path, pathlib.Path)
    assert path.read_bytes() == "\n".join(LINEARS).encode()


def test_save_trace_by_name(tracer, tmp_path, model):
    tracer.register_hooks(model, (nn.Linear,))
    model(X)
    assert tracer.save_trace("other.txt") == tmp_path / "other.txt"
    assert names_in(tmp_path) == ["other.txt"]


def test_saving_keeps_the_trace(tracer, model):
    tracer.register_hooks(model, (nn.Linear,))
    model(X)
    tracer.save_trace()
    assert tracer.call_trace == LINEARS


def test_reset_trace_leaves_the_hooks(tracer, model):
    tracer.register_hooks(model, (nn.Linear,))
    model(X)
    tracer.reset_trace()
    assert tracer.call_trace == [] and len(tracer.hooks) == 3
    model(X)
    assert tracer.call_trace == LINEARS


def test_remove_hooks(tracer, model):
    tracer.register_hooks(model)
    model(X)
    before = tracer.get_trace()
    tracer.remove_hooks()
    assert tracer.hooks == []
    model(X)
    assert tracer.call_trace == before
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_context_manager_enables_and_resets_and_leaves_the_hooks(tmp_path, model):
    tracer = CallTracer(tmp_path, enabled=False)
    tracer.register_hooks(model, (nn.Linear,))
    tracer.enabled = True
    model(X)
    tracer.enabled = False
    with tracer as given:
        assert given is tracer and tracer.enabled and tracer.call_trace == []
        model(X)
    assert tracer.get_trace() == LINEARS and len(tracer.hooks) == 3


def test_output_is_the_same_with_hooks(tracer, model):
    plain = model(X)
    tracer.register_hooks(model)
    assert torch.equal(model(X), plain)


def test_parse_trace_reads_what_was_saved(tracer, model):
    tracer.register_hooks(model)
    model(X)
    assert spy.parse_trace(tracer.save_trace()) == tracer.get_trace()
