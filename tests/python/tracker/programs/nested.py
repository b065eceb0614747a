"""Tracked functions that call each other, of all kinds: methods, static, of the class, closures."""

import numpy as np
from monitorch.tracker import auto_diff, var_tracker


class Dataset:
    def __init__(self, size):
        self.size = size
        self.state = None

    @var_tracker("sample", "self.state", "indic*")
    def get(self, index, *rest, scale=2, **more):
        indices = list(range(index, index + 3))
        sample = {"video": self.load(index), "name": "clip"}
        self.state = len(indices)
        sample["video"] = self.normalise(sample["video"] * scale, 0.5)
        self.state += 1
        sample["label"] = self.label_of(index)
        return sample

    @auto_diff
    def load(self, index):
        return np.full((self.size, 2), index, dtype=np.uint8)

    @staticmethod
    @auto_diff
    def normalise(video, mean):
        return (video - mean).astype(np.float32)

    @auto_diff
    @classmethod
    def label_of(cls, index):
        return cls.__name__, index


@var_tracker("total", "add")
def closures():
    total = 0

    @auto_diff
    def add(value):
        nonlocal total
        total += value
        return total

    add(2)
    add(3)
    return total


@auto_diff
def main():
    dataset = Dataset(3)
    first = dataset.get(1)
    second = dataset.get(4, 5, 6, scale=3, text="more")
    return first, closures(), len(second)


main()
