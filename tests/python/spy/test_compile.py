"""spy_save in code that torch.compile compiles."""

from __future__ import annotations

import warnings

import pytest

torch = pytest.importorskip("torch")
dynamo = pytest.importorskip("torch._dynamo")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch._compile import compiled as _compiled  # noqa: E402
from monitorch.spy import DebugContext, TensorSaver, spy_save  # noqa: E402
from torch import nn  # noqa: E402

from tests.python.spy.signatures import names_in  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(
        not hasattr(dynamo.decorators, "substitute_in_graph"),
        reason="this torch has no way to tell Dynamo of builtin functions",
    ),
]
X = torch.ones(1, 2)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)

    def forward(self, x):
        q = self.inner(x)
        spy_save("q", q, module=self)
        return q.relu() + 1


@pytest.fixture
def graphs():
    """The graphs that were compiled, of a model that saves and of one that was compiled before."""
    dynamo.reset()
    made = []

    def backend(graph, inputs):
        made.append(graph)
        return graph.forward

    yield made, backend
    dynamo.reset()


def test_a_graph_stays_whole_where_nothing_is_saved(graphs):
    made, backend = graphs
    model = Model()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = torch.compile(model, backend=backend, fullgraph=True)(X)
    assert len(made) == 1 and torch.equal(found, model(X))


def test_it_saves_where_a_context_is_open(graphs, tmp_path):
    made, backend = graphs
    model = Model()
    compiled = torch.compile(model, backend=backend)
    saver = TensorSaver(tmp_path)
    saver.register_modules(model)
    compiled(X)
    for turn in range(2):
        with DebugContext(saver, f"in{turn}"):
            found = compiled(X)
            compiled(X)
        compiled(X)
    assert names_in(tmp_path) == [
        f"in{turn}.root.q.call{call}.pt" for turn in range(2) for call in range(2)
    ]
    saved = torch.load(tmp_path / "in0.root.q.call0.pt", weights_only=True)
    assert torch.equal(saved, model.inner(X)) and torch.equal(found, model(X))
    # One graph where nothing is saved, and two around the call where it is: compiled once each.
    assert len(made) == 3


def test_a_graph_that_must_stay_whole_is_left_so(graphs, tmp_path, monkeypatch):
    made, backend = graphs
    monkeypatch.setattr(_compiled, "_warned", set())
    compiled = torch.compile(Model(), backend=backend, fullgraph=True)
    with DebugContext(TensorSaver(tmp_path)):
        with pytest.warns(UserWarning, match="spy_save in a graph that may not be broken"):
            compiled(X)
    assert len(made) == 1 and names_in(tmp_path) == []
