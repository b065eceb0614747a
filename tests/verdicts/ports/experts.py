"""A mixture of experts: expert by expert with index_add; token by token, sorted, with stacked weights. Held back."""

from tests.verdicts.ports.bugs import Bug

WEIGHTS = """
import torch

g = torch.Generator().manual_seed(6)


def draw(*shape, scale=0.3):
    return torch.randn(*shape, generator=g) * scale


def weights():
    w = {"embed.weight": draw(30, 16)}
    for i in range(2):
        w[f"layers.{i}.norm.weight"] = 1 + draw(16)
        w[f"layers.{i}.moe.gate.weight"] = draw(4, 16, scale=1.0)
        for e in range(4):
            w[f"layers.{i}.moe.experts.{e}.w1.weight"] = draw(24, 16)
            w[f"layers.{i}.moe.experts.{e}.w2.weight"] = draw(16, 24)
            w[f"layers.{i}.moe.experts.{e}.w3.weight"] = draw(24, 16)
        w[f"layers.{i}.shared.weight"] = draw(16, 16)
    w["norm.weight"] = 1 + draw(16)
    w["head.weight"] = draw(30, 16)
    return w, torch.randint(30, (2, 8), generator=g)
"""

REFERENCE = """
import torch
from torch import nn
import torch.nn.functional as F


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + self.eps)
        return x * scale * self.weight


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class SparseMoe(nn.Module):
    def __init__(self, dim, hidden, count=4, top_k=2):
        super().__init__()
        self.top_k = top_k
        self.gate = nn.Linear(dim, count, bias=False)
        self.experts = nn.ModuleList(Expert(dim, hidden) for _ in range(count))

    def forward(self, hidden):
        batch, length, dim = hidden.shape
        hidden = hidden.view(-1, dim)
        router_logits = self.gate(hidden)
        routing = F.softmax(router_logits, dim=1)
        routing, selected = torch.topk(routing, self.top_k, dim=-1)
        routing = routing / routing.sum(dim=-1, keepdim=True)
        final = torch.zeros_like(hidden)
        mask = F.one_hot(selected, 4).permute(2, 1, 0)
        for number, expert in enumerate(self.experts):
            idx, top_x = torch.where(mask[number])
            current = expert(hidden[top_x]) * routing[top_x, idx, None]
            final.index_add_(0, top_x, current)
        return final.reshape(batch, length, dim)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = RMSNorm(16)
        self.moe = SparseMoe(16, 24)
        self.shared = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        y = self.norm(x)
        routed = self.moe(y)
        both = routed + self.shared(y)
        x = x + both
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16)
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.norm = RMSNorm(16)
        self.head = nn.Linear(16, 30, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        x = self.norm(x)
        return self.head(x)


model = Model().eval()
state, tokens = torch.load("checkpoint.pt")
model.load_state_dict(state)
weights = model.state_dict()
with torch.no_grad():
    logits = model(tokens)
"""

PORT = """
import torch
import torch.nn.functional as F


def rms_norm(x, gain, eps=1e-5):
    variance = x.square().mean(dim=-1, keepdim=True)
    normal = x / (variance + eps).sqrt()
    return normal * gain


def route(tokens, gate, k=2):
    logits = tokens @ gate
    values, experts = logits.topk(k, dim=-1)
    shares = values.softmax(dim=-1)
    return shares, experts


def expert_mlp(x, up, gate, down):
    inner = F.silu(x @ gate) * (x @ up)
    return inner @ down


def mixture(x, p, layer):
    tokens = x.flatten(0, 1)
    shares, experts = route(tokens, p[f"{layer}.router"])
    order = experts.flatten().argsort(stable=True)
    owner = order // experts.shape[1]
    given = tokens[owner]
    chosen = experts.flatten()[order]
    parts = []
    for e in range(4):
        rows = given[chosen == e]
        parts.append(expert_mlp(rows, p[f"{layer}.up"][e], p[f"{layer}.gate"][e], p[f"{layer}.down"][e]))
    done = torch.cat(parts)
    weighted = done * shares.flatten()[order, None]
    mixed = torch.zeros_like(tokens).index_add(0, owner, weighted)
    return mixed.view_as(x)


def forward(p, ids):
    stream = p["table"][ids]
    for layer in range(2):
        normal = rms_norm(stream, p[f"{layer}.norm"])
        routed = mixture(normal, p, layer)
        shared = normal @ p[f"{layer}.shared"]
        stream = stream + routed + shared
    stream = rms_norm(stream, p["norm"])
    return stream @ p["head"]


def convert(s):
    p = {"table": s["embed.weight"], "norm": s["norm.weight"], "head": s["head.weight"].T}
    for i in range(2):
        at = f"layers.{i}.moe."
        p[f"{i}.norm"] = s[f"layers.{i}.norm.weight"]
        p[f"{i}.router"] = s[at + "gate.weight"].T
        p[f"{i}.gate"] = torch.stack([s[at + f"experts.{e}.w1.weight"].T for e in range(4)])
        p[f"{i}.down"] = torch.stack([s[at + f"experts.{e}.w2.weight"].T for e in range(4)])
        p[f"{i}.up"] = torch.stack([s[at + f"experts.{e}.w3.weight"].T for e in range(4)])
        p[f"{i}.shared"] = s[f"layers.{i}.shared.weight"].T
    return p


state, ids = torch.load("checkpoint.pt")
params = convert(state)
with torch.no_grad():
    scores = forward(params, ids)
"""

BUGS = [
    Bug("eps", "def rms_norm(x, gain, eps=1e-5)", "def rms_norm(x, gain, eps=1e-1)"),
    Bug("eps_outside", "x / (variance + eps).sqrt()", "x / (variance.sqrt() + 0.05)"),
    Bug("norm_of_means", "x.square().mean(dim=-1, keepdim=True)", "x.var(dim=-1, keepdim=True)"),
    Bug("gain_missing", "return normal * gain", "return normal"),
    Bug(
        "shares_not_normalised",
        "shares = values.softmax(dim=-1)",
        "shares = logits.softmax(dim=-1).gather(-1, experts)",
    ),
    Bug("shares_by_sigmoid", "shares = values.softmax(dim=-1)", "shares = values.sigmoid()"),
    Bug("activation", "F.silu(x @ gate)", "F.gelu(x @ gate)"),
    Bug("smallest_experts", "logits.topk(k, dim=-1)", "logits.topk(k, dim=-1, largest=False)"),
    Bug("one_expert", "def route(tokens, gate, k=2)", "def route(tokens, gate, k=1)"),
    Bug("owner_of_another", "owner = order // experts.shape[1]", "owner = order % len(tokens)"),
    Bug("shares_not_sorted", "shares.flatten()[order, None]", "shares.flatten()[:, None]"),
    Bug(
        "gate_and_up_swapped",
        '[s[at + f"experts.{e}.w1.weight"].T for e in range(4)]',
        '[s[at + f"experts.{e}.w3.weight"].T for e in range(4)]',
        weight="0.gate",
    ),
    Bug(
        "experts_in_another_order",
        's[at + f"experts.{e}.w2.weight"].T for e in range(4)',
        's[at + f"experts.{e}.w2.weight"].T for e in (1, 0, 2, 3)',
        weight="0.down",
    ),
    Bug(
        "shared_not_transposed",
        's[f"layers.{i}.shared.weight"].T',
        's[f"layers.{i}.shared.weight"]',
        weight="0.shared",
    ),
    Bug("shared_left_out", "stream = stream + routed + shared", "stream = stream + routed"),
    Bug("residual_missing", "stream = stream + routed + shared", "stream = routed + shared"),
]
