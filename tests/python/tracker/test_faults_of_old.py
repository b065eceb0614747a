"""What the old tracker, a trace function in Python, got wrong: a test for each."""

from __future__ import annotations

import re
from typing import Callable

import pytest

from tests.python.tracker.tree_log import Log, Ran

Run = Callable[..., Ran]
pytestmark = pytest.mark.torch


def test_goes_on_after_a_tracked_callee_returns(run: Run) -> None:
    ran = run(
        """
        import torch
        from monitorch.tracker import auto_diff, var_tracker

        @auto_diff
        def inner(value):
            return value + 1

        @var_tracker("x")
        def outer(x):
            x = x * 2  # before
            y = inner(x)
            x = y * 3  # after
            z = inner(x)
            x = z - 1  # last
            return x

        outer(torch.ones(2))
        """
    )
    assert ran.log.entries() == ["outer", "inner", "inner"]
    assert ran.log.lines_of("x") == [ran.line("before"), ran.line("after"), ran.line("last")]
    assert [line.level for line in ran.log.of_kind("entry")] == [0, 1, 1]


def test_goes_on_after_an_untracked_callee_returns(run: Run) -> None:
    ran = run(
        """
        import torch
        from monitorch.tracker import var_tracker

        def plain(value):
            x = value + 100
            return x

        @var_tracker("x")
        def outer(x):
            x = plain(x)  # first
            x = plain(x)  # second

        outer(torch.ones(2))
        """
    )
    assert ran.log.lines_of("x") == [ran.line("first"), ran.line("second")]


TIMED = """
import sys, time
import torch
from monitorch.tracker import var_tracker

def work():
    total = 0
    for i in range(200_000):
        total += i
    return total

def measure():
    best = 1e9
    for _ in range(7):
        started = time.thread_time()
        work()
        best = min(best, time.thread_time() - started)
    return best

@var_tracker("x")
def fails(x):
    x = x + 1
    raise ValueError("on purpose")

def fail():
    try:
        fails(torch.ones(2))
    except ValueError as error:
        return error

before = measure()
error = fail()
assert sys.gettrace() is None and sys.getprofile() is None
if hasattr(sys, "monitoring"):
    assert not any(sys.monitoring.get_tool(tool) for tool in range(6))
after = measure()
assert after < 2 * before, (before, after)
assert str(error) == "on purpose" and error.__context__ is None and error.__cause__ is None
"""


def test_nothing_stays_installed_after_an_exception(run: Run) -> None:
    """The old one's trace function did: all that ran later took 14 times as long."""
    run(TIMED)


def test_goes_on_after_an_exception_of_a_tracked_callee(run: Run) -> None:
    ran = run(
        """
        import torch
        from monitorch.tracker import auto_diff, var_tracker

        @auto_diff
        def inner(value):
            raise KeyError("gone")

        @var_tracker("x")
        def outer(x):
            try:
                inner(x)
            except KeyError:
                x = x + 1  # caught
            x = x + 2  # after
            return x

        outer(torch.ones(2))
        outer(torch.ones(2))
        """
    )
    wanted = [ran.line("caught"), ran.line("after")]
    assert ran.log.lines_of("x") == wanted * 2
    assert ran.log.entries() == ["outer", "inner"] * 2
    assert [line.level for line in ran.log.of_kind("entry")] == [0, 1] * 2
    assert [line.rest for line in ran.log.of_kind("raised")] == ["KeyError"] * 2


def test_the_last_line_is_told(run: Run) -> None:
    ran = run(
        """
        import torch
        from monitorch.tracker import var_tracker

        @var_tracker("x", "state")
        def ends(x, state):
            x = x + 1  # first
            state["sum"] = x.sum()  # last

        ends(torch.ones(2), {})
        """
    )
    assert ran.log.lines_of("x") == [ran.line("first")]
    assert ran.line("last") in ran.log.lines_of("state")


def test_each_change_has_its_own_line(run: Run) -> None:
    ran = run(
        """
        import torch
        from monitorch.tracker import var_tracker

        @var_tracker("x", "y")
        def steps(x):
            x = x + 1  # a
            unrelated = 1
            y = x * 2  # b
            for i in range(2):
                x = (
                    x
                    + i
                    + 1
                )
                x.mul_(2)  # d
            if i:
                y[0] = 7  # e
            return x

        steps(torch.ones(2))
        """
    )
    c = ran.line("b") + 2
    a, b, d, e = map(ran.line, "abde")
    assert ran.log.values() == [
        ("x", a), ("y", b), ("x", c), ("x", d), ("x", c), ("x", d), ("y", e),
    ]  # fmt: skip


