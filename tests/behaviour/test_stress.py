"""Threads work, large values are measured without the interpreter's lock, and meanwhile recordings
begin and end and processes fork: nothing is lost and nothing breaks."""

import json
import pathlib
import subprocess
import sys

import pytest

from tests.support import compiler, recording

CHILD = pathlib.Path(__file__).with_name("stress_child.py")

pytestmark = pytest.mark.usefixtures("compiler_module")

SOURCE = b"""\
import numpy

large = numpy.zeros(300_000)


def turn(k, counts, count):
    for i in range(count):
        small = numpy.full(3, i)
        big = large[k:]
        out = {"both": [small, big], "text": str(i)}
        total = k + i
    return out


def work(k, counts, is_over):
    while not is_over.is_set():
        out = turn(k, counts, 5)
        counts[k] += 1


def generate(k):
    for i in range(3):
        got = yield i
"""


@pytest.mark.parametrize("seconds", [2, pytest.param(60, marks=pytest.mark.slow)])
def test_recordings_begin_and_end(seconds, tmp_path):
    made = tmp_path / "working.py"
    made.write_bytes(compiler.instrument(SOURCE, "working.py", all=True).text)
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(CHILD), str(made), str(tmp_path), str(seconds)],
        env=recording.environment("off"),
        capture_output=True,
        text=True,
        timeout=60 + 10 * seconds,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stderr == ""
    told = json.loads((tmp_path / "told.json").read_text())
    assert len(told) > 10
    assert sum(events for events, _ in told) > 1000
    for number, (events, lost) in enumerate(told):
        found = recording.count_events(tmp_path / f"{number}.mtrace")
        assert lost == 0
        assert found == events or (number % 2 and 50 <= found <= events)
    for path in tmp_path.glob("*.*.mtrace"):
        assert recording.count_events(path) > 0
