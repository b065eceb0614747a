"""The reader that docs/internals/trace.md shows gives what `monitorch show --json` gives."""

import json
import subprocess
import sys

import pytest

from tests.support import pages, paths

READER = next(b.text for b in pages.blocks("docs/internals/trace.md") if "def read(path)" in b.text)
SAMPLES = paths.ROOT / "samples"


@pytest.fixture(scope="module")
def read():
    names = {}
    exec(compile(READER, "docs/internals/trace.md", "exec"), names)
    return names["read"]


def record(trace, script, *words, options="sources=yes"):
    command = [sys.executable, "-m", "monitorch", "run", "-q", "-o", str(trace), "--record", options]
    done = subprocess.run([*command, str(script), *words], env=pages.environment(), capture_output=True)
    assert done.returncode == 0, done.stderr


def shown(trace):
    command = [paths.COMMAND.with_name("monitorch"), "show", "--json", str(trace)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {event["seq"]: event for event in found if event["record"] == "event"}


def compare(read, trace):
    wanted = shown(trace)
    found = {number: (line, kind, value) for number, line, kind, value in read(trace)}
    assert wanted and wanted.keys() <= found.keys()
    for number, event in wanted.items():
        line, kind, value = found[number]
        assert line == event["line"]
        assert kind.replace("_", " ") == event["value_kind"]
        if kind == "tensor":
            dtype, shape, mean, nan = value
            assert list(shape) == event["shape"]
            assert dtype == event["dtype"] or isinstance(dtype, int)
            assert nan == event.get("nan", 0)
            if event.get("mean") is not None:
                assert mean == pytest.approx(event["mean"], rel=1e-12)
        elif kind in ("bool", "int", "float") and event.get("value") is not None:
            assert value == pytest.approx(float(event["value"]), rel=1e-12)
    return wanted


def test_it_is_short():
    assert len([line for line in READER.splitlines() if line.strip()]) <= 60


@pytest.mark.torch
def test_a_model(read, tmp_path):
    trace = tmp_path / "run.mtrace"
    record(trace, SAMPLES / "transformer_block.py", "--empty-row", "--steps", "2")
    events = compare(read, trace)
    assert any(event.get("nan") for event in events.values())


@pytest.mark.torch
def test_a_ring_of_several_chunks(read, tmp_path):
    script = tmp_path / "many.py"
    script.write_text("x = 1\nfor i in range(60_000):\n    x = i / 2\n    y = [x]\n")
    trace = tmp_path / "run.mtrace"
    record(trace, script, options="scalars=all")
    assert len(compare(read, trace)) > 60_000
    record(trace, script, options="last=2000,scalars=all")
    assert len(compare(read, trace)) == 2000


def test_a_cut_file(read, tmp_path):
    script = tmp_path / "plain.py"
    script.write_text("x = 1\nfor i in range(50):\n    x = i / 2\n")
    trace = tmp_path / "run.mtrace"
    record(trace, script)
    whole = list(read(trace))
    data = trace.read_bytes()
    trace.write_bytes(data[: len(data) - 1000])
    left = list(read(trace))
    assert 0 < len(left) < len(whole) and left == whole[: len(left)]
