"""`monitorch show`: filters, JSON, messages and exit codes, on traces made by the tests."""

import fcntl
import json
import math
import os
import pty
import random
import signal
import struct
import subprocess
import termios

import pytest

from tests.support import recording, viewer
from tests.trace import made, scenarios
from tests.trace.made import Trace, numbered, scalar, show, tensor


@pytest.fixture(scope="module")
def threads(folder):
    return scenarios.threads().write(folder / "threads.mtrace")


@pytest.fixture(scope="module")
def parts(folder):
    return scenarios.parts().write(folder / "parts.mtrace")


@pytest.fixture(scope="module")
def long(folder):
    return numbered(200000).write(folder / "long.mtrace")


def records(*words):
    run = show("--json", *words)
    assert run.stderr == ""
    assert run.returncode == 0
    return [json.loads(line) for line in run.stdout.splitlines()]


def events(*words):
    return [r for r in records(*words) if r["record"] == "event"]


# ---- filters: each against the same question asked of the JSON of all events ----


def is_changed(event):
    if event["change"] == "rebound":
        return bool(event.get("differs")) or "hash" not in event
    return event["change"] in ("mutated", "aliased")


def is_alarming(event):
    return any(event.get(key, 0) for key in ("nan", "posinf", "neginf"))


FILTERS = {
    "--function=Attention.*": lambda e: e["function"].startswith("Attention."),
    "--function=*.forward": lambda e: True,
    "--name=x": lambda e: e["name"] == "x",
    "--name=[xq]": lambda e: e["name"] in ("x", "q"),
    "--line=9-11": lambda e: 9 <= e["line"] <= 11,
    "--line=16": lambda e: e["line"] == 16,
    "--line=-6": lambda e: e["line"] <= 6,
    "--line=17-": lambda e: e["line"] >= 17,
    "--file=model.py": lambda e: True,
    "--file=mo*": lambda e: True,
    "--module=layers.*.attn": lambda e: e["module"] == "layers.0.attn",
    "--kind=enter": lambda e: e["kind"] == "enter",
    "--kind=loop,return,branch": lambda e: e["kind"] in ("loop", "return", "branch"),
    "--changed": is_changed,
    "--nan": is_alarming,
    "--call=3": lambda e: e["call"] == 3,
    "--call=1+": lambda e: True,
    "--thread=0": lambda e: True,
    "--thread=Main*": lambda e: True,
}


@pytest.mark.parametrize("word", FILTERS)
def test_filter(nested, word):
    wanted = [e for e in events(nested) if FILTERS[word](e)]
    assert 0 < len(wanted)
    assert events(word, nested) == wanted


def test_filters_combine(nested):
    everything = events(nested)
    for first in FILTERS:
        for second in ("--name=x", "--line=9-11", "--call=3", "--nan"):
            wanted = [e for e in everything if FILTERS[first](e) and FILTERS[second](e)]
            if first.split("=")[0] == second.split("=")[0] and first != second:
                continue
            run = show("--json", first, second, nested)
            got = [json.loads(line) for line in run.stdout.splitlines()]
            assert [e for e in got if e["record"] == "event"] == wanted
            assert run.returncode == (0 if wanted else 1)


def test_one_option_given_again_is_an_alternative(nested):
    wanted = [e for e in events(nested) if e["name"] in ("q", "weights")]
    assert events("--name=q", "--name", "weights", nested) == wanted
    wanted = [e for e in events(nested) if e["line"] in (6, 10, 11)]
    assert events("--line=6", "--line=10-11", nested) == wanted


def test_a_name_that_was_printed_is_found(tmp_path):
    """Brackets in it stand for themselves, in each command and beside stars."""
    trace = tmp_path / "run.mtrace"
    program = """
    import numpy as np
    def f(x):
        out = [x, x * np.inf, {"a-b": x + 1}]
        out0 = x
        return out
    f(np.ones(2))
    """
    recording.trace_of(program, trace)
    printed = {e["name"] + e["path"] for e in events(trace)}
    assert {"out[0]", "out[1]", "out[2]['a-b']"} <= printed
    for name in ("out[0]", "out[1]", "out[2]['a-b']"):
        found = {e["name"] + e["path"] for e in events("--name", name, trace)}
        assert found - {"out0"} == {name}
    assert {e["path"] for e in events("--name", "out[*]", trace) if e["name"] == "out"} == {
        "[0]", "[1]", "[2]['a-b']"
    }  # fmt: skip
    assert {e["path"] for e in events("--name", "*['a-b']", trace)} == {"[2]['a-b']"}
    assert viewer.run("check", "--no-inf", "--name", "out[1]", trace).returncode == 1
    assert viewer.run("check", "--no-inf", "--name", "out[0]", trace).returncode == 0
    assert "out[1]" in viewer.run("why", trace, "out[1]").stdout
    assert viewer.run("graph", trace, "-o", tmp_path / "a.svg", "--name", "out[1]").returncode == 0
    assert viewer.run("graph", trace, "-o", tmp_path / "a.svg", "--name", "out[7]").returncode == 1


