"""`monitorch check`: what a trace must not hold, on traces made by the tests and on programs."""

import functools
import json
import re
import urllib.parse
from xml.etree import ElementTree

import pytest

from tests.commands import hostile
from tests.support import recording, viewer
from tests.trace.made import Trace, scalar, tensor


def check(*words, env=None):
    return hostile.run("check", *words, env=env)


def first(run):
    return run.stdout.split("\n", 1)[0]


SOURCE = "def f(x):\n    y = x + 1\n    z = y * 2\n    return z\n"


def trace_of(*values, folder, kind="assign"):
    """A trace in which y takes these values on line 2."""
    trace = Trace()
    trace.module(
        "model.py",
        [("<module>", 1), ("f", 1)],
        [("enter", 1, 1, "x"), (kind, 2, 1, "y"), ("assign", 3, 1, "z"), ("return", 4, 1)],
        source=SOURCE,
    )
    call = trace.call(1)
    for value in values:
        trace.event(1, call, value)
    trace.ended(call)
    return trace.write(folder / "run.mtrace")


def array(low, high, shape=(4,), dtype="float32", **fields):
    return tensor(shape, dtype, min=low, max=high, mean=0, std=1, **fields)


FINE = array(-1, 2)


@pytest.mark.parametrize(
    "words, value, wanted",
    [
        ([], array(0, 1, nan=3), "holds 3 NaN of 4"),
        (["--no-nan"], array(0, 1, nan=1, posinf=1), "holds 1 NaN of 4"),
        (["--no-inf"], array(0, 1, nan=1, posinf=1, neginf=2), "holds 1 Inf and 2 -Inf of 4"),
        (["--no-inf"], array(0, 1, neginf=2), "holds 2 -Inf of 4"),
        ([], scalar(float("nan")), "is NaN"),
        ([], scalar(float("-inf")), "is -Inf"),
        ([], scalar(complex(1, float("inf"))), "is Inf"),
        (["--max-abs", "1.5"], FINE, "reaches 2 in magnitude, above 1.5"),
        (["--max-abs", "1.5"], array(-7, 1), "reaches 7 in magnitude, above 1.5"),
        (["--max-abs=1e3"], scalar(1001.0), "is 1001, above 1000"),
        (["--max-abs=1e3"], scalar(-1e4), "is 10000, above 1000"),
        (["--dtype=float32"], array(0, 1, dtype="float16"), "is float16, expected float32"),
        (
            ["--dtype=float32", "--dtype=torch.bfloat16"],
            array(0, 1, dtype="float64"),
            "is float64, expected float32 or bfloat16",
        ),
        (["--shape=y=3"], FINE, "has shape [4], expected [3]"),
        (["--shape", "y=_,_"], FINE, "has shape [4], expected [_,_]"),
        (["--shape", "y="], FINE, "has shape [4], expected []"),
        (["--shape=?=2,...,5"], array(0, 1, (2, 3, 4)), "has shape [2, 3, 4], expected [2,...,5]"),
        (["--shape", "y=2,3,4,..."], array(0, 1, (2, 3)), "has shape [2, 3], expected [2,3,4,...]"),
        (
            ["--shape", "y=T,T"],
            array(0, 1, (2, 3)),
            "has shape [2, 3], expected [T,T], where T is 2, as of y at line 2",
        ),
        (["--zeros"], array(0, 0, zeros=4), "holds only zeros"),
    ],
)
def test_offender(words, value, wanted, tmp_path):
    run = check(*words, trace_of(value, folder=tmp_path))
    assert (first(run), run.returncode) == (f"model.py:2: y: {wanted}", 1)
    assert "  2 |      y = x + 1\n" in run.stdout
    assert "f  model.py:1  #1" in run.stdout or "--zeros" in words


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--no-nan", "--no-inf"],
        ["--max-abs=2"],
        ["--dtype=float32"],
        ["--dtype=bfloat16", "--dtype=float32"],
        ["--shape=y=4"],
        ["--shape", "y=_"],
        ["--shape", "y=..."],
        ["--shape", "y=[..., 4]"],
        ["--shape", "*=B"],
        ["--zeros"],
    ],
)
def test_all_is_well(words, tmp_path):
    run = check(*words, trace_of(FINE, FINE, folder=tmp_path))
    assert (run.returncode, run.stderr) == (0, "")
    assert re.fullmatch(r"ok: 2 events: .+\n", run.stdout)


