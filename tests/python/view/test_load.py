"""monitorch.load: events as columns, held against what `monitorch show --json` tells."""

import importlib.util
import inspect
import json
import math
import signal
import subprocess
import sys
import threading
import time
import warnings

import pytest

from tests.support import compiler, paths, recording
from tests.trace import scenarios
from tests.trace.made import Trace, scalar, show, tensor

monitorch = recording.package()
numpy = pytest.importorskip("numpy")

SCENARIOS = "nested_calls values parts branches threads hostile wide_names no_beginning".split()
NUMBERS = "seq time thread call iteration site line arm length count nan posinf neginf zeros version origin"
FIGURES = "min max mean std absmax"
TEXTS = "kind name path file function module change value_kind dtype device note"


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")
    return {name: getattr(scenarios, name)().write(folder / f"{name}.mtrace") for name in SCENARIOS}


def records(kind, *words):
    found = [json.loads(line) for line in show("--json", *words).stdout.splitlines()]
    return [r for r in found if r["record"] == kind]


@pytest.mark.parametrize("name", SCENARIOS)
def test_columns_are_what_show_tells(traces, name):
    events = monitorch.load(traces[name])
    wanted = records("event", traces[name])
    assert len(events) == len(wanted) > 0
    for column in NUMBERS.split():
        assert events[column].format == "q"
        assert events[column].tolist() == [e.get(column, -1) for e in wanted], column
    for column in FIGURES.split():
        assert events[column].format == "d"
        for got, event in zip(events[column], wanted):
            value = event.get(column)
            assert math.isnan(got) if value is None else got == float(value), column
    for column in TEXTS.split():
        assert events[column] == [e.get(column) or (None if column not in e else "") for e in wanted] or (
            column in ("change", "type") and [t or "" for t in events[column]] == [e.get(column, "") for e in wanted]
        ), column
    for column in ("shape", "strides"):
        got = [None if text is None else json.loads(text) for text in events[column]]
        assert got == [e.get(column) for e in wanted]
    assert [h and f"{h:016x}" or None for h in events["hash"]] == [e.get("hash") for e in wanted]


def test_codes_and_texts(traces):
    events = monitorch.load(traces["nested_calls"])
    for column in ("name", "file", "dtype", "shape"):
        codes, texts = events.codes(column), events.texts(column)
        assert codes.format == "i" and len(texts) == len(set(texts))
        assert [texts[code] if code >= 0 else None for code in codes] == events[column]
        assert [t for t in dict.fromkeys(events[column]) if t is not None] == texts
    for column in ("mean", "seq", "hash"):
        for ask in (events.codes, events.texts):
            with pytest.raises(TypeError, match="holds numbers"):
                ask(column)


def test_values(tmp_path):
    trace = Trace()
    trace.module("m.py", [("<module>", 1)], [("assign", 1, 0, "x")])
    call = trace.call(0)
    for value in (1, -7, 2.5, math.inf, "text", True, None, "", 2**62):
        trace.event(0, call, scalar(value))
    events = monitorch.load(trace.write(tmp_path / "v.mtrace"), columns=["value"])
    nan = [i for i, value in enumerate(events["value"]) if math.isnan(value)]
    assert nan == [4, 6, 7]
    assert [v for v in events["value"] if v == v] == [1, -7, 2.5, math.inf, 1, 2.0**62]
    assert events.codes("value").tolist() == [-1, -1, -1, -1, 0, -1, -1, 1, -1]
    assert events.texts("value") == ["text", ""]


def test_nothing_is_copied(traces):
    events = monitorch.load(traces["nested_calls"])
    for column in ("mean", "seq"):
        array = numpy.asarray(events[column])
        assert array.dtype == {"mean": numpy.float64, "seq": numpy.int64}[column]
        assert not array.flags.owndata and not array.flags.writeable
        assert numpy.shares_memory(array, numpy.asarray(events[column]))
    assert numpy.asarray(events.codes("name")).dtype == numpy.int32
    arrays = events.to_numpy()
    assert list(arrays) == list(events.names)
    assert {len(array) for array in arrays.values()} == {len(events)}
    assert numpy.shares_memory(arrays["mean"], numpy.asarray(events["mean"]))
    assert arrays["name"].tolist() == events["name"]


def test_columns_are_chosen(traces):
    path = traces["nested_calls"]
    assert monitorch.load(path, columns=["mean", "seq"]).names == ("mean", "seq")
    assert monitorch.load(path, columns="mean,seq").names == ("mean", "seq")
    assert monitorch.load(path, columns=["mean", "mean"]).names == ("mean",)
    assert len(monitorch.load(path, columns=[])) == len(records("event", path))
    assert "mean" in monitorch.load(path) and "trace" not in monitorch.load(path)
    with pytest.raises(ValueError, match="there is no column meen"):
        monitorch.load(path, columns=["meen"])
    with pytest.raises(KeyError, match="not among the columns that were loaded: mean"):
        monitorch.load(path, columns=["mean"])["seq"]


