"""A model that is instrumented and run in this process, for tests of what is watched."""

from __future__ import annotations

import sys
import textwrap
import types

import torch

from tests.python.spy.signatures import names_in
from tests.support import compiler, recording

recording.package()

MODEL = """\
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        q = self.proj(x)
        k, v = q + 1, q * 2
        attn_w = scores(q, k)
        cache = {"k": k, "v": [v]}
        self.last = attn_w @ v
        return self.last


def scores(q, k):
    attn_s = q @ k.T
    return attn_s.softmax(-1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(Attention(), Attention())
        self.head = Attention()

    def forward(self, x):
        h = self.encoder(x)
        return self.head(h)
"""
ATTENTIONS = ["encoder.0", "encoder.1", "head"]
X = torch.arange(12.0).view(3, 4)


def load_module(source, name="model"):
    """A module of the text, instrumented as a whole."""
    source = textwrap.dedent(source).encode()
    text = compiler.instrument(source, f"{name}.py", all=True).text
    module = types.ModuleType(name)
    sys.modules[name] = module
    try:
        exec(compile(text, f"{name}.py", "exec", dont_inherit=True), module.__dict__)
    finally:
        del sys.modules[name]
    return module


def saved(folder):
    """The names of the files, without their endings."""
    return [name.removesuffix(".pt") for name in names_in(folder)]
