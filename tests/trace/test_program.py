"""Real programs, instrumented, recorded and shown: golden/NAME.txt is the tree of NAME.py."""

import os
import pathlib
import subprocess
import sys

import pytest

from tests.support import paths
from tests.trace import made

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ["program", pytest.param("model", marks=pytest.mark.torch)]


def record(name, folder):
    """The trace of tests/trace/NAME.py."""
    if name == "model":
        pytest.importorskip("torch")
    (folder / f"{name}.py").write_bytes((HERE / f"{name}.py").read_bytes())
    subprocess.run(
        [paths.COMMAND, "--all", f"{name}.py", "-o", "traced.py"], cwd=folder, check=True
    )
    environment = dict(os.environ, MONITORCH="run.mtrace", PYTHONPATH=str(paths.PYTHON_PATH))
    subprocess.run([sys.executable, "traced.py"], cwd=folder, env=environment, check=True)
    return folder / "run.mtrace"


@pytest.mark.parametrize("name", NAMES)
def test_tree(name, tmp_path):
    run = made.show(record(name, tmp_path))
    assert (run.stderr, run.returncode) == ("", 0)
    golden = HERE / "golden" / f"{name}.txt"
    if os.environ.get("MONITORCH_UPDATE_GOLDEN") == "1":
        golden.write_text(run.stdout, encoding="utf-8")
    assert run.stdout == golden.read_text(encoding="utf-8")


def test_source_lines_are_those_of_the_original(tmp_path):
    source = (HERE / "program.py").read_text().splitlines()
    shown = made.show("--source", record("program", tmp_path)).stdout.splitlines()
    numbered = [line.partition("| ") for line in shown if line.strip()[0].isdigit()]
    numbered = [parts for parts in numbered if parts[1]]
    assert len(numbered) > 30
    for number, _, text in numbered:
        assert text == source[int(number) - 1].strip()
