"""Contexts of threads, executors and tasks; contexts that are closed in another order."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import threading

import pytest

from tests.python.spy.signatures import Keeper
from tests.support import threads

pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import DebugContext, get_debug_context, spy_save  # noqa: E402

START = threading.Thread.start
SUBMIT = concurrent.futures.ThreadPoolExecutor.submit


@pytest.fixture
def saver():
    yield Keeper()
    assert threading.Thread.start is START
    assert concurrent.futures.ThreadPoolExecutor.submit is SUBMIT
    assert get_debug_context() is None


def run_thread(function, *arguments):
    threads.run(functools.partial(function, *arguments))


def test_a_derived_thread_is_given_them(saver):
    class Worker(threading.Thread):
        def run(self):
            spy_save("x", 1)

    with DebugContext(saver, threads=True):
        worker = Worker()
        worker.start()
        worker.join()
    assert saver.names == ["manual.x"] and "run" not in vars(worker)


def test_threads_of_threads_are_given_them(saver):
    with DebugContext(saver, threads=True):
        run_thread(run_thread, run_thread, spy_save, "x", 1)
    assert saver.names == ["manual.x"]


def test_only_contexts_that_say_so(saver):
    with DebugContext(saver, "a", threads=True), DebugContext(saver, "b"):
        run_thread(spy_save, "x", 1)
        with DebugContext(saver, "c", threads=True):
            run_thread(spy_save, "x", 1)
    assert saver.names == ["a.manual.x", "c.manual.x"]


def test_a_thread_that_goes_on_keeps_them(saver):
    may_go_on = threading.Event()

    def work():
        may_go_on.wait()
        spy_save("x", 1)

    with DebugContext(saver, threads=True):
        thread = threading.Thread(target=work)
        thread.start()
    may_go_on.set()
    thread.join()
    assert saver.names == ["manual.x"]


def test_a_pool_has_them_for_what_is_submitted_within(saver):
    """Its threads live longer than the context, and were there before it."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(spy_save, "before", 1).result()
        with DebugContext(saver, threads=True):
            pool.submit(spy_save, "within", 1).result()
        pool.submit(spy_save, "after", 1).result()
    with DebugContext(saver, threads=True):
        pool = concurrent.futures.ThreadPoolExecutor(1)
        pool.submit(spy_save, "first", tensor=1).result()
    with pool:
        pool.submit(spy_save, "after", 1).result()
    assert saver.names == ["manual.within", "manual.first"]


def test_map_of_a_pool(saver):
    with concurrent.futures.ThreadPoolExecutor(2) as pool, DebugContext(saver, threads=True):
        list(pool.map(lambda i: spy_save(f"x{i}", i), range(5)))
    assert sorted(saver.names) == [f"manual.x{i}" for i in range(5)]


def test_what_is_submitted_may_raise(saver):
    with concurrent.futures.ThreadPoolExecutor(1) as pool, DebugContext(saver, threads=True):
        with pytest.raises(ZeroDivisionError):
            pool.submit(lambda: 1 / 0).result()


def test_executors_of_asyncio(saver):
    async def main():
        with DebugContext(saver, threads=True):
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, spy_save, "x", 1)
            await asyncio.to_thread(spy_save, "y", 1)

    asyncio.run(main())
    assert saver.names == ["manual.x", "manual.y"]


def test_many_threads_with_contexts_of_their_own(saver):
    barrier = threading.Barrier(8)

    def work(index):
        for turn in range(50):
            barrier.wait()
            with DebugContext(saver, f"t{index}", threads=turn % 2 == 0):
                spy_save("x", 1)
                run_thread(spy_save, "y", 1)

    threads.run_for(range(8), work)
    for index in range(8):
        assert saver.names.count(f"t{index}.manual.x") == 50
        assert saver.names.count(f"t{index}.manual.y") == 25


def test_whoever_replaces_start_afterwards_keeps_working(saver):
    calls = []
    with DebugContext(saver, threads=True):
        ours = threading.Thread.start

        def counted(self):
            calls.append(self)
            ours(self)

        threading.Thread.start = counted
    run_thread(spy_save, "after", 1)
    assert len(calls) == 1 and saver.names == []
    with DebugContext(saver, threads=True):
        run_thread(spy_save, "within", 1)
    assert len(calls) == 2 and saver.names == ["manual.within"]
    threading.Thread.start = START


def test_tasks_have_contexts_of_their_own(saver):
    async def work(index):
        with DebugContext(saver, f"t{index}"):
            for _ in range(10):
                await asyncio.sleep(0)
                spy_save("x", 1)

    async def main():
        await asyncio.gather(*(work(index) for index in range(10)))

    asyncio.run(main())
    for index in range(10):
        assert saver.names.count(f"t{index}.manual.x") == 10


def test_contexts_closed_in_another_order(saver):
    first, second = DebugContext(saver, "a"), DebugContext(saver, "b")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert get_debug_context() is second
    second.__exit__(None, None, None)
    assert get_debug_context() is None


def test_a_generator_that_is_left_open(saver):
    @contextlib.contextmanager
    def opened(prefix):
        with DebugContext(saver, prefix):
            yield

    manager = opened("a")
    manager.__enter__()
    with DebugContext(saver, "b"):
        spy_save("x", 1)
    spy_save("y", 1)
    manager.__exit__(None, None, None)
    assert saver.names == ["b.manual.x", "a.manual.y"]


def test_closed_where_it_was_not_opened(saver):
    """As a task that ends a generator of another: nothing is open there, nothing is raised."""
    context = DebugContext(saver)
    context.__enter__()
    run_thread(context.__exit__, None, None, None)
    assert get_debug_context() is context
    context.__exit__(None, None, None)
