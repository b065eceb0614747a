"""`monitorch diff -o`: the page, the picture, their options, what is refused, bad input."""

import html
import json
import re
import textwrap

import pytest

from tests.support import recording, svg, viewer
from tests.support.html_page import Page
from tests.trace.made import Trace, container, line, scalar, tensor

HOSTILE = "</title><script>alert('x')</script>&\"\u202e\x1b[31m"


def diff(*words, **variables):
    return viewer.run("diff", *words, env=variables)


def pair(folder, a, b):
    """Traces of two programs."""
    traces = []
    for name, source in (("a", a), ("b", b)):
        (folder / name).mkdir(exist_ok=True)
        run = recording.run_program(textwrap.dedent(source), folder / name, [])
        assert run.returncode == 0, run.stderr
        traces.append((folder / name / "run.mtrace").rename(folder / f"{name}.mtrace"))
    return traces


PROGRAM = """
import numpy as np

x = np.arange(6.0)
for turn in range(2):
    y = x * 2
z = y + 1
"""


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return pair(folder, PROGRAM, PROGRAM.replace("x * 2", "x * 3"))


def page_of(folder, *words, exit_code=1):
    path = folder / "out.html"
    run = diff(*words, "-o", path)
    assert run.returncode == exit_code, run.stderr
    return Page(path)


# ---- the page ----


def test_words_come_first(traces, tmp_path):
    page = page_of(tmp_path, *traces)
    [headline] = page.shown("h1")
    assert re.search(r"program\.py:6: first divergence: y: values at \[5\] 15, A has 10$", headline)
    assert headline == page.shown("title")[0] == page.data["title"] and page.data["state"] == "bad"
    assert "y = x * 3" in page.shown("pre")[0] and "y = x * 2" in page.shown("pre")[0]
    assert "2 own differences, 1 inherited" in page.shown("pre")[0]
    changed = "program.py:6: y = x * 3 in A, program.py:6: y = x * 2"
    assert changed in page.shown("pre")[-1]
    assert page.text.index("<h1>") < page.text.index("<svg") < page.text.index('id="source"')


def test_runs_that_were_not_made_alike(tmp_path):
    made = []
    for seed in (1, 2):
        trace = Trace()
        site = trace.module("m.py", [("<module>", 1)], [("assign", 1, 0, "a")])
        trace.lines.append(line("setting", name="seed", value=f"{seed} & <more>"))
        call = trace.call(0)
        trace.event(site, call, tensor((2,), min=1, max=2, mean=1, std=1, hash=1))
        trace.ended(call)
        made.append(trace.write(tmp_path / f"{seed}.mtrace"))
    page = page_of(tmp_path, *made, exit_code=0)
    told = "Settings of the runs that differ: seed: A 1 & <more>, B 2 & <more>"
    assert page.shown("pre")[-1] == told
    assert page.data["state"] == "fine" and page.data["settings"] == [["seed", "2 & <more>"]]


def test_lists_of_differences(traces, tmp_path):
    page = page_of(tmp_path, *traces)
    [own], [inherited] = page.rows("own"), page.rows("inherited")
    assert (own["line"], own["name"], own["count"]) == (6, "y", 2)
    assert own["words"].startswith("values at") and own["code"] == "y = x * 3"
    assert "<module>" in own["in"]
    assert (inherited["line"], inherited["name"], inherited["count"]) == (7, "z", 1)
    marks = [(event["name"], event["mark"]) for event in page.events()]
    assert marks == [("x", 1), ("turn", 1), ("y", 7), ("turn", 1), ("y", 7), ("z", 4)]
    numbers = {event["seq"]: event["name"] for event in page.events()}
    assert numbers[own["event"]] == "y" and numbers[inherited["event"]] == "z"


def test_it_needs_nothing_but_itself(traces, tmp_path):
    page = page_of(tmp_path, *traces)
    assert not {e[0] for e in page.elements} & {"link", "img", "iframe", "object"}
    for tag, attributes, _ in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "src"], tag
        assert attributes.get("href", "#").startswith("#")
    [policy] = [e[1]["content"] for e in page.find("meta") if "http-equiv" in e[1]]
    assert policy.startswith("default-src 'none'") and "unsafe-eval" not in policy
    assert "script-src 'nonce-" in policy