def test_small_changes_are_seen(run: Run) -> None:
    """The old one compared with atol 1e-5."""
    ran = run(
        """
        import numpy, torch
        from monitorch.tracker import var_tracker

        @var_tracker("x", "a")
        def small(x, a):
            x = x + 1e-9  # rebound
            x += 1e-9  # in place
            x[500] += 1e-12  # one
            a += 1e-9  # array
            a[999] += 1e-12  # element
            return x

        small(torch.zeros(1000, dtype=torch.float64), numpy.zeros(1000))
        """
    )
    x = [ran.line(mark) for mark in ("rebound", "in place", "one")]
    assert ran.log.lines_of("x") == x
    assert ran.log.lines_of("a") == [ran.line("array"), ran.line("element")]


def test_tensors_that_hold_nan(run: Run) -> None:
    """allclose says that NaN differs from NaN: the old one told them at every line."""
    ran = run(
        """
        import torch
        from monitorch.tracker import var_tracker

        @var_tracker("x")
        def with_nan(x):
            a = 1
            b = 2
            x = x * 2  # changed
            c = 3
            x[1] = 5  # in place
            d = 4
            return x

        with_nan(torch.tensor([float("nan"), 1.0]))
        with_nan(torch.full((100,), float("nan")))
        """
    )
    assert ran.log.lines_of("x") == [ran.line("changed"), ran.line("in place")] * 2
    told = [line.rest for line in ran.log.of_kind("value")]
    assert "value=[nan, 2.0]" in told[0] and "value=[nan, 5.0]" in told[1]
    assert all("nan" in text.lower() for text in told)


KINDS = {
    "int64": "torch.arange(100)",
    "bool": "torch.arange(100) > 3",
    "complex64": "torch.ones(100, dtype=torch.complex64)",
    "empty": "torch.empty(0, 3)",
    "sparse": "torch.eye(10).to_sparse()",
    "sparse_csr": "torch.eye(10).to_sparse_csr()",
    "meta": "torch.empty(10, 10, device='meta')",
    "float8": "torch.ones(100).to(torch.float8_e4m3fn)",
    "bfloat16": "torch.ones(100, dtype=torch.bfloat16)",
    "uint8": "torch.ones(100, dtype=torch.uint8)",
    "scalar": "torch.tensor(3)",
    "small_bool": "torch.tensor([True, False])",
    "small_complex": "torch.tensor([1 + 2j])",
    "small_float8": "torch.ones(2).to(torch.float8_e5m2)",
    "quantised": "torch.quantize_per_tensor(torch.ones(100), 0.1, 0, torch.qint8)",
    "nested": "torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])",
    "conjugated": "torch.ones(100, dtype=torch.complex64).conj()",
    "expanded": "torch.ones(1).expand(100)",
    "objects": "numpy.array([None, 'text'], dtype=object)",
    "strings": "numpy.array(['a', 'b'])",
    "dates": "numpy.array(['2020-01-01'], dtype='datetime64[D]')",
    "structured": "numpy.zeros(2, dtype=[('a', 'i4'), ('b', 'f4')])",
    "float16": "numpy.ones(100, dtype=numpy.float16)",
    "numpy_scalar": "numpy.float32(2)",
}

OF_KIND = """
import warnings
import numpy, torch
from monitorch.tracker import var_tracker

warnings.simplefilter("ignore")

@var_tracker("x")
def keep(value):
    x = value  # first
    y = 1
    x = [value, {{"inner": value}}]  # second
    return x

value = {value}
made = keep(value)
assert made[0] is value and made[1]["inner"] is value
"""


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_do_not_raise(kind: str, run: Run) -> None:
    ran = run(OF_KIND.format(value=KINDS[kind]))
    log = ran.log
    assert log.entries() == ["keep"]
    assert log.lines_of("x")[0] == ran.line("first")
    assert set(log.lines_of("x")) == {ran.line("first"), ran.line("second")}
    assert log.of_kind("output") and log.of_kind("elapsed")


@pytest.mark.parametrize(
    "kind, wanted",
    [
        ("int64", r"shape=torch\.Size\(\[100\]\) \| dtype=torch\.int64 \| sum=4950.*min=0"),
        ("bool", r"dtype=torch\.bool \| sum=96"),
        ("empty", r"shape=torch\.Size\(\[0, 3\]\) \| dtype=torch\.float32"),
        ("meta", r"shape=torch\.Size\(\[10, 10\]\) \| dtype=torch\.float32"),
        ("float8", r"dtype=torch\.float8_e4m3fn \| sum=100"),
        ("small_bool", r"dtype=torch\.bool \| value=\[True, False\]"),
    ],
)
def test_kinds_are_told(kind: str, wanted: str, run: Run) -> None:
    ran = run(OF_KIND.format(value=KINDS[kind]))
    first = ran.log.of_kind("value")[0]
    assert re.search(wanted, first.rest), first.text


