"""Models whose values go through containers, objects, generators and closures, as real code does it.

Each is a class without arguments, and the shape of its input. autograd says which value went where.
"""

import collections
import dataclasses
import typing

import torch
from torch import nn
from torch.nn import functional


def timestep_embedding(steps, width):
    half = width // 2
    rates = torch.exp(-torch.arange(half, dtype=torch.float32) / half)
    angles = steps[:, None].float() * rates[None]
    return torch.cat([angles.cos(), angles.sin()], dim=-1)


class ResBlock(nn.Module):
    def __init__(self, inner, outer, width):
        super().__init__()
        self.norm = nn.GroupNorm(2, inner)
        self.conv = nn.Conv2d(inner, outer, 3, padding=1)
        self.time = nn.Linear(width, outer)
        self.skip = nn.Conv2d(inner, outer, 1) if inner != outer else nn.Identity()

    def forward(self, x, emb):
        h = self.conv(functional.silu(self.norm(x)))
        shift = self.time(functional.silu(emb))
        while shift.dim() < h.dim():
            shift = shift[..., None]
        h = h + shift
        return self.skip(x) + h


class DiffusionUNet(nn.Module):
    """Skips are kept in a list and taken out from its end."""

    shape = (2, 4, 8, 8)

    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 16))
        self.start = nn.Conv2d(4, 4, 3, padding=1)
        self.downs = nn.ModuleList([ResBlock(4, 4, 16), ResBlock(4, 8, 16)])
        self.middle = ResBlock(8, 8, 16)
        self.ups = nn.ModuleList([ResBlock(16, 4, 16), ResBlock(8, 4, 16), ResBlock(8, 4, 16)])
        self.end = nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, x):
        emb = self.embed(timestep_embedding(torch.tensor([3, 7]), 8))
        h = self.start(x)
        skips = [h]
        for block in self.downs:
            h = block(h, emb)
            skips.append(h)
        h = self.middle(h, emb)
        for block in self.ups:
            h = torch.cat([h, skips.pop()], dim=1)
            h = block(h, emb)
        return self.end(h)


class Pyramid(nn.Module):
    """A detector: levels in a dict, boxes and scores of each level in lists."""

    shape = (2, 3, 16, 16)

    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleDict({f"c{i}": nn.Conv2d(3 if i == 2 else 6, 6, 3, 2, 1) for i in (2, 3, 4)})
        self.lateral = nn.ModuleList(nn.Conv2d(6, 5, 1) for _ in range(3))
        self.score = nn.Conv2d(5, 4, 1)
        self.box = nn.Conv2d(5, 8, 1)

    def features(self, x):
        out = collections.OrderedDict()
        for name, stage in self.stages.items():
            x = stage(x).relu()
            out[name] = x
        return out

    def merge(self, features):
        names = list(features)
        last = self.lateral[-1](features[names[-1]])
        results = [last]
        for i in range(len(names) - 2, -1, -1):
            side = self.lateral[i](features[names[i]])
            size = side.shape[-2:]
            last = side + functional.interpolate(last, size=size, mode="nearest")
            results.insert(0, last)
        return dict(zip(names, results))

    def forward(self, x):
        merged = self.merge(self.features(x))
        scores, boxes = [], []
        for level in merged.values():
            n = level.shape[0]
            s = self.score(level)
            b = self.box(level)
            scores.append(s.permute(0, 2, 3, 1).reshape(n, -1, 2))
            boxes.append(b.permute(0, 2, 3, 1).reshape(n, -1, 4))
        all_scores = torch.cat(scores, dim=1)
        all_boxes = torch.cat(boxes, dim=1)
        result = {"scores": all_scores, "boxes": all_boxes}
        losses = {}
        losses["class"] = result["scores"].logsumexp(-1).mean()
        losses["box"] = result["boxes"].abs().mean()
        total = sum(losses.values())
        return total


@dataclasses.dataclass
class State:
    hidden: torch.Tensor
    cell: torch.Tensor
    history: list = dataclasses.field(default_factory=list)


class Step(typing.NamedTuple):
    out: torch.Tensor
    gate: torch.Tensor


class Recurrent(nn.Module):
    """State in a dataclass, steps in a named tuple, what came out in a list that grows."""

    shape = (2, 5, 6)

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6 + 4, 16)
        self.head = nn.Linear(4, 3)

    def cell(self, x, state):
        gates = self.inner(torch.cat([x, state.hidden], dim=-1))
        i, f, g, o = gates.chunk(4, dim=-1)
        state.cell = f.sigmoid() * state.cell + i.sigmoid() * g.tanh()
        state.hidden = o.sigmoid() * state.cell.tanh()
        state.history.append(state.hidden)
        return Step(state.hidden, o)

    def forward(self, x):
        zeros = x.new_zeros(x.shape[0], 4)
        state = State(zeros, zeros)
        gates = []
        for t in range(x.shape[1]):
            step = self.cell(x[:, t], state)
            gates += [step.gate]
        stacked = torch.stack(state.history, dim=1)
        opened = torch.stack(gates, dim=1)
        first, *middle, last = state.history
        summary = first + last
        between = middle[1] - middle[0]
        return self.head(stacked), opened.mean(), summary, between


