"""A selective state space model: a scan step by step with packed projections; separate projections and matrices over time. Held back."""

from tests.verdicts.ports.bugs import Bug

WEIGHTS = """
import torch

g = torch.Generator().manual_seed(8)


def draw(*shape, scale=0.3):
    return torch.randn(*shape, generator=g) * scale


def weights():
    w = {"backbone.embedding.weight": draw(40, 12)}
    for i in range(2):
        p = f"backbone.layers.{i}."
        w[p + "norm.weight"] = 1 + draw(12)
        w[p + "mixer.in_proj.weight"] = draw(40, 12)
        w[p + "mixer.conv1d.weight"], w[p + "mixer.conv1d.bias"] = draw(20, 1, 4), draw(20)
        w[p + "mixer.x_proj.weight"] = draw(3 + 2 * 5, 20)
        w[p + "mixer.dt_proj.weight"], w[p + "mixer.dt_proj.bias"] = draw(20, 3), draw(20)
        w[p + "mixer.A_log"] = torch.log(torch.arange(1, 6).float()).repeat(20, 1) + draw(20, 5, scale=0.1)
        w[p + "mixer.D"] = 1 + draw(20)
        w[p + "mixer.out_proj.weight"] = draw(12, 20)
    w["backbone.norm_f.weight"] = 1 + draw(12)
    return w, torch.randint(40, (2, 9), generator=g)
"""

REFERENCE = """
import torch
import torch.nn as nn
import torch.nn.functional as F


class RMSNorm(nn.Module):
    def __init__(self, d, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        rstd = torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + self.eps)
        return x * rstd * self.weight


def selective_scan(u, delta, A, B, C, D):
    batch, length, d = u.shape
    deltaA = torch.exp(torch.einsum("bld,dn->bldn", delta, A))
    deltaB_u = torch.einsum("bld,bln,bld->bldn", delta, B, u)
    state = torch.zeros(batch, d, A.shape[1])
    ys = []
    for i in range(length):
        state = deltaA[:, i] * state + deltaB_u[:, i]
        ys.append(torch.einsum("bdn,bn->bd", state, C[:, i]))
    y = torch.stack(ys, dim=1)
    return y + u * D


class Mamba(nn.Module):
    def __init__(self, d_model=12, d_inner=20, d_state=5, dt_rank=3):
        super().__init__()
        self.d_state, self.dt_rank = d_state, dt_rank
        self.in_proj = nn.Linear(d_model, d_inner * 2, bias=False)
        self.conv1d = nn.Conv1d(d_inner, d_inner, 4, groups=d_inner, padding=3)
        self.x_proj = nn.Linear(d_inner, dt_rank + d_state * 2, bias=False)
        self.dt_proj = nn.Linear(dt_rank, d_inner)
        self.A_log = nn.Parameter(torch.zeros(d_inner, d_state))
        self.D = nn.Parameter(torch.ones(d_inner))
        self.out_proj = nn.Linear(d_inner, d_model, bias=False)

    def forward(self, hidden):
        length = hidden.shape[1]
        xz = self.in_proj(hidden)
        x, z = xz.chunk(2, dim=-1)
        x = self.conv1d(x.transpose(1, 2))[..., :length].transpose(1, 2)
        x = F.silu(x)
        x_dbl = self.x_proj(x)
        dt, B, C = torch.split(x_dbl, [self.dt_rank, self.d_state, self.d_state], dim=-1)
        dt = F.softplus(self.dt_proj(dt))
        A = -torch.exp(self.A_log)
        y = selective_scan(x, dt, A, B, C, self.D)
        y = y * F.silu(z)
        return self.out_proj(y)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = RMSNorm(12)
        self.mixer = Mamba()

    def forward(self, x):
        return x + self.mixer(self.norm(x))


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(40, 12)
        self.layers = nn.ModuleList(Block() for _ in range(2))
        self.norm_f = RMSNorm(12)

    def forward(self, ids):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return self.norm_f(x)


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = Backbone()

    def forward(self, ids):
        x = self.backbone(ids)
        return x @ self.backbone.embedding.weight.T


lm = LM().eval()
state, ids = torch.load("checkpoint.pt")
lm.load_state_dict(state)
weights = lm.state_dict()
with torch.no_grad():
    logits = lm(ids)
"""

