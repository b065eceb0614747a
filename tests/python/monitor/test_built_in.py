"""Built-in metrics against torch's own functions, over one tensor and over several."""

import logging
import math
import os

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")
pytest.importorskip("monitorch._recorder", reason="the recorder is not built (make)")

from monitorch.monitor import ModuleMonitor  # noqa: E402
from torch import nn  # noqa: E402

from tests.python.monitor.models import make_monitor, run_step  # noqa: E402
from tests.support import paths, recording, warm  # noqa: E402

pytestmark = pytest.mark.torch


def narrow(x, dtype):
    """(lost to 0, subnormal, lost to infinity) in a narrower dtype, by torch's own rounding."""
    y = x.to(dtype).double()
    tiny = torch.finfo(dtype).tiny
    return (
        ((x != 0) & (y == 0)).double().mean().item(),
        ((y != 0) & (y.abs() < tiny)).double().mean().item(),
        (x.isfinite() & y.isinf()).double().mean().item(),
    )


def expect(x):
    """All built-in metrics of a tensor, with torch's functions in double."""
    if x.is_complex():
        x = x.abs()
    x = x.double()
    count = x.numel()
    fp16, bf16 = narrow(x.float(), torch.float16), narrow(x.float(), torch.bfloat16)
    return {
        "mean": x.mean().item(),
        "std": x.std().item(),
        "norm": x.norm().item(),
        "rms": x.square().mean().sqrt().item(),
        "min": x.min().item(),
        "max": x.max().item(),
        "absmax": x.abs().max().item(),
        "nan": x.isnan().sum().item(),
        "inf": x.isinf().sum().item(),
        "zeros": (x == 0).sum().item(),
        "nan_fraction": x.isnan().sum().item() / count,
        "inf_fraction": x.isinf().sum().item() / count,
        "zero_fraction": (x == 0).sum().item() / count,
        "count": count,
        "fp16_underflow": fp16[0],
        "fp16_subnormal": fp16[1],
        "fp16_overflow": fp16[2],
        "bf16_underflow": bf16[0],
        "bf16_subnormal": bf16[1],
        "bf16_overflow": bf16[2],
    }


class Give(nn.Module):
    """Returns what it is given."""

    def forward(self, x):
        return x


def measure(*tensors, names=None, monitor=None, **options):
    """{metric: value} of a module that has returned the tensors in one step."""
    model = Give()
    monitor = monitor or ModuleMonitor(monitor_step_fn=lambda step: True)
    monitor.set_module(model)
    for name in names or expect(torch.zeros(2)):
        monitor.add_activation_metric(name, name, **options)
    monitor.begin_step(0)
    for tensor in tensors:
        model(tensor)
    monitor.end_step()
    start = "activation/[root module]/"
    return {key[len(start) :]: value for key, value in monitor.get_step_metrics().items()}


def check(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-6, nan_ok=True), name


def normal(*shape, scale=1.0):
    generator = torch.Generator().manual_seed(3)
    return torch.randn(*shape, generator=generator) * scale


TENSORS = {
    "float32": normal(7, 11),
    "large": normal(300, 301) + 3,
    "transposed": normal(40, 50).t(),
    "a column": normal(40, 50)[:, 3],
    "expanded": normal(5, 1).expand(5, 9),
    "float64": normal(33).double() * 1e30,
    "float16": normal(64, 5).half(),
    "bfloat16": normal(64, 5).bfloat16(),
    "int64": torch.arange(-5, 20),
    "uint8": torch.arange(0, 20, dtype=torch.uint8),
    "bool": torch.tensor([True, False, True]),
    "complex": torch.complex(normal(9), normal(9).flip(0)),
    "conjugated": torch.complex(normal(9), normal(9).flip(0)).conj(),
    "no dimension": torch.tensor(2.5),
    "zeros": torch.zeros(4),
    "small": torch.tensor([6e-5, 6e-8, 2.9e-8, 2.98023223876953125e-8, 0.0, -1e-6, 1e-40, -1e-41]),
    "great": torch.tensor([65519.0, 65520.0, -65520.0, 3.4e38, -3.39e38, 1.0]),
    "nan": torch.tensor([1.0, math.nan, -2.0]),
    "inf": torch.tensor([1.0, math.inf, 0.0]),
    "-inf": torch.tensor([1.0, -math.inf, 0.0]),
    "both": torch.tensor([math.inf, -math.inf, 3.0]),
    "only inf": torch.tensor([math.inf, math.inf]),
}


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.filterwarnings("ignore:std")
def test_one_tensor(name):
    tensor = TENSORS[name]
    check(measure(tensor), expect(tensor))