def test_a_callees_local_of_the_same_name(run: Run) -> None:
    ran = run(
        """
        import torch
        from monitorch.tracker import auto_diff, var_tracker

        def helper():
            x = torch.full((2,), 100.0)
            x = x + 1
            return x

        @auto_diff
        def tracked_helper():
            x = torch.full((2,), 200.0)
            x = x + 1
            return 5

        @var_tracker("x")
        def outer(x):
            helper()
            tracked_helper()
            sum(x for x in range(3))
            [x for x in range(3)]
            (lambda x: x)(9)
            x = x + 1  # own
            return x

        outer(torch.ones(2))
        """
    )
    assert ran.log.lines_of("x") == [ran.line("own")]
    assert "200" not in ran.text_of_log() and "100" not in ran.text_of_log()


def test_recursion(run: Run) -> None:
    """Each level has its own x; what a deeper one did is not told of this one."""
    ran = run(
        """
        import torch
        from monitorch.tracker import var_tracker

        @var_tracker("x")
        def down(x, depth):
            x = x + 1  # before
            if depth:
                down(x * 10, depth - 1)
            y = depth
            x = x - 1  # after
            return depth

        down(torch.zeros(1), 2)
        """
    )
    log = ran.log
    before, after = ran.line("before"), ran.line("after")
    assert [line.level for line in log.of_kind("entry")] == [0, 1, 2]
    assert log.lines_of("x") == [before] * 3 + [after] * 3
    values = [re.search(r"value=\[(.*?)\]", line.rest)[1] for line in log.of_kind("value")]  # type: ignore[index]
    assert values == ["1.0", "11.0", "111.0", "110.0", "10.0", "0.0"]
    assert [line.level for line in log.of_kind("value")] == [1, 2, 3, 3, 2, 1]


def test_generators(run: Run) -> None:
    """Two that are open at once, and code between their turns."""
    ran = run(
        """
        import torch
        from monitorch.tracker import var_tracker

        @var_tracker("x")
        def generate(x):
            x = x + 1  # first
            got = yield x
            x = x * got  # second
            yield x
            x = x - 1  # third

        one, two = generate(torch.zeros(1)), generate(torch.full((1,), 10.0))
        values = [next(one).item(), next(two).item(), one.send(2).item(), two.send(3).item()]
        assert values == [1, 11, 2, 33], values
        assert list(one) == [] and list(two) == []

        left = generate(torch.zeros(1))
        next(left)
        left.close()
        left = generate(torch.zeros(1))
        next(left)
        try:
            left.throw(KeyError("thrown"))
        except KeyError:
            pass
        """
    )
    first, second, third = map(ran.line, ("first", "second", "third"))
    lines = ran.log.lines_of("x")
    assert lines[:6] == [first, first, second, second, third, third]
    assert lines[6:] == [first, first]
    assert len(ran.log.entries()) >= 4
    assert [line.rest for line in ran.log.of_kind("raised")][-1:] == ["KeyError"]
    assert len(ran.log.of_kind("elapsed")) >= 4


def test_async(run: Run) -> None:
    ran = run(
        """
        import asyncio
        import torch
        from monitorch.tracker import var_tracker

        @var_tracker("x")
        async def task(x, more):
            x = x + more  # first
            await asyncio.sleep(0)
            x = x * 2  # second
            await asyncio.sleep(0)
            x = x - more  # third
            return x.item()

        @var_tracker("x")
        async def stream(x):
            for i in range(2):
                x = x + 1  # streamed
                yield x

        async def main():
            assert asyncio.iscoroutinefunction(task)
            got = await asyncio.gather(task(torch.zeros(1), 1.0), task(torch.zeros(1), 5.0))
            assert got == [1.0, 5.0], got
            assert [y.item() async for y in stream(torch.zeros(1))] == [1.0, 2.0]

        asyncio.run(main())
        """
    )
    first, second, third = map(ran.line, ("first", "second", "third"))
    lines = ran.log.lines_of("x")
    assert lines[:6] == [first, first, second, second, third, third]
    assert lines[6:] == [ran.line("streamed")] * 2
    values = [line.rest for line in ran.log.of_kind("value")]
    wanted = [1.0, 5.0, 2.0, 10.0, 1.0, 5.0, 1.0, 2.0]
    for value, text in zip(wanted, values, strict=True):
        assert f"value=[{value}]" in text


