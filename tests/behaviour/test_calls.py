"""Who called whom, what happened to each name, and where values came from: written by hand here
from what each program does, found in its trace."""

import pytest

from tests.support import recording

pytestmark = pytest.mark.usefixtures("compiler_module")


def run(source, folder, **options):
    """The trace of a source that is instrumented as a whole and run."""
    return recording.trace_of(source, folder / "run.mtrace", **options)


def tree(trace, number=0):
    """The calls below one (0: those that no recorded call made), as (function, [below])."""
    return [
        (call.function, tree(trace, call.number))
        for call in trace.calls.values()
        if call.parent == number and call.function != "<module>"
    ]


def below_module(trace):
    """The calls that the module's own code made, after it was known by a first site."""
    modules = [call.number for call in trace.calls.values() if call.function == "<module>"]
    assert len(modules) == 1
    return tree(trace, modules[0])


def values(trace, function, name):
    """[(call, value)] of a name in a function, in their order."""
    return [
        (event.call, event.value)
        for event in trace.events
        if event.function == function and event.name == name and not event.path
    ]


def ends(trace):
    return [(trace.calls[end.call].function, end.how) for end in trace.ends]


# Calls


def test_recursion(tmp_path):
    trace = run(
        """
        def down(n):
            if n == 0:
                return 0
            below = down(n - 1)
            return below + 1

        ready = True
        result = down(3)
        again = down(1)
        """,
        tmp_path,
    )
    assert below_module(trace) == [
        ("down", [("down", [("down", [("down", [])])])]),
        ("down", [("down", [])]),
    ]
    calls = [call for call in trace.calls.values() if call.function == "down"]
    assert [call.parent_line for call in calls] == [8, 4, 4, 4, 9, 4]
    first, second, third, last, again, below = [call.number for call in calls]
    assert values(trace, "down", "n") == [
        (first, 3), (second, 2), (third, 1), (last, 0), (again, 1), (below, 0)
    ]
    assert values(trace, "down", "below") == [(third, 0), (second, 1), (first, 2), (again, 0)]
    assert values(trace, "down", "return") == [
        (last, 0), (third, 1), (second, 2), (first, 3), (below, 0), (again, 1)
    ]
    assert [how for _, how in ends(trace)].count("returned") >= 6


def test_exceptions_leave_calls(tmp_path):
    trace = run(
        """
        def inner(x):
            y = x
            if y < 2:
                raise ValueError(y)
            return y

        def middle(x):
            z = x
            w = inner(z)
            return w

        def outer():
            for i in range(2):
                try:
                    got = middle(i)
                except ValueError as error:
                    caught = str(error)
            after = inner(5)
            return after

        ready = True
        outer()
        """,
        tmp_path,
    )
    assert below_module(trace) == [
        ("outer", [
            ("middle", [("inner", [])]),
            ("middle", [("inner", [])]),
            ("inner", []),
        ])
    ]
    assert ends(trace)[:6] == [
        ("inner", "left"), ("middle", "left"),
        ("inner", "left"), ("middle", "left"),
        ("inner", "returned"), ("outer", "returned"),
    ]
    assert [v for _, v in values(trace, "outer", "caught")] == ["0", "1"]


def test_an_exception_through_many_calls(tmp_path):
    trace = run(
        """
        def deep(n):
            here = n
            if n == 0:
                raise KeyError(n)
            deep(n - 1)

        def leaf():
            x = 1
            return x

        ready = True
        try:
            deep(4)
        except KeyError:
            y = leaf()
        """,
        tmp_path,
    )
    chain = ("deep", [])
    for _ in range(4):
        chain = ("deep", [chain])
    assert below_module(trace) == [chain, ("leaf", [])]


def test_generators_that_interleave(tmp_path):
    trace = run(
        """
        def count(name, last):
            for i in range(last):
                here = (name, i)
                yield here
            return name

        def both():
            a = count("a", 3)
            b = count("b", 2)
            order = []
            for x in a:
                order.append(x)
                y = next(b, None)
            return order

        ready = True
        both()
        """,
        tmp_path,
    )
    assert below_module(trace) == [("both", [("count", []), ("count", [])])]
    a, b = [call.number for call in trace.calls.values() if call.function == "count"]
    assert values(trace, "count", "name") == [(a, "a"), (b, "b")]
    assert values(trace, "count", "i") == [(a, 0), (b, 0), (a, 1), (b, 1), (a, 2)]
    visits = [(e.call, e.iteration) for e in trace.events if e.function == "count" and e.name == "i"]
    assert visits == [(a, 0), (b, 0), (a, 1), (b, 1), (a, 2)]


