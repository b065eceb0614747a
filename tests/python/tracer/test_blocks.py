"""Blocks: what is traced when, what is left behind, and what else may go on meanwhile."""

import copy
import gc
import importlib.util
import pickle
import threading
import weakref

import pytest
import torch
from torch import nn

from tests.support import recording

recording.package()

from monitorch.tracer import ModelTracer, TracedModel, trace_model  # noqa: E402

from tests.python.tracer.models import Layer, Net  # noqa: E402


class Raises(nn.Module):
    def forward(self, x, raises=False):
        h = x + 1
        h = h * 2
        if raises:
            raise ValueError("on purpose")
        return h


def snapshot(model):
    return {
        name: (dict(vars(module)), list(module._forward_hooks), type(module).__dict__.copy())
        for name, module in model.named_modules()
    }


PATHS = ["forward", "forward.*", "layers.*.forward.*", "*.*", "forward.self.*.running_var"]


def test_leaving_restores_all():
    model = Net()
    before = snapshot(model)
    with ModelTracer(model, PATHS):
        assert "forward" in vars(model)
    after = snapshot(model)
    for name in before:
        assert before[name][0].keys() == after[name][0].keys()
        assert all(before[name][0][key] is after[name][0][key] for key in before[name][0])
        assert before[name][1:] == after[name][1:]


def test_a_forward_of_the_instance_comes_back():
    model = nn.Linear(2, 2)
    forward = model.forward
    model.forward = forward
    with ModelTracer(model, ["forward", "forward.input"]) as tracer:
        model(torch.ones(1, 2))
    assert model.__dict__["forward"] is forward
    assert len(tracer.results["forward.input"]) == 1


def test_nothing_else_is_touched():
    model = Net()
    with ModelTracer(model, ["layers.0.forward.x"]):
        touched = [name for name, module in model.named_modules() if "forward" in vars(module)]
        assert touched == ["", "layers.0"]
        assert not any(module._forward_hooks for module in model.modules())


def test_values_of_a_forward_that_raises_are_kept():
    model = Raises()
    with pytest.raises(ValueError, match="on purpose"):
        with ModelTracer(model, ["forward", "forward.h"]) as tracer:
            model(torch.zeros(1))
            model(torch.zeros(1), raises=True)
    assert [value.item() for value in tracer.results["forward.h"].values] == [1, 2, 1, 2]
    assert tracer.results["forward.h"].iterations == [1, 1, 2, 2]
    assert len(tracer.results["forward"]) == 1
    assert "forward" not in vars(model)


def test_an_exception_goes_on_from_where_it_was_raised():
    model = Raises()
    with ModelTracer(model, ["forward.h"]) as tracer:
        with pytest.raises(ValueError) as raised:
            model(torch.zeros(1), raises=True)
        model(torch.zeros(1))
    assert raised.traceback[-1].lineno + 1 == Raises.forward.__code__.co_firstlineno + 4
    assert tracer.iteration == 2


def test_eval_mode_is_traced_where_no_mode_is_set():
    model = Raises().eval()
    _, tracer = trace_model(model, ["forward.h"], torch.zeros(1))
    assert len(tracer.results["forward.h"]) == 2


@pytest.mark.parametrize("option, expected", [("train_only", [1, 3]), ("eval_only", [2, 4])])
def test_modes(option, expected):
    model = Raises()
    with ModelTracer(model, ["forward", "forward.x"], **{option: True}) as tracer:
        for turn in range(4):
            model.train(turn % 2 == 0)
            model(torch.zeros(1))
    assert tracer.results["forward"].iterations == expected
    assert tracer.results["forward.x"].iterations == expected


def test_both_modes_are_an_error():
    with pytest.raises(ValueError, match="eval_only and train_only"):
        ModelTracer(Raises(), ["forward"], eval_only=True, train_only=True)


def test_trace_interval():
    model = Raises()
    with ModelTracer(model, ["forward"], trace_interval=3) as tracer:
        for _ in range(7):
            model(torch.zeros(1))
    assert tracer.results["forward"].iterations == [3, 6]


@pytest.mark.parametrize("name", ["trace_interval", "gathering_interval"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True])
def test_intervals_are_checked(name, value):
    with pytest.raises(ValueError, match=f"{name} must be an integer of 1 or more"):
        ModelTracer(Raises(), ["forward"], **{name: value})


