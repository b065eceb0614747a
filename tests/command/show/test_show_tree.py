"""`monitorch show --style tree`: options, filters, threads, what a ring has left. The lines themselves
are in tests/trace/golden."""

import re

import pytest

from tests.support import paths
from tests.trace import made, tracked_scenarios
from tests.trace.made import Trace, scalar, show

TREE = ("--style=tree", "--labels=en")


@pytest.fixture(scope="module")
def turns(folder):
    return tracked_scenarios.turns().write(folder / "turns.mtrace")


def lines(*words, code=0, **options):
    run = show(*TREE, *words, **options)
    assert (run.stderr, run.returncode) == ("", code)
    return run.stdout.splitlines()


def names(told):
    found = (re.search(r"\[(?:Tensor|Var)\] (.+?)@", line) for line in told)
    return [match[1] for match in found if match]


def test_elapsed(turns):
    told = lines(turns)
    assert sum(bool(re.search(r"└─ elapsed \d+\.\d{4}s", line)) for line in told) == 3
    assert not any("elapsed" in line for line in lines(turns, "--canonical"))
    rest = [line for line in told if "elapsed" not in line]
    assert rest == lines(turns, "--canonical")


def test_lines_is_what_is_printed_without(nested):
    assert show("--style=lines", nested).stdout == show(nested).stdout


@pytest.mark.parametrize(
    "words, wanted",
    [
        (["--name=q"], {"q"}),
        (["--name=[qi]"], {"q", "i"}),
        (["--function=Attention.*"], {"x", "mask", "q", "scores", "weights"}),
        (["--line=9-10"], {"scores", "weights"}),
        (["--kind=mutate"], {"x"}),
        (["--module=layers.0"], {"x", "i"}),
        (["--nan"], {"scores", "weights"}),
    ],
)
def test_filters(nested, words, wanted):
    told = lines(*words, nested)
    assert set(names(told)) == wanted
    # The calls around what is told, and those alone.
    entries = [line for line in told if "┌── " in line]
    assert entries and entries[0].startswith("┌── [model.py:15] function [Block.forward]")
    if "--module=layers.0" not in words and "--kind=mutate" not in words:
        assert any("[Attention.forward]" in line for line in entries)
    else:
        assert len(entries) == 1


def test_nothing_matches(nested):
    run = show(*TREE, "--name=nothing", nested)
    assert (run.stdout, run.returncode) == ("", 1)
    assert run.stderr.startswith(f"{nested}: no event matches\n{nested}: --name nothing matches nothing; ")


def test_head_and_tail(nested):
    whole = [line for line in lines(nested) if "elapsed" not in line]
    for count in range(1, 20):
        head = [line for line in lines(f"--head={count}", nested) if "elapsed" not in line]
        assert head == whole[: len(head)]
        tail = lines(f"--tail={count}", nested)
        assert names(tail) == names(whole)[len(names(whole)) - len(names(tail)) :]
        assert len(names(tail)) <= count


def test_source(nested):
    told = lines("--source", "--function=Attention.*", nested)
    at = told.index("│   │   ├─ 6| q = self.q(x)")
    assert "[Tensor] q@6" in told[at + 1]


@pytest.mark.parametrize(
    "variables, word",
    [
        (dict(LC_ALL="zh_CN.UTF-8"), "输入"),
        (dict(LC_ALL="", LC_MESSAGES="zh", LANG="en_US.UTF-8"), "输入"),
        (dict(LC_ALL="", LC_MESSAGES="", LANG="zh_TW.UTF-8"), "输入"),
        (dict(LC_ALL="C", LANG="zh_CN.UTF-8"), "input"),
        (dict(LC_ALL="", LC_MESSAGES="", LANG=""), "input"),
    ],
)
def test_locale(nested, variables, word):
    told = show("--style=tree", nested, env=variables).stdout
    assert f"├─ {word} [Tensor] x@0" in told


