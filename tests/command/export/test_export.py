"""`monitorch export`: each format read back strictly, and held against what `show --json` tells."""

import ast
import collections
import csv
import decimal
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.support import paths, recording, viewer
from tests.trace import made, scenarios
from tests.trace.made import Trace, scalar, show, tensor

SCENARIOS = {
    name: getattr(scenarios, name)
    for name in "nested_calls values parts branches threads hostile wide_names notes no_beginning".split()
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("traces")


@pytest.fixture(scope="module")
def traces(folder):
    return {name: make().write(folder / f"{name}.mtrace") for name, make in SCENARIOS.items()}


def export(*words, **options):
    return viewer.run("export", *words, encoding=None, **options)


def exported(*words):
    run = export(*words)
    assert run.stderr == b""
    assert run.returncode == 0
    return run.stdout


def events(*words):
    lines = show("--json", *words).stdout.splitlines()
    return [r for r in map(json.loads, lines) if r["record"] == "event"]


# ---- CSV ----


def rows(data):
    text = data.decode("utf-8")
    found = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert text.count("\r\n") >= len(found)  # every row ends so, the last one too
    assert {len(row) for row in found} == {len(found[0])}
    return [dict(zip(found[0], row)) for row in found[1:]]


def shown(text):
    """A text with what a terminal would obey replaced, as CSV has it."""
    return "".join(c if c in "\t\r\n" or c.isprintable() or c in " \u3000" else "?" for c in text)


def unguarded(text):
    """A text as it was before it was kept from being a formula."""
    return text[1:] if text[:1] == "'" and text[1:2] in tuple("=+-@\t\r") else text


PLAIN = "seq time thread call iteration site line arm length count nan posinf neginf zeros version origin"
FIGURES = "min max mean std absmax"
TEXTS = "kind name path file function module change value_kind dtype device hash note"


@pytest.mark.parametrize("name", SCENARIOS)
def test_csv_is_what_show_tells(traces, name):
    path = traces[name]
    found = rows(exported(path, "--csv"))
    wanted = events(path)
    assert len(found) == len(wanted)
    for row, event in zip(found, wanted):
        assert row["trace"] == str(path)
        for column in PLAIN.split():
            assert row[column] == str(event.get(column, "")), column
        for column in FIGURES.split():
            value = event.get(column)
            assert row[column] == "" if value is None else float(row[column]) == value, column
        for column in TEXTS.split():
            assert unguarded(row[column]) == shown(event.get(column, "")), column
        for column in ("shape", "strides"):
            assert row[column] == json.dumps(event.get(column, ""), separators=(",", ":")).strip('"')


def test_csv_numbers_are_exact(folder):
    numbers = [0.1, 1 / 3, 5e-324, -0.0, 1.7976931348623157e308, 2.0**-30, 123456789.125, 1e22]
    trace = Trace()
    trace.module("m.py", [("<module>", 1)], [("assign", 1, 0, "x")])
    call = trace.call(0)
    for number in numbers:
        trace.event(0, call, scalar(number))
        trace.event(0, call, tensor((2,), min=number, max=number, mean=number, std=0.0))
    found = rows(exported(trace.write(folder / "exact.mtrace"), "--csv"))
    for number, scalar_row, tensor_row in zip(numbers, found[::2], found[1::2]):
        for text in (scalar_row["value"], tensor_row["min"], tensor_row["mean"]):
            assert float(text).hex() == number.hex()


def test_csv_texts_are_quoted_and_are_no_formulas(folder):
    texts = ["=1+1", "+a", "-a", "@a", "a,b", 'say "x"', "two\nlines", "\ttab", " blank ", "'", "", "a\rb", "é,ü"]
    trace = Trace()
    trace.module("m.py", [("<module>", 1)], [("assign", 1, 0, "x")])
    call = trace.call(0)
    for text in texts:
        trace.event(0, call, scalar(text))
    path = trace.write(folder / "formulas.mtrace")
    found = [row["value"] for row in rows(exported(path, "--csv"))]
    assert found == [("'" + text if text[:1] in tuple("=+-@\t\r") else text) for text in texts]
    raw = exported(path, "--csv", "--columns", "value,arm,path").decode().split("\r\n")
    assert raw[1] == "'=1+1,," + '""'  # nothing there is nothing; an empty text is a text


def test_csv_columns_are_chosen(traces):
    path = traces["nested_calls"]
    data = exported(path, "--csv", "--columns", "line,name,seq")
    assert data.startswith(b"line,name,seq\r\n")
    assert [(r["line"], r["name"], r["seq"]) for r in rows(data)] == [
        (str(e["line"]), e["name"], str(e["seq"])) for e in events(path)
    ]


def test_csv_header_is_the_list_of_columns(traces):
    text = (paths.ROOT / "runtime/view/walk/event_columns.def").read_text()
    names = re.findall(r"^EVENT_COLUMN\((\w+),", text, re.M)
    assert exported(traces["values"], "--csv").split(b"\r\n")[0].decode() == ",".join(names)


# ---- JSON lines: the same as `show --json` ----

FILTERS = ["--name=q", "--nan", "--changed", "--line=9-11", "--kind=enter,return", "--call=1+", "--function=*.forward"]


@pytest.mark.parametrize("name", SCENARIOS)
def test_jsonl_is_what_show_prints(traces, name):
    wanted = show("--json", traces[name]).stdout.encode()
    assert exported(traces[name], "--jsonl") == wanted
    both = (traces[name], traces["parts"])
    assert exported(*both, "--jsonl") == show("--json", *both).stdout.encode()


@pytest.mark.parametrize("word", FILTERS)
def test_filters(traces, word):
    path = traces["nested_calls"]
    wanted = events(word, path)
    assert wanted
    assert exported(path, "--jsonl", word) == show("--json", word, path).stdout.encode()
    assert [r["seq"] for r in rows(exported(path, word, "--csv"))] == [str(e["seq"]) for e in wanted]
    instants = [e for e in perfetto(exported(path, word, "--perfetto", "-")) if e.get("s") == "t"]
    assert [e["args"]["seq"] for e in instants] == [e["seq"] for e in wanted]


# ---- Perfetto ----


def no_constant(text):
    raise ValueError(f"{text} is no JSON")


def perfetto(data):
    """The events, held against the rules of the trace event format."""
    document = json.loads(data.decode("utf-8"), parse_constant=no_constant, parse_float=decimal.Decimal)
    assert set(document) == {"traceEvents", "displayTimeUnit"}
    assert document["displayTimeUnit"] in ("ms", "ns")
    last = {}
    open_slices = collections.defaultdict(list)
    asynchronous = {}
    for event in document["traceEvents"]:
        phase, track = event["ph"], (event["pid"], event["tid"])
        assert all(type(number) is int and 0 < number < 2**32 for number in track)
        if phase == "M":
            assert event["name"] in (
                "process_name", "process_sort_index", "thread_name", "thread_sort_index"
            )  # fmt: skip
            assert list(event["args"]) == ["sort_index" if "sort" in event["name"] else "name"]
            continue
        assert event["ts"] >= 0
        if event.get("s") != "p":
            assert event["ts"] >= last.get(track, 0)
            last[track] = event["ts"]
        assert "name" in event and "cat" in event or phase == "E"
        if phase == "B":
            open_slices[track].append(event)
        elif phase == "E":
            assert open_slices[track].pop()["ts"] <= event["ts"]
        elif phase == "i":
            assert event["s"] in ("t", "p")
        else:
            assert phase in ("b", "e")
            key = (event["pid"], event["cat"], event["id2"]["local"], event["name"])
            assert (phase == "e") == (key in asynchronous)
            if phase == "b":
                asynchronous[key] = event["ts"]
            else:
                assert asynchronous.pop(key) <= event["ts"]
    assert not any(open_slices.values()) and not asynchronous
    return document["traceEvents"]


@pytest.mark.parametrize("name", SCENARIOS)
def test_perfetto(traces, name):
    path = traces[name]
    found = perfetto(exported(path, "--perfetto", "-"))
    wanted = events(path)
    instants = [e for e in found if e.get("s") == "t"]
    assert [e["args"]["seq"] for e in instants] == [e["seq"] for e in wanted]
    for instant, event in zip(instants, wanted):
        assert instant["ts"] * 1000 >= event["time"]  # exact, but a track does not go back
        assert instant["args"]["at"] == f"{event['file']}:{event['line']}"
        assert instant["tid"] == event["thread"] + 1
        for key in "call function iteration value_kind dtype shape min max mean nan hash".split():
            got = instant["args"].get(key)
            assert (float(got) if isinstance(got, decimal.Decimal) else got) == event.get(key), key
        assert event["name"] in instant["name"]
        alarming = any(event.get(key) for key in ("nan", "posinf", "neginf"))
        assert alarming <= instant["name"].startswith("!! ")
    lines = map(json.loads, show("--json", path).stdout.splitlines())
    begun = [r for r in lines if r["record"] == "call" and r["begun"]]
    slices = [e for e in found if e["ph"] in "bB"]
    assert [(e["name"], e["args"]["call"]) for e in slices if e["args"].get("begun", True)] == [
        (c["function"], c["call"]) for c in begun
    ]


def test_perfetto_times_are_exact(folder):
    trace = Trace()
    trace.module("m.py", [("<module>", 1)], [("assign", 1, 0, "x")])
    call = trace.call(0, time=2**53 + 1)
    for extra in (1, 10, 100, 999, 1000, 2**60):
        trace.event(0, call, scalar(1), time=2**53 + 1 + extra)
    path = trace.write(folder / "times.mtrace")
    found = [e["ts"] for e in perfetto(exported(path, "--perfetto", "-")) if e["ph"] == "i"]
    assert [int(ts * 1000) for ts in found] == [e["time"] for e in events(path)]


def test_perfetto_generators_are_in_nobodys_way(folder):
    trace = Trace()
    trace.module("m.py", [("<module>", 1), ("f", 2), ("g", 3)], [("assign", 1, 0, "x")])
    outer = trace.call(1)
    left = trace.call(2, parent=outer, flags=made.GENERATOR)
    right = trace.call(2, parent=outer, flags=made.GENERATOR)
    inner = trace.call(1, parent=left)
    trace.event(0, left, scalar(1))
    trace.ended(inner)
    trace.ended(left)
    trace.event(0, right, scalar(2))
    trace.ended(outer)
    trace.event(0, right, scalar(3))
    found = perfetto(exported(trace.write(folder / "generators.mtrace"), "--perfetto", "-"))
    assert collections.Counter(e["ph"] for e in found if e["ph"] in "BEbe") == dict(B=2, E=2, b=2, e=2)
    ends = [e["ts"] for e in found if e["ph"] == "e"]
    assert max(e.get("ts", 0) for e in found) == ends[-1]  # what never ended, ends with the trace


def test_perfetto_calls_that_end_before_those_they_made(folder):
    trace = Trace()
    trace.module("m.py", [("<module>", 1), ("f", 2)], [("assign", 1, 0, "x")])
    calls = [trace.call(1)]
    for _ in range(4):
        calls.append(trace.call(1, parent=calls[-1]))
    trace.ended(calls[1], made.LEFT)
    trace.ended(calls[3], made.LEFT)
    trace.event(0, calls[0], scalar(1))
    found = perfetto(exported(trace.write(folder / "left.mtrace"), "--perfetto", "-"))
    assert [e["ph"] for e in found if e["ph"] in "BEi"] == ["B"] * 5 + ["E"] * 4 + ["i", "E"]


def test_perfetto_ranks(folder, traces):
    both = [traces["nested_calls"], traces["threads"], traces["nested_calls"]]
    found = perfetto(exported(*both, "--perfetto", "-"))
    names = [e for e in found if e["name" if "name" in e else "ph"] == "process_name"]
    assert [e["args"]["name"] for e in names] == list(map(str, both))
    assert len({e["pid"] for e in names}) == 3
    threads = [e["args"]["name"] for e in found if e.get("name") == "thread_name"]
    assert threads.count("MainThread") == 3


def test_perfetto_of_a_killed_writer(folder):
    trace = SCENARIOS["nested_calls"]()
    trace.lines = [line for line in trace.lines if not line.startswith("return")]
    trace.kill()
    run = export(trace.write(folder / "killed.mtrace"), "--perfetto", "-")
    assert run.returncode == 0
    assert b"is unfinished" in run.stderr
    assert any(e["ph"] == "B" for e in perfetto(run.stdout))


# ---- annotated sources ----

MODEL = """\
def f(x, n):
    y = x @ x
    if n > 1:
        y = y + 1
    else:
        y = y - 1
    text = '''
    one
    two'''; z = 1
    total = x + \\
        y
    pair = (x,
            y)

    \tw = y  # note
    return y


def g():
    a = 1
    return a
"""


def model_trace(source=MODEL, **fields):
    trace = Trace()
    trace.module(
        "model.py",
        [("<module>", 1), ("f", 1), ("g", 19)],
        [
            ("enter", 1, 1, "x", "n"), ("assign", 2, 1, "y"), ("branch", 3, 1, 0), ("assign", 4, 1, "y"),
            ("branch", 5, 1, 1), ("assign", 6, 1, "y"), ("assign", 7, 1, "text"), ("assign", 9, 1, "z"),
            ("assign", 10, 1, "total"), ("assign", 12, 1, "pair"), ("assign", 15, 1, "w"),
            ("return", 16, 1, "return"), ("enter", 19, 2), ("assign", 20, 2, "a"), ("return", 21, 2, "return"),
        ],
        source=source,
        **fields,
    )  # fmt: skip
    return trace


def square(size, **fields):
    return tensor((size, 8), min=0, max=1, mean=0.5, std=0.1, **fields)


def run_model(trace, sizes=(4,)):
    for size in sizes:
        call = trace.call(1)
        trace.event(0, call, square(size))
        trace.event(0, call, scalar(size), write=1)
        trace.event(1, call, square(size, **({"nan": 3} if size == 2 else {})))
        trace.event(2, call)
        for site in (3, 8, 10, 11):
            trace.event(site, call, square(size))
        trace.event(6, call, scalar("text"))
        trace.event(7, call, scalar(1))
        trace.event(9, call, made.container("tuple", 2))
        for place in range(2):
            trace.event(9, call, square(size), path=f"[{place}]")
        trace.ended(call)
    return trace


def test_annotate(folder):
    path = run_model(model_trace(), (4, 4, 2)).write(folder / "model.mtrace")
    assert exported(path, "--annotate").decode() == """\
def f(x, n):       # x: float32 [4, 8] x2, [2, 8]; n: int 2..4 x3
    y = x @ x      # y: float32 [4, 8] x2, [2, 8] !! NaN in 1
    if n > 1:      # taken x3
        y = y + 1  # y: float32 [4, 8] x2, [2, 8]
    else:          # never taken
        y = y - 1  # never reached
    text = '''
    one
    two'''; z = 1  # text: str x3; z: int 1 x3
    total = x + \\
        y          # total: float32 [4, 8] x2, [2, 8]
    pair = (x,     # pair: tuple of 2 x3; pair[0], pair[1]: float32 [4, 8] x2, [2, 8]
            y)

    \tw = y  # note  # w: float32 [4, 8] x2, [2, 8]
    return y           # return: float32 [4, 8] x2, [2, 8]


def g():      # never called
    a = 1     # never reached
    return a  # never reached
"""


def test_annotate_a_line_that_raised(folder):
    """What came before an exception was reached; of the rest of its function nobody knows."""
    for how in (made.LEFT, None):
        trace = model_trace()
        call = trace.call(1)
        trace.event(0, call, square(4))
        trace.event(1, call, square(4))
        if how:
            trace.ended(call, how)
        lines = exported(trace.write(folder / "raised.mtrace"), "--annotate").decode().splitlines()
        assert [line.split("# ")[-1] for line in lines[1:6]] == [
            "y: float32 [4, 8]", "never taken", "never finished", "never taken", "never finished"
        ]  # fmt: skip
        assert lines[18].endswith("never called") and lines[19].endswith("never reached")


def test_annotate_many_shapes_become_ranges(folder):
    path = run_model(model_trace(), range(1, 101)).write(folder / "many.mtrace")
    lines = exported(path, "--annotate").decode().splitlines()
    assert lines[1].endswith("# y: float32 [1..100, 8] x100 !! NaN in 1")
    assert lines[0].endswith("n: int 1..100 x100")


def test_annotate_only_what_is_asked_for(folder):
    path = run_model(model_trace()).write(folder / "some.mtrace")
    lines = exported(path, "--annotate", "--line", "4-6").decode().splitlines()
    assert [i for i, line in enumerate(lines, 1) if "#" in line] == [4, 5, 6, 15]
    lines = exported(path, "--annotate", "--function", "f").decode().splitlines()
    assert not any("never called" in line for line in lines)
    assert export(path, "--annotate", "--file", "other.py").returncode == 1


def test_annotate_shows_the_original(folder):
    source = MODEL.replace("\t", "")
    words = [paths.COMMAND, "--all", "-", "-o", "-"]
    made_by = subprocess.run(words, input=source.encode(), capture_output=True)
    assert made_by.returncode == 0 and b"_mt" in made_by.stdout
    trace = run_model(model_trace(made_by.stdout.decode(), tag=2))
    text = exported(trace.write(folder / "instrumented.mtrace"), "--annotate").decode()
    assert "_mt" not in text
    assert [line.split("  #")[0].rstrip() for line in text.splitlines()] == [
        line.split("  #")[0].rstrip() for line in source.splitlines()
    ]


def test_annotate_of_a_ring_claims_nothing_of_what_it_lost(folder):
    trace = model_trace()
    trace.lines[0] += " last=5"
    text = exported(run_model(trace).write(folder / "ring.mtrace"), "--annotate").decode()
    assert "never" not in text


@pytest.mark.parametrize("tag", [0, 3])
def test_annotate_without_a_source(folder, tag):
    trace = run_model(model_trace(MODEL if tag else "", tag=tag))
    run = export(trace.write(folder / f"none{tag}.mtrace"), "--annotate")
    assert run.returncode == 1
    assert run.stdout == b""
    assert b"the trace does not hold the source" in run.stderr


def on_every_line(source, folder, name="lines.py"):
    """A trace in which something was seen on each line of the source."""
    count = source.count(b"\n") + source.count(b"\r") + 1
    trace = Trace()
    trace.module(name, [("<module>", 1)], [("assign", n, 0, "weight") for n in range(1, count + 1)], source=source)
    call = trace.call(0)
    for site in range(count):
        trace.event(site, call, tensor((2, 3)))
    return trace.write(folder / "lines.mtrace")


def check_annotated(source, folder):
    compile(source, "original", "exec", dont_inherit=True)
    text = exported(on_every_line(source, folder), "--annotate")
    compile(text, "annotated", "exec", dont_inherit=True)
    assert ast.dump(ast.parse(text), include_attributes=True) == ast.dump(
        ast.parse(source), include_attributes=True
    )
    return text


NASTY = {
    "strings": 'a = """x\n# no\n"""\nb = \'\'\'\\\'\'\'\'\nc = f"""{a\n}"""\nd = "a\\\nb"\ne = r"""\\\\"""\nf = rb"""\\\n"""\n',
    "brackets": "a = [\n    1,  # one\n\n    2,\n]\nb = (\n)\n",
    "continued": "a = 1 + \\\n    2\nif a and \\\n   a: pass\nassert a, \\\n  a\n",
    "no end": "a = 1",
    "no end after a string": 'a = """x\ny"""',
    "crlf": "a = 1\r\nb = '''x\r\ny'''\r\nc = 2 \\\r\n  + 1\r\n",
    "cr": "a = 1\rb = 2\r",
    "form feed": "a = 1\n\f\nb = 2\n",
    "tabs": "if 1:\n\ta = 1\n\tif a:\n\t\tb = 2\n",
    "shebang": "#!/usr/bin/python\n# -*- coding: utf-8 -*-\na = 1\n",
    "comments": "a = 1 # x\\\nb = '#' # '\n# \"\"\"\nc = 3\n",
    "quotes": "a = ''\nb = \"\"\nc = '\"' + \"'\"\nd = u'' ''\n",
    "wide": "权重 = 1\nb = '注意力'\nç = 3\n",
    "byte order mark": "\ufeffa = 1\n",
}


@pytest.mark.parametrize("name", NASTY)
def test_annotated_is_the_same_program(folder, name):
    text = check_annotated(NASTY[name].encode(), folder)
    assert b"# weight: float32 [2, 3]" in text


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "shift_jis", "cp1251", "euc_jp"])
def test_annotated_keeps_the_encoding(folder, encoding):
    letters = {"latin-1": "é", "utf-8": "é", "cp1251": "ж"}.get(encoding, "表能ソ")
    source = f"# -*- coding: {encoding} -*-\na = '{letters}'\nb = '''{letters}\n{letters}'''\n".encode(encoding)
    text = check_annotated(source, folder)
    assert letters in text.decode(encoding)


