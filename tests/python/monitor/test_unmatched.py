"""Metrics and alerts that match nothing: one warning each, which names what was meant."""

import logging

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch._recorder", reason="the recorder is not built (make)")

from monitorch.monitor import ModuleMonitor, monitor_scaled_dot_product_attention  # noqa: E402
from torch import nn  # noqa: E402

from tests.python.monitor.models import Net, make_monitor  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.decoder = nn.Linear(4, 4)

    def forward(self, x):
        hidden = self.encoder(x)
        return self.decoder(hidden)


@pytest.fixture
def monitor():
    return make_monitor(Block())


def steps(monitor, count=2):
    for step in range(count):
        monitor.begin_step(step)
        monitor.module(torch.ones(2, 4)).sum().backward()
        monitor.monitor_gradients()
        monitor.end_step()


@pytest.fixture
def warned(caplog):
    caplog.set_level(logging.WARNING)
    return lambda: [record.getMessage() for record in caplog.records]


def test_an_alert_about_no_key(monitor, warned):
    monitor.add_activation_metric("nan", "nan")
    monitor.alert("activations/*/nan > 0")
    monitor.alert("activation/*/nan > 0")
    monitor.begin_step(0)
    assert warned() == []
    monitor.module(torch.ones(2, 4))
    monitor.end_step()
    expected = (
        "Step 0: alert 'activations/*/nan > 0' matches no key of this step; did you mean "
        "'activation/[root module]/nan', 'activation/encoder/nan' or 'activation/encoder.0/nan'?"
    )
    assert warned() == [expected]
    steps(monitor)
    assert warned() == [expected]


def test_an_alert_far_from_all_keys(monitor, warned):
    monitor.alert("loss > 3")
    monitor.begin_step(0)
    monitor.end_step()
    assert warned() == []  # the step has nothing to compare with
    monitor.begin_step(1)
    monitor.log_scalars({"a/b": 1, "c/d": 2})
    monitor.end_step()
    expected = (
        "Step 1: alert 'loss > 3' matches no key of this step; there are 'a/b' and 'c/d'"
    )
    assert warned() == [expected]


def test_an_alert_in_a_step_that_is_not_monitored(warned):
    monitor = make_monitor(Block(), steps=lambda step: step == 1)
    monitor.add_activation_metric("nan", "nan")
    monitor.alert("activation/*/nan > 0")
    monitor.begin_step(0)
    monitor.log_scalar("loss", 1.0, force=True)
    monitor.end_step()
    steps(monitor)
    assert warned() == []


@pytest.mark.parametrize(
    "regex, meant",
    [
        ("encodr", "'encoder', 'encoder.0' or 'encoder.1'"),
        (r"encodr\.\d+$", "'encoder.0' or 'encoder.1'"),
        (r"^(?:encodr|x)\.[01]", "'encoder.0' or 'encoder.1'"),
        (r".*\.decoder", "'decoder'"),
    ],
)
def test_an_activation_metric_of_no_module(monitor, warned, regex, meant):
    monitor.add_activation_metric("std", "std", regex)
    monitor.add_activation_metric("max", "max", "decoder")
    steps(monitor)
    (text,) = warned()
    assert text.startswith(f"Step 0: metric 'std' measures nothing: {regex!r} matches no module, ")
    assert text.endswith(f"; did you mean {meant}?"), text


def test_a_metric_of_no_local(warned):
    monitor = make_monitor(Net())
    monitor.add_activation_metric("max", "max", r"attn\.forward:scoers")
    monitor.begin_step(0)
    monitor.module(torch.randn(3, 5, 8))
    monitor.end_step()
    assert warned() == [
        "Step 0: metric 'max' measures nothing: 'attn\\\\.forward:scoers' matches no value in a "
        "method; did you mean 'attn.forward:scores'?"
    ]


@pytest.mark.parametrize("kind", ["parameter", "parameter_difference", "gradient"])
@pytest.mark.parametrize("is_late", [False, True])
def test_a_parameter_metric_warns_as_soon_as_the_model_is_known(kind, is_late, warned):
    monitor = ModuleMonitor(monitor_step_fn=lambda step: True)
    if is_late:
        monitor.set_module(Block())
    getattr(monitor, f"add_{kind}_metric")("norm", lambda *tensors: 0.0, "decoder.wieght")
    getattr(monitor, f"add_{kind}_metric")("max", "max", r".*weight$")
    if not is_late:
        assert warned() == []
        monitor.set_module(Block())
    assert warned() == [
        "Metric 'norm' matches no parameter: none has a name like 'decoder.wieght'; did you mean "
        "'decoder.weight'?"
    ]


def test_names_that_are_given_by_hand_count(monitor, warned):
    monitor.add_activation_metric("norm", "norm", r".*head_\d+\.query")
    monitor.add_activation_metric("rms", "rms", "logits")
    monitor.begin_step(0)
    monitor.module(torch.ones(2, 4))
    query = torch.ones(1, 2, 3, 4)
    monitor_scaled_dot_product_attention(monitor, monitor.module.decoder, query, query, query)
    monitor.monitor_activations("logits", torch.ones(3))
    monitor.end_step()
    assert warned() == []


def test_what_is_excluded_is_no_match(warned):
    monitor = ModuleMonitor(lambda step: True, excluded_modules_regex="decoder")
    monitor.set_module(Block())
    monitor.add_activation_metric("std", "std", "decoder")
    steps(monitor)
    (text,) = warned()
    assert text.startswith("Step 0: metric 'std' measures nothing") and "'decoder'?" not in text
