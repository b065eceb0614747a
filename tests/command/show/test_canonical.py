"""`monitorch show --canonical`: two traces of runs that do the same are the same text."""

import json
import random
import shutil

import pytest

from tests.python.run.test_run import good
from tests.python.run.test_run_equality import make_files
from tests.support import compiler
from tests.trace.made import REMARK, Trace, scalar, show, tensor

SOURCE = "def f(x):\n    y = x\n    return y\n"


def add_module(trace, folder="/home/one/project", path="model.py", name="m"):
    return trace.module(
        f"{folder}/{path}",
        [("<module>", 1), ("f", 1)],
        [("enter", 1, 1, "x"), ("assign", 2, 1, "y"), ("return", 3, 1, "return")],
        source=SOURCE,
        name=name,
    )


def make(path, order, folder="/home/one/project", process=0):
    """Threads that do the same in any order; `order` says whose turn it is."""
    trace = Trace()
    first = add_module(trace, folder)
    add_module(trace, f"{folder}/parts", "deep.py", "n")
    package = add_module(trace, f"/opt/{process}/lib/site-packages", "package/a.py", "p")
    numbers = {}
    calls = {}
    turns = {}
    for name in order:
        if name not in numbers:
            numbers[name] = len(numbers)
            trace.thread(numbers[name], name)
            outer = trace.call(1, thread=numbers[name])
            inner = trace.call(1, outer, table=2, thread=numbers[name], line=2)
            calls[name] = outer, inner
        turn = turns[name] = turns.get(name, 0) + 1
        value = tensor([2], min=turn, max=len(name), hash=turn, object=process + 64 * turn)
        outer, inner = calls[name]
        trace.event(first + 1, outer, value, thread=numbers[name], visit=turn)
        trace.event(package + 1, inner, scalar(turn), thread=numbers[name], visit=turn)
    trace.note(f"{folder}/model.py:3: f: is left out", tag=REMARK)
    for name in order:
        if name in calls:
            outer, inner = calls.pop(name)
            trace.ended(inner)
            trace.ended(outer)
    trace.write(path)
    return path


NAMES = ["MainThread", "Thread-1 (work)", "Thread-2 (work)", "worker", "Dummy-1"]


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("canonical")
    turns = [name for name in NAMES for _ in range(5)]
    made = []
    for i in range(4):
        random.Random(i).shuffle(turns)
        order = [name.replace("Dummy-1", f"Dummy-{i}") for name in turns]
        made.append(make(folder / f"{i}.mtrace", order, f"/home/{i}/project", 1000 * i))
    return made


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--source"],
        ["--json"],
        ["--json", "--sample"],
        ["--name=y"],
        ["--thread=worker"],
        ["--file=model.py", "--json"],
        ["--head=12"],
        ["--tail=7", "--json"],
        ["--head=20", "--tail=4"],
    ],
    ids=" ".join,
)
def test_the_same_to_the_byte(traces, words):
    runs = [show("--canonical", *words, trace) for trace in traces]
    assert {run.returncode for run in runs} == {0} and {run.stderr for run in runs} == {""}
    assert len({run.stdout for run in runs}) == 1 and runs[0].stdout
    assert len({show(*words, trace).stdout for trace in traces}) > 1


def test_all_events_are_there_once(traces):
    def events(*words):
        lines = show("--json", *words, traces[1]).stdout.splitlines()
        return [r for r in map(json.loads, lines) if r["record"] == "event"]

    plain, canonical = events(), events("--canonical")
    assert len(plain) == len(canonical) == 50
    assert [event["seq"] for event in canonical] == list(range(50))
    assert {"time", "object", "data", "origin", "site"}.isdisjoint(set().union(*canonical))

    def what(event):
        return event["line"], event["iteration"], event.get("min"), event.get("max"), event.get("value")

    assert sorted(map(str, map(what, plain))) == sorted(map(str, map(what, canonical)))
    threads = [event["thread"] for event in canonical]
    assert threads == sorted(threads) and set(threads) == set(range(5))


