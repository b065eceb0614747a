"""Gathering over gloo processes: whatever each rank has, whenever it leaves."""

from __future__ import annotations

import time

import pytest

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402

from tests.python.tracer import ranks  # noqa: E402
from tests.support import recording  # noqa: E402

recording.package()

from monitorch.tracer import _ends, _link  # noqa: E402
from monitorch.tracer._gather import Gatherer  # noqa: E402
from monitorch.tracer._link import RankError  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(not dist.is_available() or not dist.is_gloo_available(), reason="no gloo"),
]


def use(steps, leftover, **options):
    """All that a tracer does: (gatherings while it ran, those at the end)."""
    gatherer = Gatherer(**options)
    gatherer.begin()
    during = []
    for pending in steps:
        during += gatherer.gather(pending)
    return during, gatherer.finish(leftover, None)


# ---- alone ----


def test_alone():
    during, last = use([{"x": (["a", "b"], [1, 2])}], {"x": (["c"], [3])})
    assert during == [{"x": (["a", "b"], [1, 2], [0, 0])}]
    assert last == [{"x": (["c"], [3], [0])}]


def test_alone_with_nothing():
    assert use([], {}) == ([], [])


def test_a_group_without_a_process_group():
    with pytest.raises(ValueError, match="no process group"):
        Gatherer(group=object()).begin()


def world_of_one(rank, world):
    gatherer = Gatherer()
    gatherer.begin()
    return gatherer.rank, gatherer.world_size, gatherer.finish({"x": ([1], [1])}, None)


def test_a_world_of_one():
    assert ranks.results(world_of_one, 1) == [(0, 1, [{"x": ([1], [1], [0])}])]


# ---- what comes together ----


def everything(rank, world, overlap):
    """Sizes, dtypes and paths differ between ranks and steps; rank 1 has nothing in the first."""
    dtype = [torch.float32, torch.int64, torch.bfloat16, torch.float64][rank]
    steps = []
    for step in (1, 2, 3):
        pending = {
            "all": (
                [torch.full((rank + 1, step), float(rank)).to(dtype)] * 2,
                [step * 2 - 1, step * 2],
            ),
            f"only{rank}": ([{"step": step, "t": torch.tensor(rank)}], [step]),
        }
        steps.append({} if (rank, step) == (1, 1) else pending)
    big = torch.arange(300_000, dtype=torch.int32) + rank
    return use(steps, {"big": ([big], [7])}, overlap=overlap, timeout=30)


@pytest.mark.parametrize("overlap", [False, True], ids=["now", "overlap"])
@pytest.mark.parametrize("world", [2, 4])
def test_everything(world, overlap):
    found = ranks.results(everything, world, overlap)
    assert all(during + last == [] for during, last in found[1:])
    during, last = found[0]
    if not overlap:
        assert len(during) == 3 and len(last) == 1
    gatherings = during + last
    for step in (1, 2, 3):
        gathered = gatherings[step - 1]
        present = [r for r in range(world) if (r, step) != (1, 1)]
        assert list(gathered) == ["all", *(f"only{r}" for r in present)]
        values, iterations, found_ranks = gathered["all"]
        assert found_ranks == [r for r in present for _ in "ab"]
        assert iterations == [step * 2 - 1, step * 2] * len(present)
        for value, rank in zip(values, found_ranks):
            dtype = [torch.float32, torch.int64, torch.bfloat16, torch.float64][rank]
            assert value.dtype == dtype and torch.equal(
                value, torch.full((rank + 1, step), rank, dtype=dtype)
            )
        for rank in present:
            (value,), (iteration,), (of,) = gathered[f"only{rank}"]
            assert (value["step"], int(value["t"]), iteration, of) == (step, rank, step, rank)
    values, iterations, found_ranks = gatherings[3]["big"]
    assert iterations == [7] * world and found_ranks == list(range(world))
    for rank, value in enumerate(values):
        assert torch.equal(value, torch.arange(300_000, dtype=torch.int32) + rank)


def stacked(rank, world):
    """A pre_gather callback has left one tensor for two iterations."""
    return use([{"x": ([torch.full((2, 3), rank)], [1, 2])}], {}, timeout=30)


def test_ranks_stand_beside_iterations():
    ((during, last), _) = ranks.results(stacked, 2)
    values, iterations, found_ranks = during[0]["x"]
    assert len(values) == 2 and iterations == [1, 2, 1, 2] and found_ranks == [0, 0, 1, 1]
    assert last == []