def test_annotated_names_in_an_encoding_that_lacks_them(folder):
    trace = Trace()
    source = "# coding: latin-1\nx = 'é'\n".encode("latin-1")
    trace.module("m.py", [("<module>", 1)], [("assign", 2, 0, "权重")], source=source)
    trace.event(0, trace.call(0), scalar(1))
    text = exported(trace.write(folder / "lacks.mtrace"), "--annotate")
    assert text.splitlines()[1].decode("latin-1") == "x = 'é'  # ??: int 1"


def test_annotated_that_is_no_text(folder):
    text = exported(on_every_line(b"a = '\xff'\nb = 1\n", folder), "--annotate")
    assert text == b"a = '\xff'  # weight: float32 [2, 3]\nb = 1    # weight: float32 [2, 3]\n"


def test_annotated_standard_library(folder):
    files = [p for p in paths.stdlib_files() if "lib2to3" not in p.parts and 0 < p.stat().st_size < 60000]
    for path in random.Random(6).sample(files, 25):
        source = path.read_bytes()
        try:
            compile(source, "", "exec")
        except (SyntaxError, ValueError):
            continue
        check_annotated(source, folder)


def test_annotations_cannot_leave_their_comment(folder):
    trace = Trace()
    names = ["a\nb", "a\rb", "a\x00b", "a\u2028b", "\x1b[2Jx", "a\u202eb"]
    trace.module("m.py", [("<module>", 1)], [("assign", 1, 0, name) for name in names], source="x = 1\ny = 2\n")
    call = trace.call(0)
    for site in range(len(names)):
        trace.event(site, call, scalar(site, path="['\n']"))
        trace.event(site, call, made.instance("m.\nT"))
    text = exported(trace.write(folder / "bad.mtrace"), "--annotate")
    assert text.count(b"\n") == 2 and not set(text) & {0, 13, 27}
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse("x = 1\ny = 2\n"))


