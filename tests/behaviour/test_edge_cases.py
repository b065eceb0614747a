"""Edge cases behave the same original, instrumented and off, instrumented and on."""

import subprocess

import pytest

from tests.behaviour.edge_cases import CASES
from tests.behaviour.run_edge_cases import is_for_this_python, problems_of
from tests.support import paths

pytestmark = pytest.mark.usefixtures("compiler_module")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("is_traced", [False, True], ids=["plain", "traced"])
def test_edge_case(case, is_traced):
    if not is_for_this_python(case, is_traced):
        pytest.skip("syntax of a later Python, or no line events to compare")
    assert problems_of(case, is_traced) == []


@pytest.mark.parametrize("version, python", paths.other_pythons())
def test_edge_cases_elsewhere(version, python):
    words = [python, "-m", "tests.behaviour.run_edge_cases"]
    run = subprocess.run(words, cwd=paths.ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr[-2000:]


def test_names_are_unique():
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))