def test_generators_inside_generators(tmp_path):
    trace = run(
        """
        def leaves(tree):
            for part in tree:
                if isinstance(part, list):
                    yield from leaves(part)
                else:
                    leaf = part
                    yield leaf

        def work(x):
            y = x
            return y

        found = []
        for leaf in leaves([1, [2, [3]], 4]):
            z = work(leaf)
        """,
        tmp_path,
    )
    assert [v for _, v in values(trace, "leaves", "leaf")] == [1, 2, 3, 4]
    assert [v for _, v in values(trace, "work", "x")] == [1, 2, 3, 4]
    calls = [call for call in trace.calls.values() if call.function == "leaves"]
    first, second, third = calls
    assert (second.parent, third.parent) == (first.number, second.number)
    modules = {c.number for c in trace.calls.values() if c.function == "<module>"}
    assert {c.parent for c in trace.calls.values() if c.function == "work"} == modules


def test_coroutines_that_interleave(tmp_path):
    trace = run(
        """
        import asyncio

        def step(name, i):
            made = f"{name}{i}"
            return made

        async def worker(name, count):
            done = 0
            for i in range(count):
                got = step(name, i)
                await asyncio.sleep(0)
                done = done + 1
            return done

        async def main():
            both = await asyncio.gather(worker("a", 3), worker("b", 2))
            return both

        asyncio.run(main())
        """,
        tmp_path,
    )
    a, b = [call.number for call in trace.calls.values() if call.function == "worker"]
    assert values(trace, "worker", "name") == [(a, "a"), (b, "b")]
    assert values(trace, "worker", "got") == [
        (a, "a0"), (b, "b0"), (a, "a1"), (b, "b1"), (a, "a2")
    ]
    assert values(trace, "worker", "done") == [
        (a, 0), (b, 0), (a, 1), (b, 1), (a, 2), (b, 2), (a, 3)
    ]
    steps = [call.parent for call in trace.calls.values() if call.function == "step"]
    assert steps == [a, b, a, b, a]
    assert values(trace, "worker", "return") == [(b, 2), (a, 3)]


def test_threads_have_calls_of_their_own(tmp_path):
    trace = run(
        """
        import threading

        barrier = threading.Barrier(2)

        def inner(k):
            barrier.wait()
            twice = 2 * k
            barrier.wait()
            return twice

        def work(k):
            for i in range(3):
                got = inner(10 * k + i)
            return got

        threads = [threading.Thread(target=work, args=(k,), name=f"t{k}") for k in (1, 2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        """,
        tmp_path,
    )
    works = [call for call in trace.calls.values() if call.function == "work"]
    assert len(works) == 2 and {call.parent for call in works} == {0}
    assert {call.thread_name for call in works} == {"t1", "t2"}
    for call in works:
        k = dict(values(trace, "work", "k"))[call.number]
        inner = [c for c in trace.calls.values() if c.parent == call.number]
        assert [c.function for c in inner] == ["inner"] * 3
        assert {c.thread for c in inner} == {call.thread}
        numbers = {c.number for c in inner}
        twice = [v for n, v in values(trace, "inner", "twice") if n in numbers]
        assert twice == [20 * k, 20 * k + 2, 20 * k + 4]


def test_visits_of_what_a_value_does_when_it_is_asked(tmp_path):
    """Calls made while a statement runs: __repr__, __getattr__, a key function."""
    trace = run(
        """
        class Named:
            def __init__(self, name):
                self.name = name

            def __repr__(self):
                text = "<" + self.name + ">"
                return text

            def __lt__(self, other):
                is_less = self.name < other.name
                return is_less

        def main():
            both = [Named("b"), Named("a")]
            text = repr(both)
            both.sort()
            least = both[0].name
            return text, least

        ready = True
        main()
        """,
        tmp_path,
    )
    assert below_module(trace) == [
        ("main", [
            ("Named.__init__", []), ("Named.__init__", []),
            ("Named.__repr__", []), ("Named.__repr__", []), ("Named.__lt__", []),
        ])
    ]
    assert [v for _, v in values(trace, "main", "least")] == ["a"]


