"""Tables of traces as Arrow: their C structs walked by ctypes, and real polars, DuckDB and pyarrow.

The packages are in build/arrow, where `make test-all` and `make bench` put them; tests that need them skip otherwise.
"""

import ctypes
import datetime
import gc
import json
import math
import shutil
import subprocess
import sys
import time

import pytest

from tests.support import pages, paths, recording, viewer
from tests.trace import scenarios
from tests.trace.made import Trace, scalar

monitorch = recording.package()
SCENARIOS = "nested_calls values parts branches threads hostile wide_names no_beginning".split()
PACKAGES = paths.BUILD / "arrow"


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")
    return {name: getattr(scenarios, name)().write(folder / f"{name}.mtrace") for name in SCENARIOS}


# ---- a reader of Arrow's C structs ----


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))),
    ("private_data", ctypes.c_void_p),
]
Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))),
    ("private_data", ctypes.c_void_p),
]
NUMBERS = {
    b"l": ctypes.c_int64,
    b"tDn": ctypes.c_int64,
    b"g": ctypes.c_double,
    b"L": ctypes.c_uint64,
}


def pointer(capsule, name, kind):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(capsule, name), ctypes.POINTER(kind))


def items(array, number, kind, count):
    return list((kind * count).from_address(array.buffers[number]))