class TopExperts(nn.Module):
    """Tokens go to two of four experts and are added where they came from."""

    shape = (3, 4, 6)

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(6, 4, bias=False)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 6)) for _ in range(4))

    def route(self, flat):
        logits = self.gate(flat)
        weights = logits.softmax(dim=-1)
        top, chosen = weights.topk(2, dim=-1)
        top = top / top.sum(dim=-1, keepdim=True)
        return logits, top, chosen

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        logits, top, chosen = self.route(flat)
        final = torch.zeros_like(flat)
        for number, expert in enumerate(self.experts):
            rows, slot = torch.where(chosen == number)
            if rows.numel() == 0:
                continue
            given = flat[rows]
            made = expert(given) * top[rows, slot, None]
            final = final.index_add(0, rows, made.to(final.dtype))
        balance = logits.logsumexp(-1).pow(2).mean()
        return final.reshape(x.shape), balance


class Generators(nn.Module):
    """Layers come from a generator, a closure and a default argument hold values, results are chosen."""

    shape = (4, 6)

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(3))
        self.kept = {}

    def walk(self, x):
        for layer in self.layers:
            x = layer(x).tanh()
            yield x

    def forward(self, x):
        scale = self.layers[0](x).mean()

        def scaled(value, offset=None):
            grown = value * scale
            return grown if offset is None else grown + offset

        seen = []
        for number, value in enumerate(self.walk(x)):
            grown = scaled(value)
            self.kept[number] = grown
            seen.append((value, grown))
        pairs = [left - right for left, right in seen]
        first = pairs[0]
        values, growns = zip(*seen)
        whole = torch.stack(values).sum(0)
        rest = self.kept[1] + self.kept.get(2)
        late = scaled(first, offset=whole)
        return late, rest


class Cache:
    def __init__(self):
        self.keys = []
        self.values = []

    def update(self, key, value, layer):
        if len(self.keys) <= layer:
            self.keys.append(key)
            self.values.append(value)
        else:
            self.keys[layer] = torch.cat([self.keys[layer], key], dim=1)
            self.values[layer] = torch.cat([self.values[layer], value], dim=1)
        return self.keys[layer], self.values[layer]


@dataclasses.dataclass
class Output:
    logits: torch.Tensor
    hidden: tuple = None
    cache: Cache = None


class Decoder(nn.Module):
    """Attention with a cache of keys and values, hidden states of all layers in a tuple that is added to."""

    shape = (2, 3, 8)

    def __init__(self):
        super().__init__()
        self.projections = nn.ModuleList(nn.Linear(8, 24) for _ in range(2))
        self.head = nn.Linear(8, 5)

    def attend(self, x, layer, cache):
        q, k, v = self.projections[layer](x).split(8, dim=-1)
        k, v = cache.update(k, v, layer)
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        weights = scores.softmax(-1).to(q.dtype)
        return weights @ v, weights

    def run(self, x, cache=None):
        cache = Cache() if cache is None else cache
        hidden = ()
        for layer in range(2):
            hidden += (x,)
            residual = x
            x, weights = self.attend(x, layer, cache)
            x = residual + x
        hidden = hidden + (x,)
        return Output(logits=self.head(x), hidden=hidden, cache=cache)

    def forward(self, x):
        first = self.run(x)
        again = self.run(first.hidden[-1][:, -1:], first.cache)
        both = torch.cat([first.logits, again.logits], dim=1)
        deep = again.hidden[1] + first.hidden[0].mean()
        return both, deep


class EncoderDecoder(nn.Module):
    """Keyword arguments, a dict that is updated, and results of which one is not used."""

    shape = (2, 4, 6)

    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(6, 6)
        self.mask = nn.Linear(6, 1)
        self.query = nn.Linear(6, 6)
        self.out = nn.Linear(12, 6)

    def encode(self, x):
        states = self.encoder(x).relu()
        bias = self.mask(x)
        return {"states": states, "bias": bias}

    def decode(self, states, bias, target, **rest):
        scores = self.query(target) @ states.transpose(1, 2) + bias.transpose(1, 2)
        mixed = scores.softmax(-1) @ states
        joined = torch.cat((mixed, target), -1)
        return self.out(joined), scores

    def forward(self, x):
        given = self.encode(x)
        inputs = {"target": x.flip(1)}
        inputs.update(given)
        inputs.setdefault("extra", inputs["target"] * 2)
        out, _ = self.decode(**inputs)
        kept = {name: value for name, value in inputs.items() if name != "bias"}
        again, scores = self.decode(target=out, bias=given["bias"], states=kept["states"])
        args = (again, kept["extra"])
        return torch.add(*args), scores


MODELS = [DiffusionUNet, Pyramid, Recurrent, TopExperts, Generators, Decoder, EncoderDecoder]


def make(kind):
    torch.manual_seed(0)
    return kind(), torch.randn(*kind.shape)