@pytest.mark.parametrize("value", [array(0, 50256, dtype="int64"), scalar(50257), scalar(True)])
def test_integers_have_no_magnitude(value, tmp_path):
    path = trace_of(FINE, value, folder=tmp_path)
    assert check("--max-abs=100", path).returncode == 0
    assert check("--max-abs=1", path).stdout.count("reaches 2") > 0


def test_a_letter_is_the_same_size_everywhere(tmp_path):
    path = trace_of(array(0, 1, (2, 8)), array(0, 1, (3, 8)), folder=tmp_path)
    assert check("--shape", "y=_,C", path).returncode == 0
    run = check("--shape", "y=B,C", path)
    assert first(run).endswith("has shape [3, 8], expected [B,C], where B is 2, as of y at line 2")
    assert "iteration 1 (from 0)" in run.stdout


def test_zeros_at_one_visit_are_no_fault(tmp_path):
    zeros = array(0, 0, zeros=4)
    assert check("--zeros", trace_of(zeros, FINE, zeros, folder=tmp_path)).returncode == 0
    run = check("--zeros", trace_of(zeros, zeros, folder=tmp_path))
    assert first(run) == "model.py:2: y: holds only zeros, each of 2 times"


def test_offenders_are_counted_by_line(tmp_path):
    bad = array(0, 1, nan=1)
    run = check(trace_of(FINE, bad, bad, FINE, bad, folder=tmp_path))
    assert "  event    #1 in call #1, iteration 1 (from 0)\n" in run.stdout
    assert run.stdout.endswith("in all:\n  model.py:2: y: holds 1 NaN of 4  (3 times)\n")


@pytest.mark.parametrize(
    "words, wanted",
    [
        (["--dtype=float32"], "--dtype: no float tensor"),
        (["--shape=q=3"], "--shape q: no array has that name"),
        (["--shape=y=_", "--shape=q=3"], "--shape q: no array has that name"),
        (["--name=q"], "no event matches"),
        (["--zeros"], "--zeros: no measured array of floats"),
        (["--function=g", "--max-abs=1"], "no event matches"),
    ],
)
def test_a_check_of_nothing_fails(words, wanted, tmp_path):
    run = check(*words, trace_of(array(1, 1, dtype="int64"), folder=tmp_path))
    assert run.returncode == 1
    assert wanted in run.stderr and "nothing to check" in run.stderr
    assert "ok" not in run.stdout


def test_no_events(tmp_path):
    run = check(Trace().write(tmp_path / "run.mtrace"))
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.endswith("nothing to check: the trace has no events\n")


@pytest.mark.parametrize(
    "words, wanted",
    [
        ([], "no trace"),
        (["--dtype=float33", "t"], "--dtype float33: expected a dtype"),
        (["--shape=x", "t"], "--shape x: expected NAME=SIZES"),
        (["--shape=x=1,...,2,...", "t"], "expected NAME=SIZES"),
        (["--shape=x=1,-2", "t"], "expected NAME=SIZES"),
        (["--max-abs=big", "t"], "--max-abs big: expected a number"),
        (["--max-abs=-1", "t"], "expected a number from 0 on"),
        (["--nan", "t"], "--nan"),
    ],
)
def test_wrong_usage(words, wanted, tmp_path):
    run = check(*words)
    assert (run.returncode, run.stdout) == (2, "")
    assert wanted in run.stderr


def test_quiet_and_several_traces(tmp_path):
    (tmp_path / "a").mkdir()
    good = trace_of(FINE, folder=tmp_path)
    bad = trace_of(array(0, 1, nan=1), folder=tmp_path / "a")
    run = check("-q", good, bad)
    assert (run.returncode, run.stdout, run.stderr) == (1, "", "")
    run = check(good, bad)
    assert run.stdout.startswith(f"== {good} ==\nok: 1 event: no NaN, no Inf\n== {bad} ==\n")
    run = check(good, tmp_path / "none.mtrace")
    assert run.returncode == 3 and "none.mtrace" in run.stderr


