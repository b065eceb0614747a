"""ModelTracer in several processes: uneven runs, lost ranks, files and traces that are left."""

from __future__ import annotations

import os
import time

import pytest

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from torch import nn  # noqa: E402

from tests.python.tracer import ranks  # noqa: E402
from tests.support import recording  # noqa: E402

recording.package()

from monitorch.tracer import (  # noqa: E402
    H5PYSaverCallback,
    ModelTracer,
    RankError,
    stack_padded_tensors,
)

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(not dist.is_available() or not dist.is_gloo_available(), reason="no gloo"),
]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        hidden = x * 2
        if hidden[0, 0] > 0:
            positive = hidden + 1  # noqa: F841 (it is traced)
        return self.linear(hidden)


def step(model, value, rows=1):
    return model(torch.full((rows, 3), float(value)))


def uneven(rank, world, overlap):
    """Ranks run 5, 2 and 0 times, with batches of their own sizes; only rank 1 reaches `positive`."""
    model = Net()
    tracer = ModelTracer(
        model,
        ["forward.hidden", "forward.positive"],
        gathering_interval=2,
        timeout=30,
        overlap=overlap,
    )
    with tracer:
        for i in range([5, 2, 0][rank]):
            step(model, (i + 1) * (1 if rank == 1 else -1), rank + 1)
    return {
        name: ([v.tolist() for v in t.values], t.iterations, t.ranks)
        for name, t in tracer.results.items()
    }


@pytest.mark.parametrize("overlap", [False, True], ids=["now", "overlap"])
def test_uneven_runs(overlap):
    found, *others = ranks.results(uneven, 3, overlap)
    assert others == [{}, {}] or all(not any(map(any, item.values())) for item in others)
    values, iterations, of = found["forward.hidden"]
    assert list(zip(iterations, of)) == [(1, 0), (2, 0), (1, 1), (2, 1), (3, 0), (4, 0), (5, 0)]
    for value, iteration, rank in zip(values, iterations, of):
        assert value == [[iteration * (2.0 if rank == 1 else -2.0)] * 3] * (rank + 1)
    assert found["forward.positive"] == ([[[3.0] * 3] * 2, [[5.0] * 3] * 2], [1, 2], [1, 1])


def joined(rank, world, counts, overlap):
    """DistributedDataParallel with inputs that end sooner on some ranks."""
    model = nn.parallel.DistributedDataParallel(Net())
    tracer = ModelTracer(model, ["forward.hidden", "forward"], timeout=60, overlap=overlap)
    with tracer, model.join():
        for i in range(counts[rank]):
            step(model, i + 1 + 10 * rank).sum().backward()
    return {name: (t.values, t.iterations, t.ranks) for name, t in tracer.results.items()}


@pytest.mark.parametrize(
    ("counts", "overlap"),
    [((4, 1, 2), True), ((1, 4, 2), True), ((1, 4, 2), False)],
    ids=["first rank last", "first rank first", "first rank first, now"],
)
def test_joined_with_uneven_inputs(counts, overlap):
    found, *others = ranks.results(joined, 3, counts, overlap, seconds=200)
    assert all(not any(map(any, other.values())) for other in others)
    values, iterations, of = found["forward.hidden"]
    traced = sorted(zip(of, iterations, (value.tolist() for value in values)))
    assert traced == [
        (rank, i + 1, [[2.0 * (i + 1 + 10 * rank)] * 3])
        for rank, count in enumerate(counts)
        for i in range(count)
    ]
    assert len(found["forward"][0]) == sum(counts)


def parallel(rank, world):
    """Paths need no "module.", whatever is around the model."""
    from torch.nn.parallel import DistributedDataParallel

    model = Net()
    ddp_model = DistributedDataParallel(model)
    tracer = ModelTracer(ddp_model, ["forward", "linear.forward.input"], timeout=30)
    with tracer:
        step(ddp_model, rank).sum().backward()
    return {name: (len(t.values), t.ranks) for name, t in tracer.results.items()}


def test_distributed_data_parallel():
    found = ranks.results(parallel, 2)[0]
    assert found == {"forward": (2, [0, 1]), "linear.forward.input": (2, [0, 1])}


def breaking(rank, world, which):
    """A callback that raises on one rank: its exception is raised, and the others do not wait long."""

    def broken(name, values, iterations, ranks=None):
        if rank == which:
            raise LookupError("callback")

    tracer = ModelTracer(
        Net(),
        ["forward.hidden"],
        gathering_interval=10,
        **{"pre_gather_callbacks" if which else "post_gather_callbacks": [broken]},
        timeout=20,
    )
    begin = time.monotonic()
    try:
        with tracer:
            step(tracer.model, rank)
    except LookupError:
        return "raised", time.monotonic() - begin
    return "well", time.monotonic() - begin


