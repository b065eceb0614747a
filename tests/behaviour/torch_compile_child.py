"""What torch.compile and torch.export make of a file of models: python … MODELS.py RESULT.json"""

import json
import sys
import warnings

from child_imports import load


def bits(torch, value):
    if isinstance(value, torch.Tensor):
        return value.detach().reshape(-1).double().tolist()
    if isinstance(value, dict):
        return {key: bits(torch, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [bits(torch, item) for item in value]
    return repr(value)


def names_of_nodes(graph):
    return [f"{n.op} {getattr(n.target, '__name__', n.target)}" for n in graph.nodes]


class Counting:
    """A backend that runs graphs as they are and keeps their operations."""

    def __init__(self):
        self.graphs = []

    def __call__(self, graph, inputs):
        self.graphs.append(names_of_nodes(graph.graph))
        return graph.forward


def look_at(torch, model, inputs, is_one_graph):
    told = {}
    torch._dynamo.reset()
    explained = torch._dynamo.explain(model)(*inputs)
    told["graphs"] = explained.graph_count
    told["breaks"] = explained.graph_break_count
    told["operations"] = explained.op_count
    torch._dynamo.reset()
    backend = Counting()
    torch.manual_seed(3)
    compiled = torch.compile(model, backend=backend, fullgraph=is_one_graph)
    told["output"] = bits(torch, compiled(*inputs))
    told["nodes"] = backend.graphs
    if is_one_graph:
        exported = torch.export.export(model, inputs)
        told["export"] = names_of_nodes(exported.graph)
        told["export signature"] = str(exported.graph_signature)
    return told


def look_at_training(torch, models):
    torch.manual_seed(5)
    model = models.Model()
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.01)
    tokens = torch.arange(12).view(2, 6)
    told = {}
    torch._dynamo.reset()
    backend = Counting()
    loss = torch.compile(models.loss_of, backend=backend, fullgraph=True)(model, tokens)
    loss.backward()
    told["loss"] = bits(torch, loss)
    told["gradients"] = bits(torch, [p.grad for p in model.parameters()])
    told["loss graphs"] = backend.graphs
    torch._dynamo.reset()
    backend = Counting()
    step = torch.compile(models.train_step, backend=backend)
    told["losses"] = [bits(torch, step(model, optimiser, tokens)) for _ in range(3)]
    told["step graphs"] = [len(graph) for graph in backend.graphs]
    return told


def main():
    models_path, result_path = sys.argv[1:3]
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(1)
    models = load(models_path)
    results = {}
    for name, (model, inputs, is_one_graph) in models.subjects().items():
        results[name] = look_at(torch, model, inputs, is_one_graph)
    results["training"] = look_at_training(torch, models)
    with open(result_path, "w") as file:
        json.dump(results, file)


if __name__ == "__main__":
    main()
