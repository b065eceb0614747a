"""CallTracer: its order, shapes, hooks, threads, compiled and wrapped models; the calls that it
tells to a recording."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import weakref

import pytest

from tests.support import recording, threads

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch._record import observe as _observe  # noqa: E402
from monitorch.spy import CallTracer  # noqa: E402

from tests.support.module_calls import Block, calls_of, events_of, record_calls  # noqa: E402

nn = torch.nn
pytestmark = pytest.mark.torch

X = torch.ones(2, 4)
PATHS = ["a", "b", "root"]


@pytest.fixture
def tracer(tmp_path):
    return CallTracer(tmp_path)


def hooks_of(model):
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


# Hooks


def test_a_module_is_hooked_once(tracer):
    model = Block()
    tracer.register_hooks(model)
    tracer.register_hooks(model, nn.Linear)
    model(X)
    assert tracer.get_trace() == PATHS and len(tracer.hooks) == 3


def test_a_module_whose_hook_was_removed_can_be_hooked_again(tracer):
    model = Block()
    tracer.register_hooks(model)
    tracer.hooks[0].remove()
    tracer.hooks[0].remove()
    model(X)
    tracer.register_hooks(model)
    model(X)
    assert tracer.get_trace() == ["a", "b", *PATHS]  # the first one is the root's


def test_two_tracers_of_one_model(tmp_path):
    model = Block()
    first, second = CallTracer(tmp_path), CallTracer(tmp_path)
    first.register_hooks(model)
    second.register_hooks(model, nn.Linear)
    model(X)
    first.remove_hooks()
    model(X)
    assert first.get_trace() == PATHS and second.get_trace() == ["a", "b", "a", "b"]
    second.remove_hooks()
    assert hooks_of(model) == 0 and not _observe._observed


def test_modules_called_many_times(tracer):
    shared = nn.Linear(4, 4)
    tracer.register_hooks(nn.Sequential(*[shared] * 3), nn.Linear)
    model = nn.Sequential(*[shared] * 3)
    for _ in range(5):
        model(X)
    assert tracer.get_trace() == ["0"] * 15


def test_train_and_eval_are_left_alone(tracer):
    model = nn.Sequential(nn.Dropout(), nn.Linear(4, 4)).eval()
    model[0].train()
    tracer.register_hooks(model)
    model(X)
    tracer.remove_hooks()
    assert [m.training for m in model.modules()] == [False, True, False]


def test_an_exception_in_forward_leaves_what_ended(tracer):
    class Failing(nn.Module):
        def forward(self, x):
            raise KeyError("x")

    model = nn.Sequential(nn.Identity(), Failing())
    tracer.register_hooks(model)
    with pytest.raises(KeyError):
        model(X)
    assert tracer.get_trace() == ["0"]


def test_remove_by_the_constructor_and_by_register_hooks(tmp_path):
    model = Block()
    with CallTracer(tmp_path, remove=True) as tracer:
        tracer.register_hooks(model)
    assert hooks_of(model) == 0
    tracer.register_hooks(model, remove=False)
    with tracer:
        pass
    assert len(tracer.hooks) == 3


def test_a_tracer_and_a_model_can_go(tmp_path):
    model, tracer = Block(), CallTracer(tmp_path)
    tracer.register_hooks(model)
    gone = weakref.ref(tracer), weakref.ref(model)
    del tracer
    gc.collect()
    assert gone[0]() is None
    model(X)  # its hooks are there, and do nothing
    del model
    gc.collect()
    assert gone[1]() is None and not _observe._observed


def test_a_copy_of_the_model_has_the_hooks(tracer):
    model = Block()
    tracer.register_hooks(model)
    copy.deepcopy(model)(X)
    assert tracer.get_trace() == PATHS


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_script_modules_take_no_hooks(tracer, caplog):
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.jit.script(nn.Linear(4, 4))
            self.after = nn.ReLU()

        def forward(self, x):
            return self.after(self.inner(x))

    model = Outer()
    tracer.register_hooks(model)
    model(X)
    assert tracer.get_trace() == ["after", "root"]
    assert "Calls of module 'inner' are not traced" in caplog.text


# Shapes


class Many(nn.Module):
    def forward(self, x, pair, *, mask=None, scale=2):
        return {"out": x * scale, "rest": (pair[0], [mask, "text"])}


def test_shapes_of_containers_and_keywords(tracer, tmp_path):
    model = Many()
    tracer.register_hooks(model, shapes=True)
    model(torch.zeros(2, 8), (torch.zeros(()), 3), mask=torch.zeros(0, 1))
    (call,) = tracer.get_trace()
    assert call == "root" and call.shape == "[2, 8], [], [0, 1] -> [2, 8], [], [0, 1]"
    assert tracer.save_trace().read_text() == f"root\t{call.shape}"


@dataclasses.dataclass
class Output:
    logits: object
    text: str


def test_what_only_looks_like_a_tensor_is_left_alone(tracer):
    class Broken:
        @property
        def shape(self):
            raise RuntimeError("not to be asked")

    class Model(nn.Module):
        def forward(self, x, broken):
            return Output(x, "text")

    model = Model()
    tracer.register_hooks(model, shapes=True)
    model(X, Broken())
    assert tracer.get_trace()[0].shape == "[2, 4] -> [2, 4]"


def test_a_traced_call_is_its_path(tracer):
    model = Block()
    tracer.register_hooks(model, shapes=True)
    model(X)
    call = tracer.get_trace()[0]
    assert call == "a" and hash(call) == hash("a") and isinstance(call, str)
    again = pickle.loads(pickle.dumps(call))
    assert again == "a" and again.shape == call.shape == "[2, 4] -> [2, 4]"


# Threads


def test_threads_are_traced(tracer):
    model = Block()
    tracer.register_hooks(model)

    def work():
        for _ in range(50):
            model(X)

    threads.run(*[work] * 4)
    trace = tracer.get_trace()
    assert len(trace) == 600 and all(trace.count(path) == 200 for path in PATHS)


# Wrapped and compiled models


def test_wrapped_models(tmp_path):
    model = nn.DataParallel(Block(), device_ids=None)
    plain, unwrapped = CallTracer(tmp_path), CallTracer(tmp_path)
    plain.register_hooks(model)
    unwrapped.register_hooks(model, unwrap=True)
    model(X)
    assert plain.get_trace() == ["module.a", "module.b", "module", "root"]
    assert unwrapped.get_trace() == PATHS


@pytest.fixture
def count():
    """How many graphs are compiled."""
    from torch._dynamo.testing import CompileCounter

    torch._dynamo.reset()
    yield CompileCounter()
    torch._dynamo.reset()


@pytest.mark.parametrize("when", ["before", "after"])
def test_compiled_models(tracer, count, when):
    model = Block()
    compiled = torch.compile(model, backend=count)
    if when == "after":
        compiled(X)
    before = count.frame_count
    tracer.register_hooks(model)
    for _ in range(12):
        result = compiled(X)
    assert tracer.get_trace() == PATHS * 12
    assert count.frame_count - before <= 3  # not once more for each call
    tracer.remove_hooks()
    assert torch.allclose(compiled(X), result)
    assert len(tracer.get_trace()) == 36


BEFORE = """
import sys, torch
from monitorch.spy import CallTracer
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
tracer = CallTracer(sys.argv[1])
tracer.register_hooks(model)
assert "torch._dynamo" not in sys.modules
compiled = torch.compile(model, backend="eager")
for _ in range(12):
    compiled(torch.ones(1, 4))