def test_a_number_that_a_default_names_is_meant(tmp_path):
    source = (
        "class TopK:\n    def __init__(self, k, value: float = -float('inf'),\n"
        "                 most=float('inf')):\n"
        "        self.value, self.most = value, most\n        self.sum = k * k\n\n\n"
        "TopK(2.0)\nTopK(1e200)\n"
    )
    assert recording.run_program(source, tmp_path).returncode == 0
    run = check("--no-inf", tmp_path / "run.mtrace")
    assert (run.returncode, first(run)) == (1, "program.py:5: self.sum: is Inf")


MASK = "def f(x):\n    y = x.masked_fill(m, -math.inf)\n    z = y * 2\n    return z\n"


def test_infinities_that_are_meant(tmp_path):
    def trace(source, *values):
        trace = Trace()
        sites = [("assign", 2, 1, "y"), ("assign", 3, 1, "z")]
        trace.module("m.py", [("<module>", 1), ("f", 1)], sites, source=source)
        call = trace.call(1)
        for site, value in enumerate(values):
            trace.event(site, call, value)
        return trace.write(tmp_path / "mask.mtrace")

    path = trace(MASK, array(0, 1, neginf=2), array(0, 1, neginf=2))
    run = check(path)
    assert (run.returncode, run.stdout) == (
        0,
        "ok: 2 events: no NaN, no Inf except those that lines write by name (2 events; --no-inf lists them)\n",
    )
    assert check("--no-inf", path).returncode == 1
    assert first(check(trace(MASK, array(0, 1, neginf=2), array(0, 1, posinf=2)))) == (
        "m.py:3: z: holds 2 Inf of 4"
    )
    infinite = MASK.replace("-math.inf", "x.info")
    assert first(check(trace(infinite, array(0, 1, neginf=2)))) == "m.py:2: y: holds 2 -Inf of 4"


# ---- traces that are not as they should be ----


def test_of_a_ring_the_newest_events_are_checked(tmp_path):
    trace = Trace(last=1000)
    trace.module("m.py", [("<module>", 1), ("f", 1)], [("assign", 1, 1, "a")], source="a = 1\n")
    call = trace.call(1)
    trace.repeat(50000)
    trace.event(0, call, FINE)
    trace.again()
    path = trace.write(tmp_path / "ring.mtrace")
    run = check(path)
    assert run.returncode == 0 and "older ones were not checked" in run.stderr


def test_control_characters_do_not_reach_the_terminal(tmp_path):
    trace = Trace()
    trace.module(
        "m\x1b[2J.py",
        [("<module>", 1), ("f\x1b]0;x\x07", 1)],
        [("assign", 1, 1, "x\x1b[31m")],
        source="x = \x1b[5m1 / 0\n",
    )
    trace.event(0, trace.call(1, path="\x1b[1m"), scalar(float("nan")))
    path = trace.write(tmp_path / "run.mtrace")
    for words in ([], ["--shape", "*=1"], ["--json"]):
        run = check(*words, path)
        assert "\x1b" not in run.stdout + run.stderr and "\x07" not in run.stdout
    assert "\x1b[1;31m" in check("--color=always", path).stdout


ALL = ["--no-nan", "--no-inf", "--max-abs=1", "--dtype=float16", "--shape", "*=B,...", "--zeros"]


def test_damaged(nested, tmp_path):
    path = tmp_path / "damaged.mtrace"
    codes = set()
    for bad in hostile.damaged(nested.read_bytes(), 100, seed=7):
        path.write_bytes(bad)
        run = check(*ALL, path)
        codes.add(run.returncode)
        assert run.returncode in (0, 1, 3), run
        assert not (run.returncode == 3 and run.stdout.startswith("ok: ")), run
    assert 3 in codes


@pytest.mark.parametrize("words, and_all_after", [(ALL, ""), (["--json", *ALL], "+"), ([], "")])
def test_allocations_fail(nested, words, and_all_after):
    run = functools.partial(check, *words, nested)
    assert hostile.fail_allocations(run, and_all_after) > 5