def test_both_themes_are_there(traces, tmp_path):
    page = page_of(tmp_path, *traces)
    classes = [e[1].get("class", "") for e in page.find("div")]
    assert [one for one in classes if "picture" in one] == ["picture light", "picture dark"]
    light, dark = (
        svg.read(part.encode()) for part in re.findall(r"<svg .*?</svg>", page.text, re.S)
    )
    assert svg.describe(light) == svg.describe(dark) and svg.faults(light) == []


def test_equal_traces(traces, tmp_path):
    page = page_of(tmp_path, traces[0], traces[0], exit_code=0)
    assert page.shown("h1")[0].startswith("equal: ") and page.data["state"] == "fine"
    assert not any(one["rows"] for one in page.data["lists"])
    assert page.text.count("<svg ") == 2


def test_words_alone_where_nothing_can_be_drawn(tmp_path):
    a, b = pair(tmp_path, "count = 1\n", "count = 2\n")
    page = page_of(tmp_path, a, b)
    assert "first divergence: count: " in page.shown("h1")[0]


def test_its_data_alone(traces, tmp_path):
    page = page_of(tmp_path, *traces)
    path = tmp_path / "out.json"
    assert diff(*traces, "-o", path).returncode == 1
    assert json.loads(path.read_text()) == page.data


# ---- names that lie ----


def hostile(folder, name, number):
    trace = Trace()
    site = trace.module(
        f"{HOSTILE}.py", [("<module>", 1), (HOSTILE, 2)], [("assign", 3, 1, HOSTILE)] * 2
    )
    call = trace.call(1, path=HOSTILE, class_name=HOSTILE)
    trace.event(site, call, tensor((2,), min=number, max=number, mean=number, std=0, type=HOSTILE))
    trace.event(site + 1, call, scalar(f"{HOSTILE}{number}"))
    trace.ended(call)
    return trace.write(folder / name)


def test_names_stay_names(tmp_path):
    a, b = hostile(tmp_path, "a.mtrace", 1), hostile(tmp_path, "b.mtrace", 2)
    page = page_of(tmp_path, a, b)
    assert len(page.find("script")) == 2
    assert "alert('x')" in page.rows("own")[0]["name"]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", page.text)
    assert html.escape("<script>", quote=False) in page.text


def test_a_path_with_markup(traces, tmp_path):
    odd = tmp_path / "a & <b>.mtrace"
    odd.write_bytes(traces[0].read_bytes())
    page = page_of(tmp_path, odd, traces[1])
    assert any("a & <b>.mtrace" in text for text in page.shown("pre"))


def test_colours_stay_on_the_terminal(traces, tmp_path):
    path = tmp_path / "out.html"
    run = diff(*traces, "-o", path, "--color", "always")
    assert "\033[" in run.stdout and "\033" not in path.read_text()
    assert path.read_text() == page_of(tmp_path, *traces).text


# ---- large ones ----


@pytest.fixture(scope="module")
def long_ones(tmp_path_factory):
    """A chain of 200 values; the last 80 differ."""
    folder = tmp_path_factory.mktemp("long")
    lines = ["import numpy as np", "v0 = np.zeros(2)"]
    lines += [f"v{i} = v{i - 1} + 1" for i in range(1, 200)]
    other = [line.replace("+ 1", "+ 2") if line.startswith("v120 ") else line for line in lines]
    return pair(folder, "\n".join(lines), "\n".join(other))


@pytest.mark.parametrize(
    ("words", "count"), [([], 40), (["--max-nodes", "7"], 7), (["--max-nodes", "0"], 200)]
)
def test_what_is_around_the_first_divergence(long_ones, tmp_path, words, count):
    path = tmp_path / "out.svg"
    assert diff(*long_ones, "-o", path, *words).returncode == 1
    picture = svg.read(path.read_bytes())
    names = [node.title.split()[0] for node in picture.find("node")]
    assert len(names) == count and {"v119", "v120", "v121"} <= set(names)
    told = " ".join(text.value for text in picture.find("head")[0].texts)
    assert (f"{200 - count} other values are not shown" in told) == (count < 200)


