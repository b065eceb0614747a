"""`monitorch sql`: each answer against the same question asked of what `show --json` tells."""

import csv
import io
import json
import math
import os
import pty
import random
import select
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

from tests.support import paths, viewer
from tests.trace import scenarios
from tests.trace.made import Trace, scalar, show, tensor

SCENARIOS = [
    scenarios.nested_calls,
    scenarios.values,
    scenarios.parts,
    scenarios.branches,
    scenarios.threads,
    scenarios.deep_recursion,
    scenarios.hostile,
    scenarios.notes,
    scenarios.no_beginning,
]
COLUMNS = [
    line.split("(")[1].split(",")[0]
    for line in open("runtime/view/walk/event_columns.def", encoding="utf-8")
    if line.startswith("EVENT_COLUMN")
]


@pytest.fixture(scope="module")
def long(folder):
    """40000 events, over several chunks, each event but the first ones with an origin."""
    trace = Trace()
    first = trace.module(
        "long.py", [("<module>", 1), ("f", 1)], [("assign", 2, 1, "x"), ("assign", 3, 1, "y")]
    )
    for turn in range(200):
        call = trace.call(1)
        for k in range(200):
            number = turn * 200 + k
            values = tensor((2,), min=-1.0, max=float(number % 97), mean=0.5, std=0.25, nan=0)
            origin = number // 2 + 1 if number else 0
            trace.event(first + k % 2, call, values, origin=origin)
        trace.ended(call)
    return trace.write(folder / "long.mtrace")


def run(*words, **options):
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    return viewer.run("sql", *words, errors="surrogateescape", **options)


def rows(*words):
    answer = run("--json", *words)
    assert (answer.returncode, answer.stderr) == (0, "")
    return [json.loads(line) for line in answer.stdout.splitlines()]


def ask(*words):
    """The values alone."""
    return [tuple(row.values()) for row in rows(*words)]


def shown(path, record="event"):
    answer = show("--json", "-q", path)
    assert answer.returncode == 0
    found = [json.loads(line) for line in answer.stdout.splitlines()]
    return [r for r in found if r["record"] == record]


def column_of(event, name):
    """What the table has where JSON has this."""
    value = event.get(name)
    if name in ("change", "type") and value == "":
        return None if name == "change" else value
    if name == "differs":
        return None if value is None else ",".join(value)
    if name == "value" and event["value_kind"] == "None":
        return None
    if isinstance(value, list):
        return json.dumps(value, separators=(",", ":"))
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and math.isnan(value):
        return None
    if value == "NaN" and name == "value" and event["value_kind"] == "float":
        return None
    if isinstance(value, int) and value >= 2**63:
        return float(value)
    return value


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_events_are_those_of_show(scenario, folder):
    path = scenario().write(folder / f"{scenario.__name__}.mtrace")
    events = shown(path)
    found = rows("-q", path, "select * from events")
    assert [list(row) for row in found] == [COLUMNS] * len(events)
    for row, event in zip(found, events, strict=True):
        for name in COLUMNS:
            if name == "trace":
                assert row[name] == str(path)
            else:
                assert row[name] == column_of(event, name), (name, event)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_calls_are_those_of_show(scenario, folder):
    path = scenario().write(folder / f"{scenario.__name__}.mtrace")
    found = {row["call"]: row for row in rows("-q", path, "select * from calls")}
    events = shown(path)
    calls = shown(path, "call")
    assert {c["call"] for c in calls} <= set(found)
    for call in calls:
        row = found[call["call"]]
        for name in ("depth", "thread", "thread_name", "file", "line", "function", "module"):
            assert row[name] == call[name], (name, call)
        assert row["class"] == call["class"]
        assert (row["parent"] or 0) == call["parent"]
        own = [e["seq"] for e in events if e["call"] == call["call"]]
        assert row["events"] == len(own)
        assert (row["first_seq"], row["last_seq"]) == (
            (own[0], own[-1]) if own else (None, None)
        )
    for end in shown(path, "end"):
        assert (found[end["call"]]["how"], found[end["call"]]["end_time"]) == (
            end["how"],
            end["time"],
        )


