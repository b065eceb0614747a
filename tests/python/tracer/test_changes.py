"""What counts as a change, and what of a value later changes do not reach."""

import copy
import gc
import itertools
import math
import threading
import types
import weakref

import pytest
import torch
from torch import nn

from tests.support import recording

recording.package()

from monitorch.tracer import ModelTracer, trace_model  # noqa: E402


def helper(h):
    h.add_(1)


def secretly(h):
    h.data.mul_(2)


class Cached:
    def __init__(self):
        self.keys = []


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.bn = nn.BatchNorm1d(2)
        self.cached = Cached()

    def forward(self, x, scale=2):
        return getattr(self, "do_" + self.what)(x, scale)

    def do_in_place(self, x, scale):
        h = x * 1
        h.add_(1)
        h[0] = 7
        helper(h)
        other = h.view(-1)
        other.zero_()
        return h

    def do_secretly(self, x, scale):
        h = x.detach() * 1
        secretly(h)
        return h

    def do_rebind(self, x, scale):
        h = x
        h = x
        h = h
        h = x + 0
        return h

    def do_one_line(self, x, scale):
        a = 1; a = 2; a = a + 1; b = (a := 9)  # noqa: E702
        return b + x

    def do_last_line(self, x, scale):
        if scale:
            late = x + 1

    def do_returns(self, x, scale):
        h = [x]
        return h.append(x + 1)

    def do_numbers(self, x, scale):
        one = 1
        one = True
        one = 1.0
        word = "a" + "b"
        word = "ab"
        for turn in (1, 1, 2):
            pass
        return x

    def do_list(self, x, scale):
        items = []
        for turn in range(2):
            items.append(x * self.weight + turn)
        self.cached.keys.append(x * self.weight)
        cached = self.cached
        return x

    def do_batch_norm(self, x, scale):
        y = self.bn(x)
        return y

    def do_deletes(self, x, scale):
        h = x + 1
        del h
        h = x + 2
        with torch.no_grad() as grad:
            h.add_(1)
        try:
            raise ValueError("no")
        except ValueError as error:
            text = str(error)
        return (lambda: h)()

    def do_raises(self, x, scale):
        h = x + 1
        h = h / 0
        raise ValueError("on purpose")


def trace(what, paths, times=1, **options):
    model = Plain()
    model.what = what
    x = torch.arange(4.0).view(2, 2)
    with ModelTracer(model, [f"do_{what}.{path}" for path in paths], **options) as tracer:
        for _ in range(times):
            model(x)
    return {path: tracer.results.get(f"do_{what}.{path}") for path in paths}


def lists(traced):
    return [value.tolist() for value in traced.values]


def test_in_place_changes_are_values_of_their_own():
    h = trace("in_place", ["h"])["h"]
    assert lists(h) == [
        [[0, 1], [2, 3]],
        [[1, 2], [3, 4]],
        [[7, 7], [3, 4]],
        [[8, 8], [4, 5]],
        [[0, 0], [0, 0]],
    ]
    assert h.iterations == [1] * 5


def test_writes_without_a_version_are_seen_in_what_autograd_does_not_follow():
    assert lists(trace("secretly", ["h"])["h"]) == [[[0, 1], [2, 3]], [[0, 2], [4, 6]]]


def test_rebinding_the_same_object_is_no_change():
    assert len(trace("rebind", ["h"])["h"]) == 2


def test_tensors_are_told_anew_in_each_iteration():
    traced = trace("rebind", ["x", "h", "scale"], times=3)
    assert traced["x"].iterations == [1, 2, 3]
    assert traced["h"].iterations == [1, 1, 2, 2, 3, 3]
    assert traced["scale"].iterations == [1]  # a plain value, by equality


def test_several_changes_on_one_line():
    traced = trace("one_line", ["a", "b"])
    assert traced["a"].values == [1, 2, 3, 9]
    assert traced["b"].values == [9]


def test_the_last_line_and_the_return_are_seen():
    assert lists(trace("last_line", ["late"])["late"]) == [[[1, 2], [3, 4]]]
    assert [len(value) for value in trace("returns", ["h"])["h"].values] == [1, 2]


def test_plain_values_by_equality_and_type():
    traced = trace("numbers", ["one", "word", "turn"])
    assert [type(value) for value in traced["one"].values] == [int, bool, float]
    assert traced["word"].values == ["ab"]
    assert traced["turn"].values == [1, 2]


def test_lists_of_tensors_that_are_no_leaves():
    traced = trace("list", ["items", "self.cached.keys", "cached"], times=2)
    assert [len(value) for value in traced["items"].values] == [0, 1, 2, 0, 1, 2]
    assert not any(t.requires_grad for value in traced["items"].values for t in value)
    assert len(traced["self.cached.keys"].values[-1]) == 2
    kept = traced["cached"].values
    assert [len(value.keys) for value in kept] == [1]  # by identity
    assert type(kept[0]) is Cached and not kept[0].keys[0].requires_grad