def test_a_page_names_the_first_lines_and_counts_the_rest(tmp_path):
    lines = ["import numpy as np"] + [f"v{i} = np.full(2, {i})" for i in range(700)]
    other = [line.replace("full(2, ", "full(2, 1") for line in lines]
    a, b = pair(tmp_path, "\n".join(lines), "\n".join(other))
    page = page_of(tmp_path, a, b)
    [own] = [one for one in page.data["lists"] if one["kind"] == "own"]
    assert own["total"] == 700 and len(own["rows"]) == 500


# ---- the command ----


def test_what_is_printed_is_the_same(traces, tmp_path):
    plain, drawn = diff(*traces), diff(*traces, "-o", tmp_path / "out.svg")
    assert (plain.stdout, plain.stderr, plain.returncode) == (
        drawn.stdout,
        drawn.stderr,
        drawn.returncode,
    )
    run = diff(*traces, "--json", "-o", tmp_path / "out.html")
    records = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(records) >= 2 and (tmp_path / "out.html").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-o", "out.txt"], "out.txt: the name must end in .html, .json, .svg, .png, .pdf or .dot"),
        (["-o", "out"], "must end in"),
        (["-o", ""], "expected"),
        (["--theme", "dark"], "add -o FILE"),
        (["--max-nodes", "3"], "add -o FILE"),
        (["-o", "out.svg", "--theme", "grey"], "--theme grey: expected light or dark"),
        (["-o", "out.html", "--theme", "dark"], "a page has both"),
        (["-o", "out.svg", "--max-nodes", "-1"], "--max-nodes -1: expected a number"),
        (["-o", "out.svg", "--max-nodes", "99999999999"], "expected a number"),
    ],
)
def test_wrong_usage(traces, tmp_path, words, expected):
    run = viewer.run("diff", *traces, *words, cwd=tmp_path)
    assert run.returncode == 2 and expected in run.stderr and run.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_one_pair_is_drawn(traces, tmp_path):
    run = diff("--ranks", traces[0], *traces, "-o", tmp_path / "out.html")
    assert run.returncode == 2 and "a picture shows one pair of traces, these are 2" in run.stderr
    assert not (tmp_path / "out.html").exists()


def test_a_file_that_cannot_be_written(traces, tmp_path):
    (tmp_path / "out.html").mkdir()
    run = diff(*traces, "-o", tmp_path / "out.html")
    assert run.returncode == 3 and "out.html" in run.stderr
    assert "first divergence" in run.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]


def test_a_trace_that_is_cut(traces, tmp_path):
    data = traces[1].read_bytes()
    cut = tmp_path / "cut.mtrace"
    cut.write_bytes(data[: len(data) * 9 // 10])
    old = tmp_path / "out.html"
    old.write_text("old")
    run = diff(traces[0], cut, "-o", old)
    assert run.returncode == 3 and "cut.mtrace" in run.stderr
    told = re.compile(r"B: .*cut\.mtrace.*(the readable part|the events so far)")
    assert any(told.search(text) for text in Page(old).shown("pre"))


def test_no_trace_leaves_the_file(traces, tmp_path):
    old = tmp_path / "out.html"
    old.write_text("old")
    run = diff(traces[0], tmp_path / "none.mtrace", "-o", old)
    assert run.returncode == 3 and "none.mtrace" in run.stderr
    assert old.read_text() == "old"


def test_no_tensors_to_draw(tmp_path):
    trace = Trace()
    site = trace.module("m.py", [("<module>", 1)], [("assign", 1, 0, "a")])
    call = trace.call(0)
    trace.event(site, call, container("list", 0))
    trace.ended(call)
    empty = trace.write(tmp_path / "empty.mtrace")
    run = diff(empty, empty, "-o", tmp_path / "out.svg")
    assert run.returncode == 3 and "nothing to draw" in run.stderr
    page = page_of(tmp_path, empty, empty, exit_code=0)
    assert "No tensors or arrays to draw." in page.shown("p")