def test_annotate_into_a_folder(folder, tmp_path):
    path = run_model(model_trace()).write(folder / "into.mtrace")
    wanted = exported(path, "--annotate")
    (tmp_path / "there").mkdir()
    for words in (["--annotate", "there"], ["--annotate", "new/"], ["--annotate=deep/er"]):
        run = export(path, *words, cwd=tmp_path)
        assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
        assert (tmp_path / words[-1].split("=")[-1] / "model.py").read_bytes() == wanted


def test_annotate_never_replaces_a_source(folder, tmp_path):
    path = run_model(model_trace()).write(folder / "source.mtrace")
    (tmp_path / "model.py").write_text(MODEL)
    for text in (MODEL, MODEL + "# changed since\n"):  # by its bytes, and by its path
        (tmp_path / "model.py").write_text(text)
        run = export(path, "--annotate=.", cwd=tmp_path)
        assert run.returncode == 3
        assert b"would overwrite the source" in run.stderr
        assert (tmp_path / "model.py").read_text() == text
    (tmp_path / "copy").mkdir()
    assert export(path, "--annotate=copy", cwd=tmp_path).returncode == 0
    assert export(path, "--annotate=copy", cwd=tmp_path).returncode == 0  # an annotated one is replaced


def test_annotate_several_files(folder, tmp_path):
    trace = Trace()
    names = ["a/x.py", "b/x.py", "a/../a/x.py", "../../etc/p.py", "a/\n.py"]
    names = [f"/home/me/{name}" for name in names]
    for number, name in enumerate(names):
        trace.module(name, [("<module>", 1)], [("assign", 1, 0, "x")], source=f"x = {number}\n")
    for number in range(len(names)):
        trace.event(number, trace.call(0, table=number), scalar(number))
    path = trace.write(folder / "files.mtrace")
    run = export(path, "--annotate=out", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, b"")
    found = {str(p.relative_to(tmp_path)): p.read_text() for p in tmp_path.rglob("*.py")}
    assert found == {
        f"out/{name}": f"x = {number}  # x: int {number}\n"
        for number, name in enumerate(["a/x.py", "b/x.py", "a/a/x.py", "etc/p.py", "a/_.py"])
    }
    text = exported(path, "--annotate").decode()
    assert text.count("# == ") == len(names)
    ast.parse(text)


