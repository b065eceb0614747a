"""What tracing variables costs, against the same done by sys.settrace in Python.

Claims, on a transformer of 4 layers: tracing `forward.*` of every layer adds at most 1/20 of what a
tracer on sys.settrace (settrace_tracer.py) adds, which keeps the same values; and modules that no path
matches take at most 1.01 times as long while others are traced.

Both add to a step's time: what the processor takes for many steps, in turns, is what is compared.
"""

import math
import pathlib
import sys
import time
from statistics import median

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "bench"))

from tests.support import paths  # noqa: E402

sys.path.insert(0, str(paths.PYTHON_PATH))

from claims import Claims, Figure, best, middle_half  # noqa: E402
from settrace_tracer import SettraceTracer  # noqa: E402

ROUNDS = 11
STEPS = 40


class Layer(nn.Module):
    """Each value has a name, as in a model that somebody debugs."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_attention = nn.LayerNorm(width)
        self.norm_mlp = nn.LayerNorm(width)
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x):
        normed = self.norm_attention(x)
        q = self.split(self.q(normed))
        k = self.split(self.k(normed))
        v = self.split(self.v(normed))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = scores.softmax(dim=-1)
        mixed = (weights @ v).transpose(1, 2).flatten(2)
        attended = x + self.out(mixed)
        hidden = self.up(self.norm_mlp(attended))
        active = nn.functional.gelu(hidden)
        result = attended + self.down(active)
        return result


class Transformer(nn.Module):
    def __init__(self, width=32, heads=4, depth=4):
        super().__init__()
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(depth))
        self.head = nn.Linear(width, width)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def processor_time(function):
    """Of one call: what is kept grows from call to call, and its memory is part of the cost."""
    started = time.process_time()
    for _ in range(STEPS):
        function()
    return (time.process_time() - started) / STEPS


def compare_overheads(model, x):
    """What each of the two adds to a step, of each round."""
    from monitorch.tracer import ModelTracer

    modules = {f"layers.{i}": layer for i, layer in enumerate(model.layers)}
    results = {}

    def step():
        model(x).sum().backward()

    def plain():
        return processor_time(step)

    def ours():
        with ModelTracer(model, ["layers.*.forward.*"]) as tracer:
            step()  # what is compiled once and found out once
            took = processor_time(step)
        results[ours] = tracer.results
        return took

    def peer():
        with SettraceTracer(model, modules) as tracer:
            step()
            took = processor_time(step)
        results[peer] = tracer.results
        return took

    found = {plain: [], ours: [], peer: []}
    for turn in range(ROUNDS):
        for function in (plain, ours, peer) if turn % 2 else (peer, ours, plain):
            found[function].append(function())
    check_same(results[ours], results[peer])
    return found[plain], found[ours], found[peer]


def check_same(ours, peer):
    """Both must have kept the same."""
    assert set(ours) == set(peer), set(ours) ^ set(peer)
    for path, kept in peer.items():
        values = ours[path].values
        assert len(values) == len(kept), path
        for value, (iteration, other) in zip(values, kept):
            assert torch.equal(value, other), path


def compare_untraced(model, x):
    """The layers' times while the head alone is traced, and while nothing is."""
    from monitorch.tracer import ModelTracer

    def step():
        for layer in model.layers:
            layer(x)

    traced, plain = [], []
    for turn in range(2 * ROUNDS):
        for is_traced in (True, False) if turn % 2 else (False, True):
            if is_traced:
                with ModelTracer(model, ["head.forward.input", "head"]):
                    traced.append(processor_time(step))
            else:
                plain.append(processor_time(step))
    return traced, plain


def added(times, plain):
    """How many times more the peer adds to the plain step, by the medians."""
    ours, peers = times
    ratios = [(b - c) / (a - c) for a, b, c in zip(ours, peers, plain) if a > c]
    value = (median(peers) - median(plain)) / max(median(ours) - median(plain), 1e-9)
    return Figure(value, *middle_half(ratios or [value]))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    claims = Claims("What tracing variables of a model costs")
    model = Transformer()
    x = torch.randn(2, 16, 32)
    plain, ours, peers = compare_overheads(model, x)
    print(
        f"a step: {median(plain) * 1e6:.0f} us; "
        f"traced {(median(ours) - median(plain)) * 1e6:+.0f} us; "
        f"by sys.settrace {(median(peers) - median(plain)) * 1e6:+.0f} us"
    )
    claims.at_least(
        20,
        "tracing forward.* of 4 layers adds to a step",
        added((ours, peers), plain),
        peer="what sys.settrace in Python adds",
        unit="times less",
    )
    claims.at_most(
        1.01,
        "modules that no path matches, while another is traced",
        best(*compare_untraced(model, x)),
        peer="the same while nothing is traced",
    )
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
