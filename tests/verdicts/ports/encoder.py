"""An encoder with padding: weights in one dictionary and functions; modules whose heads are axes of the weights."""

from tests.verdicts.ports.bugs import Bug

WEIGHTS = """
import torch

g = torch.Generator().manual_seed(2)


def draw(*shape, scale=0.2):
    return torch.randn(*shape, generator=g) * scale


def weights():
    w = {"word": draw(50, 24, scale=0.1), "position": draw(12, 24, scale=0.1), "type": draw(2, 24, scale=0.1)}
    w["ln.g"], w["ln.b"] = 1 + draw(24), draw(24)
    for i in range(3):
        for name in ("q", "k", "v", "o"):
            w[f"{i}.{name}.w"], w[f"{i}.{name}.b"] = draw(24, 24), draw(24)
        w[f"{i}.up.w"], w[f"{i}.up.b"] = draw(24, 60), draw(60)
        w[f"{i}.down.w"], w[f"{i}.down.b"] = draw(60, 24), draw(24)
        for name in ("ln1", "ln2"):
            w[f"{i}.{name}.g"], w[f"{i}.{name}.b"] = 1 + draw(24), draw(24)
    w["pool.w"], w["pool.b"] = draw(24, 24), draw(24)
    w["cls.w"], w["cls.b"] = draw(24, 3), draw(3)
    ids = torch.randint(1, 50, (3, 9), generator=g)
    ids[1, 6:] = 0
    ids[2, 4:] = 0
    types = (torch.arange(9) > 4).long().expand(3, 9).contiguous()
    return w, (ids, types)
"""

REFERENCE = """
import math
import torch


def layer_norm(x, gain, bias, eps=1e-12):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps) * gain + bias


def gelu(x):
    return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


def attention(x, w, prefix, mask, n_head=4):
    b, t, d = x.shape
    q = x @ w[prefix + "q.w"] + w[prefix + "q.b"]
    k = x @ w[prefix + "k.w"] + w[prefix + "k.b"]
    v = x @ w[prefix + "v.w"] + w[prefix + "v.b"]
    q = q.view(b, t, n_head, d // n_head).permute(0, 2, 1, 3)
    k = k.view(b, t, n_head, d // n_head).permute(0, 2, 1, 3)
    v = v.view(b, t, n_head, d // n_head).permute(0, 2, 1, 3)
    att = q @ k.transpose(-1, -2)
    att = att / math.sqrt(d // n_head)
    att = att + mask
    prob = torch.softmax(att, -1)
    ctx = (prob @ v).permute(0, 2, 1, 3).reshape(b, t, d)
    return ctx @ w[prefix + "o.w"] + w[prefix + "o.b"]


def block(x, w, i, mask):
    a = attention(x, w, f"{i}.", mask)
    x = layer_norm(x + a, w[f"{i}.ln1.g"], w[f"{i}.ln1.b"])
    h = gelu(x @ w[f"{i}.up.w"] + w[f"{i}.up.b"])
    m = h @ w[f"{i}.down.w"] + w[f"{i}.down.b"]
    return layer_norm(x + m, w[f"{i}.ln2.g"], w[f"{i}.ln2.b"])


def encode(w, ids, types):
    mask = (ids == 0)[:, None, None, :].float() * -10000.0
    x = w["word"][ids] + w["position"][: ids.shape[1]] + w["type"][types]
    x = layer_norm(x, w["ln.g"], w["ln.b"])
    for i in range(3):
        x = block(x, w, i, mask)
    pooled = torch.tanh(x[:, 0] @ w["pool.w"] + w["pool.b"])
    return pooled @ w["cls.w"] + w["cls.b"]


w, (ids, types) = torch.load("checkpoint.pt")
scores = encode(w, ids, types)
"""