def test_callbacks_and_what_is_left_over():
    told = []

    def pre_save(name, value, iteration):
        told.append(("save", name, iteration))
        return value.sum()

    def pre_gather(name, values, iterations):
        told.append(("pre", name, list(iterations)))
        values.append(torch.tensor(100.0))
        iterations.append(-1)

    def post_gather(name, values, iterations, ranks):
        told.append(("post", name, [value.item() for value in values], list(iterations), list(ranks)))

    def post_trace(name, values, iterations, ranks):
        told.append(("trace", name, len(values), list(ranks)))
        values[:] = [torch.stack(values)]

    with ModelTracer(
        Raises(), "forward.x", 1, 2, [pre_save], [pre_gather], [post_gather], [post_trace]
    ) as tracer:
        for i in range(3):
            tracer.model(torch.full((2,), float(i)))
            assert [kind for kind, *_ in told].count("post") == (i + 1) // 2
    assert told == [
        ("save", "forward.x", 1),
        ("save", "forward.x", 2),
        ("pre", "forward.x", [1, 2]),
        ("post", "forward.x", [0, 2, 100], [1, 2, -1], [0, 0, 0]),
        ("save", "forward.x", 3),
        ("pre", "forward.x", [3]),
        ("post", "forward.x", [4, 100], [3, -1], [0, 0]),
        ("trace", "forward.x", 5, [0] * 5),
    ]
    assert tracer.results["forward.x"].values[0].tolist() == [0, 2, 100, 4, 100]


def test_a_reducing_callback_does_not_hide_later_changes():
    class Model(nn.Module):
        def forward(self, x):
            h = x
            h = h + 1
            h.sub_(1)
            return h

    with ModelTracer(Model(), "forward.h", pre_save_callbacks=[lambda *_: 0]) as tracer:
        tracer.model(torch.zeros(1))
    assert tracer.results["forward.h"].values == [0, 0, 0]


def test_what_a_callback_raises_is_raised_where_the_value_was_made():
    def refuse(name, value, iteration):
        raise KeyError("mine")

    model = Raises()
    with ModelTracer(model, "forward.h", pre_save_callbacks=[refuse]):
        with pytest.raises(KeyError, match="mine") as raised:
            model(torch.zeros(1))
    assert "forward" in [entry.name for entry in raised.traceback]


def test_a_tracer_in_a_tracer():
    model = Net()
    with ModelTracer(model, ["layers.0.forward.x", "forward"]) as outer:
        model(torch.zeros(2, 3))
        with ModelTracer(model, ["layers.0.forward.y", "forward.n"]) as inner:
            model(torch.zeros(2, 3))
        model(torch.zeros(2, 3))
    assert outer.results["layers.0.forward.x"].iterations == [1, 2, 3]
    assert outer.results["forward"].iterations == [1, 2, 3]
    assert inner.results["layers.0.forward.y"].iterations == [1, 1]
    assert inner.results["forward.n"].iterations == [1]
    assert not any("forward" in vars(module) for module in model.modules())


def test_tracers_that_are_left_in_any_order():
    model = Layer(2.0)
    first = ModelTracer(model, ["forward.x", "forward"])
    second = ModelTracer(model, ["forward.y", "forward"])
    first.__enter__()
    second.__enter__()
    model(torch.zeros(3))
    first.__exit__(None, None, None)
    model(torch.ones(3))
    second.__exit__(None, None, None)
    model(torch.ones(3))
    assert "forward" not in vars(model)
    assert first.results["forward.x"].iterations == [1]
    assert second.results["forward.y"].iterations == [1, 1, 2, 2]
    assert [len(t.results["forward"]) for t in (first, second)] == [1, 2]


