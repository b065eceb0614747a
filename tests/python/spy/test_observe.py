"""Events that no instrumented line tells: `_recorder.make_place`, `observe` and `Observer`."""

from __future__ import annotations

import pickle

import pytest

from tests.support import recording, viewer

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch import _recorder  # noqa: E402
from monitorch._record import observe as _observe  # noqa: E402
from monitorch.spy import CallTracer  # noqa: E402

from tests.support.module_calls import calls_of, events_of, record_calls  # noqa: E402

nn = torch.nn
pytestmark = pytest.mark.torch

X = torch.ones(2, 4)
SITES = (
    ("enter", 3, ("x",), ()),
    ("assign", 5, ("norm", "mean"), ("x",)),
    ("branch", 6, (), ()),
    ("return", 9, ("",), ()),
)


def make_place(sites=SITES):
    return _recorder.make_place("net.py", "/src/net.py", "net", "Net.forward", 2, sites)


def test_nothing_is_told_while_nothing_is_recorded():
    assert _recorder.observe(make_place(), 0, "net", None, X) is None


def test_an_event_of_each_kind(tmp_path):
    place, module = make_place(), nn.Linear(4, 4)

    def call(value):
        _recorder.observe(place, 0, "encoder.0", module, value)
        _recorder.observe(place, 1, "encoder.0", module, value.norm(), 2.5)
        _recorder.observe(place, 2, "encoder.0", module)
        _recorder.observe(place, 3, "encoder.0", module, [value])

    with recording.record(tmp_path / "run.mtrace"):
        call(X)
        call(X * 2)
    calls = calls_of(tmp_path / "run.mtrace")
    assert len(calls) == 2
    for told in calls:
        assert (told["function"], told["file"], told["line"]) == ("Net.forward", "net.py", 2)
        assert told["module"] == "encoder.0"
        assert told["class"] == "torch.nn.modules.linear.Linear"
        assert told["joined"] is False
    events = events_of(tmp_path / "run.mtrace")
    assert [(e["kind"], e["line"], e["name"], e["path"]) for e in events[:6]] == [
        ("enter", 3, "x", ""),
        ("assign", 5, "norm", ""),
        ("assign", 5, "mean", ""),
        ("branch", 6, "", ""),
        ("return", 9, "", ""),
        ("return", 9, "", "[0]"),
    ]
    assert events[2]["value"] == 2.5 and len(events) == 12
    assert [e["iteration"] for e in events] == [0] * 12


def test_no_module_no_class(tmp_path):
    with recording.record(tmp_path / "run.mtrace"):
        _recorder.observe(make_place(), 0, "", None, X)
    (call,) = calls_of(tmp_path / "run.mtrace")
    assert not call.get("module") and not call.get("class")


def test_a_call_met_in_its_middle(tmp_path):
    with recording.record(tmp_path / "run.mtrace"):
        _recorder.observe(make_place(), 1, "m", None, X, X)
    (call,) = calls_of(tmp_path / "run.mtrace")
    assert call["joined"] is True


def test_a_hook_of_python_tells_events_of_its_module(tmp_path):
    """As a metric of a module's output does: a place without an enter site."""
    place = _recorder.make_place(
        "metrics", "metrics", "metrics", "metric", 1, (("assign", 1, ("norm",), ()),)
    )
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def tell(module, args, output):
        _recorder.observe(place, 0, "1", module, output.norm())

    model[1].register_forward_hook(tell)
    calls, events = record_calls(tmp_path, model, X)
    (metric,) = [c for c in calls if c["function"] == "metric"]
    (norm,) = [e for e in events if e["name"] == "norm"]
    assert norm["call"] == metric["call"] and norm["module"] == "1" and norm["shape"] == []
    assert metric["joined"] is False and metric["class"].endswith(".ReLU")
    (above,) = [c for c in calls if c["call"] == metric["parent"]]
    assert above["function"] == "ReLU.forward" and above["module"] == "1"