assert tracer.get_trace() == ["0", "1", "root"] * 12, tracer.get_trace()
"""


def test_hooks_that_are_there_before_dynamo(tmp_path):
    done = recording.run_python("-c", BEFORE, tmp_path)
    assert done.returncode == 0 and "recompile_limit" not in done.stderr, done.stderr


def test_whole_graphs_stay_whole(tracer, count):
    model = Block()
    compiled = torch.compile(model, backend=count, fullgraph=True)
    tracer.register_hooks(model)
    compiled(X)
    compiled(X)
    assert count.frame_count == 1
    assert set(tracer.get_trace()) <= {"root"}


# What a recording is told


def test_calls_are_told_to_a_recording(tmp_path):
    model = Block()
    calls, events = record_calls(tmp_path, model, X)
    assert [(c["function"], c["module"], c["depth"]) for c in calls] == [
        ("Block.forward", "root", 0),
        ("Linear.forward", "a", 1),
        ("Linear.forward", "b", 1),
    ]
    assert [c["class"].rpartition(".")[2] for c in calls] == ["Block", "Linear", "Linear"]
    assert calls[1]["parent_line"] == calls[2]["parent_line"] == Block.line
    told = [(e["call"], e["kind"], e["name"], e.get("shape")) for e in events]
    assert told == [
        (1, "enter", "x", [2, 4]),
        (2, "enter", "input", [2, 4]),
        (2, "return", "", [2, 4]),
        (3, "enter", "input", [2, 4]),
        (3, "return", "", [2, 4]),
        (1, "return", "", [2, 4]),
    ]


def test_every_recording_is_told(tmp_path):
    model = Block()
    tracer = CallTracer(tmp_path)
    tracer.register_hooks(model)
    for _ in range(2):
        with recording.record(tmp_path / "run.mtrace"):
            model(X)
        assert len(calls_of(tmp_path / "run.mtrace")) == 3
    tracer.remove_hooks()
    with recording.record(tmp_path / "run.mtrace"):
        model(X)
    assert calls_of(tmp_path / "run.mtrace") == []


def test_two_tracers_tell_a_call_once(tmp_path):
    model = Block()
    for _ in range(2):
        CallTracer(tmp_path).register_hooks(model)
    with recording.record(tmp_path / "run.mtrace"):
        model(X)
    assert len(calls_of(tmp_path / "run.mtrace")) == 3


class Wide(nn.Module):
    def forward(self, x, scale=2, *rest, mask=None, **others):
        return x


def test_arguments_are_told_by_their_names(tmp_path):
    calls, events = record_calls(tmp_path, Wide(), X, 3, X, X, other=1)
    told = {e["name"] + e.get("path", ""): e for e in events if e["kind"] == "enter"}
    assert told["x"]["shape"] == [2, 4] and told["scale"]["value"] == 3
    assert told["rest"]["length"] == 2 and told["rest[1]"]["shape"] == [2, 4]
    assert told["mask"]["value_kind"] == "None"
    assert told["others['other']"]["value"] == 1


def test_arguments_that_are_not_given(tmp_path):
    calls, events = record_calls(tmp_path, Wide(), X, mask=X)
    told = {e["name"]: e for e in events if e["kind"] == "enter"}
    assert told["scale"]["value"] == 2 and told["mask"]["shape"] == [2, 4]
    assert told["rest"]["length"] == 0 and told["others"]["length"] == 0


def test_an_exception_ends_the_calls(tmp_path):
    class Failing(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4)

        def forward(self, x):
            raise KeyError(self.inner(x))

    model = Failing()
    CallTracer(tmp_path).register_hooks(model)
    with recording.record(tmp_path / "run.mtrace"):
        for _ in range(2):
            with pytest.raises(KeyError):
                model(X)
    calls = calls_of(tmp_path / "run.mtrace")
    assert [(c["module"], c["depth"]) for c in calls] == [("root", 0), ("inner", 1)] * 2


def test_threads_are_told_apart(tmp_path):
    model = Block()
    CallTracer(tmp_path).register_hooks(model)
    with recording.record(tmp_path / "run.mtrace"):
        threads.run(*[lambda: [model(X) for _ in range(20)]] * 3)
    calls = calls_of(tmp_path / "run.mtrace")
    assert len(calls) == 180
    by_number = {c["call"]: c for c in calls}
    inner = [c for c in calls if c["module"] != "root"]
    assert len(inner) == 120
    assert all(by_number[c["parent"]]["module"] == "root" for c in inner)
    assert all(by_number[c["parent"]].get("thread") == c.get("thread") for c in inner)


OWN = b"""
import torch

