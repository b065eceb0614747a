"""StorageManager: what becomes of values logged under one key."""

import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.monitor", reason="the package is not built (make)")

from monitorch.monitor import StorageManager  # noqa: E402
from monitorch.monitor.storage import Histogram  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture
def storage():
    return StorageManager()


def finished(storage, step=0):
    storage.aggregate_step(step)
    return storage.get_step_metrics(step)


def test_tensors_are_averaged_over_all_elements(storage):
    """Not the mean of their means."""
    storage.log_tensor(0, "k", torch.tensor([1.0, 2.0, 3.0]))
    storage.log_tensor(0, "k", torch.tensor([[10.0]]))
    assert finished(storage) == {"k": 4.0}


def test_scalars_are_averaged(storage):
    for value in (1, 2.0, torch.tensor(6.0), torch.tensor([[7]])):
        storage.log_scalar(0, "k", value)
    assert finished(storage) == {"k": 4.0}


def test_scalar_logged_once_stays_what_it_is(storage):
    storage.log_scalar(3, "k", 5)
    assert storage.get_step_metrics(3) == {"k": 5}
    assert type(finished(storage, 3)["k"]) is int


def test_numbers_of_numpy_are_plain_numbers(storage):
    """So that files take them."""
    numpy = pytest.importorskip("numpy")
    for name, value in (("f", numpy.float32(1.5)), ("i", numpy.int64(3)), ("a", numpy.ones(1))):
        storage.log_scalar(0, name, value)
    storage.log_tensor(0, "t", torch.ones(3), lambda values: numpy.float16(values.mean()))
    told = finished(storage)
    assert told == {"f": 1.5, "i": 3, "a": 1.0, "t": 1.0}
    assert {type(value) for value in told.values()} == {float, int}


@pytest.mark.parametrize("value", ["text", None, [1.0], torch.ones(2), torch.ones(0)])
def test_what_is_no_scalar_is_refused(storage, value):
    with pytest.raises(ValueError, match=r"log_scalar: .*not a scalar.*some/key"):
        storage.log_scalar(0, "some/key", value)
    assert storage.get_all_metrics() in ({}, {0: {}})


def test_function_takes_the_place_of_the_mean(storage):
    storage.log_tensor(0, "t", torch.tensor([[1.0, 5.0]]), aggregation_fn=torch.max)
    storage.log_tensor(0, "t", torch.tensor([3.0]), aggregation_fn=torch.max)
    storage.log_scalar(0, "s", 1, max)
    storage.log_scalar(0, "s", 2, max)
    assert finished(storage) == {"t": 5.0, "s": 2}


def test_function_gets_one_flat_tensor(storage):
    seen = []
    for part in (torch.arange(6.0).reshape(2, 3), torch.tensor(9.0)):
        storage.log_tensor(0, "t", part, aggregation_fn=lambda all: seen.append(all) or 0.0)
    finished(storage)
    assert torch.equal(seen[0], torch.tensor([0.0, 1, 2, 3, 4, 5, 9]))


def test_function_that_returns_a_dict(storage):
    def both(values):
        return {"": values.mean(), "[max]": values.max(), "[n]": len(values)}

    def without(values):
        return {"/std": values.std().item()}

    storage.log_tensor(0, "a", torch.tensor([1.0, 3.0]), both)
    storage.log_tensor(0, "b", torch.tensor([1.0, 3.0]), without)
    assert finished(storage) == {
        "a": 2.0,
        "a[max]": 3.0,
        "a[n]": 2,
        "b/std": pytest.approx(math.sqrt(2)),
    }


def test_function_that_raises_costs_its_own_key(storage):
    def fail(values):
        raise ZeroDivisionError("no values")

    storage.log_tensor(0, "bad/key", torch.ones(2), fail)
    storage.log_scalar(0, "good", 1.0)
    with pytest.raises(RuntimeError, match="bad/key") as told:
        storage.aggregate_step(0)
    assert isinstance(told.value.__cause__, ZeroDivisionError)
    assert storage.get_step_metrics(0) == {"good": 1.0}


def test_a_function_holds_for_later_steps(storage):
    """As for a metric that is logged with it once."""
    storage.log_scalar(0, "k", 1, max)
    storage.log_scalar(1, "k", 1)
    storage.log_scalar(1, "k", 3)
    assert finished(storage, 1) == {"k": 3}


def test_later_changes_in_place_do_not_count(storage):
    values, kept = torch.ones(4), torch.ones(4)
    storage.log_tensor(0, "mean", values)
    storage.log_tensor(0, "max", kept, torch.max)
    values.mul_(100)
    kept.mul_(100)
    assert finished(storage) == {"mean": 1.0, "max": 1.0}


def test_nothing_is_kept_of_the_graph(storage):
    leaf = torch.ones(3, requires_grad=True)
    given = []
    storage.log_tensor(0, "k", leaf * 2, lambda values: given.append(values) or 0)
    finished(storage)
    assert not given[0].requires_grad


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, math.nan], math.nan),
        ([math.inf, 1.0], math.inf),
        ([-math.inf, 1.0], -math.inf),
        ([math.inf, -math.inf], math.nan),
        ([], math.nan),
    ],
)
def test_not_finite(storage, values, expected):
    storage.log_tensor(0, "k", torch.tensor(values))
    told = finished(storage)["k"]
    assert told == expected or (math.isnan(told) and math.isnan(expected))


@pytest.mark.parametrize(
    "dtype",
    [torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.float64],
    ids=str,
)
def test_dtypes(storage, dtype):
    storage.log_tensor(0, "k", torch.tensor([1, 1, 0, 0], dtype=dtype))
    assert finished(storage) == {"k": 0.5}