def test_loops_count_their_visits(tmp_path):
    trace = run(
        """
        def f():
            total = 0
            for i in range(3):
                for j in range(2):
                    total += j
            while total > 0:
                total -= 1
            return total

        f()
        """,
        tmp_path,
    )
    events = [e for e in trace.events if e.function == "f"]
    assert [(e.line, e.iteration, e.value) for e in events if e.name == "total"] == [
        (2, 0, 0),
        (5, 0, 0), (5, 1, 1), (5, 2, 1), (5, 3, 2), (5, 4, 2), (5, 5, 3),
        (7, 0, 2), (7, 1, 1), (7, 2, 0),
    ]
    assert [e.value for e in events if e.name == "j"] == [0, 1] * 3


def test_methods_of_plain_classes_have_no_module_path(tmp_path):
    trace = run(
        """
        class Plain:
            def f(self):
                x = 1
                return x

        Plain().f()
        """,
        tmp_path,
    )
    (call,) = [c for c in trace.calls.values() if c.function == "Plain.f"]
    assert call.path == ""


def test_values_of_every_plain_kind(tmp_path):
    trace = run(
        """
        import collections
        import dataclasses

        Pair = collections.namedtuple("Pair", "left right")

        @dataclasses.dataclass
        class Data:
            first: int
            second: str

        def f():
            none = None
            true = True
            small = -7
            big = 3 ** 100
            real = 2.5
            infinite = float("inf")
            not_a_number = float("nan")
            complex_ = 1 - 2j
            text = "naïve"
            data = b"abc"
            thing = object()
            function = f
            items = [1, "two", [3.0]]
            mapping = {"k": 1, 2: (3,)}
            pair = Pair(1, None)
            made = Data(4, "five")
            return none

        f()
        """,
        tmp_path,
    )
    found = {e.name: e for e in trace.events if e.function == "f" and not e.path}
    kinds = {name: event.value_kind for name, event in found.items()}
    assert kinds["none"] == "None" and kinds["true"] == "bool" and kinds["small"] == "int"
    assert kinds["big"] == "big int" and kinds["real"] == kinds["infinite"] == "float"
    assert kinds["complex_"] == "complex" and kinds["text"] == "str" and kinds["data"] == "bytes"
    assert kinds["thing"] == kinds["function"] == "object"
    assert kinds["items"] == kinds["mapping"] == kinds["pair"] == kinds["made"] == "container"
    assert found["true"].value is True and found["small"].value == -7
    assert found["real"].value == 2.5 and found["text"].value == "naïve"
    assert found["infinite"].value == float("inf")
    assert found["not_a_number"].value != found["not_a_number"].value
    assert found["complex_"].value == 1 - 2j
    assert found["pair"].type == "program.Pair" and found["made"].type == "program.Data"


# Tensors


def of_name(trace, name, function="f"):
    return [
        e for e in trace.events if e.function == function and e.name == name and not e.path
    ]


def changes(trace, name, function="f"):
    return [(e.line, e.change, e.differs) for e in of_name(trace, name, function)]


@pytest.mark.torch
def test_what_happened_to_a_tensor(tmp_path):
    trace = run(
        """
        import torch

        def f():
            x = torch.zeros(2, 3)
            x = x + 1
            x = x.clone()
            x.add_(1)
            x.mul_(1)
            x = x
            v = x.view(3, 2)
            v.mul_(2)
            x = x
            x[0, 1] = 9
            v = v
            x = x.t()
            x = x.double()
            x = x.contiguous()
            x.requires_grad_()
            x = x * 1
            x = None
            x = [x]

        f()
        """,
        tmp_path,
    )
    assert changes(trace, "x") == [
        (4, "new", []),
        (5, "rebound", ["values"]),
        (6, "rebound", []),
        (7, "mutated", ["values"]),
        (8, "mutated", []),
        (9, "same", []),
        (12, "aliased", ["values"]),
        (13, "mutated", ["values"]),
        (15, "rebound", ["shape", "strides", "values"]),
        (16, "rebound", ["dtype", "values"]),
        (17, "rebound", ["strides"]),
        (18, "same", ["requires_grad"]),
        (19, "rebound", []),
        (20, "rebound", ["type", "values"]),
        (21, "rebound", ["type", "values"]),
    ]
    assert changes(trace, "v") == [
        (10, "new", []),
        (11, "mutated", ["values"]),
        (14, "aliased", ["values"]),
    ]
    aliased = [e for e in trace.events if e.change == "aliased"]
    assert [(e.name, e.alias_line) for e in aliased] == [("x", 11), ("v", 13)]