@pytest.mark.filterwarnings("ignore:std")
def test_several_calls_are_measured_as_one_tensor():
    """A module that is used several times in a step: the maximum is that of all, not the mean of the
    maxima; the mean does not favour small calls; norms add up by their squares."""
    parts = [normal(3, 4), normal(50, 4, scale=5.0) + 2, torch.zeros(2, 4), normal(1, 4, scale=1e-6)]
    check(measure(*parts), expect(torch.cat(parts)))


def test_a_metric_of_every_call_with_an_aggregation():
    """With an aggregation of the user's, a built-in metric is one number a call."""
    parts = [normal(3, 4), normal(50, 4, scale=5.0)]
    found = measure(
        *parts, names=["max"],
        metric_aggregation_fn=lambda values: {"": values.mean(), "/lowest": values.min()},
    )  # fmt: skip
    highest = [part.max().item() for part in parts]
    assert found == pytest.approx({"max": sum(highest) / 2, "max/lowest": min(highest)}, rel=1e-6)


@pytest.mark.parametrize("shape", [(0,), (0, 5), (3, 0)])
def test_an_empty_batch(shape):
    """Counts are 0; what is not defined of nothing is NaN, and nothing raises."""
    found = measure(torch.empty(shape))
    counts = {"nan", "inf", "zeros", "count", "norm"}
    assert {name for name, value in found.items() if value == 0} == counts
    assert all(math.isnan(value) for name, value in found.items() if name not in counts)


def test_an_empty_batch_among_others():
    part = normal(6, 5)
    check(measure(torch.empty(0, 5), part, torch.empty(0, 5)), expect(part))


def test_every_step_begins_anew():
    monitor = make_monitor(Give())
    monitor.add_activation_metric("max", "max")
    monitor.add_activation_metric("bins", "hist")
    for step, value in enumerate((5.0, 1.0)):
        run_step(monitor, step, torch.tensor([value]))
    key = "activation/[root module]/max"
    assert monitor.get_all_metrics() == {0: {key: 5.0}, 1: {key: 1.0}}
    assert sum(monitor.get_step_histograms()["activation/[root module]/bins"].counts) == 1
    monitor.begin_step(2)
    monitor.end_step()
    assert monitor.get_step_metrics() == {}, "nothing was called"


def test_two_names_for_one_metric():
    monitor = make_monitor(Give())
    monitor.add_activation_metric("a", "max")
    monitor.add_activation_metric("b", "max")
    run_step(monitor, 0, torch.tensor([3.0]))
    start = "activation/[root module]/"
    assert monitor.get_step_metrics() == {start + "a": 3.0, start + "b": 3.0}


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_axis(axis):
    """One value for each index of a dimension, over all calls."""
    parts = [normal(2, 3, 4), normal(2, 3, 4, scale=3.0) + 1]
    found = measure(*parts, names=["rms", "max", "std"], axis=axis)
    expected = {}
    for index in range(parts[0].shape[axis]):
        both = torch.cat([part.select(axis, index).flatten() for part in parts])
        values = expect(both)
        expected |= {f"{name}/{index}": values[name] for name in ("rms", "max", "std")}
    assert found == pytest.approx(expected, rel=1e-6)


def test_axis_of_a_view():
    """Heads of what a linear layer returned: strides as they are."""
    tensor = normal(2, 5, 12).view(2, 5, 3, 4).transpose(1, 2)
    found = measure(tensor, names=["norm"], axis=1)
    assert found == pytest.approx(
        {f"norm/{i}": tensor[:, i].norm().item() for i in range(3)}, rel=1e-5
    )