# ---- uneven ----


def uneven(rank, world, counts, overlap):
    steps = [{"x": ([torch.tensor([rank, step])], [step])} for step in range(1, counts[rank] + 1)]
    if rank == 1:
        time.sleep(0.3)
    begin = time.monotonic()
    during, last = use(steps, {"left": ([rank], [99])}, timeout=30, overlap=overlap)
    return during + last, time.monotonic() - begin


@pytest.mark.parametrize("overlap", [False, True], ids=["now", "overlap"])
@pytest.mark.parametrize("counts", [(0, 3, 1), (5, 0, 2), (2, 4, 40), (0, 0, 0)], ids=str)
def test_uneven_numbers_of_gatherings(counts, overlap):
    """What all had as their n-th comes together; what the root has not reached comes at its end."""
    (gatherings, took), *_ = ranks.results(uneven, 3, counts, overlap)
    assert took < 25
    for i, gathered in enumerate(gatherings):
        expected = [r for r in range(3) if counts[r] > i]
        left = [r for r in range(3) if counts[r] == i]
        if expected:
            values, iterations, found = gathered["x"]
            assert found == expected and iterations == [i + 1] * len(expected)
            assert [v.tolist() for v in values] == [[r, i + 1] for r in expected]
        assert gathered.get("left", ([], [], [])) == (left, [99] * len(left), left)
    assert len(gatherings) == max(counts) + 1


def alternating(rank, world):
    """The program's own operations stand between gatherings, in another order on each rank."""
    gatherer = Gatherer(timeout=30)
    gatherer.begin()
    found = []
    total = torch.tensor(float(rank + 1))
    big = torch.full((100_000,), float(rank))
    for step in range(1, 6):
        if rank == 0:
            dist.all_reduce(total)
            found += gatherer.gather({"x": ([big + step], [step])})
        else:
            found += gatherer.gather({"x": ([big + step], [step])})
            dist.all_reduce(total)
    if rank == 1:
        dist.send(torch.tensor(5.0), 0)
    elif rank == 0:
        received = torch.zeros(())
        dist.recv(received, 1)
        assert received == 5
    found += gatherer.finish({}, None)
    return [[(float(v[0]), v.numel()) for v in g["x"][0]] for g in found]


def test_among_the_programs_own_operations():
    found = ranks.results(alternating, 2)
    assert found == [[[(s + 0.0, 100_000), (s + 1.0, 100_000)] for s in range(1, 6)], []]


def two_at_once(rank, world):
    """A tracer in a tracer, and one after the other, with other sizes."""
    outer, inner = Gatherer(timeout=30), Gatherer(timeout=30, overlap=True)
    outer.begin()
    inner.begin()
    a = outer.gather({"x": ([torch.full((50_000,), 1 + rank)], [1])})
    b = inner.gather({"x": ([torch.full((70_000,), 3 + rank)], [1])})
    b += inner.finish({}, None)
    a += outer.finish({}, None)
    c = use([{"x": ([torch.full((9,), rank)], [1])}], {}, timeout=30)[0]
    return [[(int(v[0]), v.numel()) for v in g["x"][0]] for g in a + b + c]


def test_two_at_once():
    expected = [[(1, 50_000), (2, 50_000)], [(3, 70_000), (4, 70_000)], [(0, 9), (1, 9)]]
    assert ranks.results(two_at_once, 2) == [expected, []]


# ---- groups ----


def in_groups(rank, world, overlap):
    groups = [dist.new_group([0, 2]), dist.new_group([3, 1])]
    group = groups[rank % 2]
    gatherer = Gatherer(group, timeout=30, overlap=overlap)
    gatherer.begin()
    found = gatherer.gather({"x": ([torch.full((20_000,), rank)], [5])})
    found += gatherer.finish({}, None)
    return (
        gatherer.rank,
        gatherer.world_size,
        [([int(v[0]) for v in g["x"][0]], g["x"][2]) for g in found],
    )


@pytest.mark.parametrize("overlap", [False, True], ids=["now", "overlap"])
def test_groups(overlap):
    """Each group gathers on its own first rank; ranks are those of the world."""
    found = ranks.results(in_groups, 4, overlap)
    assert [item[:2] for item in found] == [(0, 2), (found[1][0], 2), (1, 2), (found[3][0], 2)]
    assert found[0][2] == [([0, 2], [0, 2])] and found[2][2] == []
    first, second = (1, 3) if found[1][0] == 0 else (3, 1)
    assert found[first][2] == [([first, second], [first, second])] and found[second][2] == []