@pytest.mark.torch
def test_each_call_begins_anew(tmp_path):
    trace = run(
        """
        import torch

        def f(x):
            y = x + 1
            return y

        a = torch.zeros(2)
        b = f(a)
        c = f(a)
        """,
        tmp_path,
    )
    assert [e.change for e in of_name(trace, "y")] == ["new", "new"]
    assert [e.change for e in of_name(trace, "x")] == ["new", "new"]


@pytest.mark.torch
def test_values_are_followed_across_calls(tmp_path):
    trace = run(
        """
        import torch

        def scale(a, factor):
            b = a * factor
            return b

        def keep(c):
            return c

        def f():
            x = torch.ones(3)
            y = scale(x, 2)
            z = keep(y)
            w = z + x
            return w

        result = f()
        """,
        tmp_path,
    )

    def one(function, name):
        (event,) = of_name(trace, name, function)
        return event

    assert one("f", "x").origin is None
    assert one("scale", "a").origin == one("f", "x").seq
    assert one("scale", "b").origin is None
    assert one("scale", "return").origin == one("scale", "b").seq
    assert one("f", "y").origin == one("scale", "return").seq
    assert one("keep", "c").origin == one("f", "y").seq
    assert one("f", "z").origin == one("keep", "return").seq
    assert one("f", "w").origin is None
    assert one("<module>", "result").origin == one("f", "return").seq


@pytest.mark.torch
def test_module_paths(tmp_path):
    trace = run(
        """
        import torch
        from torch import nn

        class Leaf(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(2))

            def forward(self, x):
                y = x * self.weight
                return y

        class Pair(nn.Module):
            def __init__(self):
                super().__init__()
                self.left = Leaf()
                self.rest = nn.ModuleList([Leaf(), nn.Sequential(Leaf())])

            def forward(self, x):
                x = self.left(x)
                for layer in self.rest:
                    x = layer(x)
                return self.helper(x)

            def helper(self, x):
                z = x + 1
                return z

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.encoder = nn.ModuleDict({"a": Pair(), "b": Pair()})

            def forward(self, x):
                a = self.encoder["a"](x)
                b = self.encoder["b"](a)
                return b

        model = Model()
        y = model(torch.ones(2))
        alone = model.encoder["b"](torch.ones(2))
        """,
        tmp_path,
    )
    forwards = [
        (call.class_name.removeprefix("program."), call.path)
        for call in trace.calls.values()
        if call.function.endswith((".forward", ".helper"))
    ]
    below = [
        ("Leaf", "{0}.left"), ("Leaf", "{0}.rest.0"), ("Leaf", "{0}.rest.1.0"), ("Pair", "{0}"),
    ]
    a = [("Pair", "encoder.a")] + [(k, p.format("encoder.a")) for k, p in below]
    b = [("Pair", "encoder.b")] + [(k, p.format("encoder.b")) for k, p in below]
    # The second time `encoder.b` is run by itself: below a root that is known, it keeps its path.
    assert forwards[: 1 + len(a) + len(b)] == [("Model", "")] + a + b
    assert [name for name, _ in forwards[1 + len(a) + len(b) :]] == [k for k, _ in b]


@pytest.mark.torch
def test_hooks_and_backward(tmp_path):
    trace = run(
        """
        import torch
        from torch import nn

        seen = []

        def hook(module, inputs, output):
            total = output.sum()
            seen.append(float(total.detach()))

        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = x * 2
                return y

            @staticmethod
            def backward(ctx, g):
                h = g * 2
                return h

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(2, 2)
                self.layer.register_forward_hook(hook)

            def forward(self, x):
                y = self.layer(x)
                z = Twice.apply(y)
                return z

        net = Net()
        out = net(torch.ones(1, 2))
        out.sum().backward()
        """,
        tmp_path,
    )
    (forward,) = [c for c in trace.calls.values() if c.function == "Net.forward"]
    inside = [c.function for c in trace.calls.values() if c.parent == forward.number]
    assert inside == ["hook", "Twice.forward"]
    (h,) = of_name(trace, "h", "Twice.backward")
    assert h.shape == [1, 2] and (h.min, h.max) == (2.0, 2.0)