def test_sites_are_those_of_show(nested):
    listed = show("--sites", "--json", nested).stdout.splitlines()
    found = rows(nested, "select * from sites")
    assert len(found) == len(listed) > 3
    for row, line in zip(found, listed, strict=True):
        site = json.loads(line)
        for name in ("site", "kind", "file", "line", "column", "function", "key"):
            assert row[name] == site[name]
        assert json.loads(row["names"]) == site["names"]
        assert json.loads(row["reads"]) == site["reads"]
    codes = ask(nested, "select code from sites where code like '%softmax%'")
    assert codes


@pytest.mark.parametrize(
    ("where", "fits"),
    [
        ("nan > 0", lambda e: e.get("nan", 0) > 0),
        ("nan >= 0 and 1 > posinf", lambda e: e.get("nan") is not None and e["posinf"] < 1),
        ("nan is null", lambda e: e.get("nan") is None),
        ("max is not null", lambda e: e.get("max") is not None),
        ("max != 3", lambda e: e.get("max") is not None and e["max"] != 3),
        ("name = 'q'", lambda e: e["name"] == "q"),
        ("name = 'Q' collate nocase", lambda e: e["name"] == "q"),
        ("name in ('q', 'x')", lambda e: e["name"] in ("q", "x")),
        ("name glob '*a*' or line = 26", lambda e: "a" in e["name"] or e["line"] == 26),
        ("name regexp '^w.*s$'", lambda e: e["name"].startswith("w")),
        ("seq = 5", lambda e: e["seq"] == 5),
        ("seq = '5'", lambda e: e["seq"] == 5),
        ("seq = 5.0", lambda e: e["seq"] == 5),
        ("seq = 5.5 or seq = null", lambda e: False),
        ("seq in (7, 2, 900, -1)", lambda e: e["seq"] in (2, 7)),
        ("seq between 3 and 6", lambda e: 3 <= e["seq"] <= 6),
        ("seq > 3 and seq <= 8 and seq <> 5", lambda e: 3 < e["seq"] <= 8 and e["seq"] != 5),
        ("seq >= 2.5 and seq < 4.5", lambda e: e["seq"] in (3, 4)),
        ("seq < -3 or seq > 1e300", lambda e: False),
        ("call = 2", lambda e: e["call"] == 2),
        ("module = 'layers.0.attention'", lambda e: e["module"] == "layers.0.attention"),
        ("module > '' and seq > 4", lambda e: e["module"] > "" and e["seq"] > 4),
        ("dtype = 5", lambda e: False),
        ("trace = 'other'", lambda e: False),
        ("json_extract(shape, '$[0]') = 2", lambda e: (e.get("shape") or [0])[0] == 2),
        ("sqrt(max) < 1.5", lambda e: (e.get("max") or 9) < 2.25),
    ],
)
def test_constraints(nested, where, fits):
    wanted = [e["seq"] for e in shown(nested) if fits(e)]
    assert [s for (s,) in ask(nested, f"select seq from events where {where}")] == wanted
    hidden = f"select seq from (select * from events limit -1 offset 0) where {where}"
    assert [s for (s,) in ask(nested, hidden)] == wanted


def test_joins(nested):
    events = shown(nested)
    same = ask(
        nested,
        "select e.seq, s.line a, c.function b, e.line c, e.function d from events e"
        " join sites s on s.site = e.site join calls c on c.call = e.call",
    )
    assert len(same) == len(events)
    assert all(row[1] == row[3] and row[2] == row[4] for row in same)
    by_call = ask(
        nested,
        "select c.call, e.seq from calls c cross join events e on e.call = c.call",
    )
    assert sorted(by_call) == sorted((e["call"], e["seq"]) for e in events)
    children = ask(
        nested, "select a.call p, b.call c from calls a cross join calls b on b.parent = a.call"
    )
    parents = ask(nested, "select parent, call from calls where parent is not null")
    assert sorted(children) == sorted(parents)
    assert parents