def test_sites_alike_have_keys_of_their_own(tmp_path):
    place = make_place((("assign", 1, ("x",), ()), ("assign", 1, ("x",), ())))
    for name in ("a", "b"):
        with recording.record(tmp_path / f"{name}.mtrace"):
            _recorder.observe(place, 0, "m", None, X)
            _recorder.observe(place, 1, "m", None, X + (name == "b"))
    done = viewer.run("diff", tmp_path / "a.mtrace", tmp_path / "b.mtrace")
    assert done.returncode == 1 and "1 equal" in done.stdout


def test_sites_that_are_not_there(tmp_path):
    with recording.record(tmp_path / "run.mtrace"):
        _recorder.observe(make_place(), 99, "m", None, X)
        _recorder.observe(make_place(), 2**40, "m", None, X)
    assert events_of(tmp_path / "run.mtrace") == []


@pytest.mark.parametrize(
    "arguments",
    [(), (1, 2, 3, 4), (None, 0, "m", None), (len, 0, "m", None)],
)
def test_observe_wants_a_place(arguments):
    with pytest.raises(TypeError):
        _recorder.observe(*arguments)


@pytest.mark.parametrize(
    "sites", [(1,), ((),), (("enter", 1, ("x",)),), (("enter", 1, (2,), ()),), [SITES[0]]]
)
def test_make_place_wants_sites(sites):
    with pytest.raises(TypeError):
        make_place(sites)
    with pytest.raises(ValueError, match="no sites of kind 'leave'"):
        make_place((("leave", 1, (), ()),))


def test_observer_wants_parameters_that_fit():
    place = make_place()
    for words in [("m", ("x",), (), 1, -1, -1), ("m", ("x",), (...,), 2, -1, -1)]:
        with pytest.raises(ValueError):
            _recorder.Observer(place, *words)
    with pytest.raises(ValueError):
        _recorder.Observer(len, "m", ("x",), (...,), 1, -1, -1)


def test_an_observer_that_is_pickled_comes_back_silent():
    observer = _recorder.Observer(make_place(), "m", ("x",), (...,), 1, -1, -1)
    again = pickle.loads(pickle.dumps(observer))
    assert isinstance(again, _observe.Silent)
    assert again.enter(None, (X,), {}) is None and again.leave(None, (X,), X) is None
    hook = pickle.loads(pickle.dumps(observer.enter))
    assert hook(None, (X,), {}) is None


def test_observed_modules_can_be_pickled(tmp_path):
    model = nn.Sequential(nn.Linear(4, 4))
    observation = _observe.observe(model, "root")
    again = pickle.loads(pickle.dumps(model))
    assert torch.equal(again(X), model(X))
    observation.remove()
    observation.remove()
    assert not model._forward_hooks and not model._forward_pre_hooks


# What views make of it


def test_why_goes_through_modules(tmp_path):
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
    with torch.no_grad():
        model[2].weight.fill_(float("inf"))
        model[2].weight[0, 0] = float("-inf")
        model[0].bias.fill_(9)
    record_calls(tmp_path, model, X)
    done = viewer.run("why", tmp_path / "run.mtrace")
    first = done.stdout.splitlines()[0]
    assert first.startswith("torch/nn/modules/linear.py:") and "return" in first
    assert "(2)" in done.stdout and "activation.py" in done.stdout


def test_lazy_modules(tmp_path):
    model = nn.Sequential(nn.LazyLinear(3))
    calls, events = record_calls(tmp_path, model, X)
    assert [c["module"] for c in calls] == ["root", "0"]
    assert [e["shape"] for e in events if e["kind"] == "return"] == [[2, 3], [2, 3]]


def test_a_model_of_a_transformer(tmp_path):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).train()
    tracer = CallTracer(tmp_path)
    tracer.register_hooks(model)
    with recording.record(tmp_path / "run.mtrace"):
        model(torch.randn(2, 3, 8))
    calls = calls_of(tmp_path / "run.mtrace")
    assert sorted(c["module"] for c in calls) == sorted(tracer.get_trace())
    by_number = {c["call"]: c for c in calls}
    for call in calls:
        if call["module"] != "root":
            above = by_number[call["parent"]]["module"]
            assert above == "root" or call["module"].startswith(above + ".")