@pytest.mark.torch
def test_threads_that_share_a_model(tmp_path):
    """As nn.DataParallel does it: replicas or one module, a thread each."""
    trace = run(
        """
        import threading
        import torch
        from torch import nn

        class Leaf(nn.Module):
            def forward(self, x):
                y = x * 2
                return y

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = Leaf()
                self.second = Leaf()

            def forward(self, x):
                a = self.first(x)
                b = self.second(a)
                return b

        model = Model()
        results = {}

        def work(k):
            for i in range(20):
                results[k] = model(torch.full((2,), float(k)))

        threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        """,
        tmp_path,
    )
    calls = trace.calls
    models = [c for c in calls.values() if c.function == "Model.forward"]
    assert len(models) == 60
    for call in models:
        assert calls[call.parent].function == "work" and calls[call.parent].thread == call.thread
        inner = [(c.path, c.thread) for c in calls.values() if c.parent == call.number]
        assert inner == [("first", call.thread), ("second", call.thread)]
    for event in of_name(trace, "b", "Model.forward"):
        assert event.mean == 4 * dict(values(trace, "work", "k"))[calls[event.call].parent]


@pytest.mark.torch
def test_tensors_in_containers(tmp_path):
    trace = run(
        """
        import collections
        import dataclasses
        import torch

        Pair = collections.namedtuple("Pair", "left right")

        @dataclasses.dataclass
        class Output:
            logits: torch.Tensor
            hidden: tuple

        def f():
            one = [torch.zeros(1), (torch.ones(2), "text")]
            two = {"logits": torch.zeros(2, 2), 3: {"k": torch.ones(1)}}
            three = Pair(torch.zeros(1), 5)
            four = Output(torch.ones(3), (torch.zeros(4),))
            return one

        f()
        """,
        tmp_path,
    )

    def leaves(name):
        return {
            e.path: e.shape
            for e in trace.events
            if e.function == "f" and e.name == name and e.value_kind == "tensor"
        }

    assert leaves("one") == {"[0]": [1], "[1][0]": [2]}
    assert leaves("two") == {"['logits']": [2, 2], "[3]['k']": [1]}
    assert leaves("three") == {".left": [1]}
    assert leaves("four") == {".logits": [3], ".hidden[0]": [4]}


@pytest.mark.torch
def test_attributes_and_items(tmp_path):
    trace = run(
        """
        import torch
        from torch import nn

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(2))
                self.register_buffer("seen", torch.zeros(1))
                self.cache = None

            def forward(self, x):
                self.seen += 1
                self.cache = x * self.weight
                self.cache[0] = 7
                self.weight.data.mul_(2)
                return self.cache

        model = Model()
        y = model(torch.ones(2))
        """,
        tmp_path,
    )
    (weight,) = of_name(trace, "self.weight", "Model.__init__")
    assert weight.value_kind == "tensor" and weight.requires_grad is True
    (seen,) = of_name(trace, "self.seen", "Model.forward")
    assert (seen.min, seen.shape) == (1.0, [1])
    assigned, changed = of_name(trace, "self.cache", "Model.forward")
    assert (assigned.change, assigned.max) == ("new", 1.0)
    assert (changed.change, changed.differs, changed.max) == ("mutated", ["values"], 7.0)


@pytest.mark.torch
def test_statistics_of_values(tmp_path):
    trace = run(
        """
        import torch

        def f():
            x = torch.tensor([[1.0, -2.0, 0.0], [float("nan"), float("inf"), -float("inf")]])
            i = torch.tensor([3, -4, 0])
            b = torch.tensor([True, False, True])
            c = torch.tensor([3 + 4j])
            e = torch.zeros(0)
            return x

        f()
        """,
        tmp_path,
    )
    (x,), (i,), (b,), (c,), (e,) = (of_name(trace, name) for name in "xibce")
    assert (x.min, x.max, x.nan, x.posinf, x.neginf, x.zeros) == (-2.0, 1.0, 1, 1, 1, 1)
    assert x.mean == pytest.approx(-1 / 3, rel=1e-12)
    assert (i.min, i.max, i.zeros, i.dtype) == (-4, 3, 1, "int64")
    assert (b.mean, b.dtype) == (pytest.approx(2 / 3), "bool")
    assert (c.min, c.max) == (5.0, 5.0)
    assert e.shape == [0]


