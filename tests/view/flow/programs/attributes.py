"""Attributes of self and of others, read and written, deep ones too."""
# begin
import types

import numpy as np


class State:
    def __init__(self, size):
        self.memory = np.zeros(size, dtype=np.int64)
        self.inner = types.SimpleNamespace(weight=np.arange(size))

    def update(self, x):
        self.memory = self.memory + x
        self.inner.weight += 1
        self.memory[0] = 50
        return self.memory * self.inner.weight


state = State(3)
first = state.update(np.ones(3, dtype=np.int64))
state.inner.weight = first - 1
state.extra = state.inner.weight * 2
second = state.update(state.extra)
# end
