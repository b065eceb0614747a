"""What a TensorSaver saves of instrumented code by itself: by names, modules, lines, calls and
values."""

from __future__ import annotations

import inspect
import logging
import os
import pathlib
import sys

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import DebugContext, TensorSaver, spy_load, spy_save  # noqa: E402

from tests.python.spy.watched import ATTENTIONS, X, load_module, saved  # noqa: E402

nn = torch.nn
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]


def watch(folder, model, times=1, prefix="", **options):
    """The names of the files that are saved while the model is called."""
    saver = TensorSaver(folder, **options)
    with DebugContext(saver, prefix=prefix):
        for _ in range(times):
            model(X)
    return saved(folder)


def load(folder, name):
    return torch.load(pathlib.Path(folder, name + ".pt"), weights_only=True)


# By name and module


def test_names_are_globs(tmp_path, model):
    assert watch(tmp_path, model, names=["q", "attn*"], prefix="p") == sorted(
        f"p.{path}.{name}.call0" for path in ATTENTIONS for name in ("q", "attn_w", "attn_s")
    )


def test_values_are_those_of_the_run(tmp_path, model):
    watch(tmp_path, model, names="q,last,self.last,h")
    q = model.encoder[0].proj(X)
    assert torch.equal(load(tmp_path, "encoder.0.q.call0"), q)
    assert not load(tmp_path, "encoder.0.q.call0").requires_grad
    assert torch.equal(load(tmp_path, "head.self.last.call0"), model.head.last)
    assert torch.equal(load(tmp_path, "root.h.call0"), model.encoder(X))


def test_names_as_one_text(tmp_path, model):
    assert watch(tmp_path, model, names="h, attn_s", modules="root") == ["root.h.call0"]


@pytest.mark.parametrize(
    ("modules", "found"),
    [
        ("encoder.*", ["encoder.0", "encoder.1"]),
        ("*", ATTENTIONS),
        (["head", "encoder.1"], ["encoder.1", "head"]),
        ("encoder", []),
        ("*.[!0]", ["encoder.1"]),
    ],
)
def test_modules_are_globs_of_paths(tmp_path, model, modules, found):
    names = watch(tmp_path, model, names="v", modules=modules)
    assert names == [f"{path}.v.call0" for path in found]


def test_what_a_function_makes_is_of_the_module_that_called_it(tmp_path, model):
    names = watch(tmp_path, model, names="attn_s")
    assert names == [f"{path}.attn_s.call0" for path in ATTENTIONS]


def test_a_function_outside_of_all_modules(tmp_path, program):
    saver = TensorSaver(tmp_path, names="attn_s")
    with DebugContext(saver):
        program.scores(X, X)
    assert saved(tmp_path) == ["manual.attn_s.call0"]


def test_a_parameter_with_the_value_that_its_name_had_is_no_new_one(tmp_path, model):
    """scores(q, k) begins with the caller's q and k."""
    assert watch(tmp_path, model, names="k", modules="head") == ["head.k.call0"]


def test_a_methods_parameter_is_new_at_each_call(tmp_path, model):
    names = watch(tmp_path, model, times=3, names="x", modules="root")
    assert names == [f"root.x.call{n}" for n in range(3)]


def test_parameters_are_values_too(tmp_path, model):
    watch(tmp_path, model, names="x", modules="encoder.0")
    assert torch.equal(load(tmp_path, "encoder.0.x.call0"), X)


def test_containers_leaf_by_leaf(tmp_path, model):
    watch(tmp_path, model, names="cache", modules="head")
    q = model.head.proj(model.encoder(X))
    found = sorted(torch.load(path, weights_only=True).sum().item() for path in tmp_path.iterdir())
    assert found == pytest.approx(sorted([(q + 1).sum().item(), (q * 2).sum().item()]))


def test_changes_in_place(tmp_path, compiler_module):
    module = load_module(
        """
        from torch import nn
        class Net(nn.Module):
            def forward(self, x, y):
                h = x + 1
                h.add_(y)
                h.mul_(h)
                h[0] = y
                return h
        """
    )
    saver = TensorSaver(tmp_path, names="h,y")
    with DebugContext(saver):
        module.Net()(torch.ones(2), torch.tensor(3.0))
    # y is an argument of add_, which leaves it alone.
    assert saved(tmp_path) == [*(f"root.h.call{n}" for n in range(4)), "root.y.call0"]
    found = [load(tmp_path, f"root.h.call{n}").tolist() for n in range(4)]
    assert found == [[2, 2], [5, 5], [25, 25], [3, 25]]


# Paths


def test_registered_modules_alone(tmp_path, model):
    saver = TensorSaver(tmp_path, names="q,h")
    saver.register_modules(model, target_names=("encoder",))
    with DebugContext(saver):
        model(X)
    assert saved(tmp_path) == ["encoder.0.q.call0", "encoder.1.q.call0"]