def test_annotate_ranks_together(folder):
    both = [run_model(model_trace(), sizes).write(folder / f"rank{i}.mtrace") for i, sizes in enumerate([(4,), (5, 5)])]
    assert b"y: float32 [4, 8], [5, 8] x2\n" in exported(*both, "--annotate")


def test_an_annotated_program_runs_as_before(tmp_path):
    program = tmp_path / "program.py"
    source = MODEL.replace("@", "*").replace("    \tw", "    w")
    program.write_text(source + "print(f(2, 3), g(), [f(i, i) for i in range(4)])\n")
    environment = recording.environment("off")
    wanted = subprocess.run([sys.executable, program], env=environment, capture_output=True).stdout
    words = [sys.executable, "-m", "monitorch", "run", "-o", tmp_path / "run.mtrace", program]
    assert subprocess.run(words, env=environment, capture_output=True).stdout == wanted
    text = exported(tmp_path / "run.mtrace", "--annotate")
    assert b"# x, n: int 0..3 x5" in text
    program.write_bytes(text)
    assert subprocess.run([sys.executable, program], env=environment, capture_output=True).stdout == wanted


# ---- SQLite ----


def test_sqlite(traces, tmp_path):
    sqlite3 = pytest.importorskip("sqlite3")
    path, file = traces["nested_calls"], tmp_path / "run.db"
    run = export(path, "--sqlite", file, "--csv", tmp_path / "run.csv")
    assert (run.returncode, run.stderr) == (0, b"")
    connection = sqlite3.connect(file)
    (count,) = connection.execute("select count(*) from events").fetchone()
    assert count == len(events(path)) == len(rows((tmp_path / "run.csv").read_bytes()))
    found = connection.execute("select line, name, nan from events order by seq").fetchall()
    assert found == [(e["line"], e["name"], e.get("nan")) for e in events(path)]
    assert export(path, "--sqlite", file).returncode == 0  # its own is replaced


