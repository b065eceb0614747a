"""Random programs: what compiled before compiles after, with the same tree and lines."""

import random
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.properties import running
from tests.properties.check_source import check_source, compile_quietly
from tests.properties.programs import program
from tests.support import paths, reduce

pytestmark = pytest.mark.usefixtures("compiler_module")

COMMON = dict(
    deadline=None, database=None, suppress_health_check=list(HealthCheck), derandomize=True
)


def make(seed):
    return program(random.Random(seed).randrange).encode()


def assert_sound(source, selection):
    report = check_source(source, "program.py", selection)
    if not report.problems:
        return
    kind = report.problems[0].split(":")[0]

    def fails(smaller):
        found = check_source(smaller, "program.py", selection)
        return found.compiles and any(p.startswith(kind) for p in found.problems)

    if report.compiles:
        source = reduce.reduce_source(source, fails)
        report = check_source(source, "program.py", selection)
    shown = "\n".join(report.problems)
    pytest.fail(f"{shown}\n--- source: {source!r}\n--- text: {report.text!r}")


def test_most_random_programs_compile():
    compiled = [compile_quietly(make(seed), "program.py") is None for seed in range(100)]
    assert sum(compiled) > 50


@settings(max_examples=250, **COMMON)
@given(st.integers(0, 2**40))
def test_everything_selected(seed):
    assert_sound(make(seed), {"all": True})


@settings(max_examples=120, **COMMON)
@given(st.integers(0, 2**40))
def test_every_line_selected(seed):
    assert_sound(make(seed), {"all": True, "every_line": True})


@settings(max_examples=80, **COMMON)
@given(st.integers(0, 2**40), st.integers(1, 60), st.integers(0, 30))
def test_lines_and_functions_selected(seed, first, count):
    selection = {"lines": [(first, first + count)], "functions": ["*f", "A.*"]}
    assert_sound(make(seed), selection)


@settings(max_examples=50, **COMMON)
@given(st.integers(0, 2**40))
def test_forward_selected(seed):
    assert_sound(make(seed), {"forward": True})


@settings(max_examples=50, **COMMON)
@given(st.integers(0, 2**40))
def test_spy_selected(seed):
    assert_sound(make(seed), {"spy": ["*"]})


@pytest.mark.slow
def test_many_random_programs():
    for seed in range(20_000):
        assert_sound(make(seed), {"all": True})


@settings(max_examples=150, **COMMON)
@given(st.integers(0, 2**40))
def test_running_is_the_same_traced(seed):
    found = running.complaint(seed)
    assert found is None, found


@pytest.mark.parametrize("version, python", paths.other_pythons())
def test_running_is_the_same_elsewhere(version, python):
    words = [python, "-m", "tests.properties.running", "60"]
    run = subprocess.run(words, cwd=paths.ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr[-2000:]