def test_a_second_model_goes_by_its_class(tmp_path, program, model):
    saver = TensorSaver(tmp_path, names="q")
    with DebugContext(saver):
        model(X)
        program.Model()(X)
        program.Model()(X)
    found = [*ATTENTIONS, *(f"{top}.{path}" for top in ("Model", "Model-2") for path in ATTENTIONS)]
    assert saved(tmp_path) == sorted(f"{path}.q.call0" for path in found)


def test_a_module_that_comes_later(tmp_path, program, model):
    saver = TensorSaver(tmp_path, names="q")
    with DebugContext(saver):
        model(X)
        model.encoder.append(program.Attention())
        model(X)
    assert "encoder.2.q.call0" in saved(tmp_path)


def test_a_module_that_no_module_holds(tmp_path, program):
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = [program.Attention(), program.Attention()]

        def forward(self, x):
            return self.parts[1](self.parts[0](x))

    watch(tmp_path, Outer(), names="q")
    assert saved(tmp_path) == ["Attention-2.q.call0", "Attention.q.call0"]


def test_a_wrapper_leaves_no_part_in_paths(tmp_path, model):
    assert watch(tmp_path, nn.DataParallel(model), names="q", modules="head") == ["head.q.call0"]


def test_the_contexts_own_path(tmp_path, model):
    saver = TensorSaver(tmp_path, names="q")
    with DebugContext(saver, "p", module_path_override="mine"):
        model(X)
    assert saved(tmp_path) == [f"p.mine.q.call{n}" for n in range(3)]


# By line


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (11, ["q"]),
        ("11", ["q"]),
        ("11-12", ["k", "q", "v"]),
        ("model.py:12", ["k", "v"]),
        ("other.py:12", []),
        ("*.py:11", ["q"]),
        (["11", 13], ["attn_w", "q"]),
        ("20-", ["attn_s", "return"]),
    ],
)
def test_lines(tmp_path, model, lines, names):
    watch(tmp_path, model, lines=lines, modules="head")
    assert saved(tmp_path) == [f"head.{name}.call0" for name in names]


def test_lines_and_names(tmp_path, model):
    assert watch(tmp_path, model, lines="11-12", names="v", modules="head") == ["head.v.call0"]


# By call


@pytest.mark.parametrize(
    ("calls", "found"),
    [(0, [0]), (2, [2]), (range(0, 5, 2), [0, 2, 4]), ({1, 3}, [1, 3]), ([4], [4]), (9, [])],
)
def test_calls(tmp_path, model, calls, found):
    names = watch(tmp_path, model, times=5, names="q", modules="head", calls=calls)
    assert names == [f"head.q.call{n}" for n in found]


def test_calls_count_on_in_the_next_context(tmp_path, model):
    saver = TensorSaver(tmp_path, names="q", modules="head", calls={1, 2})
    for _ in range(3):
        with DebugContext(saver):
            model(X)
    assert saved(tmp_path) == ["head.q.call1", "head.q.call2"]
    assert saver.call_counts["head.q"] == 3


def test_calls_count_for_each_prefix(tmp_path, model):
    saver = TensorSaver(tmp_path, names="q", modules="head", calls=0)
    for step in range(2):
        with DebugContext(saver, prefix=f"step{step}"):
            model(X)
    assert saved(tmp_path) == ["step0.head.q.call0", "step1.head.q.call0"]


# By value


MAKER = """
def make(values):
    for value in values:
        made = value
"""


def watch_values(folder, values, **options):
    """Which of the values are saved: their numbers."""
    make = load_module(MAKER).make
    saver = TensorSaver(folder, names="made", **options)
    with DebugContext(saver):
        make(values)
    return sorted(int(name.rpartition("call")[2]) for name in saved(folder))


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("when", "found"),
    [
        ("nan", [1, 4]),
        ("inf", [2, 3, 4]),
        ("nonfinite", [1, 2, 3, 4]),
        (lambda tensor: tensor.ndim == 0, [5]),
        (lambda tensor: (tensor == 1).any(), [0, 1, 2, 3, 4]),
    ],
)
def test_when(tmp_path, when, found):
    rows = [[1, 2], [1, NAN], [1, INF], [-INF, 1], [NAN, INF, 1]]
    values = [*map(torch.tensor, rows), torch.tensor(3.0)]
    assert watch_values(tmp_path, values, when=when) == found


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor([NAN], dtype=torch.float16),
        torch.tensor([NAN], dtype=torch.bfloat16),
        torch.tensor([complex(1, NAN)]),
        torch.tensor([1.0, 2, NAN, 4]).view(2, 2).T[:, 1:],
        torch.tensor(NAN).expand(3, 4),
        torch.tensor([NAN], requires_grad=True) * 2,
        torch.eye(2).mul(NAN).to_sparse(),
    ],
    ids=lambda value: str(value.layout) + str(value.dtype),
)
def test_when_nan_of_any_tensor(tmp_path, value):
    assert watch_values(tmp_path, [value], when="nan") == [0]


