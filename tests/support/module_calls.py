"""A model whose calls are recorded by hooks, and what `monitorch show` tells of them."""

from __future__ import annotations

import json

import torch
from monitorch.spy import CallTracer

from tests.support import recording


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(4, 4)
        self.b = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))

    line = forward.__code__.co_firstlineno + 1


def records_of(path):
    done = recording.show(path)
    assert done.returncode in (0, 1), done.stderr  # 1: the trace has no events
    return [json.loads(line) for line in done.stdout.splitlines()]


def calls_of(path):
    return [record for record in records_of(path) if record["record"] == "call"]


def events_of(path):
    return [record for record in records_of(path) if record["record"] == "event"]


def record_calls(folder, model, *args, **kwargs):
    """Calls and events of one call of the model, all of whose modules are hooked."""
    tracer = CallTracer(folder)
    tracer.register_hooks(model)
    with recording.record(folder / "run.mtrace"):
        model(*args, **kwargs)
    tracer.remove_hooks()
    return calls_of(folder / "run.mtrace"), events_of(folder / "run.mtrace")