def test_the_main_thread_comes_first(traces):
    lines = show("--canonical", traces[2]).stdout.splitlines()
    headings = [line for line in lines if line.startswith("-- ")]
    names = ["MainThread", "Dummy", "Thread-1 (work)", "Thread-2 (work)", "worker"]
    assert headings == [f"-- thread {name} --" for name in names]
    assert lines[0] == "remark: model.py:3: f: is left out"
    assert sum("  #1" in line for line in lines) >= 5


def test_threads_of_one_name_are_told_apart_by_what_they_did(tmp_path):
    texts = set()
    for order in ([1, 2, 3], [3, 1, 2], [2, 3, 1]):
        trace = Trace()
        site = add_module(trace)
        for number, value in enumerate(order):
            trace.thread(number, "twin")
            call = trace.call(1, thread=number)
            trace.event(site + 1, call, scalar(value), thread=number)
        trace.write(tmp_path / "t.mtrace")
        texts.add(show("--canonical", tmp_path / "t.mtrace").stdout)
    assert len(texts) == 1


def test_paths(traces):
    files = {
        record["file"]
        for record in map(json.loads, show("--canonical", "--json", traces[0]).stdout.splitlines())
        if record["record"] == "event"
    }
    assert files == {"model.py", "package/a.py"}
    alone = show("--canonical", "--sites", traces[0])
    assert alone.returncode == 2


def test_several_traces_are_numbered(traces):
    run = show("--canonical", traces[0], traces[1])
    assert run.stdout.startswith("== 1 ==\n") and "\n== 2 ==\n" in run.stdout
    first, second = run.stdout[len("== 1 ==\n") :].split("== 2 ==\n")
    assert first == second
    records = show("--canonical", "--json", traces[0], traces[1]).stdout.splitlines()
    assert {json.loads(line)["trace"] for line in records} == {"1", "2"}


def test_calls_have_other_numbers(traces):
    run = show("--canonical", "--call=1", traces[0])
    assert run.returncode == 2
    assert run.stderr.startswith("monitorch show: --call excludes --canonical")


def test_a_cut_trace(traces, tmp_path):
    path = tmp_path / "cut.mtrace"
    shutil.copy(traces[0], path)
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size - 100)
    run = show("--canonical", path)
    assert run.returncode == 3 and "-- thread MainThread --" in run.stdout
    assert "cut.mtrace: offset" in run.stderr


def test_no_events(tmp_path):
    trace = Trace()
    add_module(trace)
    trace.write(tmp_path / "e.mtrace")
    run = show("--canonical", tmp_path / "e.mtrace")
    assert (run.returncode, run.stdout) == (1, "") and "has no events" in run.stderr


THREADS = """
import threading, time, random
def work(n):
    for i in range(20):
        y = i * n
        time.sleep(random.random() / 5000)
    return y
def turns():
    for i in range(3):
        yield i
def fail():
    a = 1
    raise ValueError
    return a
def main():
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for i in turns():
        b = work(i)
    try:
        fail()
    except ValueError:
        pass
    for thread in threads:
        thread.join()
main()
"""


@pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)")
def test_runs_with_threads(tmp_path):
    texts = set()
    for name in ("one", "two", "three"):
        make_files(tmp_path / name, {"s.py": THREADS})
        good(tmp_path / name, "-q", "--include", "s.py", "s.py")
        for words in ([], ["--json"]):
            run = show("--canonical", *words, tmp_path / name / "run.mtrace")
            assert run.returncode == 0, run.stderr
            texts.add(run.stdout)
    assert len(texts) == 2


def test_threads_without_an_event_that_matches_are_not_named(traces):
    run = show("--canonical", "--nan", traces[0])
    assert (run.returncode, run.stdout) == (1, "") and "no event matches" in run.stderr
    lines = show("--canonical", "--thread=worker", traces[0]).stdout.splitlines()
    assert [line for line in lines if line.startswith("-- ")] == ["-- thread worker --"]