def test_sqlite_does_not_replace_what_is_none(traces, tmp_path):
    file = tmp_path / "precious.txt"
    file.write_text("precious")
    run = export(traces["parts"], "--sqlite", file)
    assert run.returncode == 2 and file.read_text() == "precious"
    assert export(traces["parts"], "--sqlite", file, "--force").returncode == 0
    assert file.read_bytes().startswith(b"SQLite format 3")
    run = export(tmp_path / "missing.mtrace", "--sqlite", file)
    assert run.returncode == 3 and b"missing.mtrace" in run.stderr


# ---- files, failures ----


def test_several_formats_at_once(traces, tmp_path):
    path = traces["nested_calls"]
    names = dict(csv="a.csv", jsonl="a.jsonl", perfetto="a.json", annotate="out")
    run = export(path, *(f"--{name}={tmp_path / file}" for name, file in names.items()))
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
    for name in ("csv", "jsonl", "perfetto"):
        assert (tmp_path / names[name]).read_bytes() == exported(path, f"--{name}=-")
    assert (tmp_path / "out/model.py").read_bytes() == exported(path, "--annotate")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names.values())


def test_a_name_behind_a_blank(traces, tmp_path):
    path = traces["parts"]
    for option, name in (("--csv", "x.csv"), ("--jsonl", "x.jsonl"), ("--jsonl", "x.json"), ("--perfetto", "x")):
        assert export(path, option, tmp_path / name).returncode == 0
        assert (tmp_path / name).stat().st_size > 100
    assert exported("--csv", path) == exported(path, "--csv", "-") == exported(path, "--csv")


