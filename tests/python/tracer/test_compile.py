"""A traced model under torch.compile: its variables are seen, and what it computes stays the same."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from tests.support import recording  # noqa: E402

recording.package()

from monitorch.tracer import ModelTracer  # noqa: E402

pytestmark = pytest.mark.torch


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        y = self.linear(x)
        z = y * 2
        return z


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Inner()
        self.b = Inner()

    def forward(self, x):
        h = self.a(x)
        return self.b(h) + 1


def compiled(model, when, **options):
    found = torch.compile(model, backend="eager", **options)
    if when == "ran":
        found(torch.ones(1, 2))
    return found


@pytest.mark.parametrize("options", [{}, {"fullgraph": True}], ids=["", "fullgraph"])
@pytest.mark.parametrize("when", ["new", "ran"])
def test_variables_and_outputs(when, options):
    torch._dynamo.reset()
    model = Outer()
    inputs = [torch.full((1, 2), float(i)) for i in range(3)]
    expected = [model(x) for x in inputs]
    hidden = [model.a.linear(x) for x in inputs]
    function = compiled(model, when, **options)
    tracer = ModelTracer(function, ["forward", "forward.h", "a.forward.y"])
    with tracer:
        found = [function(x) for x in inputs]
    assert all(map(torch.equal, found, expected))
    assert "forward" not in model.__dict__ and torch.equal(function(inputs[1]), expected[1])
    results = tracer.results
    assert [t.iterations for t in results.values()] == [[1, 2, 3]] * 3
    assert all(map(torch.equal, results["forward"].values, expected))
    assert all(map(torch.equal, results["a.forward.y"].values, hidden))
    assert all(torch.equal(h, y * 2) for h, y in zip(results["forward.h"].values, hidden))


def test_it_is_compiled_again_afterwards():
    torch._dynamo.reset()
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    model = Outer()
    function = torch.compile(model, backend=backend)
    function(torch.ones(1, 2))
    assert len(graphs) == 1
    with ModelTracer(function, ["forward.h"]):
        function(torch.ones(1, 2))
    del graphs[:]
    function(torch.ones(1, 2))
    function(torch.zeros(1, 2))
    assert len(graphs) == 1