@pytest.mark.parametrize(
    "value",
    [torch.zeros(0), torch.arange(3), torch.tensor([True]), torch.ones(2, device="meta")],
    ids=["empty", "int", "bool", "meta"],
)
def test_what_cannot_hold_nan(tmp_path, value):
    assert watch_values(tmp_path, [value], when="nonfinite") == []


def test_when_of_containers_looks_at_each_tensor(tmp_path):
    good, bad = torch.ones(2), torch.tensor([NAN])
    values = [[good, good], {"a": good, "b": bad}, (), [1, "text"]]
    assert set(watch_values(tmp_path, values, when="nan")) == {1}
    assert len(saved(tmp_path)) == 2  # the container as a whole


def test_an_exception_in_the_condition_is_the_programs(tmp_path):
    def fail(tensor):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        watch_values(tmp_path, [X], when=fail)


def test_what_is_no_tensor_is_left_alone(tmp_path):
    assert watch_values(tmp_path, [1, "text", None, [], {"a": 1}, object(), X]) == [0]


def test_what_cannot_be_saved_does_not_stop_the_program(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, logger="monitorch.spy.saver"):
        assert watch_values(tmp_path, [torch.ones(2, device="meta")] * 2 + [X]) == [2]
    assert caplog.text.count("manual.made was not saved") == 1


def test_a_failing_disk_raises_at_the_line(tmp_path, model):
    saver = TensorSaver(tmp_path / "gone", names="attn_w")
    with DebugContext(saver):
        os.rmdir(tmp_path / "gone")
        (tmp_path / "gone").write_text("a file")
        with pytest.raises(OSError) as caught:
            model(X)
    lines = [(os.path.basename(entry.path), entry.lineno + 1) for entry in caught.traceback]
    assert ("model.py", 13) in lines and "attn_w" in str(caught.value)


# What is asked for in vain


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"names": 1}, TypeError, "names must be globs such as 'q,attn*'"),
        ({"names": ["q", 1]}, TypeError, "1 is no name"),
        ({"names": []}, ValueError, "not an empty list"),
        ({"names": "q,,k"}, ValueError, "not empty text"),
        ({"modules": ""}, ValueError, "modules must be globs"),
        ({"lines": "x"}, ValueError, "lines must be 12, '10-20'"),
        ({"lines": "20-10"}, ValueError, "the last is not before the first"),
        ({"lines": 0}, ValueError, "lines count from 1"),
        ({"lines": 1.5}, TypeError, "lines must be"),
        ({"lines": True}, TypeError, "lines must be"),
        ({"calls": -1}, ValueError, "calls are counted from 0"),
        ({"calls": "x"}, ValueError, "calls must be a number"),
        ({"calls": b"1"}, TypeError, "calls must be a number"),
        ({"calls": True}, TypeError, "calls must be a number"),
        ({"when": "NaN"}, ValueError, "when must be 'nan', 'inf', 'nonfinite' or a function"),
    ],
)
def test_wrong_wishes(tmp_path, options, kind, text):
    with pytest.raises(kind) as caught:
        TensorSaver(tmp_path, **options)
    assert text in str(caught.value)


# What a saved tensor costs


def functions_called(work):
    """The package's functions of Python that run."""
    called = []

    def note(frame, event, _):
        if event == "call" and "/monitorch/" in frame.f_code.co_filename:
            called.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return called


@pytest.mark.parametrize("module", ["none", "registered"])
def test_spy_save_runs_three_functions(tmp_path, module):
    layer = nn.Linear(4, 4)
    saver = TensorSaver(tmp_path)
    saver.register_modules(layer)
    arguments = [] if module == "none" else [layer]
    with DebugContext(saver, prefix="p"):
        spy_save("q", X, *arguments)  # the first one finds the folder
        called = functions_called(lambda: spy_save("q", X, *arguments))
    assert called == ["_save", "save", "save"]
    path = "p.root" if arguments else "p.manual"
    assert saved(tmp_path) == [f"{path}.q.call0", f"{path}.q.call1"]


def test_a_watched_value_runs_three_functions(tmp_path, model):
    with DebugContext(TensorSaver(tmp_path, names="h")):
        model(X)
        called = functions_called(lambda: model(X))
    assert called == ["_visit", "save", "save"]
    assert saved(tmp_path) == ["root.h.call0", "root.h.call1"]


def test_the_line_is_that_of_the_program(tmp_path):
    """And not that of a saver of the program's own, which is called on the way."""

    class Saver(TensorSaver):
        def save(self, *arguments):
            super().save(*arguments)

    with DebugContext(Saver(tmp_path)):
        spy_save("q", X)
        line = inspect.currentframe().f_lineno - 1
    (found,) = spy_load(tmp_path).entries()
    assert (found.file, found.line) == (__file__, line)
