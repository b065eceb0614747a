"""The small programs of cases/, each on which an answer was wrong once: one table of what is right."""

import json
import pathlib
import re
import sys

import pytest

from tests.support import viewer
from tests.verdicts import forked_runs

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

CASES = pathlib.Path(__file__).parent / "cases"

# The program, what is asked of its trace, the exit code, and what the answer holds: expressions.
TABLE = [
    ("list_append", ["why", "o"], 1, r"\A\S+:5: NaN made here: h: log of a negative number"),
    ("containers", ["why", "of"], 1, r"\A\S+:20: NaN made here: v: log of a negative number"),
    ("containers", ["why", "tot"], 1, r"\A\S+:25: NaN made here: v: log of a negative number"),
    # `return a.sum()` makes one number of many: the infinity is an alarm again, whoever wrote it.
    ("dict_item_written", ["why"], 1, r"\A\S+:4: Inf written here: x\['pixels'\]: "),
    ("parameter_filled", ["why"], 1, r"\A\S+:8: Inf made here: y: exp overflows .*95"),
    ("two_norms_eps", ["why"], 1, r"\A\S+:9: NaN made here: x: (?!.*negative).*rsqrt of 0"),
    ("divided_by_norm", ["why"], 1, r"\A\S+:8: NaN made here: e: 0/0: "),
    ("cross_entropy_ignored", ["why"], 1, r"\A\S+:4: NaN made here: loss: (?!.*kwargs).*every target .* -100"),
    ("metadata_dtype", ["why", "y"], 1, r"\A\S+:5: NaN made here: "),
    ("metadata_new_zeros", ["why", "y"], 1, r"\A\S+:4: NaN made here: "),
    ("empty_then_initialised", ["why"], 1, r"\A\S+:11: NaN made here: p: log of a negative number"),
    ("default_minus_inf", ["check"], 0, r"\Aok: "),
    ("default_minus_inf", ["check", "--no-nan"], 0, r"\Aok: "),
    ("constants_on_self", ["show"], 0, r"self\.is_causal = True(.|\n)*self\.eps = 1e-6"),
]


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """The trace of a program, recorded once."""
    made = {}

    def record(name, *options):
        if (name, options) not in made:
            folder = tmp_path_factory.mktemp(name)
            (folder / f"{name}.py").write_text((CASES / f"{name}.py").read_text())
            done = forked_runs.run(folder, ["monitorch", "run", "-q", *options, f"{name}.py"])
            made[name, options] = done, folder / "run.mtrace"
        return made[name, options]

    return record


@pytest.mark.parametrize("name, words, code, right", TABLE, ids=lambda value: value if type(value) is str else "")
def test_table(traces, name, words, code, right):
    done, trace = traces(name)
    assert done.code == 0, done.output
    said = viewer.run(words[0], trace, *words[1:])
    assert said.returncode == code and re.search(right, said.stdout), said.stdout + said.stderr


def test_each_item_of_a_list_has_an_edge(traces):
    _, trace = traces("list_append")
    query = "select s.path, h.name from edges e, events o, events s, edges f, events h where o.name = 'o' and e.target = o.seq and s.seq = e.source and f.target = s.seq and h.seq = f.source"
    said = viewer.run("sql", "--json", trace, query)
    found = [json.loads(line) for line in said.stdout.splitlines()]
    assert sorted(item["path"] for item in found) == [f"[{i}]" for i in range(5)], said.stdout
    assert {item["name"] for item in found} == {"h"}


def test_a_healthy_constructor_stops_nothing(traces):
    """Memory of torch.empty is no alarm; the first line that computes a NaN is."""
    done, _ = traces("empty_then_initialised", "--record", "stop=nan")
    assert "empty_then_initialised.py:11: p holds" in done.output


def test_an_infinity_of_a_default_stops_nothing(traces):
    done, _ = traces("default_minus_inf", "--record", "stop=inf")
    assert done.code == 0, done.output


def test_a_way_through_a_function_that_is_not_drawn(traces):
    """The value that went into it and what came back are connected."""
    _, trace = traces("filtered_flow")
    said = viewer.run("graph", "--function", "f", "-o", trace.parent / "f.dot", trace)
    assert said.returncode == 0, said.stderr
    dot = (trace.parent / "f.dot").read_text()
    ways = re.findall(r"(n\d+) -> (n\d+)", dot)
    assert ways == [("n0", "n1"), ("n1", "n2"), ("n2", "n3"), ("n3", "n4"), ("n4", "n5")], dot
    assert re.search(r"n2 \[.*<b>g\(…\)</b>", dot)


def test_the_path_of_a_method_that_a_constructor_calls(tmp_path):
    (tmp_path / "p.py").write_text((CASES / "constructor_paths.py").read_text())
    words = ["monitorch", "run", "-q", "--no-record", "--spy", "h", "--spy-to", "sr", "p.py"]
    done = forked_runs.run(tmp_path, words)
    assert done.code == 0, done.output
    names = [str(path.relative_to(tmp_path / "sr")) for path in (tmp_path / "sr").rglob("*") if path.is_file()]
    assert any("inner.h" in name for name in names) and not any("Inner.h" in name for name in names), names


def test_an_alert_with_a_wrong_name(tmp_path):
    (tmp_path / "p.py").write_text((CASES / "alert_typo.py").read_text())
    done = forked_runs.run(tmp_path, ["monitorch", "run", "-q", "--no-record", "p.py"])
    assert done.code == 0 and "did you mean 'activation/" in done.output, done.output


@pytest.mark.parametrize("what", ["tracer", "tracer_module", "tracker", "monitor", "record", "debug"])
def test_a_picture_after_others(tmp_path, what):
    (tmp_path / "p.py").write_text((CASES / "on_after_others.py").read_text())
    done = forked_runs.run(tmp_path, ["monitorch", "run", "-q", "--no-record", "p.py", what])
    assert done.code == 0 and "nothing to draw" not in done.output, done.output


@pytest.mark.parametrize("words", [[], ["--no-record"]])
def test_no_file_is_lost(tmp_path, words):
    (tmp_path / "p.py").write_text((CASES / "lost_file.py").read_text())
    done = forked_runs.run(tmp_path, ["monitorch", "run", "-q", *words, "p.py"], sys.executable)
    assert done.code == 0 and (tmp_path / "log.txt").read_text() == "the result\n"


def test_memory_that_another_thread_replaces(tmp_path):
    (tmp_path / "p.py").write_text((CASES / "swap_data.py").read_text())
    done = forked_runs.run(tmp_path, ["monitorch", "run", "-q", "p.py"], sys.executable)
    assert (done.code, done.output) == (0, "done\n")


def test_each_program_is_run():
    here = pathlib.Path(__file__).read_text()
    assert all(f'"{path.stem}' in here for path in CASES.glob("*.py"))