PORT = """
import torch
from torch import nn
from torch.nn import functional as F


def causal_conv(x, kernel, bias):
    padded = F.pad(x, (0, 0, kernel.shape[-1] - 1, 0))
    windows = padded.unfold(1, kernel.shape[-1], 1)
    return (windows * kernel).sum(-1) + bias


def scan(decay, drive):
    log_decay = decay.cumsum(1)
    steps = decay.shape[1]
    between = log_decay[:, :, None] - log_decay[:, None, :]
    causal = torch.ones(steps, steps, dtype=torch.bool).tril()
    weight = torch.exp(between.masked_fill(~causal[None, :, :, None, None], float("-inf")))
    return torch.einsum("btsdn,bsdn->btdn", weight, drive)


class StateSpace(nn.Module):
    def __init__(self, width, inner, state, rank):
        super().__init__()
        self.to_signal = nn.Linear(width, inner, bias=False)
        self.to_gate = nn.Linear(width, inner, bias=False)
        self.kernel = nn.Parameter(torch.zeros(inner, 4))
        self.kernel_bias = nn.Parameter(torch.zeros(inner))
        self.to_rank = nn.Linear(inner, rank, bias=False)
        self.to_read_in = nn.Linear(inner, state, bias=False)
        self.to_read_out = nn.Linear(inner, state, bias=False)
        self.to_step = nn.Linear(rank, inner)
        self.register_buffer("rate", torch.zeros(inner, state))
        self.skip = nn.Parameter(torch.zeros(inner))
        self.merge = nn.Linear(inner, width, bias=False)

    def forward(self, tokens):
        signal = self.to_signal(tokens)
        gate = self.to_gate(tokens)
        signal = causal_conv(signal, self.kernel, self.kernel_bias)
        signal = F.silu(signal)
        rank = self.to_rank(signal)
        step = F.softplus(self.to_step(rank))
        read_in = self.to_read_in(signal)
        read_out = self.to_read_out(signal)
        decay = step[..., None] * self.rate
        drive = (step * signal)[..., None] * read_in[:, :, None]
        states = scan(decay, drive)
        mixed = (states * read_out[:, :, None]).sum(-1)
        mixed = mixed + self.skip * signal
        gate = F.silu(gate)
        mixed = mixed * gate
        return self.merge(mixed)


class Norm(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, tokens):
        power = tokens.pow(2).mean(-1, keepdim=True)
        tokens = tokens / torch.sqrt(power + self.epsilon)
        return tokens * self.gain


class Model(nn.Module):
    def __init__(self, vocabulary=40, width=12, epsilon=1e-5):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.norms = nn.ModuleList(Norm(width, epsilon) for _ in range(2))
        self.mixers = nn.ModuleList(StateSpace(width, 20, 5, 3) for _ in range(2))
        self.last = Norm(width, epsilon)

    def forward(self, words):
        stream = self.table(words)
        for norm, mixer in zip(self.norms, self.mixers):
            normed = norm(stream)
            stream = stream + mixer(normed)
        stream = self.last(stream)
        return F.linear(stream, self.table.weight)


def convert(old):
    new = {"table.weight": old["backbone.embedding.weight"]}
    new["last.gain"] = old["backbone.norm_f.weight"]
    for i in range(2):
        at, to = f"backbone.layers.{i}.", f"mixers.{i}."
        new[f"norms.{i}.gain"] = old[at + "norm.weight"]
        signal, gate = old[at + "mixer.in_proj.weight"].chunk(2)
        new[to + "to_signal.weight"], new[to + "to_gate.weight"] = signal, gate
        new[to + "kernel"] = old[at + "mixer.conv1d.weight"][:, 0]
        new[to + "kernel_bias"] = old[at + "mixer.conv1d.bias"]
        rank, read_in, read_out = old[at + "mixer.x_proj.weight"].split([3, 5, 5])
        new[to + "to_rank.weight"] = rank
        new[to + "to_read_in.weight"] = read_in
        new[to + "to_read_out.weight"] = read_out
        new[to + "to_step.weight"] = old[at + "mixer.dt_proj.weight"]
        new[to + "to_step.bias"] = old[at + "mixer.dt_proj.bias"]
        new[to + "rate"] = -torch.exp(old[at + "mixer.A_log"])
        new[to + "skip"] = old[at + "mixer.D"]
        new[to + "merge.weight"] = old[at + "mixer.out_proj.weight"]
    return new


model = Model().eval()
old, words = torch.load("checkpoint.pt")
model.load_state_dict(convert(old), strict=False)
loaded = model.state_dict()
with torch.no_grad():
    scores = model(words)
"""

BUGS = [
    Bug("eps", "epsilon=1e-5", "epsilon=1e-2"),
    Bug("rate_sign", "-torch.exp(old[at", "torch.exp(-old[at", weight="rate"),
    Bug(
        "rate_without_exp",
        '-torch.exp(old[at + "mixer.A_log"])',
        '-old[at + "mixer.A_log"]',
        weight="rate",
    ),
    Bug(
        "signal_and_gate_swapped",
        'signal, gate = old[at + "mixer.in_proj.weight"].chunk(2)',
        'gate, signal = old[at + "mixer.in_proj.weight"].chunk(2)',
        weight="to_signal.weight",
    ),
    Bug(
        "read_in_and_out_swapped",
        "rank, read_in, read_out = old",
        "rank, read_out, read_in = old",
        weight="to_read_in.weight",
    ),
    Bug(
        "kernel_turned",
        'old[at + "mixer.conv1d.weight"][:, 0]',
        'old[at + "mixer.conv1d.weight"][:, 0].flip(-1)',
        weight="kernel",
    ),
    Bug("not_causal", "kernel.shape[-1] - 1, 0))", "0, kernel.shape[-1] - 1))"),
    Bug("conv_bias_dropped", "(windows * kernel).sum(-1) + bias", "(windows * kernel).sum(-1)"),
    Bug("step_by_relu", "F.softplus(self.to_step(rank))", "F.relu(self.to_step(rank))"),
    Bug(
        "step_bias_not_loaded",
        '        new[to + "to_step.bias"] = old[at + "mixer.dt_proj.bias"]\n',
        '        new[to + "to_step.bias"] = torch.zeros(20)\n',
        weight="to_step.bias",
    ),
    Bug("drive_without_step", "drive = (step * signal)[..., None]", "drive = signal[..., None]"),
    Bug("decay_excludes_own", "dtype=torch.bool).tril()", "dtype=torch.bool).tril(-1)"),
    Bug(
        "skip_missing",
        "        mixed = mixed + self.skip * signal\n",
        "",
        at="mixed = (states * read_out",
        also="mixed = mixed * gate",
    ),
    Bug(
        "gate_not_activated",
        "        gate = F.silu(gate)\n",
        "",
        at="mixed = mixed * gate",
        also="gate = self.to_gate(tokens)",
    ),
    Bug("residual_missing", "stream = stream + mixer(normed)", "stream = mixer(normed)"),
    Bug(
        "gain_missing",
        "return tokens * self.gain",
        "return tokens",
        also="tokens = tokens / torch.sqrt(",
    ),
]
