"""What monitorch.tracker does beyond the old one: kinds of functions, options, logging, recordings."""

from __future__ import annotations

from typing import Callable

import pytest

from tests.python.tracker import tree_log
from tests.python.tracker.tree_log import Ran

Run = Callable[..., Ran]
pytestmark = pytest.mark.torch


def test_every_kind_of_function(run: Run) -> None:
    ran = run(
        """
        import asyncio, functools, inspect
        from monitorch.tracker import auto_diff

        def keeps(function):
            @functools.wraps(function)
            def around(*args, **kwargs):
                return function(*args, **kwargs)
            return around

        class Own:
            @auto_diff
            def method(self, a): b = a; return b
            @staticmethod
            @auto_diff
            def static(a): b = a; return b
            @auto_diff
            @staticmethod
            def static_below(a): b = a; return b
            @auto_diff
            @classmethod
            def of_class(cls, a): b = a; return b
            @property
            @auto_diff
            def value(self): b = 5; return b
            @auto_diff
            @keeps
            def below(self, a): b = a; return b
            @keeps
            @auto_diff
            def above(self, a): b = a; return b

        own = Own()
        assert [own.method(1), Own.static(2), own.static_below(3), own.of_class(4)] == [1, 2, 3, 4]
        assert [own.value, own.below(6), own.above(7)] == [5, 6, 7]
        assert str(inspect.signature(Own.method)) == "(self, a)"
        assert Own.method.__qualname__ == "Own.method"

        @auto_diff
        def plain(a, *rest, k=1, **more):
            return a, rest, k, more
        assert plain(1, 2, k=3, z=4) == (1, (2,), 3, {"z": 4})

        @auto_diff
        @auto_diff
        def twice(a): return a
        assert twice(8) == 8
        """
    )
    assert ran.log.entries() == [
        "Own.method", "Own.static", "Own.static_below", "Own.of_class", "Own.value", "Own.below",
        "Own.above", "plain", "twice",
    ]  # fmt: skip
    assert len(ran.log.of_kind("output")) >= 9


NO_SOURCE = {
    "builtin": ("auto_diff(len)", "traced([1, 2]) == 2", "len", True),
    "torch": ("auto_diff(torch.add)", "float(traced(torch.ones(1), 1)) == 2", "add", True),
    "exec": ("auto_diff(space['plain'])", "traced(3) == 3", "plain", True),
    "coroutine": ("auto_diff(space['co'])", "asyncio.run(traced(3)) == 3", "co", True),
    "generator": ("auto_diff(space['gen'])", "list(traced(3)) == [3]", "gen", True),
    "stream": (
        "auto_diff(space['stream'])",
        "asyncio.run(collect(traced(3))) == [3]",
        "stream",
        False,
    ),
}


SPACE = """
def plain(a):
    return a
async def co(a):
    return a
def gen(a):
    yield a
async def stream(a):
    yield a
"""


@pytest.mark.parametrize("kind", NO_SOURCE)
def test_functions_without_a_source(kind: str, run: Run) -> None:
    make, check, name, has_output = NO_SOURCE[kind]
    ran = run(
        f"""
        import asyncio
        import torch
        from monitorch.tracker import auto_diff

        space = {{}}
        exec({SPACE!r}, space)

        async def collect(values):
            return [value async for value in values]

        traced = {make}
        assert {check}
        assert {check}
        """
    )
    log = ran.log
    assert [
        line.rest.endswith("only its inputs and outputs are logged")
        for line in log.of_kind("warning")
    ] == [True]
    assert [entry.rpartition(".")[2] for entry in log.entries()] == [name] * 2
    assert len(log.of_kind("input")) >= 2
    assert len(log.of_kind("output")) == (2 if has_output else 0)
    assert len(log.of_kind("elapsed")) == 2


REFUSED = [
    ("auto_diff(lambda x: x)", "lambda"),
    ("auto_diff(int)", "methods of int"),
    ("auto_diff(torch.nn.Linear(1, 1))", "forward"),
    ("auto_diff(5)", "not int"),
    ("var_tracker()", "names"),
    ("var_tracker(print)", "names"),
    ("var_tracker('a b')", "'a b'"),
    ("auto_diff(depth=-1)", "depth"),
    ("auto_diff(when='never')", "when"),
    ("auto_diff(rate=0)", "rate"),
    ("auto_diff(rate='5/m')", "rate"),
    ("auto_diff(labels='fr')", "labels"),
    ("auto_diff(labels={'inputs': 'in'})", "'inputs'"),
    ("install('json')", "names"),
    ("configure(stdout=1)", "stdout"),
]


