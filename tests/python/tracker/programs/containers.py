"""Containers are walked, and what has changed in them is told element by element."""

import collections
import dataclasses

import numpy as np
import torch
from monitorch.tracker import auto_diff, var_tracker

Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Batch:
    images: torch.Tensor
    labels: list


@auto_diff
def collate(samples, options):
    images = torch.stack([sample["image"] for sample in samples])
    return Batch(images, [sample["label"] for sample in samples])


@var_tracker("state", "items", "pair", "batch", "seen")
def fill(samples):
    state = {"step": 1, "weights": torch.ones(3), "deep": {"list": [torch.zeros(2), 5]}}
    state["step"] = 2
    state["weights"] = state["weights"] * 2
    state["weights"].add_(1)
    state["deep"]["list"][0][1] = 7
    state["new"] = np.arange(3)
    del state["step"]
    items = [torch.ones(2), torch.zeros(30, 30)]
    items.append("text")
    items[0] = items[1]
    pair = Pair(items[0], (1, 2))
    seen = {1, 2}
    seen.add(3)
    batch = collate(samples, {"shuffle": False})
    batch.labels[0] = 9
    many = list(range(1000))
    items = many
    items[500] = -1
    return state, pair


fill([{"image": torch.full((2, 2), float(n)), "label": n} for n in range(2)])