class Own(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = self.inner(x)
        return y
"""


def run_instrumented(source, path):
    from monitorch import _instrument

    path.write_bytes(source)
    code = _instrument.compile_source(source, str(path), all=True)[0]
    variables = {"__name__": path.stem, "__file__": str(path)}
    exec(code, variables)
    return variables


def test_instrumented_modules_are_told_by_their_own_lines(tmp_path):
    model = run_instrumented(OWN, tmp_path / "own.py")["Own"]()
    CallTracer(tmp_path).register_hooks(model)
    with recording.record(tmp_path / "run.mtrace"):
        model(X)
    calls = calls_of(tmp_path / "run.mtrace")
    assert [(c["function"], c["depth"]) for c in calls] == [
        ("Own.forward", 0),
        ("Linear.forward", 1),
    ]
    assert "y" in [e["name"] for e in events_of(tmp_path / "run.mtrace")]


def test_a_recording_stops_at_a_module(tmp_path):
    import monitorch

    model = nn.Sequential(nn.Identity(), nn.ReLU())
    CallTracer(tmp_path).register_hooks(model)
    with pytest.raises(monitorch.NonFinite, match="holds 8 NaN"):
        with recording.record(tmp_path / "run.mtrace", stop="nan"):
            model(X * float("nan"))
    assert torch.equal(model(X), X)


def test_a_paused_recording_is_told_nothing(tmp_path):
    model = Block()
    CallTracer(tmp_path).register_hooks(model)
    run = recording.record(tmp_path / "run.mtrace").start()
    run.pause()
    model(X)
    run.resume()
    model.a(X)
    run.stop()
    assert [c["module"] for c in calls_of(tmp_path / "run.mtrace")] == ["a"]