@pytest.mark.parametrize(
    "words, message",
    [
        (["T"], "no format, expected --csv, --jsonl"),
        (["--csv"], "no trace, expected TRACE"),
        (["T", "--csv", "--jsonl"], "--csv and --jsonl would both be written to standard output"),
        (["T", "--csv=x", "--perfetto=x"], "would both be written to x"),
        (["T", "--csv", "--csv"], "--csv was given twice"),
        (["T", "--csv=T"], "is an input of this command"),
        (["T", "--csv", "--columns=seq,meen"], "no column `meen`; did you mean mean?"),
        (["T", "--csv", "--columns=seq,seq"], "seq is named twice"),
        (["T", "--csv", "--columns=seq,"], "no column ``"),
        (["T", "--jsonl", "--columns=seq"], "--columns needs --csv"),
        (["T", "--sqlite=-"], "a database needs a file"),
        (["T", "--sqlite=x.db", "--nan"], "--sqlite writes all events"),
        (["T", "--csv", "--force"], "--edges and --force need --sqlite"),
        (["T", "--perfetto"], "--perfetto: expected FILE after it"),
        (["T", "--csv="], "--csv: expected FILE, got nothing"),
        (["T", "--cvs"], "did you mean --csv?"),
        (["T", "--csv", "--line=x"], "--line x: expected N"),
    ],
)
def test_wrong_usage(traces, words, message):
    path = traces["parts"]
    before = path.read_bytes()
    run = export(*(word.replace("T", str(path)) for word in words))
    assert run.returncode == 2
    assert message in run.stderr.decode()
    assert run.stdout == b"" and path.read_bytes() == before