def test_refusals(run: Run) -> None:
    """Each says what was wrong, as a TypeError or ValueError at the decorator."""
    lines = [
        f"try:\n    {call}\nexcept (TypeError, ValueError) as error:\n    print(error)\n"
        for call, _ in REFUSED
    ]
    names = "auto_diff, configure, install, var_tracker"
    ran = run(f"import torch\nfrom monitorch.tracker import {names}\n" + "".join(lines))
    told = ran.output.splitlines()
    assert len(told) == len(REFUSED)
    for (call, word), line in zip(REFUSED, told):
        assert word in line, (call, line)


def test_tracebacks_are_the_programs_own(run: Run) -> None:
    """From Python 3.11 on; the exception is the one that was raised, with nothing chained to it."""
    ran = run(
        """
        import sys, traceback
        from monitorch.tracker import auto_diff, var_tracker

        def raises(x):
            raise KeyError("gone")

        def fails(x):
            y = x
            raises(y)

        def lines_of(function):
            try:
                function(1)
            except KeyError as error:
                assert error.__cause__ is None and error.__context__ is None
                frames = traceback.extract_tb(error.__traceback__)
                return [(frame.name, frame.lineno) for frame in frames]

        plain = lines_of(fails)
        assert len(plain) == 3
        for made in (auto_diff(fails), var_tracker("y")(auto_diff(fails))):
            tracked = lines_of(made)
            if sys.version_info < (3, 11):
                tracked = [frame for frame in tracked if frame[0] != "wrapper"]
            assert tracked == plain, (tracked, plain)
        """
    )
    assert [line.rest for line in ran.log.of_kind("raised")] == ["KeyError"] * 2


def test_what_a_callee_did(run: Run) -> None:
    """A line that only reads a variable may change it all the same."""
    ran = run(
        """
        import torch
        from monitorch.tracker import var_tracker

        def update(x):
            x.mul_(3)
            return 1

        @var_tracker("x", "total")
        def outer(x):
            total = 0
            def add():
                nonlocal total
                total += 5
                return total
            got = update(x)  # in place
            got = len(x.shape)
            if update(x):  # condition
                pass
            got = add() + total  # nonlocal
            return got

        outer(torch.ones(2))
        """
    )
    assert ran.log.lines_of("x") == [ran.line("in place"), ran.line("condition")]
    assert ran.line("nonlocal") in ran.log.lines_of("total")


def test_when_and_rate(run: Run) -> None:
    ran = run(
        """
        import torch
        from monitorch.tracker import auto_diff, var_tracker

        @auto_diff(rate=0.25)
        def seldom(number):
            return number

        for number in range(8):
            seldom(number)

        @var_tracker("x", when="nan")
        def nan(x):
            x = x * 2
            return x

        nan(torch.ones(2))
        nan(torch.tensor([float("nan")]))

        @var_tracker("x", when="changed")
        def changed(x, by):
            x = x + by
            return x

        changed(torch.ones(2), 0)
        changed(torch.ones(2), 1)
        """
    )
    assert ran.log.entries() == ["seldom", "seldom", "nan", "changed"]