def test_a_debuggers_trace_function_survives(run: Run) -> None:
    ran = run(
        """
        import sys
        import torch
        from monitorch.tracker import auto_diff, debug_trace, var_tracker

        seen = []

        def trace(frame, event, value):
            if frame.f_code.co_name in ("tracked", "lines"):
                seen.append((frame.f_code.co_name, event, frame.f_lineno))
            return trace

        @var_tracker("x")
        def tracked(x):
            x = x + 1  # one
            if x.sum() < 0:
                raise ValueError
            return x  # two

        @debug_trace
        def lines(x):
            y = x + 1  # three
            return y

        sys.settrace(trace)
        tracked(torch.ones(2))
        lines(torch.ones(2))
        is_there = sys.gettrace() is trace
        sys.settrace(None)
        assert is_there
        own = [(event, line) for name, event, line in seen if name == "tracked"]
        print(own)
        print([line for name, event, line in seen if name == "lines" and event == "line"])
        """
    )
    one, two, three = map(ran.line, ("one", "two", "three"))
    seen = f"[('call', {one - 2}), ('line', {one}), ('line', {one + 1}), ('line', {two}), ('return', {two})]"
    assert seen in ran.output
    assert f"[{three}, {three + 1}]" in ran.output
    assert ran.log.lines_of("x") == [one]


def test_a_trace_function_set_within(run: Run) -> None:
    """pdb.set_trace() in a tracked function: the old one took its place again at the next call."""
    ran = run(
        """
        import sys
        import torch
        from monitorch.tracker import auto_diff, var_tracker

        def trace(frame, event, value):
            return trace

        @auto_diff
        def inner(value):
            return value

        @var_tracker("x")
        def tracked(x):
            sys.settrace(trace)
            x = x + 1  # one
            inner(x)
            x = x + 1  # two

        tracked(torch.ones(2))
        assert sys.gettrace() is trace
        sys.settrace(None)
        """
    )
    assert ran.log.lines_of("x") == [ran.line("one"), ran.line("two")]


def test_lines_are_on_disk_when_the_process_dies(run: Run) -> None:
    ran = run(
        """
        import os, signal
        import torch
        from monitorch.tracker import var_tracker

        @var_tracker("x")
        def dies(x):
            x = x + 1  # last
            os.kill(os.getpid(), signal.SIGKILL)

        dies(torch.ones(2))
        """,
        code=-9,
    )
    assert ran.log.entries() == ["dies"]
    assert ran.log.lines_of("x") == [ran.line("last")]


def test_threads_do_not_mix(run: Run) -> None:
    ran = run(
        """
        import threading
        import torch
        from monitorch.tracker import auto_diff, var_tracker

        ready = threading.Barrier(4)

        @auto_diff
        def inner(value):
            return value + 1

        @var_tracker("x")
        def work(x, number):
            for _ in range(20):
                ready.wait()
                x = inner(x)  # turn
            return number

        threads = [threading.Thread(target=work, args=(torch.zeros(1), n)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """
    )
    files = ran.files()
    assert len(files) == 4
    for file in files:
        log = Log.read(file.read_text(encoding="utf-8"))
        assert log.entries() == ["work"] + ["inner"] * 20
        assert log.lines_of("x") == [ran.line("turn")] * 20
        assert [line.level for line in log.of_kind("entry")] == [0] + [1] * 20
        values = [re.search(r"value=\[(.*?)\]", v.rest)[1] for v in log.of_kind("value")]  # type: ignore[index]
        assert values == [f"{n}.0" for n in range(1, 21)]


def test_a_child_process_has_its_own_file(run: Run) -> None:
    ran = run(
        """
        import os
        import torch
        from monitorch.tracker import auto_diff

        @auto_diff
        def who(name):
            return name

        @auto_diff
        def outer():
            who("parent")
            process = os.fork()
            if process == 0:
                who("child")
                os._exit(0)
            os.waitpid(process, 0)
            who("parent again")

        outer()
        """
    )
    texts = {file.read_text(encoding="utf-8") for file in ran.files()}
    assert len(texts) == 2
    (child,) = (text for text in texts if "child" in text)
    (parent,) = (text for text in texts if "parent again" in text)
    assert "parent" not in child and "child" not in parent
    assert Log.read(parent).entries() == ["outer", "who", "who"]
    assert Log.read(child).entries() == ["outer", "who"]  # outer goes on in the child