def test_large_means_are_exact():
    """float16 sums would overflow, float32 ones lose the small addends."""
    storage = StorageManager()
    storage.log_tensor(0, "half", torch.full((70000,), 3.0, dtype=torch.float16))
    storage.log_tensor(
        0, "float", torch.cat([torch.full((1 << 20,), 1.0), torch.tensor([2.0**25])])
    )
    told = finished(storage)
    assert told["half"] == 3.0
    assert told["float"] == pytest.approx((2**20 + 2**25) / (2**20 + 1), rel=1e-12)


def test_strange_tensors_are_measured_too(storage):
    storage.log_tensor(0, "sparse", torch.eye(2).to_sparse())
    storage.log_tensor(0, "complex", torch.tensor([1 + 1j, 3 - 1j]))
    storage.log_tensor(0, "expanded", torch.tensor([2.0]).expand(5, 3))
    storage.log_tensor(0, "conjugate", torch.tensor([1 + 2j]).conj())
    told = finished(storage)
    assert told == {"sparse": 0.5, "complex": 2, "expanded": 2.0, "conjugate": 1 - 2j}


def test_numbers_as_tensors(storage):
    storage.log_tensor(0, "k", 3)
    storage.log_tensor(0, "k", torch.tensor([1.0]))
    assert finished(storage) == {"k": 2.0}
    with pytest.raises(ValueError, match="not a tensor.*k"):
        storage.log_tensor(0, "k", "text")


def test_scalars_and_tensors_under_one_key(storage):
    storage.log_tensor(0, "k", torch.tensor([1.0, 2.0]))
    storage.log_scalar(0, "k", 6)
    assert finished(storage) == {"k": 3.0}


def test_what_is_read_of_a_step_that_runs(storage):
    storage.create_step_entry(0)
    assert storage.has_step(0) and not storage.has_step(1)
    assert storage.get_step_metrics(0) == {} == storage.get_step_metrics(1)
    storage.log_scalar(0, "k", 1)
    storage.log_scalar(0, "k", 2)
    assert storage.get_step_metrics(0) == {"k": 1.5}
    storage.log_scalar(0, "k", 6)
    assert storage.get_all_metrics() == {0: {"k": 3.0}} == storage.log_dict
    assert finished(storage) == {"k": 3.0}


def test_ending_twice_changes_nothing(storage):
    storage.log_scalar(0, "k", 1, lambda values: sum(values) + 1)
    assert finished(storage) == {"k": 2}
    assert finished(storage) == {"k": 2}
    storage.aggregate_step(77)  # there is none
    assert storage.get_all_metrics() == {0: {"k": 2}}


def test_an_entry_made_twice_keeps_what_was_logged(storage):
    storage.log_scalar(0, "forced", 1)
    storage.create_step_entry(0)
    assert finished(storage) == {"forced": 1}


def test_final_values(storage):
    storage.create_step_entry(0)
    storage.log_scalar(0, "k", 1)
    storage.put_metrics(0, {"k": 5.0, "m": 2.0})
    histogram = Histogram((1, 2), (0.0, 1.0, 2.0))
    storage.put_histograms(0, {"h": histogram})
    assert finished(storage) == {"k": 5.0, "m": 2.0}
    assert storage.get_step_histograms(0) == {"h": histogram}
    assert storage.get_step_histograms(1) == {}


def test_condensed(storage):
    storage.log_scalar(0, "a", 1)
    storage.log_scalar(20, "a", 2)
    storage.log_scalar(20, "b", 3)
    assert storage.condensed_log_dict() == {"a": {0: 1, 20: 2}, "b": {20: 3}}


def test_load_and_clear(storage):
    storage.load_metrics({0: {"a": 1.0}, 1: {"a": 2.0}})
    with pytest.raises(ValueError, match="not empty"):
        storage.load_metrics({})
    storage.clear()
    assert storage.get_all_metrics() == {}
    storage.load_metrics({"a": {1: 2.0, 0: 1.0}, "b": {1: 3.0}})
    assert storage.get_all_metrics() == {0: {"a": 1.0}, 1: {"a": 2.0, "b": 3.0}}


def test_logger_hears_of_steps(caplog):
    import logging

    storage = StorageManager(logging.getLogger("mine"))
    storage.log_scalar(20, "a", 1)
    with caplog.at_level(logging.INFO, "mine"):
        storage.aggregate_step(20)
    assert "1 key" in caplog.text and "20" in caplog.text


class FakeDevice:
    """A tensor of another device, as far as can be told without one."""

    def __init__(self, values):
        self.values = torch.tensor(values)
        self.device = torch.device("cuda", 0)
        self.dtype = self.values.dtype
        self.reads = []

    def detach(self):
        return self

    def numel(self):
        return self.values.numel()

    def sum(self, dtype=None):
        return OnDevice(self.values.sum(dtype=dtype))


class OnDevice:
    def __init__(self, tensor):
        self.tensor, self.device, self.dtype = tensor, torch.device("cuda", 0), tensor.dtype


def test_one_copy_for_all_that_lies_on_a_device(storage, monkeypatch):
    copies = []
    stack = torch.stack

    def stack_there(tensors):
        copies.append(len(tensors))
        return stack([tensor.tensor for tensor in tensors])

    monkeypatch.setattr(torch, "stack", stack_there)
    for number in range(5):
        storage.log_tensor(0, f"k{number}", FakeDevice([1.0, 2.0 * number]))
    storage.log_tensor(0, "k0", FakeDevice([5.0]))
    storage.log_tensor(0, "here", torch.tensor([1.0]))
    assert finished(storage) == {
        "k0": 2.0, "k1": 1.5, "k2": 2.5, "k3": 3.5, "k4": 4.5, "here": 1.0,
    }  # fmt: skip
    assert copies == [6]