def bits(array, number):
    data = items(array, number, ctypes.c_uint8, (array.length + 7) // 8)
    return [bool(data[i // 8] >> i % 8 & 1) for i in range(array.length)]


def texts_of(array):
    offsets = items(array, 1, ctypes.c_int32, array.length + 1)
    data = ctypes.string_at(array.buffers[2], offsets[-1])
    return [data[a:b].decode("utf-8", "strict") for a, b in zip(offsets, offsets[1:])]


def values_of(schema, array):
    assert array.offset == 0
    if schema.format == b"u":
        return texts_of(array)
    if schema.format == b"+l":
        inner = values_of(schema.children[0].contents, array.children[0].contents)
        offsets = items(array, 1, ctypes.c_int32, array.length + 1)
        values = [inner[a:b] for a, b in zip(offsets, offsets[1:])]
    elif schema.format == b"i":
        texts = texts_of(array.dictionary.contents)
        assert len(texts) == len(set(texts))
        codes = items(array, 1, ctypes.c_int32, array.length)
        values = [texts[code] if texts else None for code in codes]
    elif schema.format == b"b":
        values = bits(array, 1)
    else:
        values = items(array, 1, NUMBERS[schema.format], array.length)
    if array.n_buffers and array.buffers[0]:
        valid = bits(array, 0)
        assert array.null_count == valid.count(False) > 0
        return [value if ok else None for value, ok in zip(values, valid)]
    assert array.null_count == 0
    return values


def read(table):
    """{name: values}, and how many batches there were."""
    capsule = table.__arrow_c_stream__()
    stream = pointer(capsule, b"arrow_array_stream", Stream)
    schema = Schema()
    assert stream.contents.get_schema(stream, schema) == 0
    children = [schema.children[i].contents for i in range(schema.n_children)]
    columns = {child.name.decode(): [] for child in children}
    batches = 0
    while True:
        array = Array()
        code = stream.contents.get_next(stream, array)
        if code:
            raise OSError(code, stream.contents.get_last_error(stream).decode())
        if not array.release:
            break
        batches += 1
        for i, child in enumerate(children):
            columns[child.name.decode()] += values_of(child, array.children[i].contents)
        array.release(array)
        assert not array.release
    schema.release(schema)
    return columns, batches


# ---- what SQL says ----


def sql(query, *files):
    done = viewer.run("sql", "--json", *map(str, files), query)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def as_sql(name, value):
    """A value of Arrow's as `monitorch sql --json` prints it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if name == "hash":
        return f"{value:016x}"
    if isinstance(value, list):
        return value
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def from_sql(row):
    """A row of SQL with lists for JSON, and the texts of `value` apart."""
    row = dict(row)
    for name in {"shape", "strides", "names", "reads"} & row.keys():
        row[name] = None if row[name] is None else json.loads(row[name])
    if "value" in row:
        is_text = isinstance(row["value"], str) and row["value_kind"] not in ("float",)
        row["value_text"] = row["value"] if is_text else None
        row["value"] = None if is_text else row["value"]
    return row


def rows_of(columns):
    names = list(columns)
    return [
        {name: as_sql(name, value) for name, value in zip(names, row)}
        for row in zip(*columns.values())
    ]


def check(table, name, *files):
    columns, _ = read(table)
    wanted = [from_sql(row) for row in sql(f"select * from {name}", *files)]
    got = rows_of(columns)
    if got and "trace" not in columns:
        wanted = [{k: v for k, v in row.items() if k != "trace"} for row in wanted]
    assert got == wanted


@pytest.mark.parametrize("name", SCENARIOS)
def test_events_are_those_of_sql(traces, name):
    check(monitorch.load(traces[name]), "events", traces[name])


@pytest.mark.parametrize("name", SCENARIOS)
def test_other_tables_are_those_of_sql(traces, name):
    events = monitorch.load(traces[name])
    for table in ("sites", "calls", "edges", "steps", "parameters"):
        check(getattr(events, table), table, traces[name])
    assert [{k: v for k, v in e.items()} for e in events.edges] == [
        {k: v for k, v in row.items() if k != "trace"}
        for row in sql("select * from edges", traces[name])
    ]


def test_a_folder_and_ranks(traces, tmp_path):
    for rank, name in enumerate(("nested_calls", "parts", "values")):
        shutil.copy(traces[name], tmp_path / f"run.rank{rank}.mtrace")
    for word in (tmp_path, tmp_path / "run.mtrace"):
        events = monitorch.load(word)
        assert [path.rpartition("/")[2] for path in events.paths] == [
            f"run.rank{i}.mtrace" for i in range(3)
        ]
        check(events, "events", word)
        check(events.calls, "calls", word)
        assert list(events.starts) == events.paths
        assert all(isinstance(start, datetime.datetime) for start in events.starts.values())
    with pytest.raises(OSError, match="has no traces"):
        (tmp_path / "empty").mkdir()
        monitorch.load(tmp_path / "empty")


def test_columns_and_filters(traces):
    events = monitorch.load(traces["nested_calls"], columns=["seq", "name"], name="[xq]")
    columns, _ = read(events)
    assert list(columns) == ["seq", "name"] and set(columns["name"]) <= {"x", "q"}
    assert columns["seq"] == events["seq"].tolist() and columns["name"] == events["name"]
    assert read(monitorch.load(traces["parts"], name="nobody"))[1] == 0
    assert read(monitorch.load(traces["parts"], columns=[]))[0] == {}


def test_texts_that_are_no_utf8(traces):
    """Arrow and load() have U+FFFD for the same bytes as `show --json`."""
    events = monitorch.load(traces["hostile"])
    columns, _ = read(events)
    assert columns["name"] == events["name"] and columns["file"] == events["file"]


def numbered(count):
    trace = Trace()
    trace.module("m.py", [("<module>", 1), ("f", 1)], [("assign", 1, 1, "x")])
    trace.repeat(count)
    call = trace.call(1)
    trace.event(0, call, scalar(1.5))
    trace.ended(call)
    trace.again()
    return trace


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    return numbered(150000).write(tmp_path_factory.mktemp("long") / "long.mtrace")


def test_batches(long):
    columns, batches = read(monitorch.load(long, columns=["seq", "name", "value"]))
    assert batches == 3
    assert columns["seq"] == list(range(150000))
    assert set(columns["name"]) == {"x"} and set(columns["value"]) == {1.5}


def test_nothing_is_read_before_it_is_asked_for(long):
    started = time.perf_counter()
    events = monitorch.load(long)
    opened = time.perf_counter() - started
    started = time.perf_counter()
    assert len(events) == 150000
    assert time.perf_counter() - started > 3 * opened


def test_the_stream_outlives_its_table(traces):
    capsule = monitorch.load(traces["parts"]).__arrow_c_stream__()
    gc.collect()
    stream = pointer(capsule, b"arrow_array_stream", Stream)
    array = Array()
    assert stream.contents.get_next(stream, array) == 0 and array.release
    del capsule, stream  # released in the middle
    gc.collect()
    assert array.length > 0
    array.release(array)


def test_a_trace_that_is_gone(traces, tmp_path):
    path = shutil.copy(traces["parts"], tmp_path / "gone.mtrace")
    events = monitorch.load(path)
    path.unlink()
    with pytest.raises(OSError, match="gone.mtrace"):
        read(events)
    assert len(events) > 0  # it was opened by load()


def test_a_damaged_trace(tmp_path):
    path = numbered(5000).write(tmp_path / "whole.mtrace")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.warns(RuntimeWarning, match="whole.mtrace: .*offset .*the stream ended"):
        columns, _ = read(monitorch.load(path, columns=["seq"]))
        for _ in range(100):  # the main thread warns a few steps later
            pass
    assert 0 < len(columns["seq"]) < 5000


def test_pickle(traces):
    import pickle

    events = pickle.loads(pickle.dumps(monitorch.load(traces["parts"])))
    assert events["seq"].tolist() == monitorch.load(traces["parts"])["seq"].tolist()
    assert read(events)[0]["seq"] == events["seq"].tolist()


def test_sequences(traces):
    calls = monitorch.load(traces["nested_calls"]).calls
    assert len(calls) == len(list(calls)) and calls[0] == list(calls)[0] and calls == list(calls)
    assert calls[-1] in calls and "calls of" in repr(calls)


# ---- real readers, in a process of their own: they are large ----

PROGRAM = """
import json, sys
sys.path.append(sys.argv[1])
import duckdb, monitorch, polars, pyarrow
events = monitorch.load(sys.argv[2])
table = pyarrow.table(events)
table.validate(full=True)
frame = polars.DataFrame(events)
again = polars.from_arrow(events)
assert again.shape[0] == frame.height == table.num_rows == len(events), (again.shape, frame.shape)
names = list(frame.columns)
assert names == table.column_names
for name in ("seq", "line", "nan", "shape", "strides", "requires_grad", "hash", "name", "file", "value_text", "mean"):
    assert frame[name].to_list() == table[name].to_pylist() or name == "mean", name
assert str(frame.schema["shape"]) == "List(Int64)" and str(frame.schema["name"]) == "Categorical"
assert str(table.schema.field("time").type) == "duration[ns]"
count = duckdb.sql("select count(*), sum(line), count(nan), max(len(shape)) from events").fetchall()[0]
lines = table["line"].to_pylist()
nans = [n for n in table["nan"].to_pylist() if n is not None]
shapes = [len(s) for s in table["shape"].to_pylist() if s is not None]
assert count == (len(lines), sum(lines), len(nans), max(shapes)), count
pandas = table.to_pandas()
assert pandas["name"].dtype == "category" and pandas["name"].tolist() == table["name"].to_pylist()
for name in ("sites", "calls", "edges", "steps", "parameters"):
    other = getattr(events, name)
    read = pyarrow.table(other)
    read.validate(full=True)
    assert polars.DataFrame(other).height == read.num_rows == duckdb.sql("select count(*) from other").fetchall()[0][0]
print("same")
"""


def packages():
    if (
        not (PACKAGES / "polars").is_dir()
        or not (PACKAGES / "duckdb").is_dir()
        or not (PACKAGES / "pyarrow").is_dir()
    ):
        pytest.skip(
            "polars, duckdb and pyarrow are in build/arrow after `make test-all` or `make bench`"
        )


@pytest.mark.parametrize("name", ["nested_calls", "values", "hostile", "folder"])
def test_real_readers(traces, tmp_path, name):
    packages()
    if name == "folder":
        for rank, one in enumerate(("nested_calls", "parts")):
            shutil.copy(traces[one], tmp_path / f"run.rank{rank}.mtrace")
    word = tmp_path if name == "folder" else traces[name]
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(PACKAGES), str(word)],
        env=recording.environment("off"), capture_output=True, text=True,
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (0, "same\n"), run.stderr


def test_the_page(traces, tmp_path):
    """What the how-to shows runs, but for the cluster's block."""
    packages()
    shutil.copy(traces["nested_calls"], tmp_path / "run.mtrace")
    (tmp_path / "runs").mkdir()
    for name in ("nested_calls", "parts"):
        shutil.copy(traces[name], tmp_path / "runs" / f"{name}.mtrace")
    blocks = [
        b.text
        for b in pages.blocks("docs/howto/arrow.md")
        if b.language == "python" and "cluster" not in b.reason
    ]
    assert len(blocks) == 5
    for block in blocks:
        program = f"import sys; sys.path.append({str(PACKAGES)!r})\n{block}"
        run = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path, env=recording.environment("off"), capture_output=True, text=True,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
