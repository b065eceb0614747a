"""Recording disturbs nothing that a program can see of its tensors, and keeps nothing alive."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from tests.support import compiler, paths, recording

FOLDER = pathlib.Path(__file__).resolve().parent
PROGRAMS = FOLDER / "fidelity_programs.py"

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

GROWTH = b"""\
import numpy
import torch


class Box:
    def __init__(self, value):
        self.value = value


def turn(i, x):
    y = x + i
    y.mul_(2)
    out = {"y": y, "more": [y, (i, str(i))]}
    box = Box(y)
    box.value = numpy.full(i % 7, i)
    z = f"a text that is new {i}"
    return out, box, z


def run(count):
    x = torch.ones(3, 5)
    for i in range(count):
        given = turn(i, x)
    return given
"""


def run_child(folder, script, source, mode):
    result, trace = folder / "result.json", folder / "run.mtrace"
    words = [sys.executable, str(FOLDER / script), str(source), str(result)]
    environment = recording.environment(mode, trace)
    run = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stderr == ""
    if mode == "on":
        assert recording.count_events(trace) > 500
    return json.loads(result.read_text())


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return run_child(tmp_path_factory.mktemp("plain"), "fidelity_child.py", PROGRAMS, "off")


@pytest.mark.parametrize("mode", recording.MODES)
def test_programs_see_the_same(mode, plain, tmp_path):
    made = tmp_path / "fidelity_programs.py"
    made.write_bytes(compiler.instrument(PROGRAMS.read_bytes(), str(PROGRAMS), all=True).text)
    told = run_child(tmp_path, "fidelity_child.py", made, mode)
    for name in plain:
        assert told[name] == plain[name], name
    assert told.keys() == plain.keys()


def test_memory_does_not_grow(tmp_path):
    made = tmp_path / "growth.py"
    made.write_bytes(compiler.instrument(GROWTH, "growth.py", all=True).text)
    told = run_child(tmp_path, "growth_child.py", made, "on")
    assert recording.count_events(tmp_path / "run.mtrace") > 100_000
    assert told["objects"] < 50
    assert told["blocks"] < 500
    if os.environ.get("MONITORCH_MODE") != "asan":  # that keeps what was freed
        assert told["memory"] < 4_000_000
