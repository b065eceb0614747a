"""Runs models and writes the graph that autograd made of their results, while their lines are recorded:

    python -m monitorch run --include … autograd_driver.py MODELS OUT.json

MODELS is a file of JSON: for each model the statements that make it, and those that run it. A torch function
mode keeps every result alive, so that an object's address in the trace is the address of one tensor.
"""

import json
import pathlib
import sys

import model_setup  # noqa: F401, first
import torch
from torch.overrides import TorchFunctionMode


def leaves(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)


class Keep(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.kept = {}

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        self.kept.update((id(tensor), tensor) for tensor in leaves(result))
        return result


class Numbers:
    """A number for each node of autograd."""

    def __init__(self):
        self.known = {}

    def __call__(self, node):
        return self.known.setdefault(node, len(self.known))


def graph_of(tensors):
    """{address: [node, which of its outputs, version]}, {node: [[node before it, which output]]}"""
    number, edges, done = Numbers(), {}, set()
    stack = [tensor.grad_fn for tensor in tensors.values()]
    while stack:
        node = stack.pop()
        if node in done:
            continue
        done.add(node)
        before = [(n, k) for n, k in node.next_functions if n is not None]
        edges[number(node)] = [[number(n), k] for n, k in before]
        stack.extend(n for n, _ in before)
    found = {
        address: [number(t.grad_fn), t.output_nr, t._version] for address, t in tensors.items()
    }
    return {"objects": found, "edges": edges}


def main():
    models, out = sys.argv[1:]
    keep, made = Keep(), Keep()
    everything = []  # nothing is freed, so that no address is used twice
    for model in json.loads(pathlib.Path(models).read_text()):
        torch.manual_seed(0)
        scope = {"torch": torch}
        with made:
            exec(model["make"], scope)
        with keep:
            exec(model["run"], scope)
        everything.append(scope)
    graph = graph_of({k: t for k, t in keep.kept.items() if t.grad_fn is not None})
    pathlib.Path(out).write_text(json.dumps(graph))


main()