def outside(rank, world):
    group = dist.new_group([1])
    gatherer = Gatherer(group, timeout=30)
    gatherer.begin()
    return (
        gatherer.rank,
        gatherer.gather({"x": ([1], [1])}),
        gatherer.finish({"x": ([1], [1])}, None),
    )


def test_a_rank_outside_of_the_group():
    found = ranks.results(outside, 2)
    assert found[0] == (-1, [], [])
    gathered = [{"x": ([1], [1], [1])}]
    assert found[1] == (0, gathered, gathered)


# ---- one that does not come ----


def catching(gatherer, act):
    begin = time.monotonic()
    try:
        found = act()
    except RankError as error:
        found = gatherer.finish({"x": (["left"], [9])}, error)
        return str(error), error.ranks, time.monotonic() - begin, found
    return None, (), time.monotonic() - begin, found


def killed(rank, world, overlap):
    """Rank 2 dies after its second gathering; all others end with its name."""
    gatherer = Gatherer(timeout=2, overlap=overlap)
    gatherer.begin()

    def act():
        found = []
        for step in range(1, 100):
            if rank == 2 and step == 3:
                ranks.kill_self()
            found += gatherer.gather({"x": ([(rank, step)], [step])})
            time.sleep(0.05)
        return found + gatherer.finish({}, None)

    return catching(gatherer, act)


@pytest.mark.parametrize("overlap", [False, True], ids=["now", "overlap"])
def test_a_killed_rank(overlap):
    outcomes = ranks.run(killed, 4, overlap)
    assert outcomes[2].exitcode == -9
    for rank in (0, 1, 3):
        assert outcomes[rank].exitcode == 0 and not outcomes[rank].error, outcomes[rank]
        message, missing, took, found = outcomes[rank].result
        assert message.startswith("rank 2 did not reach gathering 3 within 2 s"), message
        assert missing == (2,) and took < 2 + 20
        if rank == 0:  # what was there is not lost, its own leftovers neither
            steps = {pair for gathered in found for pair in gathered["x"][0]}
            assert {(0, 3), (1, 3), (3, 3), "left"} <= steps


def killed_while_sending(rank, world):
    """Its note has come, its message has not."""
    gatherer = Gatherer(timeout=3)
    gatherer.begin()
    if rank == 1:
        gatherer._end._link._dist = type("", (), {"isend": lambda *a, **k: ranks.kill_self()})
    pending = {"x": ([torch.ones(100_000)], [1])}
    return catching(gatherer, lambda: gatherer.gather(pending) + gatherer.finish({}, None))


def test_a_rank_killed_while_it_sends():
    outcomes = ranks.run(killed_while_sending, 3)
    for rank in (0, 2):
        message, missing, took, _ = outcomes[rank].result
        assert message.startswith("rank 1 is lost: ") and missing == (1,), outcomes[rank]
        assert took < 3 + 20


def silent(rank, world, who, overlap):
    """They live, but trace nothing."""
    if rank in who:
        time.sleep(4.5)
        return None
    gatherer = Gatherer(timeout=1, overlap=overlap)

    def act():
        gatherer.begin()
        return gatherer.gather({"x": ([1], [1])}) + gatherer.finish({}, None)

    return catching(gatherer, act)


@pytest.mark.parametrize("overlap", [False, True], ids=["now", "overlap"])
def test_ranks_that_do_not_trace(overlap):
    outcomes = ranks.results(silent, 4, (1, 3), overlap)
    for rank in (0, 2):
        message, missing, _, _ = outcomes[rank]
        assert message.startswith("ranks 1 and 3 did not ") and missing == (1, 3), message


def test_a_root_that_does_not_trace():
    message, missing, _, _ = ranks.results(silent, 2, (0,), False)[1]
    assert message == "rank 0 did not receive gathering 1 within 1 s" and missing == (0,)


# ---- exceptions ----


def leaving(rank, world, who):
    """The block is left by an exception on some ranks; the others go on."""
    gatherer = Gatherer(timeout=20)
    gatherer.begin()
    found = gatherer.gather({"x": ([rank], [1])})
    begin = time.monotonic()
    if rank in who:
        error = ValueError("mine")
        found += gatherer.finish({"x": ([rank + 10], [2])}, error)
        notes = getattr(error, "__notes__", [])
        return found, notes, time.monotonic() - begin
    time.sleep(1)
    for step in (2, 3):
        found += gatherer.gather({"x": ([rank + 20], [step])})
    found += gatherer.finish({}, None)
    return found, [], time.monotonic() - begin