@pytest.mark.parametrize("which", [0, 1])
def test_a_callback_that_raises(which):
    found = ranks.results(breaking, 2, which)
    assert found[which][0] == "raised" and found[1 - which][0] == "well"
    assert all(took < 18 for _, took in found)


def test_data_parallel():
    model = Net()
    tracer = ModelTracer(nn.DataParallel(model), ["forward.hidden"])
    with tracer:
        step(model, 3)
    assert tracer.results["forward.hidden"].values[0].tolist() == [[6.0] * 3]


def in_a_group(rank, world):
    groups = [dist.new_group([0]), dist.new_group([1, 2])]
    model = Net()
    tracer = ModelTracer(model, "forward.hidden", group=groups[rank > 0], timeout=30)
    with tracer:
        step(model, rank)
    return {
        name: ([v[0, 0].item() for v in t.values], t.ranks) for name, t in tracer.results.items()
    }


def test_a_group_that_is_not_the_default():
    found = ranks.results(in_a_group, 3)
    assert found[0] == {"forward.hidden": ([0.0], [0])}
    assert found[1] == {"forward.hidden": ([2.0, 4.0], [1, 2])} and found[2] == {}


def raising(rank, world):
    model = Net()
    tracer = ModelTracer(model, "forward.hidden", gathering_interval=10, timeout=30)
    try:
        with tracer:
            step(model, rank)
            step(model, rank + 5)
            raise KeyError("mine")
    except KeyError as error:
        assert error.args == ("mine",) and not hasattr(error, "__notes__")
    return {name: (t.iterations, t.ranks) for name, t in tracer.results.items()}


def test_an_exception_in_the_block():
    """Of all ranks: what was traced until then is kept, and comes together."""
    assert ranks.results(raising, 2)[0] == {"forward.hidden": ([1, 2, 1, 2], [0, 0, 1, 1])}


def dying(rank, world, folder, parallel):
    """Rank 2 is killed in its third step; the others end with an error that names it."""
    import monitorch

    model = Net()
    if parallel:
        from torch.nn.parallel import DistributedDataParallel

        model = DistributedDataParallel(model)
    saver = H5PYSaverCallback(os.path.join(folder, "run.h5"))
    tracer = ModelTracer(
        model,
        ["forward", "forward.hidden"],
        post_gather_callbacks=[stack_padded_tensors, saver],
        timeout=4,
    )
    begin = None
    try:
        with monitorch.record(os.path.join(folder, f"run.rank{rank}.mtrace")), tracer:
            for i in range(1, 1000):
                if rank == 2 and i == 3:
                    ranks.kill_self()
                begin = time.monotonic()
                step(model, i + rank).sum().backward()
                time.sleep(0.01)
    except (RankError, RuntimeError) as error:
        text = "\n".join([str(error), *getattr(error, "__notes__", [])])
        return text, time.monotonic() - begin, isinstance(error, RankError)
    return "no error"


@pytest.mark.parametrize("parallel", [False, True], ids=["alone", "DistributedDataParallel"])
def test_a_killed_rank(tmp_path, parallel):
    h5py = pytest.importorskip("h5py")
    outcomes = ranks.run(dying, 4, str(tmp_path), parallel)
    assert outcomes[2].exitcode == -9
    for rank in (0, 1, 3):
        assert not outcomes[rank].error, outcomes[rank]
        text, took, is_ours = outcomes[rank].result
        assert took < 4 + 20 and (is_ours or parallel)
        if is_ours or hasattr(Exception, "add_note"):
            assert "rank 2" in text, text
    with h5py.File(tmp_path / "run.h5", "r") as file:
        hidden = file["forward.hidden"][...]
        of, iterations = file["forward.hidden_ranks"][...], file["forward.hidden_iterations"][...]
    assert hidden.shape[1:] == (4, 1, 3) and len(hidden) >= 2
    for i in range(2):
        assert iterations[i].tolist() == [i + 1] * 4 and of[i].tolist() == [0, 1, 2, 3]
        assert hidden[i, :, 0, 0].tolist() == [2.0 * (i + 1 + rank) for rank in range(4)]
    for rank in range(4):
        assert recording.read(tmp_path / f"run.rank{rank}.mtrace") is not None