def test_buffers_that_a_kernel_writes():
    traced = trace("batch_norm", ["self.bn.running_mean", "self.bn.num_batches_tracked"], times=2)
    means = lists(traced["self.bn.running_mean"])
    # The mean of the columns is 1 and 2; momentum is 0.1.
    assert traced["self.bn.running_mean"].iterations == [1, 1, 2, 2]
    for mean, expected in zip(means, [(0, 0), (0.1, 0.2), (0.1, 0.2), (0.19, 0.38)]):
        assert mean == pytest.approx(expected)
    assert lists(traced["self.bn.num_batches_tracked"]) == [0, 1, 1, 2]


def test_deleted_and_bound_again():
    traced = trace("deletes", ["h", "text", "grad"])
    assert lists(traced["h"]) == [[[1, 2], [3, 4]], [[2, 3], [4, 5]], [[3, 4], [5, 6]]]
    assert traced["text"].values == ["no"]


def test_optimizer_steps_between_do_not_reach_what_was_kept():
    model = nn.Linear(2, 1, bias=False)
    with torch.no_grad():
        model.weight.fill_(1.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    x = torch.ones(1, 2)
    with ModelTracer(model, ["forward.self.weight", "forward", "forward.input"]) as tracer:
        for _ in range(3):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
            x.add_(1)
    assert lists(tracer.results["forward.self.weight"]) == [[[1, 1]], [[0, 0]], [[-2, -2]]]
    assert lists(tracer.results["forward.input"]) == [[[1, 1]], [[2, 2]], [[3, 3]]]
    assert lists(tracer.results["forward"]) == [[[2]], [[0]], [[-12]]]


def test_kept_tensors_are_nobody_elses():
    model = nn.Identity()
    x = torch.zeros(3)
    _, tracer = trace_model(model, ["forward", "forward.input"], x)
    value = tracer.results["forward"].values[0]
    other = tracer.results["forward.input"].values[0]
    value.add_(5)
    assert x.tolist() == other.tolist() == [0, 0, 0]
    x.sub_(1)
    assert other.tolist() == [0, 0, 0]


KINDS = {
    "bool": torch.tensor([True, False]),
    "uint8": torch.arange(5, dtype=torch.uint8),
    "int64": torch.arange(5),
    "float16": torch.arange(5).half(),
    "bfloat16": torch.arange(5).bfloat16(),
    "float64": torch.arange(5).double(),
    "complex64": torch.arange(4) * (1 + 2j),
    "float8": torch.arange(4.0).to(torch.float8_e4m3fn),
    "scalar": torch.tensor(3.5),
    "empty": torch.empty(0, 3),
    "many dimensions": torch.arange(128.0).view([2] * 7),
    "transposed": torch.arange(6.0).view(2, 3).t(),
    "expanded": torch.ones(1, 1).expand(3, 4),
    "strided": torch.arange(20.0)[::3],
    "conjugated": (torch.arange(4) * (1 + 2j)).conj(),
    "large": torch.arange(500_000.0),
    "sparse": torch.eye(3).to_sparse(),
    "quantized": torch.quantize_per_tensor(torch.arange(4.0), 0.5, 0, torch.qint8),
    "parameter": nn.Parameter(torch.ones(3)),
    "meta": torch.empty(3, device="meta"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_any_tensor(kind):
    x = KINDS[kind]
    output, tracer = trace_model(nn.Identity(), ["forward.input"], x)
    assert output is x
    (value,) = tracer.results["forward.input"].values
    assert value.dtype is x.dtype and value.shape == x.shape and value.device == x.device
    assert value.layout == x.layout and not value.requires_grad
    if kind == "meta":
        return
    if kind == "quantized":
        value, x = value.dequantize(), x.dequantize()
    if kind == "sparse":
        value, x = value.to_dense(), x.to_dense()
    if kind == "float8":
        value, x = value.float(), x.float()
    assert torch.equal(value, x.detach())


def test_inference_mode():
    with torch.inference_mode():
        _, tracer = trace_model(nn.Linear(2, 2), ["forward.input", "forward"], torch.ones(1, 2))
    assert tracer.results["forward.input"].values[0].tolist() == [[1, 1]]


def test_what_was_traced_in_inference_mode_can_be_trained_with():
    with torch.inference_mode(), torch.device("meta"):
        x = torch.ones(1, 2, device="cpu")
        _, tracer = trace_model(nn.Linear(2, 2, device="cpu"), ["forward.input", "forward"], x)
        values = [tracer.results[path].values[0] for path in ("forward.input", "forward")]
    weight = torch.ones(2, requires_grad=True)
    for value in values:
        assert not value.is_inference() and value.device.type == "cpu"
        (value * weight).sum().backward()


def test_what_cannot_be_copied_is_a_warning(caplog):
    class Holder(nn.Module):
        def forward(self, x):
            lock = threading.Lock()
            after = x + 1
            return after

    _, tracer = trace_model(Holder(), ["forward.lock", "forward.after"], torch.zeros(1))
    assert "forward.lock" not in tracer.results
    assert tracer.results["forward.after"].values[0].item() == 1
    assert "forward.lock is not traced: a lock cannot be copied" in caplog.text


def test_arrays_by_their_values():
    numpy = pytest.importorskip("numpy")

    class Arrays(nn.Module):
        def forward(self, x):
            a = numpy.zeros(2)
            a[0] = 1
            a = a.copy()
            return x

    _, tracer = trace_model(Arrays(), ["forward.a"], torch.zeros(1))
    assert [value.tolist() for value in tracer.results["forward.a"].values] == [[0, 0], [1, 0]]


def test_subclass_keeps_its_class():
    class Mine(torch.Tensor):
        pass

    _, tracer = trace_model(nn.Identity(), ["forward.input"], torch.ones(2).as_subclass(Mine))
    assert type(tracer.results["forward.input"].values[0]) is Mine


def test_generators_are_left_alone():
    class Lazy(nn.Module):
        def forward(self, x):
            parts = (x + i for i in range(2))
            total = sum(parts)
            return total

    output, tracer = trace_model(Lazy(), ["forward.*"], torch.zeros(1))
    assert output.item() == 1
    assert tracer.results["forward.total"].values[0].item() == 1
    assert isinstance(copy.copy(tracer.results), dict) and types


@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.float16, torch.float32, torch.float64, torch.complex128]
)
def test_rows_of_any_length_and_distance(dtype):
    """Views as attention makes them: rows that follow each other at a distance, in short and long."""
    views = []
    for width in (1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32, 33, 64, 200):
        whole = torch.arange(2 * 6 * 3 * width).remainder(251).reshape(2, 6, 3, width).to(dtype)
        views += [
            whole.transpose(1, 2),
            whole.permute(2, 0, 1, 3),
            whole[:, ::2],
            whole[..., : max(1, width // 2)],
            whole.transpose(-1, -2),
            whole.transpose(1, 2).conj(),
            whole[:, :1].expand(2, 6, 3, width),
        ]
    model = nn.Identity()
    with ModelTracer(model, ["forward"]) as tracer:
        for view in views:
            model(view)
    for view, value in zip(views, tracer.results["forward"].values, strict=True):
        assert torch.equal(value, view.resolve_conj())
        assert value.is_contiguous() or value.stride() == view.stride()  # as a clone has them


@pytest.mark.parametrize("follows", [False, True], ids=["plain", "autograd"])
def test_values_in_any_order_of_their_dimensions(follows):
    views = []
    for shape in ((), (3,), (1,), (2, 3), (1, 4), (2, 1, 3), (2, 3, 1, 4), (2, 3, 4, 5, 2), (2,) * 6):
        whole = torch.arange(1 + math.prod(shape), dtype=torch.float32)[1:].reshape(shape)
        views += [whole.permute(order) for order in itertools.permutations(range(len(shape)))]
        views += [whole.unsqueeze(0), whole.expand(2, *shape), whole.reshape(-1)[:0]]
    originals = [view.clone() for view in views]
    model = nn.Identity()
    with ModelTracer(model, ["forward"]) as tracer:
        for view in views:
            model(view.requires_grad_() if follows else view)
    for view in views:
        view.data.fill_(-1)
    for value, original in zip(tracer.results["forward"].values, originals, strict=True):
        assert value.shape == original.shape and torch.equal(value, original)


def test_the_same_bytes_in_another_order_are_other_values():
    class Turns(nn.Module):
        def forward(self, x):
            h = x.clone()
            h.data = h.data.t()
            return h

    _, tracer = trace_model(Turns(), ["forward.h"], torch.arange(4.0).view(2, 2))
    assert lists(tracer.results["forward.h"]) == [[[0, 1], [2, 3]], [[0, 2], [1, 3]]]


FORMS = {
    "matrix": torch.arange(6.0).view(2, 3),
    "transposed": torch.arange(6.0).view(2, 3).t(),
    "other shape": torch.arange(6.0).view(3, 2),
    "other type": torch.arange(6).view(2, 3),
    "number": torch.tensor(7.0),
    "row": torch.arange(6.0),
    "with gaps": torch.arange(12.0).view(2, 6)[:, ::2],
    "one column": torch.arange(6.0).view(2, 3)[:, 1:2],
    "empty": torch.ones(2, 0),
    "of half the storage": torch.arange(12.0).view(4, 3)[2:],
    "large": torch.arange(70000.0).view(2, -1),
}


class Forms(nn.Module):
    """One variable, which is one thing after the other."""

    def forward(self, values):
        for value in values:
            h = value + 0 * value if value.requires_grad else value
        return h


@pytest.mark.parametrize("follows", [False, True], ids=["plain", "autograd"])
def test_a_variable_of_changing_forms(follows):
    names = [name for pair in itertools.permutations(FORMS, 2) for name in pair]
    values = [FORMS[name].clone(memory_format=torch.preserve_format) for name in names]
    gaps = FORMS["with gaps"]
    values = [gaps if name == "with gaps" else value for name, value in zip(names, values)]
    if follows:
        values = [v.requires_grad_() if v.is_floating_point() else v for v in values]
    with ModelTracer(Forms(), ["forward.value", "forward.h"]) as tracer:
        for _ in range(2):
            tracer.model(values)
    for path in ("forward.value", "forward.h"):
        kept = tracer.results[path].values
        assert len(kept) == 2 * len(values), path
        for name, value, other in zip(2 * names, 2 * values, kept):
            assert other.dtype == value.dtype and torch.equal(other, value), (path, name)
            if name == "transposed":
                assert other.stride() == value.stride(), path


class Shared(nn.Module):
    """What is called twice with one mask, and leaves nothing of its own behind."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.seen = []

    def forward(self, x, mask):
        h = self.inner(x) * mask
        self.seen.append(weakref.ref(h))
        del h
        self.seen.append(self.seen[-1]() is None)
        h = self.inner(x)
        self.seen.append(weakref.ref(h))
        h = self.inner(x)
        self.seen.append(self.seen[-1]() is None)
        if not len(mask):
            raise ValueError("no mask")
        return h + mask


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = Shared()

    def forward(self, x, mask):
        return self.shared(self.shared(x, mask), mask)


def test_a_tensor_that_comes_again_in_another_call():
    model = Twice()
    mask = torch.ones(2, requires_grad=True)
    with ModelTracer(model, ["shared.forward.*"]) as tracer:
        for _ in range(3):
            model(torch.ones(1, 2), mask)
    assert tracer.results["shared.forward.mask"].iterations == [1, 2, 3]
    assert tracer.results["shared.forward.x"].iterations == [1, 1, 2, 2, 3, 3]


class Passing(nn.Module):
    """Passes on what its module gave, and calls that again with what it was given first."""

    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.seen = None

    def forward(self, x):
        y = self.inner(x)
        self.seen = weakref.ref(y)
        y = y + 1
        self.died = self.seen() is None
        return self.inner(y) + self.inner(x)


class Inner(nn.Module):
    def forward(self, x):
        z = x + 1
        return z


@pytest.mark.parametrize("length", [4, 1 << 17], ids=["small", "large"])
def test_what_is_passed_on_is_let_go_when_the_model_s_call_ends(length):
    model = Passing()
    x = torch.ones(length, requires_grad=True)
    with ModelTracer(model, ["inner.forward.*"]) as tracer:
        for _ in range(2):
            model(x)
            assert model.seen() is None
        assert model.died == (length != 4)
        with pytest.raises(TypeError):
            model(x, x)
        model.inner(x)
        model.inner(x)
    # In the model's call x is met twice, with others between; in calls of the module alone it stays the same.
    assert tracer.results["inner.forward.x"].iterations == [1, 1, 1, 2, 2, 2, 3]
    assert tracer.results["inner.forward.z"].iterations == [1] * 3 + [2] * 3 + [3] * 2


def test_what_is_passed_on_is_known_by_thread():
    model = Passing()
    x = torch.ones(4, requires_grad=True)
    with ModelTracer(model, ["inner.forward.*"]) as tracer:
        threads = [threading.Thread(target=model, args=(x,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        gone = weakref.ref(x)
        del x, threads, thread
        gc.collect()
        assert gone() is None
    assert len(tracer.results["inner.forward.z"].iterations) == 12


def test_variables_live_no_longer_than_without_a_tracer():
    model = Twice()
    with ModelTracer(model, ["shared.forward.*"]):
        with torch.no_grad():
            model(torch.ones(1, 2), torch.ones(2))
        model(torch.ones(1, 2), torch.ones(2))
        with pytest.raises(ValueError, match="no mask") as caught:
            model(torch.ones(0, 2), torch.ones(0, 2))
        caught.value.__traceback__ = None
        del caught
        seen = model.shared.seen
        assert [answer for answer in seen if isinstance(answer, bool)] == [True] * len(seen[1::2])
        assert all(made() is None for made in seen if not isinstance(made, bool))