def test_all_leave_by_an_exception():
    """What was traced is kept, leftovers too, and nobody is missing."""
    found = ranks.results(leaving, 3, (0, 1, 2))
    assert found[0][0] == [
        {"x": ([0, 1, 2], [1, 1, 1], [0, 1, 2])},
        {"x": ([10, 11, 12], [2, 2, 2], [0, 1, 2])},
    ]
    assert all(notes == [] and took < 15 for _, notes, took in found)


def test_another_rank_leaves_by_an_exception():
    found = ranks.results(leaving, 3, (1,))
    assert [g["x"][0] for g in found[0][0]] == [[0, 1, 2], [20, 11, 22], [20, 22]]


def test_the_root_leaves_by_an_exception():
    """The others train on; nothing of theirs is raised."""
    found = ranks.results(leaving, 3, (0,))
    assert found[0][0][:2] == [
        {"x": ([0, 1, 2], [1, 1, 1], [0, 1, 2])},
        {"x": ([10, 21, 22], [2, 2, 2], [0, 1, 2])},
    ]
    assert found[0][2] < 20 and not found[0][1]


def long_gone(rank, world):
    """The root has an exception while another rank hangs: it is raised soon, with a note."""
    gatherer = Gatherer(timeout=60)
    gatherer.begin()
    if rank == 1:
        time.sleep(8)
        return None
    error = ValueError("mine")
    begin = time.monotonic()
    found = gatherer.finish({"x": ([rank], [1])}, error)
    return found, getattr(error, "__notes__", []), time.monotonic() - begin


def test_an_exception_is_not_held_up():
    found = ranks.results(long_gone, 3)
    gathered, notes, took = found[0]
    assert took < 30 and gathered == [{"x": ([0, 2], [1, 1], [0, 2])}]
    if hasattr(ValueError, "add_note"):
        for rank in (0, 2):
            (note,) = found[rank][1]
            assert note.startswith("monitorch.tracer: rank 1 did not reach gathering 1"), note


# ---- what the links rest on ----


def without_a_store(rank, world):
    """As under MPI: the root makes one."""
    from torch.distributed import distributed_c10d

    def refuse():
        raise ValueError("no store")

    distributed_c10d._get_default_store, before = refuse, distributed_c10d._get_default_store
    try:
        return use([{"x": ([torch.full((9_000,), rank)], [1])}], {}, timeout=30)
    finally:
        distributed_c10d._get_default_store = before


def test_a_backend_without_a_store():
    (during, _), *_ = ranks.results(without_a_store, 3)
    assert [int(value[0]) for value in during[0]["x"][0]] == [0, 1, 2]


def running_ahead(rank, world):
    """A sender waits where too much is under way, and its memory is freed when it was taken."""
    _link.PENDING_MOST = _ends.PENDING_MOST = 1 << 21
    _ends._KEPT = 1 << 20
    if rank == 0:
        time.sleep(0.5)
    gatherer = Gatherer(timeout=30)
    gatherer.begin()
    sizes, found = [], []
    for step in range(1, 9):
        found += gatherer.gather({"x": ([torch.full((1 << 17,), step + rank)], [step])})
        if rank == 1:
            sizes.append(gatherer._end._link.pending_size())
    found += gatherer.finish({}, None)
    return sizes, [int(v[0]) for g in found for v in g["x"][0]]


def test_a_sender_that_runs_ahead():
    found = ranks.results(running_ahead, 2)
    assert found[0][1] == [value for step in range(1, 9) for value in (step, step + 1)]
    assert len(found[1][0]) == 8 and max(found[1][0]) <= (1 << 21)


def pickling(rank, world, allow):
    value = [0, lambda: 0, Thing(rank)][2]
    (during, _) = use([{"x": ([value], [1])}], {}, timeout=30, allow_pickle=allow)
    return [[getattr(v, "content", repr(v)) for v in g["x"][0]] for g in during]


class Thing:
    def __init__(self, content):
        self.content = content


def test_objects():
    assert ranks.results(pickling, 2, True)[0] == [[0, 1]]
    name = f"{__name__}.Thing"
    assert ranks.results(pickling, 2, False)[0] == [[0, f"<not gathered: {name} of rank 1>"]]