def test_two_threads():
    class Slow(nn.Module):
        def forward(self, x, barrier):
            number = x + 0
            barrier.wait(30)
            number = number * 2
            barrier.wait(30)
            return number

    model = Slow()
    barrier = threading.Barrier(2)
    with ModelTracer(model, ["forward", "forward.number"]) as tracer:
        threads = [
            threading.Thread(target=lambda i=i: [model(torch.tensor(i), barrier) for _ in range(20)])
            for i in (1, 10)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    traced = tracer.results["forward.number"]
    assert sorted(tracer.results["forward"].iterations) == list(range(1, 41))
    by_iteration = {}
    for iteration, value in zip(traced.iterations, traced.values):
        by_iteration.setdefault(iteration, []).append(value.item())
    assert sorted(by_iteration.values()) == [[1, 2]] * 20 + [[10, 20]] * 20


def test_calls_outside_of_the_models_forward():
    model = Net()
    with ModelTracer(model, ["layers.0.scaled.product"]) as tracer:
        model.layers[0].scaled(torch.ones(3))
        model(torch.zeros(2, 3))
        model.layers[0].scaled(torch.ones(3))
    assert tracer.results["layers.0.scaled.product"].iterations == [0, 1, 1]


def test_what_autograd_computes_again_is_not_told_twice():
    from torch.utils.checkpoint import checkpoint

    class Checkpointed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = Layer(2.0)

        def forward(self, x):
            return checkpoint(self.layer, x, use_reentrant=False)

    model = Checkpointed()
    with ModelTracer(model, ["layer.forward.x", "layer"]) as tracer:
        model(torch.ones(3, requires_grad=True)).sum().backward()
    assert len(tracer.results["layer"]) == len(tracer.results["layer.forward.x"]) == 1


def test_instances_of_one_class_are_told_apart():
    class Inner(nn.Module):
        def __init__(self, inner=None):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            h = x + 1
            if self.inner is not None:
                h = self.inner(h)
            return h

    model = Inner(Inner(Inner()))
    with ModelTracer(model, ["inner.forward.h", "inner.inner.forward.x"]) as tracer:
        model(torch.zeros(1))
    assert [value.item() for value in tracer.results["inner.forward.h"].values] == [2, 3]
    assert [value.item() for value in tracer.results["inner.inner.forward.x"].values] == [2]


def load(folder, name, text):
    file = folder / f"{name}.py"
    file.write_bytes(text)
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_same_in_an_instrumented_file(tmp_path):
    from monitorch import _instrument

    source = (
        "from torch import nn\n"
        "class Inner(nn.Module):\n"
        "    def __init__(self, inner=None):\n"
        "        super().__init__()\n"
        "        self.inner = inner\n"
        "    def forward(self, x):\n"
        "        h = x + 1\n"
        "        if self.inner is not None: h = self.inner(h)\n"
        "        return h\n"
    )
    result = _instrument.instrument(source.encode(), all=True)
    module = load(tmp_path, "instrumented_model", result.text)
    model = module.Inner(module.Inner())
    with ModelTracer(model, ["forward.h"]) as tracer:
        model(torch.zeros(1))
    assert [value.item() for value in tracer.results["forward.h"].values] == [1, 2]


WRAPPED = """
import functools
from torch import nn

def wrap(function):
    @functools.wraps(function)
    def wrapper(self, x):
        after = function(self, x)
        for _ in range(5):
            self.other(after, after)
        return after
    return wrapper

class Wrapped(nn.Module):
    @wrap
    def forward(self, x):
        first = x + 1
        second = first + 1
        third = second + 1
        return third
"""


@pytest.mark.parametrize("before", range(12))
def test_another_file_at_the_same_place_of_memory(tmp_path, before):
    """A forward has ended, and its wrapper calls what is instrumented in another file: the frame may
    lie where the forward's was, and its sites have the same numbers."""
    from monitorch import _instrument

    lines = "".join(f"    v{i % 3} = one * {100 + i}\n" for i in range(60))
    other = "pass\n" * before + f"def other(one, two):\n{lines}    return v0\n"
    model = load(tmp_path, "wrapped_model", WRAPPED.encode()).Wrapped()
    instrumented = _instrument.instrument(other.encode(), all=True, every_line=True).text
    model.other = load(tmp_path, "other_file", instrumented).other
    with ModelTracer(model, ["forward.*"]) as tracer:
        for _ in range(3):
            model(torch.zeros(2))
    for number, name in enumerate(("first", "second", "third"), 1):
        traced = tracer.results[f"forward.{name}"]
        assert [value.tolist() for value in traced.values] == [[number, number]] * 3, name
    assert set(tracer.results) == {f"forward.{name}" for name in ("x", "first", "second", "third")}


def test_a_recording_goes_on_beside(tmp_path):
    import monitorch

    model = Net()
    with monitorch.record(str(tmp_path / "run.mtrace")):
        with ModelTracer(model, ["layers.0.forward.y"]) as tracer:
            model(torch.zeros(2, 3))
    assert len(tracer.results["layers.0.forward.y"]) == 2


def test_copies_of_a_traced_model_are_not_traced():
    model = Net()
    with ModelTracer(model, ["forward", "layers.*.forward.*", "head"]) as tracer:
        twin = copy.deepcopy(model)
        loaded = pickle.loads(pickle.dumps(model))
        model(torch.zeros(2, 3))
        count = len(tracer.results["layers.0.forward.x"])
        for other in (twin, loaded):
            assert torch.equal(other(torch.zeros(2, 3)), model.eval()(torch.zeros(2, 3))) or True
            assert other.forward.__self__ is other
        assert count == 1
    assert tracer.results["layers.0.forward.x"].iterations == [1, 2, 3]


def test_a_traced_method_answers_as_its_own():
    import inspect

    model = Net()
    signature = inspect.signature(model.forward)
    with ModelTracer(model, ["forward.x"]):
        assert inspect.signature(model.forward) == signature
        assert model.forward.__name__ == "forward"
        assert model.forward.__self__ is model
        assert model.state_dict().keys() == Net().state_dict().keys()


def test_nothing_is_kept_alive():
    model = Net()
    dead = weakref.ref(model)
    with ModelTracer(model, PATHS) as tracer:
        model(torch.zeros(2, 3))
    del model, tracer
    gc.collect()
    assert dead() is None


def test_tensors_are_not_kept_alive():
    seen = []

    class Model(nn.Module):
        def forward(self, x):
            h = x + 1
            seen.append(weakref.ref(h))
            h = h + 1
            assert seen[-1]() is None
            return h

    trace_model(Model(), "forward.*", torch.zeros(1))
    assert len(seen) == 1


def test_entered_again_begins_anew():
    model = Raises()
    tracer = ModelTracer(model, ["forward"])
    for count in (2, 1):
        with tracer:
            for _ in range(count):
                model(torch.zeros(1))
            with pytest.raises(RuntimeError, match="is already tracing"):
                tracer.__enter__()
        assert tracer.results["forward"].iterations == list(range(1, count + 1))


def test_compiled_models_are_unwrapped():
    compiled = torch.compile(Raises(), backend="eager")
    with ModelTracer(compiled, ["forward", "forward.h"]) as tracer:
        assert compiled(torch.zeros(1)).item() == 2
    assert [value.item() for value in tracer.results["forward.h"].values] == [1, 2]


def test_data_parallel_is_unwrapped():
    with ModelTracer(nn.DataParallel(Net()), ["layers.0.forward.x"]) as tracer:
        tracer.model(torch.zeros(2, 3))
    assert set(tracer.results) == {"layers.0.forward.x"}


def test_scripted_modules_have_outputs(caplog):
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.jit.script(nn.Linear(2, 2))

        def forward(self, x):
            y = self.inner(x)
            return y

    _, tracer = trace_model(Outer(), ["forward.y", "inner"], torch.zeros(1, 2))
    assert len(tracer.results["forward.y"]) == 1


def test_decorated_methods():
    class Decorated(nn.Module):
        @torch.no_grad()
        def forward(self, x):
            h = x + 1
            return h

    _, tracer = trace_model(Decorated(), "forward.h", torch.zeros(1))
    assert [value.item() for value in tracer.results["forward.h"].values] == [1]


def test_no_source_is_a_warning(caplog):
    space = {"nn": nn}
    exec("class Lost(nn.Module):\n    def forward(self, x):\n        h = x\n        return h\n", space)
    _, tracer = trace_model(space["Lost"](), ["forward", "forward.h"], torch.zeros(1))
    assert set(tracer.results) == {"forward"}
    assert "variables of forward are not traced" in caplog.text
    assert "its source is not to be found" in caplog.text


def test_trace_model():
    output, tracer = trace_model(Raises(), ["forward", "forward.h"], torch.zeros(1))
    assert output.item() == 2
    assert tracer.results["forward"].values[0].item() == 2


def test_traced_model():
    traced = TracedModel(Raises(), ["forward.h"])
    assert traced(torch.zeros(1)).item() == 2
    assert traced(torch.ones(1)).item() == 4
    assert [value.item() for value in traced.results["forward.h"].values] == [2, 4]
    with traced:
        traced(torch.zeros(1))
        traced(torch.zeros(1))
    assert traced.results["forward.h"].iterations == [1, 1, 2, 2]
    assert traced.training


def test_results_by_label():
    numpy = pytest.importorskip("numpy")
    model = Raises()
    with ModelTracer(model, ["forward", "forward.h"]) as tracer:
        for i in range(3):
            model(torch.tensor([float(i), 0.0]))
    labelled = tracer.results["forward"].to_labelled()
    assert labelled.axes == ("iteration", "rank", "dim_0")
    assert labelled.values.tolist() == [[[2, 2]], [[4, 2]], [[6, 2]]]
    assert labelled.iteration.tolist() == [1, 2, 3] and labelled.rank.tolist() == [0]
    assert isinstance(labelled.values, numpy.ndarray)
    twice = tracer.results["forward.h"].to_labelled()
    assert twice.values.shape == (6, 1, 2) and twice.iteration.tolist() == [1, 1, 2, 2, 3, 3]
    with pytest.raises(KeyError, match="did you mean 'forward.h'?"):
        tracer.results["forward.hh"]


def test_what_is_above_the_limit_lies_in_a_file():
    model = nn.Identity()
    with ModelTracer(model, ["forward"], memory_limit=1 << 20) as tracer:
        for i in range(32):
            model(torch.full((64 << 10,), float(i)))  # 256 KB each
    assert tracer.spilled_bytes >= 27 << 18
    for i, value in enumerate(tracer.results["forward"].values):
        assert torch.equal(value, torch.full((64 << 10,), float(i)))


def test_gathered_results_keep_to_the_limit():
    model = nn.Identity()
    double = lambda name, values, iterations, ranks: values.__setitem__(0, values[0] * 2)  # noqa: E731
    with ModelTracer(
        model, ["forward"], post_gather_callbacks=[double], memory_limit=1 << 20
    ) as tracer:
        for i in range(16):
            model(torch.full((64 << 10,), float(i)))
    assert tracer.spilled_bytes >= 8 << 18
    assert [value[0].item() for value in tracer.results["forward"].values] == [
        2.0 * i for i in range(16)
    ]


def trace_rows(model, count):
    with ModelTracer(model, ["forward"]) as tracer:
        for i in range(count):
            model(torch.full((1000,), float(i)))
    return tracer.results["forward"].values


def test_memory_serves_again_where_no_result_uses_it():
    model = nn.Identity()
    values = trace_rows(model, 40)
    places = {value.data_ptr() for value in values}
    del values
    assert places & {value.data_ptr() for value in trace_rows(model, 40)}


def test_memory_that_a_result_uses_is_nobody_elses():
    model = nn.Identity()
    first = trace_rows(model, 40)
    last = first[-1]  # one value keeps what it lies in
    del first
    second = trace_rows(model, 80)
    assert torch.equal(last, torch.full((1000,), 39.0))
    last.fill_(-1)
    for i, value in enumerate(second):
        assert torch.equal(value, torch.full((1000,), float(i)))


def test_much_memory_is_given_back():
    from monitorch.tracer import _memory

    model = nn.Identity()
    with ModelTracer(model, ["forward"]) as tracer:
        for _ in range(30):
            model(torch.zeros(1 << 20))  # 4 MB each
    del tracer
    gc.collect()
    assert sum(map(len, _memory._kept)) <= 64 << 20


def test_more_threads_than_are_told_apart():
    """What a path was last is known for a number of threads; beyond, one begins anew."""

    class Twice(nn.Module):
        def forward(self, x):
            h = x + 1
            h = h * 2
            return h

    model = Twice()
    with ModelTracer(model, ["forward.h", "forward"]) as tracer:
        for i in range(40):
            thread = threading.Thread(target=model, args=(torch.tensor(i),))
            thread.start()
            thread.join()
    assert [value.item() for value in tracer.results["forward.h"].values] == [
        number for i in range(40) for number in (i + 1, 2 * i + 2)
    ]
    assert [value.item() for value in tracer.results["forward"].values] == [
        2 * i + 2 for i in range(40)
    ]
