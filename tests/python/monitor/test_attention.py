"""monitor_scaled_dot_product_attention, against attention written out by hand."""

import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.monitor", reason="the package is not built (make)")

import torch.nn.functional as F  # noqa: E402
from monitorch.monitor import (  # noqa: E402
    ModuleMonitor,
    MonitorMixin,
    monitor_scaled_dot_product_attention,
)
from torch import nn  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture
def monitor():
    monitor = ModuleMonitor(monitor_step_fn=lambda step: step % 2 == 0)
    monitor.set_module(nn.Identity())
    monitor.add_activation_metric("norm", lambda x: x.norm())
    monitor.begin_step(0)
    return monitor


def finish(monitor):
    monitor.end_step()
    return monitor.get_step_metrics()


def entropy(query, key, head, bias=None, scale=None):
    """Row by row, in double, of the rows that look anywhere."""
    told = []
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    for batch in range(query.size(0)):
        for row in range(query.size(-2)):
            scores = (key[batch, head].double() @ query[batch, head, row].double()) * scale
            if bias is not None:
                scores = (
                    scores + bias.expand(query.size(0), query.size(1), -1, -1)[batch, head, row]
                )
            if torch.isneginf(scores).all():
                continue
            weights = [p for p in torch.softmax(scores, 0).tolist() if p > 0]
            told.append(-sum(p * math.log(p) for p in weights))
    return sum(told) / len(told)


def tensors(heads=3, rows=5, places=5, size=4, groups=None):
    torch.manual_seed(0)
    query = torch.randn(2, heads, rows, size)
    key, value = torch.randn(2, 2, groups or heads, places, size)
    return query, key, value


def test_each_head(monitor):
    query, key, value = tensors()
    result = F.scaled_dot_product_attention(query, key, value)
    monitor_scaled_dot_product_attention(
        monitor, "blocks.0.attn", query=query, key=key, value=value, activation=result
    )
    told = finish(monitor)
    expected = {}
    for head in range(3):
        for name, part in zip(("query", "key", "value", "activation"), (query, key, value, result)):
            norm = part[:, head].norm().item()
            expected[f"activation/blocks.0.attn.head_{head}.{name}/norm"] = norm
        expected[f"attention_entropy/blocks.0.attn.head_{head}"] = entropy(query, key, head)
    assert told == pytest.approx(expected, rel=1e-5)


def causal(rows, places):
    return torch.zeros(rows, places).masked_fill(
        torch.ones(rows, places).triu(1).bool(), float("-inf")
    )