def test_logging(run: Run) -> None:
    ran = run(
        """
        import logging
        import torch
        from monitorch import tracker

        seen = []

        class Handler(logging.Handler):
            def emit(self, record):
                seen.append((record.levelno, record.getMessage()))
                raise RuntimeError("handlers may fail")

        logging.raiseExceptions = False
        tracker.logger.addHandler(Handler())
        tracker.logger.addHandler(tracker.h4logger())
        tracker.configure(stdout=False)

        @tracker.var_tracker("x")
        def f(x):
            x = x.half()
            return x

        assert f(torch.ones(1)).item() == 1
        assert {level for level, _ in seen} == {logging.WARNING}
        tracker.logger.setLevel("INFO")
        del seen[:]
        f(torch.ones(1))
        assert {level for level, _ in seen} == {logging.INFO, logging.WARNING}
        print(len(seen))
        """
    )
    assert len(ran.log.entries()) == 2
    assert ran.output.strip() == str(len(ran.log) // 2)


def test_off_and_on(run: Run) -> None:
    ran = run(
        """
        import sys
        from monitorch import tracker

        @tracker.auto_diff
        def f(x):
            y = x
            return y

        f(1)
        tracker.off()
        f(2)
        tracker.on()
        f(3)
        tracker.configure(folder=None, stdout=False)
        f(4)
        """
    )
    values = [line.rest for line in ran.log.of_kind("input")]
    assert values == ["value: 1", "value: 3"]


def test_a_recording_of_the_programs(run: Run) -> None:
    """Both get the calls; the trace shows the same lines, and the log goes on when it has ended."""
    ran = run(
        """
        import monitorch
        from monitorch.tracker import configure, var_tracker

        configure(elapsed=False)

        @var_tracker("x")
        def f(x):
            x = x + 1
            return x

        f(1)
        with monitorch.record("run.mtrace") as recording:
            f(2)
            f(3)
        assert recording.summary.events == 6, recording.summary
        assert monitorch.stop() is None
        f(4)

        @var_tracker("x")
        def begins(x):
            x = x + 1
            with monitorch.record("other.mtrace"):
                x = x + 2  # within
            x = x + 3  # after
            return x

        begins(1)
        """
    )
    log = ran.log
    assert [line.rest for line in log.of_kind("input")][:4] == [f"value: {n}" for n in (1, 2, 3, 4)]
    assert {ran.line("within"), ran.line("after")} <= set(log.lines_of("x"))
    assert (ran.folder / "run.mtrace").is_file()
    assert not list(ran.folder.glob("*.mtrace.*"))


LATER = """
class Net:
    def forward(self, x):
        y = x
        return y
    @staticmethod
    def load(x):
        y = x
        return y
    def other(self):
        return 1

def forward(x):
    y = x
    return y
"""


def test_install(run: Run) -> None:
    tree_log.write_program(run.args[0], LATER, "later")  # type: ignore[attr-defined]
    ran = run(
        """
        import sys
        from monitorch.tracker import install

        sys.path.insert(0, ".")
        with install("later", "Net.*d", "for*") as installed:
            import later
            plain = later.Net.other
            assert later.Net().forward(1) == 1 and later.Net.load(2) == 2 and later.forward(3) == 3
            assert later.Net().other() == 1
            assert sorted(installed.names) == ["later:Net.forward", "later:Net.load", "later:forward"]
            assert type(later.__spec__.loader).__name__ == "SourceFileLoader"
        assert later.Net().forward(4) == 4 and later.Net.load(5) == 5
        assert not hasattr(later.forward, "__wrapped__")
        assert not any("tracker" in str(finder) for finder in sys.meta_path)
        """
    )
    assert ran.log.entries() == ["Net.forward", "Net.load", "forward"]


def test_labels(run: Run) -> None:
    ran = run(
        """
        from monitorch.tracker import auto_diff

        @auto_diff(labels={"input": "in: 5%, yes", "output": "出"})
        def f(x):
            return x

        f(1)
        """
    )
    lines = ran.text_of_log().splitlines()
    assert lines[1] == "├─ in: 5%, yes [Var] x@0 value: 1"
    assert lines[2] == "│   └─ 出 value: 1"


def test_a_full_disk_and_a_folder_that_cannot_be(run: Run) -> None:
    """The program goes on; it is told once."""
    ran = run(
        """
        from monitorch import tracker

        open("file", "w").close()
        tracker.configure(folder="file/logs", stdout=False)

        @tracker.auto_diff
        def f(x):
            return x

        assert [f(1), f(2)] == [1, 2]
        """
    )
    assert ran.output.count("its lines are lost") == 1


def test_stdout_that_cannot_be_written(run: Run) -> None:
    ran = run(
        """
        import io, sys
        from monitorch.tracker import auto_diff

        @auto_diff
        def f(x):
            return x

        out = sys.stdout
        for stream in (None, io.TextIOWrapper(io.BytesIO(), encoding="ascii"), object()):
            sys.stdout = stream
            assert f(1) == 1
        sys.stdout = out
        """
    )
    assert len(ran.log.entries()) == 3


def test_a_deep_recursion(run: Run) -> None:
    """As deep as Python goes, the exception that ends it is the program's."""
    ran = run(
        """
        import sys
        from monitorch.tracker import auto_diff, configure

        configure(stdout=False)
        sys.setrecursionlimit(400)

        @auto_diff
        def down(n):
            return down(n + 1)

        try:
            down(0)
        except RecursionError:
            print("ended")
        assert down.__name__ == "down"
        """
    )
    assert ran.output.strip().endswith("ended")
    assert len(ran.log.of_kind("raised", "other")) > 0
