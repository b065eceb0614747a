"""Programs that a recorder could harm end as with `python`: files, output, exit code and the order at exit.

`make test` tries each program with `run` and in one of the other ways; with --slow all ways are tried.
"""

import os

import pytest

from tests.behaviour import hostile_runs
from tests.behaviour.hostile_programs import PROGRAMS, TORCH_PROGRAMS
from tests.support import compiler, warm

pytestmark = pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)")


def named(program):
    return program.name


def leave_out_of_a_sanitizer(program):
    """The sanitizer answers the signal itself, with a report that names addresses."""
    if program.name == "segmentation_fault" and os.environ.get("MONITORCH_MODE") == "asan":
        pytest.skip("the sanitizer handles the signal")


def two_ways(number, program):
    """`run`, and one of the others, in turn."""
    others = [way for way in hostile_runs.ways_of(program) if way != "run"]
    return ["run", others[number % len(others)]]


@pytest.mark.parametrize("number", range(len(PROGRAMS)), ids=lambda number: PROGRAMS[number].name)
def test_ends_as_with_python(number, tmp_path):
    program = PROGRAMS[number]
    leave_out_of_a_sanitizer(program)
    found = hostile_runs.compare(program, two_ways(number, program), tmp_path)
    assert not found, "\n".join(found)


@pytest.mark.torch
@pytest.mark.parametrize("program", TORCH_PROGRAMS[:2], ids=named)
def test_memory_that_is_replaced(program, tmp_path):
    found = hostile_runs.compare(program, ["run"], tmp_path, warm.python())
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=named)
def test_in_all_ways(program, tmp_path):
    leave_out_of_a_sanitizer(program)
    found = hostile_runs.compare(program, hostile_runs.ways_of(program), tmp_path)
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("program", TORCH_PROGRAMS, ids=named)
def test_in_all_ways_with_torch(program, tmp_path):
    found = hostile_runs.compare(program, hostile_runs.ways_of(program), tmp_path)
    assert not found, "\n".join(found)


def test_a_difference_is_found(tmp_path):
    """What the other tests compare is all there."""
    program = PROGRAMS[0]
    seen = hostile_runs.run(program, None, "script", tmp_path / "plain")
    assert seen["exit code"] == 0 and seen["file log.txt"] == "at the top\n"
    for what in ("exit code", "file log.txt", "stderr, with source lines"):
        assert len(hostile_runs.differences(program, "run", seen, {**seen, what: "other"})) == 1
    assert len({program.name for program in PROGRAMS + TORCH_PROGRAMS}) >= 30