def test_help_names_every_option():
    text = check("--help").stdout
    options = "no-nan no-inf max-abs dtype shape zeros function name line file module"
    for option in f"{options} kind call thread json quiet color version help".split():
        assert f"--{option}" in text
    assert all(len(line) <= 92 for line in text.splitlines())


# Forms for CI systems


@pytest.fixture
def failing(tmp_path):
    """Two traces: a failing one, whose file has a name that every form must escape, and a good one."""
    trace = Trace()
    path = "odd <&\"',:%\n dir/mödel.py"
    trace.module(
        path,
        [("<module>", 1), ("f", 1)],
        [("enter", 1, 1, "x"), ("assign", 2, 1, "y"), ("assign", 3, 1, "z")],
        source=SOURCE,
    )
    call = trace.call(1)
    trace.event(1, call, array(0, 1, nan=3))
    trace.event(1, call, array(0, 1, nan=2))
    trace.event(2, call, array(0, 1, posinf=1))
    trace.ended(call)
    bad = trace.write(tmp_path / "bad.mtrace")
    (tmp_path / "good").mkdir()
    return path, bad, trace_of(FINE, folder=tmp_path / "good")


def test_annotations_of_github(failing):
    path, bad, good = failing
    run = check("--format", "github", bad, good)
    lines = run.stdout.splitlines()
    assert run.returncode == 1 and len(lines) == 2
    encoded = path.replace("%", "%25").replace("\n", "%0A").replace(":", "%3A").replace(",", "%2C")
    assert lines[0] == (
        f"::error file={encoded},line=2,title=monitorch check --no-nan::y: holds 3 NaN of 4 (2 times)"
    )
    assert "line=3" in lines[1] and "--no-inf::z: holds 1 Inf of 4" in lines[1]
    empty = check("--format", "github", "--dtype", "float16", "--name", "nothing", good)
    assert empty.returncode == 1 and empty.stdout.startswith("::error title=monitorch check::")


def test_junit(failing):
    path, bad, good = failing
    run = check("--format", "junit", bad, good)
    assert run.returncode == 1
    suites = ElementTree.fromstring(run.stdout)
    first_suite, second_suite = suites
    assert first_suite.attrib["name"] == str(bad) and first_suite.attrib["failures"] == "2"
    assert second_suite.attrib["failures"] == "0" and second_suite.attrib["tests"] == "2"
    failures = {case.attrib["name"]: case.find("failure") for case in first_suite}
    assert failures["--no-nan"].attrib["message"] == "y: holds 3 NaN of 4 (2 times)"
    assert path in failures["--no-nan"].text and ":3: z: holds 1 Inf" in failures["--no-inf"].text
    empty = ElementTree.fromstring(check("--format", "junit", "--name", "nothing", good).stdout)
    assert [suite.attrib["failures"] for suite in empty] == ["1"]


def test_sarif(failing):
    path, bad, good = failing
    run = check("--format", "sarif", good, bad)  # the first trace has no result
    (document,) = json.loads(run.stdout)["runs"]
    rules = [rule["id"] for rule in document["tool"]["driver"]["rules"]]
    results = document["results"]
    assert run.returncode == 1 and len(results) == 2
    for result in results:
        assert rules[result["ruleIndex"]] == result["ruleId"] and result["level"] == "error"
    place = results[0]["locations"][0]["physicalLocation"]
    assert urllib.parse.unquote(place["artifactLocation"]["uri"]) == path
    assert re.fullmatch(r"[\w./~%-]+", place["artifactLocation"]["uri"])
    assert place["region"] == {"startLine": 2, "endLine": 2}
    assert results[0]["message"]["text"] == "y: holds 3 NaN of 4 (2 times)"
    assert json.loads(check("--format", "sarif", good).stdout)["runs"][0]["results"] == []


def test_paths_below_the_current_folder_are_relative(tmp_path):
    trace = Trace()
    file = tmp_path / "src" / "model.py"
    trace.module(str(file), [("<module>", 1)], [("assign", 1, 0, "y")], source="y = 1\n")
    trace.event(0, trace.call(0), array(0, 1, nan=1))
    path = trace.write(tmp_path / "run.mtrace")
    run = viewer.run("check", "--format", "github", path, cwd=tmp_path)
    assert run.stdout.startswith("::error file=src/model.py,line=1,")