BOOLEAN = torch.rand(2, 1, 5, 5, generator=torch.Generator().manual_seed(1)) > 0.4
ADDED = torch.randn(5, 5, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize(
    ("given", "bias", "scale"),
    [
        ({"is_causal": True}, causal(5, 5), None),
        ({"attn_mask": BOOLEAN}, torch.zeros(2, 1, 5, 5).masked_fill(~BOOLEAN, -math.inf), None),
        ({"attn_mask": ADDED}, ADDED, None),
        ({"scale": 2.0}, None, 2.0),
        ({"dropout_p": 0.5}, None, None),
    ],
    ids=["causal", "boolean mask", "added mask", "scale", "dropout"],
)
def test_masks(monitor, given, bias, scale):
    query, key, value = tensors()
    state = torch.random.get_rng_state()
    monitor_scaled_dot_product_attention(monitor, "m", query, key, value, **given)
    assert torch.equal(torch.random.get_rng_state(), state)
    told = finish(monitor)
    for head in range(3):
        assert told[f"attention_entropy/m.head_{head}"] == pytest.approx(
            entropy(query, key, head, bias, scale), rel=1e-5
        )


def test_known_entropies(monitor):
    """Nothing in common: the same everywhere. A large scale: one place alone."""
    query = torch.zeros(1, 1, 4, 8)
    key = torch.randn(1, 1, 16, 8)
    monitor_scaled_dot_product_attention(monitor, "even", query, key, key)
    query = torch.eye(8)[None, None, :4] * 1000
    monitor_scaled_dot_product_attention(monitor, "sharp", query, torch.eye(8)[None, None], key)
    told = finish(monitor)
    assert told["attention_entropy/even.head_0"] == pytest.approx(math.log(16))
    assert told["attention_entropy/sharp.head_0"] == pytest.approx(0, abs=1e-6)


def test_more_places_than_rows_and_other_sizes(monitor):
    query, key, _ = tensors(rows=3, places=7)
    value = torch.randn(2, 3, 7, 9)
    monitor_scaled_dot_product_attention(monitor, "cross", query, key, value, is_causal=True)
    told = finish(monitor)
    for head in range(3):
        assert told[f"attention_entropy/cross.head_{head}"] == pytest.approx(
            entropy(query, key, head, causal(3, 7)), rel=1e-5
        )
        norm = value[:, head].norm().item()
        assert told[f"activation/cross.head_{head}.value/norm"] == pytest.approx(norm, rel=1e-5)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_groups_of_queries(monitor, groups):
    query, key, value = tensors(heads=4, groups=groups)
    monitor_scaled_dot_product_attention(monitor, "m", query, key, value, enable_gqa=True)
    told = finish(monitor)
    wide = key.repeat_interleave(4 // groups, 1)
    for head in range(4):
        assert told[f"attention_entropy/m.head_{head}"] == pytest.approx(
            entropy(query, wide, head), rel=1e-5
        )
        norm = wide[:, head].norm().item()
        assert told[f"activation/m.head_{head}.key/norm"] == pytest.approx(norm, rel=1e-5)


def test_wrong_heads_are_refused(monitor):
    query, key, value = tensors(heads=4, groups=2)
    with pytest.raises(ValueError, match="m: 2 heads of keys.*4 heads of queries without enable_gqa"):
        monitor_scaled_dot_product_attention(monitor, "m", query, key, value)
    query, key, value = tensors(heads=4, groups=3)
    with pytest.raises(ValueError, match="3 heads"):
        monitor_scaled_dot_product_attention(monitor, "m", query, key, value, enable_gqa=True)
    with pytest.raises(ValueError, match="attn_mask and is_causal"):
        monitor_scaled_dot_product_attention(
            monitor, "m", *tensors(), attn_mask=ADDED, is_causal=True
        )


def test_rows_that_look_nowhere_do_not_count(monitor):
    query, key, value = tensors()
    mask = torch.ones(5, 5, dtype=torch.bool)
    mask[2] = False
    monitor_scaled_dot_product_attention(monitor, "m", query, key, value, attn_mask=mask)
    bias = torch.zeros(5, 5).masked_fill(~mask, -math.inf)
    told = finish(monitor)
    assert told["attention_entropy/m.head_1"] == pytest.approx(
        entropy(query, key, 1, bias), rel=1e-5
    )


def test_nan_is_told(monitor):
    query, key, value = tensors()
    query[0, 1, 2, 3] = math.nan
    monitor_scaled_dot_product_attention(monitor, "m", query, key, value)
    told = finish(monitor)
    assert math.isnan(told["attention_entropy/m.head_1"])
    assert told["attention_entropy/m.head_0"] > 0


def test_without_a_batch_and_in_halves(monitor):
    query, key, value = (part[0].bfloat16() for part in tensors())
    monitor_scaled_dot_product_attention(monitor, "m", query, key, value)
    told = finish(monitor)
    assert told["attention_entropy/m.head_2"] == pytest.approx(
        entropy(query[None], key[None], 2), rel=1e-5
    )


def test_long_sequences_take_little_memory(monitor, monkeypatch):
    """Rows a few at a time are what all of them are."""
    from monitorch.monitor import attention

    query, key, value = tensors(rows=50, places=50)
    monitor_scaled_dot_product_attention(monitor, "whole", query, key, value, is_causal=True)
    sizes = []
    count = attention._entropy
    monkeypatch.setattr(attention, "_WEIGHTS_AT_ONCE", 700)
    monkeypatch.setattr(attention, "_entropy", lambda s: sizes.append(s.numel()) or count(s))
    monitor_scaled_dot_product_attention(monitor, "parts", query, key, value, is_causal=True)
    told = finish(monitor)
    assert max(sizes) <= 700 and len(sizes) > 3
    for head in range(3):
        assert told[f"attention_entropy/parts.head_{head}"] == pytest.approx(
            told[f"attention_entropy/whole.head_{head}"], rel=1e-6
        )


class Attention(nn.Module, MonitorMixin):
    """As in the document."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)

    def get_qkv(self, x):
        return (part.unflatten(-1, (2, 4)).transpose(-2, -3) for part in self.qkv(x).chunk(3, -1))

    def forward(self, x):
        q, k, v = self.get_qkv(x)
        output = F.scaled_dot_product_attention(q, k, v)
        if self.is_monitoring:
            monitor_scaled_dot_product_attention(
                self.get_module_monitor(),
                module=self,
                query=q, key=k, value=v,
                activation=output,
                is_reference=self.is_reference_module,
            )  # fmt: skip
        return output


def test_in_a_module_with_a_reference():
    import copy

    torch.manual_seed(0)
    model = nn.Sequential(Attention(), nn.Flatten(1), nn.Linear(40, 1))
    reference = copy.deepcopy(model)
    with torch.no_grad():
        model[0].qkv.weight.add_(0.1)
    monitor = ModuleMonitor(monitor_step_fn=lambda step: step % 2 == 0)
    monitor.set_module(model)
    monitor.set_reference_module(reference)
    monitor.add_activation_metric("mean", "mean", metric_regex=".*head_.*")
    monitor.add_activation_difference_metric(
        "l2", lambda a, b: (a - b).norm(), metric_regex=".*head_.*"
    )
    inputs = torch.randn(2, 5, 8)
    for step in range(3):
        monitor.begin_step(step)
        reference(inputs)
        model(inputs).sum().backward()
        monitor.end_step()
    assert set(monitor.get_all_metrics()) == {0, 2}
    told = monitor.get_step_metrics()
    for index, part in enumerate(("query", "key", "value")):
        for head in range(2):
            rows = slice(8 * index + 4 * head, 8 * index + 4 * head + 4)
            now = inputs @ model[0].qkv.weight[rows].T + model[0].qkv.bias[rows]
            then = inputs @ reference[0].qkv.weight[rows].T + reference[0].qkv.bias[rows]
            name = f"0.head_{head}.{part}"
            assert told[f"activation/{name}/mean"] == pytest.approx(now.mean().item(), abs=1e-6)
            assert told[f"activation_difference/{name}/l2"] == pytest.approx(
                (now - then).norm().item(), rel=1e-5
            )
    assert {key for key in told if key.startswith("attention_entropy")} == {
        "attention_entropy/0.head_0", "attention_entropy/0.head_1",
    }  # fmt: skip


def test_nothing_where_nothing_is_monitored(monitor):
    finish(monitor)
    monitor.begin_step(1)
    monitor_scaled_dot_product_attention(monitor, "m", None, None, None)
    monitor.end_step()
    assert not monitor.get_all_metrics().get(1)