def test_an_axis_that_is_not_there(caplog):
    monitor = ModuleMonitor(monitor_step_fn=lambda step: True, logger=logging.getLogger("test"))
    assert measure(normal(4), normal(4), names=["rms"], axis=1, monitor=monitor) == {}
    assert [record.getMessage() for record in caplog.records] == [
        "activation/[root module] was not measured: it has 1 dimensions, and no axis 1"
    ]


def test_histogram():
    """As numpy counts, into bins between powers of two."""
    generator = torch.Generator().manual_seed(5)
    values = torch.randn(3000, generator=generator).double() * torch.logspace(-9, 6, 3000).double()
    powers = torch.tensor([s * 2.0**e for s in (-1, 1) for e in range(-26, 19)]).double()
    parts = [values, powers, torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan]).double()]
    monitor = make_monitor(Give())
    monitor.add_activation_metric("bins", "hist")
    monitor.add_activation_metric("max", "max")
    monitor.begin_step(0)
    for part in parts:
        monitor.module(part)
    monitor.end_step()
    found = monitor.get_step_histograms()
    assert list(found) == ["activation/[root module]/bins"]
    counts, edges = found["activation/[root module]/bins"]
    assert edges[0] == -math.inf and edges[-1] == math.inf and list(edges) == sorted(edges)
    assert set(edges[1:-1]) == {s * 2.0**e for s in (-1, 1) for e in range(-24, 17)}
    everything = torch.cat(parts).numpy()
    everything = everything[~np.isnan(everything)]
    expected = np.bincount(
        np.minimum(np.searchsorted(edges, everything, side="right") - 1, len(counts) - 1),
        minlength=len(counts),
    )
    assert list(counts) == expected.tolist()
    assert list(monitor.get_step_metrics()) == ["activation/[root module]/max"], "none of them"


@pytest.mark.parametrize(
    "make, reason",
    [
        (lambda: torch.empty(3, device="meta"), "meta"),
        (lambda: torch.eye(3).to_sparse(), "sparse, 3 stored"),
    ],
)
def test_tensors_without_values_are_told_once(make, reason, caplog):
    monitor = ModuleMonitor(monitor_step_fn=lambda step: True, logger=logging.getLogger("test"))
    assert measure(make(), make(), names=["mean"], monitor=monitor) == {}
    assert [record.getMessage() for record in caplog.records] == [
        f"activation/[root module] was not measured: {reason}"
    ]


def test_an_unknown_name():
    monitor = ModuleMonitor()
    with pytest.raises(ValueError, match="unknown built-in metric 'median'; the built-in metrics are mean, std"):
        monitor.add_activation_metric("median", "median")
    with pytest.raises(TypeError, match="expected a function or the name of a built-in metric, not 3"):
        monitor.add_gradient_metric("three", 3)


DEVICE = """
import torch
from torch import nn
from monitorch.monitor import ModuleMonitor
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 300), nn.ReLU())
monitor = ModuleMonitor(monitor_step_fn=lambda step: True)
monitor.set_module(model)
for name in ("mean", "std", "norm", "min", "absmax", "zeros", "nan"):
    monitor.add_activation_metric(name, name)
    monitor.add_parameter_metric(name, name)
x = torch.randn(9, 10)
monitor.begin_step(0)
model(x)
model(2 * x)
monitor.monitor_parameters()
monitor.end_step()
for key, value in monitor.get_step_metrics().items():
    print(key, repr(value))
"""


def run_on_device(**variables):
    environment = dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH), **variables)
    done = recording.run_python("-c", DEVICE, python=warm.python(), env=environment)
    assert done.returncode == 0, done.stderr
    pairs = [line.rsplit(" ", 1) for line in done.stdout.splitlines()]
    return {key: float(value) for key, value in pairs}


def test_tensors_of_another_device():
    """Computed there, and told at the end of the step: here the CPU's are taken for a device's."""
    there = run_on_device(MONITORCH_TEST_DEVICE="1")
    assert len(there) == 3 * 7 + 2 * 7
    assert there == pytest.approx(run_on_device(), rel=1e-6, abs=1e-12)