def test_edges(nested):
    edges = ask(nested, "select source, target, kind from edges")
    assert edges and len(set(edges)) == len(edges)
    assert all(s < t for s, t, kind in edges if kind == "value")
    source, target, _ = edges[len(edges) // 2]
    of_target = ask(nested, f"select source, target, kind from edges where target = {target}")
    assert of_target == [e for e in edges if e[1] == target]
    of_source = ask(nested, f"select source, target, kind from edges where source = {source}")
    assert sorted(of_source) == sorted(e for e in edges if e[0] == source)
    slice_of = (
        f"with recursive slice(seq) as (select {target} union select source from edges"
        " join slice on target = slice.seq) select count(*) from slice"
    )
    assert ask(nested, slice_of)[0][0] > 1


def test_events_are_found_by_number(long):
    wanted = [(n, (n // 2 if n else None)) for n in range(40000)]
    assert ask(long, "select seq, origin from events") == wanted
    generator = random.Random(3)
    picks = [generator.randrange(40000) for _ in range(3000)] + list(range(9000, 6000, -7))
    values = ",".join(f"({n})" for n in picks)
    query = "select w.n, e.origin from w cross join events e on e.seq = w.n"
    found = ask(long, f"with w(n) as (values {values}) {query}")
    assert found == [(n, n // 2 if n else None) for n in picks]
    joined = "select count(*), sum(b.seq) from events a join events b on b.seq = a.origin"
    assert ask(long, joined) == [(39999, sum(n // 2 for n in range(1, 40000)))]
    ranges = "select count(*), min(seq), max(seq) from events where seq >= 12345 and seq < 31234"
    assert ask(long, ranges) == [(31234 - 12345, 12345, 31233)]


def test_order_of_seq_costs_nothing(long):
    plan = run(long, "explain query plan select seq from events order by seq limit 3").stdout
    assert "B-TREE" not in plan
    assert ask(long, "select seq from events order by seq desc limit 2") == [(39999,), (39998,)]


def test_ranks_and_folders(nested, tmp_path):
    """A name that ranks were given, or a folder, is all of their traces."""
    for rank in range(11):
        shutil.copy(nested, tmp_path / f"run.rank{rank}.mtrace")
    query = "select distinct trace from events"
    expected = [(str(tmp_path / f"run.rank{rank}.mtrace"),) for rank in range(11)]
    assert ask(tmp_path / "run.mtrace", query) == expected
    assert ask(tmp_path, query) == expected
    done = run(tmp_path / "other.mtrace", query)
    assert done.returncode == 3 and "other.mtrace: cannot be read" in done.stderr


def test_several_traces(nested, long):
    counts = ask(nested, long, "select trace, count(*) from events group by 1 order by 2")
    assert counts == [(str(nested), len(shown(nested))), (str(long), 40000)]
    joined = ask(
        nested,
        long,
        "select count(*) from events e join sites s on s.trace = e.trace and s.site = e.site",
    )
    assert joined == [(40000 + len(shown(nested)),)]
    one = f"select min(seq), max(seq) from events where trace = '{long}' and seq > 39990"
    assert ask(nested, long, one) == [(39991, 39999)]
    both = ask(nested, long, "select trace from events where seq = 3")
    assert both == [(str(nested),), (str(long),)]
    calls = ask(nested, long, f"select count(*) from calls where trace = '{long}'")
    assert calls == [(200,)]


# ---- forms ----

ODD = (
    "select 'a\tb' as \"x,y\", 'q\"r\n\\' as b, null as c, '' as d, 0.1 as e, 9e999 as f,"
    " x'00ff' as g, -7 as h"
)


def test_tabs(nested):
    assert run(nested, ODD).stdout == (
        "x,y\tb\tc\td\te\tf\tg\th\n" 'a\\tb\tq"r\\n\\\\\t\t\t0.1\tInfinity\t00ff\t-7\n'
    )
    assert run("--no-header", nested, "select 1, 2").stdout == "1\t2\n"


def test_csv(nested):
    words = [viewer.PATH, "sql", "--csv", nested, ODD]
    text = subprocess.run(words, capture_output=True).stdout.decode()
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        ["x,y", "b", "c", "d", "e", "f", "g", "h"],
        ["a\tb", 'q"r\n\\', "", "", "0.1", "Infinity", "00ff", "-7"],
    ]
    assert text.endswith("-7\r\n")


def test_json(nested):
    assert rows(nested, ODD) == [
        {
            "x,y": "a\tb",
            "b": 'q"r\n\\',
            "c": None,
            "d": "",
            "e": 0.1,
            "f": "Infinity",
            "g": "00ff",
            "h": -7,
        }
    ]


def test_table(nested):
    query = "select 12 as n, 'é中' as t, 0.123456789 as r, null as z, 5 as last"
    answer = run("--table", nested, query)
    assert answer.stdout == " n  t           r  z  last\n12  é中  0.123457        5\n"
    query = "select 7 as n, 'word and more' as t, 'x' as u"
    wide = run("--table", nested, query, env={"COLUMNS": "16"})
    assert wide.stdout == "n  t           u\n7  word and …  x\n"
    as_list = run("--table", nested, "select * from events limit 1", env={"COLUMNS": "60"})
    assert as_list.stdout.startswith("-- row 1\ntrace ")
    assert "\x1b" not in as_list.stdout


def test_rows_are_limited(nested):
    answer = run("--max-rows", 2, nested, "select seq from events; select 5")
    assert answer.stdout == "seq\n0\n1\n5\n5\n"
    assert "there are more" in answer.stderr


# ---- queries ----


def test_where_a_query_comes_from(nested, folder):
    query = folder / "q.sql"
    query.write_text("select 1 as one; -- a comment\nselect 2 as two;\n")
    for answer in (
        run("-f", query, nested),
        run(nested, "-f", query),
        run(nested, "-", input=query.read_text()),
        run(nested, input=query.read_text()),
        run("select 1 as one; select 2 as two", nested),
    ):
        assert (answer.stdout, answer.stderr) == ("one\n1\ntwo\n2\n", "")
    assert run(nested, "").returncode == 2
    assert run(nested, " ; ").returncode == 0


@pytest.mark.parametrize(
    ("query", "message", "place"),
    [
        ("select nam from events", "no such column: nam; did you mean name?", 7),
        ("select 1 from evnts", "no such table: evnts; did you mean events?", 14),
        ("select 1 from events join event", "no such table: event; did you mean events?", 26),
        ("select foo from events", "no such column: foo", 7),
        ("select x from events", "no such column: x", 7),
        ("selec 1", 'near "selec": syntax error', 0),
        ("select 1; select foo(2)", "no such function: foo", None),
        ("select json_extract('{', '$')", "malformed JSON", None),
    ],
)
def test_wrong_queries(nested, query, message, place):
    answer = run(nested, query)
    assert answer.returncode == 2
    lines = answer.stderr.splitlines()
    assert lines[0] == f"monitorch sql: {message}"
    if place is not None:
        assert lines[1:3] == ["    " + query, "    " + " " * place + "^"]


@pytest.mark.parametrize(
    "query",
    [
        "attach ':memory:' as other",
        "create table t(a)",
        "create virtual table t using fts5(a)",
        "drop table events",
        "delete from events",
        "update events set nan = 0",
        "insert into events(seq) values (1)",
        "insert into sites select * from sites",
        "vacuum into 'copy.db'",
        "pragma journal_mode = wal",
        "pragma writable_schema = 1",
        "select load_extension('x')",
        "analyze",
        "update sqlite_master set name = 'x'",
        "delete from sqlite_master",
    ],
)
def test_nothing_is_written(nested, query, tmp_path):
    before = nested.read_bytes()
    answer = run(nested, query, cwd=tmp_path)
    assert answer.returncode == 2, answer
    assert answer.stdout == ""
    assert list(tmp_path.iterdir()) == []
    assert nested.read_bytes() == before


def test_temporary_tables(nested):
    query = (
        "create temp table t as select seq, name from events; create index temp.i on t(name);"
        "insert into t values (1, 'z'); delete from t where seq = 0; update t set seq = 2;"
        "create temp view v as select count(*) as n from t; select n from v; drop table t"
    )
    assert ask(nested, query) == [(len(shown(nested)),)]
    assert ask(nested, "select value from json_each('[4,8]')") == [(4,), (8,)]
    assert ("seq",) in ask(nested, "select name from pragma_table_info('events')")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no trace, expected TRACE"),
        (["--jsn"], "no option --jsn; did you mean --json?"),
        (["--csv", "--json", "x"], "exclude each other"),
        (["--max-rows", "x", "y"], "expected a number of rows"),
    ],
)
def test_wrong_usage(words, message):
    answer = run(*words)
    assert answer.returncode == 2
    assert message in answer.stderr


def test_files_that_are_not_there(nested, folder):
    answer = run(folder / "missing.mtrace", "select 1")
    assert answer.returncode == 3
    assert "missing.mtrace" in answer.stderr
    answer = run(nested, folder / "missing.mtrace", "select 1")
    assert answer.returncode == 3
    assert run(nested, "-f", folder / "missing.sql").returncode == 3


def test_help_and_schema():
    assert run("--help").stdout.startswith("usage: monitorch sql")
    text = run("--schema").stdout
    assert all(f"\n  {name}" in text for name in [*COLUMNS, "parent", "target", "code"])


# ---- traces that are not whole ----


def test_a_cut_trace(long, folder):
    cut = folder / "cut.mtrace"
    cut.write_bytes(long.read_bytes()[: long.stat().st_size // 2])
    answer = run(cut, "select count(*) from events")
    assert answer.returncode == 3
    assert 1000 < int(answer.stdout.split()[1]) < 40000
    assert answer.stderr.startswith(f"{cut}: offset ")
    lines = answer.stderr.splitlines()
    assert len(set(lines)) == len(lines)


def test_an_empty_and_a_killed_trace(folder):
    empty = Trace().write(folder / "empty.mtrace")
    assert ask(empty, "select count(*), max(absmax) from events") == [(0, None)]
    assert run(empty, "select * from edges").stdout.startswith("trace\tsource")
    trace = scenarios.nested_calls()
    trace.kill()
    killed = trace.write(folder / "killed.mtrace")
    answer = run(killed, "select count(*) from events")
    assert answer.returncode == 0
    assert "is unfinished" in answer.stderr
    assert run("-q", killed, "select 1").stderr == ""


# ---- the prompt ----


def used(pid):
    """Ticks of the processor that a process has used."""
    with open(f"/proc/{pid}/stat") as file:
        facts = file.read().rpartition(")")[2].split()
    return int(facts[11]) + int(facts[12])


class Terminal:
    def __init__(self, *words):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "dumb"
            os.execv(viewer.PATH, [str(viewer.PATH), "sql", *map(str, words)])
        self.text = ""

    def read_until(self, end, seconds=120):
        """What came since the last time, up to `end`."""
        limit = time.monotonic() + seconds
        while end not in self.text:
            assert time.monotonic() < limit, self.text
            if select.select([self.file], [], [], 0.1)[0]:
                self.text += os.read(self.file, 65536).decode()
        found, self.text = self.text.split(end, 1)
        return found.replace("\r\n", "\n")

    def wait_until_it_computes(self, seconds=0.3):
        """A query that was sent is under way when it has used so much of the processor."""
        ticks = used(self.pid) + seconds * os.sysconf("SC_CLK_TCK")
        while used(self.pid) < ticks:
            time.sleep(0.01)

    def send(self, text):
        os.write(self.file, text.encode())

    def ask(self, line, prompt="sql> "):
        """What is answered to a line, up to the next prompt."""
        self.send(line + "\n")
        return self.read_until(prompt)

    def end(self):
        _, status = os.waitpid(self.pid, 0)
        os.close(self.file)
        return os.waitstatus_to_exitcode(status)


def test_the_prompt(long):
    terminal = Terminal(long)
    assert "Tables: events" in terminal.read_until("sql> ")
    assert "events  sites  calls  edges  steps  parameters" in terminal.ask(".tables")
    assert "end_time" in terminal.ask(".schema calls")
    terminal.ask("select 40 +", prompt="...> ")
    assert "\n42\n1 row\n" in terminal.ask("2 as n;")
    assert "did you mean name?" in terminal.ask("select nam from events;")
    terminal.ask("select 'half", prompt="...> ")
    terminal.send("\x03")
    terminal.read_until("sql> ")
    terminal.send("select count(*) from events a, events b, events c where a.nan = 7 + c.zeros;\n")
    terminal.wait_until_it_computes()
    terminal.send("\x03")
    assert "interrupted" in terminal.read_until("sql> ")
    assert "40000" in terminal.ask("select count(*) from events;")
    terminal.send("\x04")
    assert terminal.end() == 0


def test_a_query_is_ended_by_ctrl_c(long):
    query = "select count(*) from events a, events b, events c"
    process = subprocess.Popen([viewer.PATH, "sql", long, query], stdout=subprocess.PIPE)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == -signal.SIGINT
    process.stdout.close()


# ---- SQLite ----


def test_the_extension_modules_have_none_of_it():
    for name in ("_recorder", "_view", "_instrument"):
        module = paths.BUILD / "python" / "monitorch" / f"{name}.abi3.so"
        assert b"sqlite3_" not in module.read_bytes(), name


def test_the_same_rows_as_sqlite(nested):
    """Grouping and sorting over the virtual table, and over a copy in a real one."""
    copy = sqlite3.connect(":memory:")
    copy.execute(f"create table events ({','.join(COLUMNS)})")
    found = ask(nested, "select * from events")
    copy.executemany(f"insert into events values ({','.join('?' * len(COLUMNS))})", found)
    for query in (
        "select name, count(*), max(absmax), sum(nan) from events group by name order by name",
        "select file, line, avg(mean) from events where nan = 0 group by 1, 2 order by 1, 2",
        "select distinct dtype, shape from events order by 1, 2",
        "select seq from events where nan > 0 or posinf > 0 order by seq desc",
        "select a.seq, b.seq s from events a left join events b on b.seq = a.origin order by 1, 2",
        "select count(change), count(module), total(value) from events",
    ):
        assert ask(nested, query) == copy.execute(query).fetchall()


def test_a_scalar_value_keeps_its_type(folder):
    trace = Trace()
    first = trace.module("v.py", [("<module>", 1)], [("assign", 1, 0, "v")])
    call = trace.call(0)
    for value in (True, 7, -(2**62), 0.5, 3.0, "text", None, 1 + 2j):
        trace.event(first, call, scalar(value))
    path = trace.write(folder / "scalars.mtrace")
    found = ask(path, "select value, typeof(value) from events")
    assert found == [
        (1, "integer"),
        (7, "integer"),
        (-(2**62), "integer"),
        (0.5, "real"),
        (3.0, "real"),
        ("text", "text"),
        (None, "null"),
        ("[1.0,2.0]", "text"),
    ]