def test_help(traces):
    run = export("--help")
    assert run.returncode == 0
    for name in "csv jsonl perfetto sqlite annotate columns function nan".split():
        assert f"--{name}" in run.stdout.decode()
    assert max(map(len, run.stdout.decode().splitlines())) <= 92


def test_nothing_matches(traces, tmp_path):
    run = export(traces["parts"], "--csv", tmp_path / "x.csv", "--name=zzz")
    assert run.returncode == 1
    assert b"no event matches" in run.stderr
    assert rows((tmp_path / "x.csv").read_bytes()) == []


def test_what_cannot_be_read_replaces_nothing(tmp_path):
    (tmp_path / "no.mtrace").write_bytes(b"not a trace")
    for trace in ("no.mtrace", "missing.mtrace"):
        old = {name: tmp_path / name for name in ("x.csv", "x.json")}
        for file in old.values():
            file.write_text("old")
        run = export(tmp_path / trace, f"--csv={old['x.csv']}", f"--perfetto={old['x.json']}")
        assert run.returncode == 3
        assert trace in run.stderr.decode()
        assert [file.read_text() for file in old.values()] == ["old", "old"]


def test_one_of_several_cannot_be_read(traces, tmp_path):
    run = export(tmp_path / "missing.mtrace", traces["parts"], "--csv")
    assert run.returncode == 3
    assert len(rows(run.stdout)) == len(events(traces["parts"]))