FILTERS = {
    "--name=q": dict(name="q"),
    "--name=[xq]": dict(name=["x", "q"]),
    "--nan": dict(nan=True),
    "--changed": dict(changed=True),
    "--line=9-11": dict(line="9-11"),
    "--line=16": dict(line=16),
    "--kind=enter,return": dict(kind=["enter", "return"]),
    "--call=1+": dict(call="1+"),
    "--call=3": dict(call=3),
    "--function=Attention.*": dict(function="Attention.*"),
    "--module=layers.*.attn": dict(module="layers.*.attn"),
    "--file=model.py": dict(file="model.py"),
    "--thread=0": dict(thread=0),
    "--name=zzz": dict(name="zzz"),
}


@pytest.mark.parametrize("word", FILTERS)
def test_filters(traces, word):
    path = traces["nested_calls"]
    wanted = records("event", word, path)
    assert monitorch.load(path, **FILTERS[word])["seq"].tolist() == [e["seq"] for e in wanted]


def test_several_traces(traces):
    several = [traces["nested_calls"], str(traces["parts"])]
    events = monitorch.load(several)
    lengths = [len(monitorch.load(path)) for path in several]
    assert len(events) == sum(lengths)
    assert events["trace"] == [str(p) for p, n in zip(several, lengths) for _ in range(n)]
    assert {site["trace"] for site in events.sites} == set(map(str, several))
    assert {call["trace"] for call in events.calls} == set(map(str, several))


def test_calls_and_sites(traces):
    for name in SCENARIOS:
        path = traces[name]
        events = monitorch.load(path, columns=["seq"])
        wanted = records("call", path)
        ends = {r["call"]: r for r in records("end", path)}
        assert {c["call"] for c in wanted} <= {c["call"] for c in events.calls}
        for call in events.calls:
            end = ends.get(call["call"])
            assert (call.get("how"), call.get("end_time")) == ((end["how"], end["time"]) if end else (None, None))
        sites = [json.loads(line) for line in show("--sites", "--json", path).stdout.splitlines()]
        assert events.sites == [{k: v for k, v in site.items() if k != "record"} for site in sites]


def test_no_events(tmp_path):
    trace = Trace()
    trace.module("m.py", [("<module>", 1)], [("assign", 1, 0, "x")])
    events = monitorch.load(trace.write(tmp_path / "none.mtrace"))
    assert len(events) == 0 and not events and events.calls == []
    assert events["mean"].tolist() == [] == events["name"]
    assert len(numpy.asarray(events["mean"])) == 0
    assert all(len(array) == 0 for array in events.to_numpy().values())


def test_what_is_no_trace(tmp_path):
    (tmp_path / "x").write_text("no")
    with pytest.raises(OSError, match="x: is no trace"):
        monitorch.load(tmp_path / "x")
    with pytest.raises(OSError, match="missing.mtrace: cannot be read"):
        monitorch.load(tmp_path / "missing.mtrace")
    with pytest.raises(ValueError, match="no trace, expected"):
        monitorch.load([])
    with pytest.raises(ValueError, match="null"):
        monitorch.load("a\0b")
    for bad in (3, None, [3]):
        with pytest.raises(TypeError):
            monitorch.load(bad)


@pytest.mark.parametrize(
    "bad", [dict(line="x"), dict(kind="z"), dict(call="x"), dict(line=0), dict(call=0), dict(columns=["\ud800"])]
)
def test_wrong_arguments(traces, bad):
    with pytest.raises(ValueError):
        monitorch.load(traces["parts"], **bad)
    with pytest.raises(TypeError):
        monitorch.load(traces["parts"], nam="x")


def numbered(count):
    trace = Trace()
    trace.module("m.py", [("<module>", 1), ("f", 1)], [("assign", 1, 1, "x")])
    trace.repeat(count)
    call = trace.call(1)
    trace.event(0, call, tensor((4, 8), min=0.1, max=0.7, mean=1 / 3, std=0.25, hash=1))
    trace.ended(call)
    trace.again()
    return trace


def test_a_damaged_trace(tmp_path):
    path = numbered(5000).write(tmp_path / "whole.mtrace")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.warns(RuntimeWarning, match="offset .*; loaded is what could be read") as warned:
        events = monitorch.load(path)
        count = len(events)
    assert warned[0].filename == __file__
    assert 0 < count < 5000 and events.damage[0].startswith(str(path))
    assert events["seq"].tolist() == [e["seq"] for e in records("event", path)]


def test_a_header_that_lies_of_how_many_events_there_are(tmp_path):
    path = numbered(100).write(tmp_path / "lie.mtrace")
    whole = bytearray(path.read_bytes())
    for count in (0, 7, 101, 10**6, 2**63):
        whole[48:56] = count.to_bytes(8, "little")
        path.write_bytes(whole)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            events = monitorch.load(path)
            assert events["seq"].tolist() == list(range(100))


def test_a_killed_writer(tmp_path):
    trace = numbered(10)
    trace.kill()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        events = monitorch.load(trace.write(tmp_path / "killed.mtrace"))
    assert not events.is_closed and len(events) == 10
    assert monitorch.load(numbered(1).write(tmp_path / "closed.mtrace")).is_closed