def test_labels(nested):
    told = show("--style=tree", "--labels=input:in%20it,called:by", nested).stdout
    assert "├─ in it [Tensor] x@0" in told
    assert "[Attention.forward] by Block.forward:17 (model.py:17)" in told
    hostile = show("--style=tree", "--labels=input:\x1b[31m", nested).stdout
    assert "\x1b" not in hostile


@pytest.mark.parametrize(
    "words, message",
    [
        (["--style=forest"], "monitorch show: --style forest: expected lines or tree"),
        (["--labels=zh"], "monitorch show: --labels needs --style tree"),
        (
            ["--style=tree", "--labels=colour:x"],
            "monitorch show: --labels colour:x: expected en, zh",
        ),
        (["--style=tree", "--labels=fr"], "monitorch show: --labels fr: expected en, zh"),
        (["--style=tree", "--json"], "monitorch show: --style is for text: remove it"),
        (["--style=tree", "--sites"], "monitorch show: --sites lists all sites"),
        (["--style=tree", "--settings"], "monitorch show: --settings lists all settings"),
    ],
)
def test_wrong_usage(words, message, nested):
    run = show(*words, nested)
    assert (run.stdout, run.returncode) == ("", 2)
    assert run.stderr.startswith(message)


def test_threads_do_not_mix(folder):
    path = tracked_scenarios.two_threads().write(folder / "threads.mtrace")
    told = lines(path)
    logs = {"MainThread": [], "worker": []}
    name = "MainThread"
    for line in told:
        heading = re.fullmatch(r"-- thread (.*) --", line)
        if heading:
            assert heading[1] != name  # only where another one goes on
            name = heading[1]
        else:
            logs[name].append(line)
    alone = lines("--canonical", path)
    split = alone.index("-- thread worker --")
    first = [line for line in logs["MainThread"] if "elapsed" not in line]
    second = [line for line in logs["worker"] if "elapsed" not in line]
    assert alone == ["-- thread MainThread --", *first, "-- thread worker --", *second]
    assert split == 1 + len(first)


def test_several_traces(nested, turns):
    told = show(*TREE, nested, turns).stdout
    assert told.startswith(f"== {nested} ==\n┌── ")
    assert f"\n== {turns} ==\n┌── " in told


def test_a_ring(folder):
    """A call whose beginning a ring has dropped is told from where it is met."""
    trace = Trace(last=10)
    tracked_scenarios.module(trace)
    call = trace.call(1)
    trace.tracked(call, "--names=h", "step:57 (train.py:57)")
    trace.repeat(60000)
    trace.event(1, call, scalar(1), change="rebound", difference=made.VALUES)
    trace.again()
    run = show(*TREE, trace.write(folder / "ring.mtrace"))
    assert run.returncode == 0
    assert run.stdout.count("[Var] h@14 value: 1 | changed: value") == 10
    assert run.stdout.startswith("┌── [model.py:12] function [Net.forward]\n")


def test_a_killed_program(folder):
    trace = tracked_scenarios.exceptions()
    trace.call(1)
    trace.kill()
    run = show(*TREE, "--canonical", trace.write(folder / "killed.mtrace"))
    whole = (paths.ROOT / "tests/trace/golden/tree_exceptions.txt").read_text()
    assert run.stdout == whole
    assert "remark: the recording is unfinished" in run.stderr


def test_cut_anywhere(folder):
    """A trace that is cut: a beginning of the log, and no crash."""
    path = tracked_scenarios.wishes().write(folder / "whole.mtrace")
    data = path.read_bytes()
    whole = show(*TREE, "--canonical", path).stdout
    cut = folder / "cut.mtrace"
    for size in range(len(data) - 1, 4096, -997):
        cut.write_bytes(data[:size])
        run = show(*TREE, "--canonical", cut)
        assert run.returncode in (0, 1, 3)
        assert whole.startswith(run.stdout) or run.stdout == ""