@pytest.mark.parametrize("size", [0.3, 0.5, 0.9])
def test_a_cut_trace(folder, size):
    whole = run_model(model_trace(), range(1, 500)).write(folder / "whole.mtrace").read_bytes()
    path = folder / "cut.mtrace"
    path.write_bytes(whole[: int(len(whole) * size)])
    for format in ("--csv", "--jsonl", "--perfetto=-", "--annotate"):
        run = export(path, format)
        assert run.returncode == show(path).returncode == 3
        assert b"offset" in run.stderr
    assert len(rows(export(path, "--csv").stdout)) == len(events(path)) > 0
    perfetto(export(path, "--perfetto=-").stdout)


def test_damaged_bytes(folder):
    whole = SCENARIOS["nested_calls"]().write(folder / "whole2.mtrace").read_bytes()
    used = len(whole.rstrip(b"\0"))
    randomly = random.Random(1)
    path = folder / "damaged.mtrace"
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(randomly.randint(1, 8)):
            data[randomly.randrange(4096, used)] = randomly.randrange(256)
        path.write_bytes(data)
        run = export(path, "--perfetto=-")
        assert run.returncode in (0, 1, 3)
        perfetto(run.stdout)
        for format in ("--csv", "--annotate"):
            assert export(path, format).returncode in (0, 1, 3)


FORMATS = ["--csv=x.csv", "--jsonl=x.jsonl", "--perfetto=x.json", "--annotate=out"]


def test_writes_fail(folder, tmp_path):
    path = run_model(model_trace(), range(200)).write(folder / "writes.mtrace")
    (tmp_path / "x.csv").write_text("old")
    for attempt in range(1, 60):
        run = export(path, *FORMATS, cwd=tmp_path, env={"MONITORCH_TEST_FAIL_WRITE": str(attempt)})
        left = sorted(p.name for p in tmp_path.iterdir())
        assert not [name for name in left if name.startswith(".monitorch")], left
        if run.returncode == 0:
            break
        assert run.returncode == 3
        assert b"No space left on device" in run.stderr
        if "x.csv" in run.stderr.decode():
            assert (tmp_path / "x.csv").read_text() == "old"
    assert attempt > 8


@pytest.mark.parametrize("and_all_after", ["", "+"])
def test_allocations_fail(folder, tmp_path, and_all_after):
    path = run_model(model_trace(), range(1, 7)).write(folder / "memory.mtrace")
    failed = 0
    for attempt in range(1, 400):
        run = export(
            path, *FORMATS, cwd=tmp_path, env={"MONITORCH_TEST_FAIL_ALLOCATION": f"{attempt}{and_all_after}"}
        )
        if run.returncode != 0:
            assert run.returncode == 3, (attempt, run.stderr)
            assert b"memory" in run.stderr, (attempt, run.stderr)
            failed += 1
        elif attempt > failed + 5:
            break
    assert failed > 20
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".monitorch")]


@pytest.fixture(scope="module")
def long(folder):
    trace = Trace()
    trace.module("m.py", [("<module>", 1), ("f", 1)], [("assign", 1, 1, "x")])
    trace.repeat(150000)
    call = trace.call(1)
    trace.event(0, call, tensor((4, 8), min=0.1, max=0.7, mean=1 / 3, std=0.25, hash=1))
    trace.ended(call)
    trace.again()
    return trace.write(folder / "long.mtrace")


def test_interrupted(long, tmp_path):
    (tmp_path / "x.json").write_text("old")
    process = subprocess.Popen([viewer.PATH, "export", long, "--perfetto", "x.json"], cwd=tmp_path)
    deadline = time.monotonic() + 120
    while len(list(tmp_path.iterdir())) < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    assert process.wait() == -signal.SIGINT
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]
    assert (tmp_path / "x.json").read_text() == "old"


@pytest.mark.skipif(os.environ.get("MONITORCH_MODE") == "asan", reason="ASan keeps what was freed")
def test_memory_does_not_grow(long, folder):
    small = run_model(model_trace()).write(folder / "small.mtrace")

    def peak(path):
        words = [viewer.PATH, "export", path, "--csv=/dev/null", "--perfetto=/dev/zero", "--annotate"]
        program = (
            "import resource, subprocess, sys; subprocess.run(sys.argv[1:], capture_output=True); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        )
        run = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
        return int(run.stdout)

    assert peak(long) < peak(small) + 4096