def test_names_with_paths(parts):
    assert {e["path"] for e in events("--name", "out*logits*", parts)} == {"['logits']"}
    assert len(events("--name=out", parts)) == 3


def test_threads(threads):
    assert {e["thread"] for e in events("--thread=1", threads)} == {1}
    assert {e["thread"] for e in events("--thread=worker*", threads)} == {1}
    assert {e["thread"] for e in events("--thread=Main*", "--thread=2", threads)} == {0, 2}


def test_a_call_with_those_within(threads):
    assert {e["call"] for e in events("--call=1", threads)} == {1}
    assert {e["call"] for e in events("--call=1+", threads)} == {1, 3, 5}


def test_none_of_them(nested):
    for words in ("--head", 0), ("--name", "nobody"):
        run = show(*words, nested)
        assert run.returncode == 1 and "no event matches" in run.stderr


@pytest.mark.parametrize(
    "words, meant",
    [
        (["--function", "Inner.forwrd"], "--function Inner.forwrd matches nothing; did you mean Inner.forward?"),
        (["--module", "layrs.*"], "--module layrs.* matches nothing; did you mean layers.0 or layers.1?"),
        (["--file", "progam.py"], "--file progam.py matches nothing; did you mean program.py?"),
        (["--name", "hiddn"], "--name hiddn matches nothing; did you mean hidden?"),
        (["--name", "hidden", "--function", "Outer.*", "--file", "progam.py"],
         "--file progam.py matches nothing; did you mean program.py?"),
        (["--name", "hidden", "--function", "Outer.*"], None),
        (["--name", "zzzzzzzz"], "--name zzzzzzzz matches nothing; there are "),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["show", "graph", "check", "export"])
def test_filters_that_match_nothing_name_the_nearest(command, words, meant, slips):
    more = {"graph": ["-o", os.devnull, "--format", "svg"], "check": ["--no-nan"], "export": ["--csv", "-"]}
    if command == "check" and "--module" in words:
        pytest.skip("check has no such filter for values")
    run = viewer.run(command, *more.get(command, []), *words, slips)
    assert run.returncode == 1, run.stderr
    said = [line.removeprefix(f"{slips}: ") for line in run.stderr.splitlines()]
    found = [line for line in said if "matches nothing" in line]
    assert len(found) == (1 if meant else 0)
    assert not found or found[0] == meant or (meant.endswith(" are ") and found[0].startswith(meant))
    assert any("no event matches" in line for line in said)


SLIPS = """\
import sys, types

class Module:
    def __init__(self):
        self._modules = {}

for name in ("torch", "torch.nn", "torch.nn.modules", "torch.nn.modules.module"):
    sys.modules[name] = types.ModuleType(name)
Module.__module__ = name
sys.modules[name].Module = Module

class Inner(Module):
    def forward(self, x):
        hidden = [x]
        return hidden

class Outer(Module):
    def __init__(self):
        self._modules = {"layers": Module()}
        self._modules["layers"]._modules = {"0": Inner(), "1": Inner()}

    def forward(self, x):
        for part in self._modules["layers"]._modules.values():
            part.forward(x)

Outer().forward(1)
"""


@pytest.fixture(scope="module")
def slips(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slips")
    (folder / "program.py").write_text(SLIPS)
    words = ["-m", "monitorch", "run", "-o", "run.mtrace", "program.py"]
    done = recording.run_python(*words, folder=folder, env=recording.environment("off"))
    assert done.returncode == 0, done.stderr
    return folder / "run.mtrace"


@pytest.mark.parametrize("head", [0, 1, 5, 1000])
@pytest.mark.parametrize("tail", [0, 1, 3, 1000])
def test_head_and_tail(nested, head, tail):
    everything = events(nested)

    def of(*words):
        run = show("--json", *words, nested)
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        return [e for e in lines if e["record"] == "event"]

    assert of("--head", head) == everything[:head]
    assert of("--tail", tail) == (everything[-tail:] if tail else [])
    assert of("--head", head, "--tail", tail) == (everything[:head][-tail:] if tail else [])
    named = [e for e in everything if e["name"] == "x"]
    assert of("--name=x", "--tail", tail) == (named[-tail:] if tail else [])


def test_the_calls_around_an_event_are_shown(nested):
    lines = show("--name=weights", "--call=3", nested).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["Block.forward", "Attention.forward", "10"]
    kinds = [r["record"] for r in records("--name=weights", "--call=3", nested)]
    assert kinds == ["call", "call", "event", "end", "end"]


def test_nothing_matches(nested):
    run = show("--name=nothing", nested)
    assert (run.stdout, run.returncode) == ("", 1)
    assert run.stderr.startswith(f"{nested}: no event matches\n{nested}: --name nothing matches nothing; there are ")


# ---- JSON ----


def test_json_is_what_was_recorded(folder):
    trace = Trace()
    trace.module(
        'dir/"m".py',
        [("<module>", 1), ("C.f", 3)],
        [("assign", 4, 1, "a", "b"), ("return", 9, 1, "return")],
    )
    trace.thread(0, "MainThread")
    call = trace.call(1, line=7, path="layers.0", **{"class": "C"})
    trace.event(1, call, scalar(None))
    numbers = dict(min=-0.1, max=1e300, mean=1 / 3, std=5e-324)
    trace.event(
        0,
        call,
        tensor(
            (2, 3),
            "float64",
            strides=(1, 2),
            **numbers,
            zeros=2,
            nan=1,
            posinf=2,
            neginf=0,
            hash=0x0123456789ABCDEF,
            version=3,
            offset=5,
            object=2**63,
            data=16,
            origin=1,
            device="cuda:1",
            form_flags=made.GRAD,
        ),
        change="rebound",
        difference=made.SHAPE | made.VALUES,
        path="[0]",
    )
    trace.event(0, call, tensor((3,), "uint64", min=0, max=2**64 - 1, mean=1, std=1), write=1)
    trace.event(0, call, tensor((3,), "int64", min=-(2**63), max=2**63 - 1, mean=1, std=1), write=1)
    trace.event(1, call, scalar(0.1))
    trace.ended(call)
    path = trace.write(folder / "json.mtrace")
    call, _, first, second, third, fourth, end = records(path)
    assert call == dict(
        record="call",
        call=1,
        parent=0,
        depth=0,
        thread=0,
        thread_name="MainThread",
        file='dir/"m".py',
        line=3,
        function="C.f",
        module="layers.0",
        parent_line=7,
        generator=False,
        joined=False,
        begun=True,
        time=1000,
        **{"class": "C"},
    )
    assert first == dict(
        record="event",
        seq=1,
        thread=0,
        call=1,
        iteration=0,
        training_step=0,
        site=0,
        kind="assign",
        name="a",
        path="[0]",
        file='dir/"m".py',
        line=4,
        function="C.f",
        module="layers.0",
        change="rebound",
        differs=["shape", "values"],
        origin=0,
        value_kind="tensor",
        dtype="float64",
        shape=[2, 3],
        device="cuda:1",
        strides=[1, 2],
        requires_grad=True,
        count=6,
        **numbers,
        absmax=1e300,
        nan=1,
        posinf=2,
        neginf=0,
        zeros=2,
        hash="0123456789abcdef",
        version=3,
        offset=5,
        time=3000,
        object=2**63,
        data=16,
    )
    assert (second["name"], second["min"], second["max"]) == ("b", 0, 2**64 - 1)
    assert second["absmax"] == 2**64 - 1
    assert (third["min"], third["max"], third["absmax"]) == (-(2**63), 2**63 - 1, 2**63)
    assert (fourth["seq"], fourth["value"], fourth["kind"]) == (4, 0.1, "return")
    assert end == dict(record="end", call=1, how="returned", time=7000)


def test_json_of_each_kind_of_value(folder):
    path = scenarios.values().write(folder / "values.mtrace")
    by_name = {e["name"]: e for e in events(path)}
    values = {
        "v2": None,
        "v3": True,
        "v4": False,
        "v5": 0,
        "v6": -(2**63),
        "v7": "0x1f...ff",
        "v8": 0.1,
        "v9": 1e-5,
        "v10": 0.30000000000000004,
        "v11": "NaN",
        "v12": "-Infinity",
        "v13": [1.5, -2.0],
        "v14": "text",
        "v15": "it's\n\tlong: " + "x" * 200,
    }
    for name, value in values.items():
        assert by_name[name]["value"] == value, name
        assert type(by_name[name]["value"]) is type(value)
    assert by_name["v16"]["length"] == 1000
    assert by_name["v17"] == {**by_name["v17"], "value_kind": "bytes", "length": 12}
    assert by_name["v19"] == {**by_name["v19"], "type": "dict", "length": 5000, "more": True}
    assert by_name["v20"]["type"] == "Tokenizer"
    for name in ("v23", "v24"):
        assert all(by_name[name][key] is None for key in ("min", "max", "mean", "std", "absmax"))
    assert (by_name["v23"]["nan"], by_name["v23"]["count"]) == (1, 1)
    assert "min" not in by_name["v29"]
    assert by_name["v30"]["parameter"] is True
    assert (by_name["v31"]["numpy"], by_name["v31"]["byte_strides"]) == (True, [16, 24])
    assert (by_name["v33"]["layout"], by_name["v33"]["note"]) == ("sparse_coo", "sparse")
    assert by_name["v34"]["type"] == "DTensor"
    assert by_name["v35"]["dtype"] == "float6_e3m2"


def test_json_samples(folder):
    trace = Trace()
    trace.module("m.py", [("<module>", 1), ("f", 1)], [("assign", 1, 1, "a")])
    call = trace.call(1)
    whole = [0.5, math.nan, -math.inf, 1e-3, 7.0, 8.0]
    trace.event(0, call, tensor((2, 3), sample=struct.pack("<6f", *whole)))
    trace.event(0, call, tensor((3,), "int16", sample=struct.pack("<3h", -1, 0, 32767)))
    trace.event(0, call, tensor((2,), "bool", sample=b"\0\1"))
    trace.event(0, call, tensor((1,), "complex64", sample=struct.pack("<2f", 1, -2)))
    path = trace.write(folder / "sample.mtrace")
    assert all("sample" not in e for e in events(path))
    first, second, third, fourth = events("--sample", path)
    assert first["sample_at"] == [[0, 1], [0, 1, 2]]
    single = [struct.unpack("<f", struct.pack("<f", x))[0] for x in whole]
    assert first["sample"] == [single[0], "NaN", "-Infinity", *single[3:]]
    assert second["sample"] == [-1, 0, 32767]
    assert third["sample"] == [False, True]
    assert fourth["sample"] == [[1.0, -2.0]]


def test_json_of_hostile_texts(folder):
    path = scenarios.hostile().write(folder / "hostile.mtrace")
    run = show("--json", path)
    assert not any(ord(c) < 32 and c != "\n" or c in "\x7f\x85\u202e" for c in run.stdout)
    bad = "\x1b[2J\x07\r\nx\u202e\x85"
    call, first, second, *_, note = (json.loads(line) for line in run.stdout.splitlines())
    assert call["module"] == f"layers{bad}"
    assert (call["class"], call["thread_name"]) == (f"C{bad}", bad)
    assert (first["name"], first["value"]) == (f"a{bad}", bad)
    assert second["value"] == "\ufffd\ufffd bytes"
    assert (note["record"], note["text"]) == ("note", f"note {bad}")


def test_json_of_a_write_by_another_name(nested):
    (event,) = [e for e in events(nested) if e["change"] == "aliased"]
    assert (event["alias_site"], event["alias_line"]) == (10, 18)
    assert event["alias_file"] == "model.py"


def test_several_traces(nested, parts):
    run = show(nested, parts)
    both = show(nested).stdout, show(parts).stdout
    assert run.stdout == f"== {nested} ==\n{both[0]}== {parts} ==\n{both[1]}"
    assert {r["trace"] for r in records(nested, parts)} == {str(nested), str(parts)}


def test_sites(nested):
    listed = records("--sites", nested)
    assert [s["site"] for s in listed] == list(range(12))
    assert listed[1] == dict(
        record="site",
        site=1,
        kind="assign",
        file="model.py",
        line=6,
        column=5,
        function="Attention.forward",
        names=["q"],
        reads=[],
        key="model.py:Attention.forward:assign:q:0",
    )
    lines = show("--sites", nested).stdout.splitlines()
    assert lines[1] == "model.py:6:5  assign  Attention.forward  q"


# ---- traces that are not whole ----


def test_a_killed_writer(folder):
    trace = numbered(1000)
    trace.kill()
    path = trace.write(folder / "killed.mtrace")
    run = show(path)
    assert run.returncode == 0
    assert len(run.stdout.splitlines()) == 1001
    assert run.stderr.startswith(f"{path}: remark: the recording is unfinished")
    assert run.stderr.count("\n") == 1
    assert show("-q", path).stderr == ""


def test_no_events(folder):
    path = Trace().write(folder / "none.mtrace")
    run = show(path)
    assert (run.stdout, run.returncode) == ("", 1)
    assert run.stderr == f"{path}: has no events\n"


def test_a_cut_trace(folder):
    whole = numbered(5000).write(folder / "whole.mtrace").read_bytes()
    cut = folder / "cut.mtrace"
    cut.write_bytes(whole[: len(whole) // 2])
    run = show(cut)
    assert run.returncode == 3
    assert 1000 < len(run.stdout.splitlines()) < 5000
    assert run.stderr.startswith(f"{cut}: offset ")
    # The others are shown all the same.
    good = numbered(1).write(folder / "good.mtrace")
    run = show(cut, good)
    assert run.returncode == 3
    assert f"== {good} ==" in run.stdout
    assert run.stdout.endswith("1  a = float32 [2]  min 1 max 2 mean 1.5 std 0.5   new\n")


def test_a_changed_byte(folder):
    whole = bytearray(numbered(5000).write(folder / "flip.mtrace").read_bytes())
    whole[len(whole) // 2] ^= 0x55
    path = folder / "flipped.mtrace"
    path.write_bytes(whole)
    run = show(path)
    assert run.returncode == 3
    assert run.stderr.startswith(f"{path}: offset ")
    assert len(run.stdout.splitlines()) > 1000


def test_a_ring_shows_the_newest(folder):
    path = numbered(50000, last=1000).write(folder / "ring.mtrace")
    seqs = [e["seq"] for e in events(path)]
    assert seqs == list(range(49000, 50000))
    first = show(path).stdout.splitlines()[0]
    assert first == "f  m.py:1  #1  its beginning is not in the trace"


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 5000, b"#!/bin/sh\n", b"mtrace\r\n" + b"\xff" * 6000]
)
def test_what_is_no_trace(folder, content):
    path = folder / "foreign.mtrace"
    path.write_bytes(content)
    run = show(path)
    assert (run.stdout, run.returncode) == ("", 3)
    assert run.stderr.startswith(f"{path}: ")
    assert run.stderr.count("\n") == 1


def test_what_cannot_be_read(folder):
    for path in (folder, folder / "missing"):
        run = show(path)
        assert (run.stdout, run.returncode) == ("", 3)
        assert run.stderr.startswith(f"{path}: ")


# ---- the command line ----


def command(*words):
    return viewer.run(*words)


def test_help():
    run = command()
    assert run.returncode == 0
    assert "\n  show " in run.stdout
    assert command("--help").stdout == command("help").stdout == command("-h").stdout == run.stdout
    text = command("show", "--help").stdout
    assert text.startswith("usage: monitorch show")
    assert command("help", "show").stdout == text == command("show", "x", "-h").stdout
    assert all(len(line) <= 80 for line in (run.stdout + text).splitlines())


def test_every_option_is_in_the_help():
    text = command("show", "--help").stdout
    folder = made.paths.ROOT / "runtime/command"
    rules = (folder / "shared/filter_options.def").read_text() + (folder / "show/options.def").read_text()
    for line in rules.splitlines():
        if line.startswith(("OPTION(", "SWITCH(", "WORD(")):
            assert f"--{line.split(chr(34))[1]}" in text


def test_version():
    assert command("--version").stdout.startswith("monitorch ")
    assert command("-V").stdout == command("show", "-V").stdout == command("--version").stdout


@pytest.mark.parametrize(
    "words, message",
    [
        (["shwo"], "monitorch: no command shwo; did you mean show?"),
        (["xyzzy"], "monitorch: no command xyzzy\n"),
        (["help", "hsow"], "monitorch: no command hsow; did you mean show?"),
        (["--color"], "monitorch: no option --color before the command"),
        (["show"], "monitorch show: no trace, expected TRACE"),
        (["show", ""], "monitorch show: a file's name is empty"),
        (["show", "--nmae", "x", "y"], "monitorch show: no option --nmae; did you mean --name?"),
        (["show", "--xyzzy"], "monitorch show: no option --xyzzy\n"),
        (["show", "-z"], "monitorch show: no option -z\n"),
        (["show", "--name"], "monitorch show: --name: expected GLOB after it"),
        (["show", "--name="], "monitorch show: --name: expected GLOB, got nothing"),
        (["show", "--json=1"], "monitorch show: --json has no argument"),
        (["show", "--line=0", "t"], "monitorch show: --line 0: expected N, N-M, N- or -M"),
        (["show", "--line=5-4", "t"], "monitorch show: --line 5-4: expected"),
        (["show", "--line=-", "t"], "monitorch show: --line -: expected"),
        (["show", "--line=99999999999999999999", "t"], "monitorch show: --line 9999"),
        (["show", "--kind=enter,fun", "t"], "monitorch show: --kind fun: expected enter,"),
        (["show", "--call=0", "t"], "monitorch show: --call 0: expected the number of a call"),
        (["show", "--call=1x", "t"], "monitorch show: --call 1x: expected"),
        (["show", "--head=x", "t"], "monitorch show: --head x: expected a number"),
        (["show", "--tail=-1", "t"], "monitorch show: --tail -1: expected a number"),
        (["show", "--color=red", "t"], "monitorch show: --color red: expected auto"),
        (["show", "--json", "-s", "t"], "monitorch show: --source is for text"),
        (["show", "--sample", "t"], "monitorch show: --sample needs --json"),
        (["show", "--sites", "--nan", "t"], "monitorch show: --sites lists all sites"),
    ],
)
def test_wrong_usage(words, message):
    run = command(*words)
    assert (run.stdout, run.returncode) == ("", 2)
    assert run.stderr.startswith(message)
    assert "--help` lists the options\n" in run.stderr


def test_a_name_that_begins_with_a_hyphen(folder):
    numbered(1).write(folder / "-x.mtrace")
    run = show("--", "-x.mtrace", cwd=folder)
    assert run.returncode == 0


def on_a_terminal(words, env=None, columns=80):
    """Everything that the command prints where both outputs are a terminal."""
    environment = viewer.environment(**{"TERM": "xterm", **(env or {})})
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [viewer.PATH, "show", *map(str, words)], stdout=slave, stderr=slave, env=environment
    )
    os.close(slave)
    text = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(master)
    process.wait()
    return text.decode().replace("\r\n", "\n")


def test_colour_and_footer_on_a_terminal_alone(nested):
    plain = show(nested).stdout
    assert "\033" not in plain
    shown = on_a_terminal([nested])
    assert "\033[1;31m!! 120 NaN" in shown
    assert shown.endswith("\n20 events, 2 with NaN or Inf (--nan shows only these)\n")
    assert "events" not in plain
    assert on_a_terminal([nested], {"NO_COLOR": "1"}).startswith(plain)
    assert on_a_terminal(["-q", nested], {"TERM": "dumb"}) == plain
    assert on_a_terminal(["-q", "--color=never", nested]) == plain
    assert show("--color=always", nested).stdout == on_a_terminal(["-q", nested])


def test_a_closed_pipe_is_quiet(long):
    environment = viewer.environment()
    process = subprocess.Popen(
        [viewer.PATH, "show", long], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == -signal.SIGPIPE


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_told_to_end(long, number):
    environment = viewer.environment()
    process = subprocess.Popen(
        [viewer.PATH, "show", long], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    process.stdout.read(1)  # it waits for the rest to be read
    process.send_signal(number)
    assert process.wait(timeout=120) == -number
    assert process.stderr.read() == b""


def test_a_full_disk(nested):
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [viewer.PATH, "show", nested], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert run.returncode == 3
    assert run.stderr == "standard output cannot be written: No space left on device\n"


def peak_memory(path):
    """In kilobytes, asked again and again while the output is read: the figure that is told at
    the end of a process counts what it was forked from too."""
    environment = viewer.environment()
    process = subprocess.Popen(
        [viewer.PATH, "show", path], stdout=subprocess.PIPE, env=environment
    )
    peak = 0
    while process.stdout.read(1 << 16):
        with open(f"/proc/{process.pid}/status") as status:
            peak = max([peak, *(int(line.split()[1]) for line in status if "VmHWM" in line)])
    assert process.wait() == 0
    return peak


def test_memory_does_not_grow_with_the_trace(folder, long):
    small = numbered(5000).write(folder / "small.mtrace")
    assert 0 < peak_memory(long) < peak_memory(small) + 2048


def test_every_field_is_in_the_docs(folder, nested, threads, parts):
    text = (made.paths.ROOT / "docs/reference/show.md").read_text()
    values = scenarios.values().write(folder / "values_again.mtrace")
    notes = scenarios.notes().write(folder / "notes.mtrace")
    keys = set()
    for words in ([values], [nested, threads], [parts], [notes], ["--sites", nested]):
        keys.update(key for record in records(*words) for key in record)
    assert len(keys) > 60
    assert sorted(key for key in keys if f"`{key}`" not in text) == []


@pytest.mark.parametrize(
    "words",
    [[], ["--json", "--sample"], ["--source", "--name=*x*", "--tail=5"], ["--sites"]],
)
def test_damage_anywhere_is_survived(folder, words):
    """Bytes changed at random places: something is shown or refused, nothing crashes."""
    numbers = random.Random(4)
    for name in ("nested_calls", "values", "threads", "hostile"):
        whole = getattr(scenarios, name)().write(folder / "before.mtrace").read_bytes()
        used = [i for i, byte in enumerate(whole) if byte]
        for _ in range(25):
            data = bytearray(whole)
            for _ in range(numbers.choice([1, 3, 20])):
                data[numbers.choice(used)] = numbers.choice([0, 1, 0x7F, 0x80, 0xFF, 0x22])
            path = folder / "after.mtrace"
            path.write_bytes(data)
            run = show(*words, path)
            assert run.returncode in (0, 1, 3), (run.returncode, run.stderr[-2000:])
            assert "Sanitizer" not in run.stderr


def test_the_footer_of_a_ring(folder):
    path = numbered(50000, last=1000).write(folder / "ring_footer.mtrace")
    assert on_a_terminal([path]).endswith("\n1000 events, the newest of 50000\n")
    assert on_a_terminal(["--head=1", path]).endswith("\n1 event\n")
    assert on_a_terminal(["--tail=1", path]).endswith("\n1 event of 1000\n")


# ---- what is rarer ----


def test_files_by_their_last_part(folder):
    trace = Trace()
    trace.module("src/a.py", [("<module>", 1), ("f", 1)], [("assign", 1, 1, "a")])
    trace.module("src/b.py", [("<module>", 1), ("g", 1)], [("assign", 1, 1, "b")])
    for table in range(2):
        trace.event(table, trace.call(1, table=table), scalar(table))
    path = trace.write(folder / "files.mtrace")
    for words, wanted in {
        ("--file=a.py",): "a",
        ("--file=src/*",): "ab",
        ("--file=src",): "",
        ("--file=c.py", "--file=*/c.py", "--file=b.py", "--file=d.py"): "b",
    }.items():
        run = show("--json", *words, path)
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        assert "".join(e["name"] for e in lines if e["record"] == "event") == wanted


def test_many_open_calls(folder):
    """None of them ends; the numbers do not follow each other."""
    trace = Trace()
    trace.module("m.py", [("<module>", 1), ("f", 1)], [("assign", 1, 1, "a")])
    numbers = [1 + (i * 7919) % 10007 * 64 for i in range(700)]
    for number in numbers:
        trace.call(1, call=number)
    for number in numbers:
        trace.event(0, number, scalar(number))
        trace.ended(number)
    path = trace.write(folder / "open.mtrace")
    got = events(path)
    assert [e["call"] for e in got] == [e["value"] for e in got] == numbers


def test_an_end_among_another_threads_events(folder):
    trace = Trace()
    trace.module(
        "m.py", [("<module>", 1), ("f", 1)], [("assign", 2, 1, "a"), ("return", 3, 1, "return")]
    )
    calls = [trace.call(1, thread=thread) for thread in range(2)]
    for call in calls:
        trace.event(0, call, scalar(call), thread=call - 1)
    trace.ended(calls[0], made.LEFT)
    trace.ended(calls[1], made.LEFT)
    shown = show(trace.write(folder / "ends.mtrace")).stdout.splitlines()
    assert shown[-2:] == [
        "        f #1 left without a return: by an exception, or at its end",
        "        left without a return: by an exception, or at its end",
    ]


def test_an_else_whose_condition_is_not_recorded(folder):
    trace = Trace()
    trace.module(
        "m.py",
        [("<module>", 1), ("f", 1)],
        [("assign", 1, 1, "a"), ("branch", 3, 1, 1)],
        source="if x:\n    pass\nelse:\n    pass\n",
    )
    trace.event(1, trace.call(1), change="none")
    assert show(trace.write(folder / "else.mtrace")).stdout.endswith("     3  branch else:\n")


def test_branches_without_a_source(folder):
    trace = Trace()
    trace.module("m.py", [("<module>", 1), ("f", 1)], [("branch", 3, 1, 1)])
    trace.event(0, trace.call(1), change="none")
    path = trace.write(folder / "arms.mtrace")
    assert show(path).stdout.endswith("     3  branch arm 1\n")
    assert show("--source", path).stdout.endswith("     3  branch arm 1\n")


def test_a_call_left_by_an_exception(folder):
    trace = Trace()
    trace.module("m.py", [("<module>", 1), ("f", 1)], [("assign", 2, 1, "a")])
    call = trace.call(1)
    trace.tracked(call, "--names=a", "m.py:9 <- n.py:3")
    trace.event(0, call, scalar(1))
    trace.ended(call, made.LEFT, "ValueError")
    path = trace.write(folder / "left.mtrace")
    assert show(path).stdout.endswith("     2  a = 1   new\n        left by ValueError\n")
    end = json.loads(show("--json", path).stdout.splitlines()[-1])
    assert (end["record"], end["how"], end["error"]) == ("end", "left", "ValueError")


def test_lines_that_bind_nothing(folder):
    trace = Trace()
    trace.module(
        "m.py", [("<module>", 1), ("f", 1)], [("line", 2, 1, "")], source="def f():\n  print(1)\n"
    )
    trace.event(0, trace.call(1), change="none")
    path = trace.write(folder / "line.mtrace")
    assert show(path).stdout.endswith("     2  line print(1)\n")
    assert show("--source", path).stdout.endswith("     2| print(1)\n        ran\n")
    assert json.loads(show("--json", path).stdout.splitlines()[1])["kind"] == "line"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("is_last_ended", [False, True])
def test_line_ends(folder, end, is_last_ended):
    lines = ["def f():", "\t\fa = 1", "", "    b = 2  "]
    trace = Trace()
    trace.module(
        "m.py",
        [("<module>", 1), ("f", 1)],
        [("assign", 2, 1, "a"), ("assign", 4, 1, "b"), ("assign", 9, 1, "c")],
        source=end.join(lines) + end * is_last_ended,
    )
    call = trace.call(1)
    for site in range(3):
        trace.event(site, call, scalar(site))
    assert show("--source", trace.write(folder / "ends.mtrace")).stdout.splitlines()[1:] == [
        "     2| a = 1",
        "        a = 0   new",
        "     4| b = 2",
        "        b = 1   new",
        "     9  c = 2   new",
    ]


def test_an_instrumented_source_is_shown_as_it_was(folder, tmp_path):
    (tmp_path / "m.py").write_text("def f(x):\n    y = x + 1\n    return y\n")
    traced = subprocess.run(
        [made.paths.COMMAND, "--all", "m.py"], cwd=tmp_path, stdout=subprocess.PIPE, check=True
    ).stdout.decode()
    assert "_mt(" in traced
    shown = {2: ["     2| y = x + 1", "        y = 1   new"], 3: ["     2  y = 1   new"]}
    for tag, wanted in shown.items():
        trace = Trace()
        trace.module(
            "m.py", [("<module>", 1), ("f", 1)], [("assign", 2, 1, "y")], source=traced, tag=tag
        )
        trace.event(0, trace.call(1), scalar(1))
        path = trace.write(folder / "instrumented.mtrace")
        assert show("--source", path).stdout.splitlines()[1:] == wanted


def test_events_that_were_lost_are_told(folder):
    path = numbered(100000, size_limit=1 << 20).write(folder / "limit.mtrace")
    run = show(path)
    assert run.returncode == 0
    shown = len(run.stdout.splitlines()) - 1
    assert 0 < shown < 100000
    assert run.stderr.startswith(
        f"{path}: remark: the last {100000 - shown} events are not in the trace"
    )


def test_options_in_one_word(nested):
    assert show("-qs", nested).stdout == show("--source", nested).stdout
    run = show("-qz", nested)
    assert run.returncode == 2
    assert run.stderr.startswith("monitorch show: no option -z")


def test_sites_of_several_traces(nested, parts):
    listed = records("--sites", nested, parts)
    assert {s["trace"] for s in listed} == {str(nested), str(parts)}