# Processes

WORKERS = """\
import sys

import torch
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        x = torch.tensor([float(index)])
        y = x * x
        return y


def main():
    loader = DataLoader(
        Squares(), batch_size=2, num_workers=2, multiprocessing_context=sys.argv[1]
    )
    total = 0.0
    for batch in loader:
        total += float(batch.sum())
    print(total)


if __name__ == "__main__":
    main()
"""


@pytest.mark.torch
@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_workers_of_a_data_loader(how, tmp_path):
    run = recording.run_program(WORKERS, tmp_path, [how])
    assert run.returncode == 0, run.stderr
    assert run.stdout == "140.0\n"
    assert recording.without_tracker(run.stderr) == ""
    traces = recording.traces_in(tmp_path)
    own = [t for t in traces if of_name(t, "total", "main")]
    workers = [t for t in traces if of_name(t, "y", "Squares.__getitem__")]
    assert len(own) == 1 and len(workers) == 2
    totals = [e.value for e in of_name(own[0], "total", "main") if e.kind == "assign"]
    assert totals == [0.0, 1.0, 14.0, 55.0, 140.0]
    found = sorted(e.max for t in workers for e in of_name(t, "y", "Squares.__getitem__"))
    assert found == [float(i * i) for i in range(8)]
    for trace in workers:
        for event in of_name(trace, "y", "Squares.__getitem__"):
            assert event.call in trace.calls


FORKS = """\
import os


def child(k):
    x = k * 10
    return x


def main():
    before = 1
    for k in range(3):
        pid = os.fork()
        if pid == 0:
            y = child(k)
            os._exit(0)
        os.waitpid(pid, 0)
    after = 2
    return after


main()
"""


def test_forks_record_into_files_of_their_own(tmp_path):
    run = recording.run_program(FORKS, tmp_path)
    assert run.returncode == 0 and run.stderr == ""
    traces = recording.traces_in(tmp_path)
    assert len(traces) == 4
    own = [t for t in traces if of_name(t, "after", "main")]
    assert len(own) == 1 and not of_name(own[0], "x", "child")
    found = sorted(e.value for t in traces for e in of_name(t, "y", "main"))
    assert found == [0, 10, 20]
    for trace in traces:
        if trace is not own[0]:
            # The call that was going on when the process was made is known in its trace.
            (call,) = [c for c in trace.calls.values() if c.function == "child"]
            assert trace.calls[call.parent].function == "main"


@pytest.mark.torch
def test_modules_that_come_later_have_paths(tmp_path):
    trace = run(
        """
        import torch
        from torch import nn

        class Leaf(nn.Module):
            def forward(self, x):
                y = x + 1
                return y

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([Leaf()])

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x

        model = Model()
        model(torch.ones(1))
        model.layers.append(Leaf())
        model(torch.ones(1))
        """,
        tmp_path,
    )
    paths = [c.path for c in trace.calls.values() if c.function == "Leaf.forward"]
    assert paths == ["layers.0", "layers.0", "layers.1"]


INTERPRETERS = """\
import sys

import _testcapi


def double(x):
    y = [x, 2 * x]
    return y


def main():
    before = double(3)
    _testcapi.run_in_subinterp(
        "import sys; sys.path[:] = %r\\nimport program\\nprogram.double(4)" % (sys.path,)
    )
    after = double(5)
    return after


if __name__ == "__main__":
    main()
"""


def test_interpreters_of_one_process(tmp_path):
    pytest.importorskip("_testcapi")
    run = recording.run_program(INTERPRETERS, tmp_path)
    assert run.returncode == 0 and run.stderr == ""
    traces = recording.traces_in(tmp_path)
    found = sorted([v for _, v in values(trace, "double", "x")] for trace in traces)
    assert found == [[3, 5], [4]]
