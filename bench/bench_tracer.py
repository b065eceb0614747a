"""What tracing variables costs, against the same done by sys.settrace in Python.

Claims, on a transformer of 4 layers: tracing `forward.*` of every layer adds at most 1/20 of what a
tracer on sys.settrace (settrace_tracer.py) adds, which keeps the same values; and modules that no path
matches take at most 1.01 times as long while others are traced. (The first is near its
bound: ten of twelve runs found 20 to 29, two 17 and 19, as the machine's pace and the places of things in memory
have it.)

Both copy the same values, which costs both the same: the claim is about tensors of 1 to 4 KB, so that
this does not drown what is compared. What it is with those of 4 to 16 KB is printed too.

The three (nothing traced, ours, the peer) take turns of a few steps, each with a copy of the model of
its own, in one block of ours. A step is a forward that autograd follows; neither does anything in a
backward. A turn's first steps, which find the caches as another has left them, are not counted. What a
tracer adds is the median of what its turns took more than the plain ones beside them, since a machine's
pace changes within a second. Each round has new copies of the model, which lie elsewhere in memory: that
makes a difference of a tenth or two.
"""

import contextlib
import copy
import math
import sys
import time
from statistics import median

import torch
from claims import Claims, Figure, middle_half
from claims import median as of_rounds
from monitorch.tracer import ModelTracer
from settrace_tracer import SettraceTracer
from torch import nn

ROUNDS = 10
TURNS = 30
STEPS = 4  # of a turn, behind as many as WARM that are not counted
WARM = 2
LONG_TURNS = 120
LONG_STEPS = 12
SMALL = (1, 8, 32)
LARGE = (2, 16, 32)


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


def processor_times(function):
    """Of single calls."""
    for _ in range(WARM):
        function()
    times = []
    for _ in range(STEPS):
        started = time.process_time()
        function()
        times.append(time.process_time() - started)
    return times


def processor_time(function):
    """Of one call of many."""
    function()
    started = time.process_time()
    for _ in range(LONG_STEPS):
        function()
    return (time.process_time() - started) / LONG_STEPS


def compare_overheads(model, shape):
    """Rounds of turns; each turn has the median step with nothing traced, by ours and by the peer."""
    return [take_turns(model, torch.randn(*shape)) for _ in range(ROUNDS)]


def take_turns(model, x):
    plain_model, our_model, peer_model = (copy.deepcopy(model) for _ in range(3))
    peer = SettraceTracer(
        peer_model, {f"layers.{i}": layer for i, layer in enumerate(peer_model.layers)}
    )
    turns = []

    def time_step(name):
        traced = {"plain": plain_model, "ours": our_model, "peer": peer_model}[name]
        with peer if name == "peer" else contextlib.nullcontext():
            return median(processor_times(lambda: traced(x).sum()))

    with ModelTracer(our_model, ["layers.*.forward.*"]) as ours:
        for turn in range(-1, TURNS):
            names = sorted(["plain", "ours", "peer"], reverse=turn % 2 == 0)
            took = {name: time_step(name) for name in names}
            if turn >= 0:  # the first finds out what is found out once
                turns.append(took)
    check_same(ours.results, peer.results)
    return turns


def check_same(ours, peer):
    """Both must have kept the same."""
    assert set(ours) == set(peer), set(ours) ^ set(peer)
    for path, kept in peer.items():
        values = ours[path].values
        assert len(values) == len(kept), path
        for value, (iteration, other) in zip(values, kept):
            assert torch.equal(value, other), path


def compare_untraced(model, x):
    """How many times longer the layers take while the head alone is traced, of each turn."""

    def step():
        for layer in model.layers:
            layer(x)

    traced, plain = [], []
    for turn in range(LONG_TURNS):
        for is_traced in (True, False) if turn % 2 else (False, True):
            if is_traced:
                with ModelTracer(model, ["head.forward.input", "head"]):
                    traced.append(processor_time(step))
            else:
                plain.append(processor_time(step))
    return [a / b for a, b in zip(traced, plain)]


def added(turns, name):
    return median(turn[name] - turn["plain"] for turn in turns)


def ratio(turns):
    """How many times more the peer adds to the plain step."""
    least = median(turn["plain"] for turn in turns) / 1000  # not to be told from nothing
    return added(turns, "peer") / max(added(turns, "ours"), least)


def tell(model, shape):
    rounds = compare_overheads(model, shape)
    turns = [turn for turns in rounds for turn in turns]
    figure = Figure(ratio(turns), *middle_half([ratio(turns) for turns in rounds]))
    size = math.prod(shape) * 4 >> 10
    print(
        f"values of {size} to {4 * size} KB: "
        f"a step: {median(turn['plain'] for turn in turns) * 1e6:.0f} us; "
        f"traced {added(turns, 'ours') * 1e6:+.0f} us; "
        f"by sys.settrace {added(turns, 'peer') * 1e6:+.0f} us: {figure} times less"
    )
    return figure


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    claims = Claims("What tracing variables of a model costs")
    model = Transformer()
    tell(model, LARGE)
    claims.at_least(
        20,
        "tracing forward.* of 4 layers adds to a step",
        tell(model, SMALL),
        peer="what sys.settrace in Python adds",
        unit="times less",
    )
    claims.at_most(
        1.01,
        "modules that no path matches, while another is traced",
        of_rounds(compare_untraced(model, torch.randn(*SMALL))),
        peer="the same while nothing is traced",
    )
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
