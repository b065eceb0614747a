"""The document's examples as programs, with its training loop: run by test_document.py, as
`document_examples.py KIND WORLD FOLDER EXAMPLE…`. Each rank prints a line for each example; the root
checks each value against what plain arithmetic gives for its batches and weights."""

from __future__ import annotations

import json
import os
import sys
import tempfile

import torch
import torch.distributed as dist
from monitorch.tracer import H5PYSaverCallback, ModelTracer, stack_padded_tensors
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

EPOCHS, STEPS, BATCH, FEATURES, CLASSES = 4, 4, 3, 5, 2
PATHS = ["forward", "forward.x"]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(FEATURES, CLASSES)

    def forward(self, x):
        return self.linear(x)


def make(rank, world):
    torch.manual_seed(5)
    size = STEPS * BATCH * world
    dataset = TensorDataset(torch.randn(size, FEATURES), torch.arange(size) % CLASSES)
    sampler = DistributedSampler(dataset, world, rank, shuffle=True, seed=3)
    loader = DataLoader(dataset, BATCH, sampler=sampler)
    model = Net()
    return dataset, sampler, loader, model, DistributedDataParallel(model)


def train(tracer, sampler, loader, ddp_model):
    """The document's loop. Gives the weights before each step, by which each output was made."""
    optimizer = torch.optim.SGD(ddp_model.parameters(), 0.1)
    loss_fn = nn.CrossEntropyLoss()
    weights = []
    with tracer:
        for epoch in range(EPOCHS):
            sampler.set_epoch(epoch)
            ddp_model.train()
            for data, target in loader:
                weights.append([p.detach().clone() for p in ddp_model.parameters()])
                optimizer.zero_grad()
                output = ddp_model(data)
                loss = loss_fn(output, target.long())
                loss.backward()
                optimizer.step()
    return weights


def expect(dataset, world, weights):
    """(inputs, outputs) of iteration i on rank r at [i][r], as the sampler deals them out."""
    inputs, outputs = [], []
    for epoch in range(EPOCHS):
        orders = []
        for rank in range(world):
            sampler = DistributedSampler(dataset, world, rank, shuffle=True, seed=3)
            sampler.set_epoch(epoch)
            orders.append(list(sampler))
        for step in range(STEPS):
            weight, bias = weights[epoch * STEPS + step]
            rows = [
                dataset.tensors[0][order[step * BATCH : (step + 1) * BATCH]] for order in orders
            ]
            inputs.append(rows)
            outputs.append([row @ weight.t() + bias for row in rows])
    return inputs, outputs


def first(rank, world, folder):
    dataset, sampler, loader, model, ddp_model = make(rank, world)
    tracer = ModelTracer(
        model,
        PATHS,
        pre_gather_callbacks=[stack_padded_tensors],
        post_gather_callbacks=[stack_padded_tensors],
        post_trace_callbacks=[stack_padded_tensors],
        gathering_interval=4,
    )
    weights = train(tracer, sampler, loader, ddp_model)
    if rank != 0:
        assert not any(traced.values for traced in tracer.results.values())
        return {}
    x, y = tracer.results["forward.x"].values[0], tracer.results["forward"].values[0]
    inputs, outputs = expect(dataset, world, weights)
    for i in range(EPOCHS * STEPS):
        for r in range(world):
            assert torch.equal(x[i // 4, r, i % 4], inputs[i][r])
            assert torch.allclose(y[i // 4, r, i % 4], outputs[i][r], atol=1e-6)
    traced = tracer.results["forward.x"]
    assert traced.iterations == [
        g * 4 + i for g in range(4) for r in range(world) for i in (1, 2, 3, 4)
    ]
    assert traced.ranks == [r for g in range(4) for r in range(world) for i in range(4)]
    return {"shape": list(x.shape), "output_shape": list(y.shape)}


def second(rank, world, folder):
    dataset, sampler, loader, model, ddp_model = make(rank, world)
    saver_callback = H5PYSaverCallback(dataset_file=os.path.join(folder, "test.h5"))
    tracer = ModelTracer(
        ddp_model,
        PATHS,
        post_gather_callbacks=[stack_padded_tensors, saver_callback],
        gathering_interval=2,
    )
    weights = train(tracer, sampler, loader, ddp_model)
    if rank != 0:
        return {}
    inputs, outputs = expect(dataset, world, weights)
    datasets = saver_callback.datasets
    assert sorted(datasets) == PATHS
    x, y = torch.tensor(datasets["forward.x"][...]), torch.tensor(datasets["forward"][...])
    iterations, of = datasets["forward.x_iterations"][...], datasets["forward.x_ranks"][...]
    assert tuple(iterations.shape) == tuple(of.shape) == (EPOCHS * STEPS // 2, 2 * world)
    for g in range(EPOCHS * STEPS // 2):
        for r in range(world):
            for i in (0, 1):
                assert torch.equal(x[g, 2 * r + i], inputs[2 * g + i][r])
                assert torch.allclose(y[g, 2 * r + i], outputs[2 * g + i][r], atol=1e-6)
                assert iterations[g, 2 * r + i] == 2 * g + i + 1 and of[g, 2 * r + i] == r
    saver_callback.close()
    return {"shape": list(x.shape)}


def third(rank, world, folder):
    def mean_post_gather(name, values, iterations, ranks):
        values[0] = values[0].mean(dim=(0, 1))

    dataset, sampler, loader, model, ddp_model = make(rank, world)
    tracer = ModelTracer(
        model,
        PATHS,
        post_gather_callbacks=[stack_padded_tensors, mean_post_gather],
        post_trace_callbacks=[stack_padded_tensors],
        gathering_interval=4,
    )
    weights = train(tracer, sampler, loader, ddp_model)
    if rank != 0:
        return {}
    x = tracer.results["forward.x"].values[0]
    inputs, _ = expect(dataset, world, weights)
    for g in range(EPOCHS * STEPS // 4):
        rows = torch.cat([inputs[g * 4 + i][r] for i in range(4) for r in range(world)])
        assert torch.allclose(x[g], rows.mean(0), atol=1e-6)
    return {"shape": list(x.shape)}


def run(rank, world, folder, examples):
    for example in examples:
        told = globals()[example](rank, world, folder)
        # In one piece: lines of several processes must not run into each other.
        text = json.dumps({"example": example, "rank": rank, **told})
        os.write(1, (text + "\n").encode())
    dist.destroy_process_group()


def begin(rank, world, folder, store, examples):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world)
    run(rank, world, folder, examples)


if __name__ == "__main__":
    kind, world, folder, *examples = sys.argv[1:]
    if kind == "torchrun":
        torch.set_num_threads(1)
        dist.init_process_group("gloo")
        run(dist.get_rank(), dist.get_world_size(), folder, examples)
    else:
        import torch.multiprocessing as mp

        with tempfile.TemporaryDirectory() as place:
            arguments = (int(world), folder, place + "/store", examples)
            mp.spawn(begin, arguments, nprocs=int(world))
