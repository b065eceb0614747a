"""The trees of made traces, line by line. MONITORCH_UPDATE_GOLDEN=1 writes what comes out now; read
the difference before you commit it."""

import os
import pathlib

import pytest

from tests.trace import made, scenarios, tracked_scenarios

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"
ALL = {**scenarios.GOLDEN, **tracked_scenarios.GOLDEN}
IS_UPDATING = os.environ.get("MONITORCH_UPDATE_GOLDEN") == "1"


@pytest.mark.parametrize("name", ALL)
def test_tree(name, tmp_path):
    scenario, words = ALL[name]
    path = scenario().write(tmp_path / "run.mtrace")
    run = made.show(*words, path)
    assert run.stderr == ""
    assert run.returncode == 0
    golden = GOLDEN / f"{name}.txt"
    if IS_UPDATING:
        golden.write_text(run.stdout, encoding="utf-8")
    assert run.stdout == golden.read_text(encoding="utf-8")


def test_nothing_is_left_over():
    assert {p.stem for p in GOLDEN.glob("*.txt")} == {*ALL, "program", "model"}