PORT = '''
import torch
from torch import nn
from torch.nn import functional as F


class SelfAttention(nn.Module):
    """Heads are an axis of the weights."""

    def __init__(self, size, heads):
        super().__init__()
        self.query = nn.Parameter(torch.zeros(heads, size, size // heads))
        self.key = nn.Parameter(torch.zeros(heads, size, size // heads))
        self.value = nn.Parameter(torch.zeros(heads, size, size // heads))
        self.query_bias = nn.Parameter(torch.zeros(heads, 1, size // heads))
        self.key_bias = nn.Parameter(torch.zeros(heads, 1, size // heads))
        self.value_bias = nn.Parameter(torch.zeros(heads, 1, size // heads))
        self.merge = nn.Linear(size, size)

    def forward(self, inputs, keep):
        query = torch.einsum("btd,hde->bhte", inputs, self.query) + self.query_bias
        key = torch.einsum("btd,hde->bhte", inputs, self.key) + self.key_bias
        value = torch.einsum("btd,hde->bhte", inputs, self.value) + self.value_bias
        query = query * query.shape[-1] ** -0.5
        logits = torch.einsum("bhte,bhse->bhts", query, key)
        logits = logits.masked_fill(~keep[:, None, None], torch.finfo(logits.dtype).min)
        weights = logits.softmax(dim=-1)
        context = torch.einsum("bhts,bhse->bthe", weights, value)
        return self.merge(context.flatten(2))


class Layer(nn.Module):
    def __init__(self, size, inner, heads):
        super().__init__()
        self.attention = SelfAttention(size, heads)
        self.norm_attention = nn.LayerNorm(size, eps=1e-12)
        self.expand = nn.Linear(size, inner)
        self.contract = nn.Linear(inner, size)
        self.norm_output = nn.LayerNorm(size, eps=1e-12)

    def forward(self, states, keep):
        attended = self.attention(states, keep)
        states = self.norm_attention(states + attended)
        inner = F.gelu(self.expand(states))
        states = self.norm_output(states + self.contract(inner))
        return states


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 24, padding_idx=0)
        self.positions = nn.Embedding(12, 24)
        self.segments = nn.Embedding(2, 24)
        self.norm = nn.LayerNorm(24, eps=1e-12)
        self.layers = nn.ModuleList(Layer(24, 60, 4) for _ in range(3))
        self.pooler = nn.Linear(24, 24)
        self.classifier = nn.Linear(24, 3)

    def forward(self, ids, segments):
        keep = ids != 0
        places = torch.arange(ids.shape[1])
        states = self.words(ids) + self.positions(places) + self.segments(segments)
        states = self.norm(states)
        for layer in self.layers:
            states = layer(states, keep)
        first = states[:, 0]
        pooled = torch.tanh(self.pooler(first))
        return self.classifier(pooled)


def by_heads(weight, heads=4):
    return weight.unflatten(-1, (heads, -1)).movedim(-2, 0)


def load(model, old):
    new = {
        "words.weight": old["word"],
        "positions.weight": old["position"],
        "segments.weight": old["type"],
        "norm.weight": old["ln.g"],
        "norm.bias": old["ln.b"],
        "pooler.weight": old["pool.w"].T,
        "pooler.bias": old["pool.b"],
        "classifier.weight": old["cls.w"].T,
        "classifier.bias": old["cls.b"],
    }
    for i in range(3):
        at = f"layers.{i}."
        new[at + "attention.query"] = by_heads(old[f"{i}.q.w"])
        new[at + "attention.key"] = by_heads(old[f"{i}.k.w"])
        new[at + "attention.value"] = by_heads(old[f"{i}.v.w"])
        new[at + "attention.query_bias"] = by_heads(old[f"{i}.q.b"])[:, None]
        new[at + "attention.key_bias"] = by_heads(old[f"{i}.k.b"])[:, None]
        new[at + "attention.value_bias"] = by_heads(old[f"{i}.v.b"])[:, None]
        new[at + "attention.merge.weight"] = old[f"{i}.o.w"].T
        new[at + "attention.merge.bias"] = old[f"{i}.o.b"]
        new[at + "expand.weight"] = old[f"{i}.up.w"].T
        new[at + "expand.bias"] = old[f"{i}.up.b"]
        new[at + "contract.weight"] = old[f"{i}.down.w"].T
        new[at + "contract.bias"] = old[f"{i}.down.b"]
        new[at + "norm_attention.weight"] = old[f"{i}.ln1.g"]
        new[at + "norm_attention.bias"] = old[f"{i}.ln1.b"]
        new[at + "norm_output.weight"] = old[f"{i}.ln2.g"]
        new[at + "norm_output.bias"] = old[f"{i}.ln2.b"]
    model.load_state_dict(new, strict=False)


model = Encoder().eval()
old, (token_ids, segment_ids) = torch.load("checkpoint.pt")
load(model, old)
parameters = model.state_dict()
answer = model(token_ids, segment_ids)
'''

BUGS = [
    Bug(
        "eps_of_a_norm",
        "self.norm_output = nn.LayerNorm(size, eps=1e-12)",
        "self.norm_output = nn.LayerNorm(size, eps=1e-1)",
    ),
    Bug(
        "scale_missing",
        "        query = query * query.shape[-1] ** -0.5\n",
        "",
        at='logits = torch.einsum("bhte,bhse->bhts"',
        also="logits = logits.masked_fill(",
    ),
    Bug("scale_of_all_heads", "query.shape[-1] ** -0.5", "inputs.shape[-1] ** -0.5"),
    Bug("mask_turned", "keep = ids != 0", "keep = ids == 0"),
    Bug("mask_of_queries", "~keep[:, None, None]", "~keep[:, None, :, None]"),
    Bug("activation_tanh_form", "F.gelu(self.expand(states))", "F.silu(self.expand(states))"),
    Bug("softmax_axis", "logits.softmax(dim=-1)", "logits.softmax(dim=-2)"),
    Bug(
        "positions_shifted",
        "places = torch.arange(ids.shape[1])",
        "places = torch.arange(ids.shape[1]) + 2",
    ),
    Bug(
        "segments_left_out",
        "states = self.words(ids) + self.positions(places) + self.segments(segments)",
        "states = self.words(ids) + self.positions(places)",
    ),
    Bug("pooled_from_the_last", "first = states[:, 0]", "first = states[:, -1]"),
    Bug("pooler_without_tanh", "torch.tanh(self.pooler(first))", "self.pooler(first)"),
    Bug(
        "merge_transposed", 'old[f"{i}.o.w"].T', 'old[f"{i}.o.w"]', weight="attention.merge.weight"
    ),
    Bug(
        "heads_by_reshape",
        'by_heads(old[f"{i}.k.w"])',
        'old[f"{i}.k.w"].view(4, 24, 6)',
        weight="attention.key",
    ),
    Bug(
        "bias_not_loaded",
        '        new[at + "attention.value_bias"] = by_heads(old[f"{i}.v.b"])[:, None]\n',
        "",
        weight="attention.value_bias",
    ),
    Bug(
        "norms_swapped",
        'new[at + "norm_attention.weight"] = old[f"{i}.ln1.g"]',
        'new[at + "norm_attention.weight"] = old[f"{i}.ln2.g"]',
        weight="norm_attention.weight",
    ),
    Bug(
        "norm_before",
        "states = self.norm_attention(states + attended)",
        "states = states + self.norm_attention(attended)",
    ),
]