def test_while_it_is_recorded(tmp_path):
    """The recording goes on; what is there is loaded."""
    names = {"__name__": "m"}
    text = compiler.instrument(b"def f(x):\n    y = x + 1\n    return y\n", "m.py", all=True).text
    exec(compile(text, "m.py", "exec"), names)
    path = tmp_path / "now.mtrace"
    with monitorch.record(str(path)):
        for turn in range(1, 4):
            names["f"](turn)
            events = monitorch.load(path)
            assert (len(events), events.is_closed) == (3 * turn, False)
            assert events["name"][-3:] == ["x", "y", "return"] and events["value"][-1] == turn + 1


def test_a_ring(tmp_path):
    trace = numbered(20000)
    trace.lines[0] += " last=100"
    path = trace.write(tmp_path / "ring.mtrace")
    assert monitorch.load(path)["seq"].tolist() == list(range(19900, 20000))


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    return numbered(300000).write(tmp_path_factory.mktemp("long") / "long.mtrace")


def test_other_threads_run_meanwhile(long):
    turns, is_done = 0, threading.Event()

    def load():
        assert len(monitorch.load(long)) == 300000
        is_done.set()

    thread = threading.Thread(target=load)
    thread.start()
    while not is_done.is_set():
        turns += 1
        time.sleep(0.001)
    thread.join()
    assert turns > 5


def test_interrupted(long):
    program = (
        "import monitorch, sys\n"
        "try:\n    print('go', flush=True)\n    while True: len(monitorch.load(sys.argv[1]))\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, long], stdout=subprocess.PIPE, text=True, env=recording.environment("off")
    )
    assert process.stdout.readline() == "go\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=300)[0] == "interrupted\n"
    assert process.returncode == 0


def test_allocations_fail(traces):
    program = (
        "import sys, monitorch._load as l, monitorch._view\n"
        "try:\n    events = l.load(sys.argv[1]); print(len(events), len(events.calls), len(events.sites))\n"
        "except MemoryError:\n    print('memory')\n"
    )
    path = traces["nested_calls"]
    environment = recording.environment("off")

    def run(attempt):
        failing = dict(environment, MONITORCH_TEST_FAIL_ALLOCATION=attempt)
        done = subprocess.run([sys.executable, "-c", program, path], env=failing, capture_output=True, text=True)
        assert done.returncode == 0, (attempt, done.stderr)
        return done.stdout

    whole = run("0")
    assert whole != "memory\n"
    found = [run(str(attempt)) for attempt in range(1, 600, 11)]
    assert set(found) == {whole, "memory\n"}
    assert found.count("memory\n") > 5


def test_pandas(traces, tmp_path):
    pandas = pytest.importorskip("pandas")
    events = monitorch.load([traces["nested_calls"], traces["parts"]])
    frame = events.to_pandas()
    assert frame.shape == (len(events), len(events.names))
    assert list(frame.columns) == list(events.names)
    assert frame["mean"].dtype == "float64" and frame["seq"].dtype == "int64"
    assert frame["nan"].dtype == "Int64" and frame["nan"].isna().any()
    assert frame["name"].dtype == "category"
    assert [None if isinstance(t, float) else t for t in frame["name"].tolist()] == events["name"]
    other = pandas.DataFrame(events.columns())
    assert other.shape == frame.shape
    assert other["seq"].tolist() == frame["seq"].tolist()


def test_importing_loads_nothing_of_it():
    program = (
        "import monitorch, sys\nassert 'monitorch._load' not in sys.modules\n"
        "assert 'load' in dir(monitorch)\nmonitorch.load\n"
        "assert not {'monitorch._view', 'numpy', 'pandas', 'json'} & set(sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], env=recording.environment("off"), capture_output=True)
    assert run.returncode == 0, run.stderr.decode()


def test_other_pythons(traces):
    """Loading needs no NumPy, and works with each CPython."""
    program = (
        "import sys, monitorch\nevents = monitorch.load(sys.argv[1])\n"
        "print(len(events), sum(m for m in events['mean'] if m == m), events['name'], events.calls[0]['function'])\n"
    )
    wanted = None
    for python in [sys.executable, *(path for _, path in paths.other_pythons())]:
        environment = recording.environment("off")
        run = subprocess.run([python, "-c", program, traces["parts"]], env=environment, capture_output=True)
        assert run.returncode == 0, run.stderr.decode()
        wanted = wanted or run.stdout
        assert run.stdout == wanted


def test_stub():
    """The stub of the extension has what there is, and load() what its filters are."""
    import ast

    from monitorch import _load, _view

    told = {n.name for n in ast.parse((paths.PACKAGE / "_view.pyi").read_text()).body if hasattr(n, "name")}
    assert {name for name in dir(_view) if not name.startswith("_")} == {n for n in told if n.islower()}
    keywords = [*inspect.signature(_load.load).parameters][2:]
    assert keywords == "function name file module thread line kind call changed nan".split()
    assert importlib.util.find_spec("monitorch._load").origin.startswith(str(paths.PACKAGE))
