"""A real program, instrumented, recorded and shown: golden/program.txt is its tree."""

import os
import pathlib
import subprocess
import sys

import pytest

from tests.support import paths
from tests.trace import made

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE / "golden" / "program.txt"


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "program.py").write_bytes((HERE / "program.py").read_bytes())
    subprocess.run(
        [paths.COMMAND, "--all", "program.py", "-o", "traced.py"], cwd=folder, check=True
    )
    environment = dict(os.environ, MONITORCH="run.mtrace", PYTHONPATH=str(paths.PYTHON_PATH))
    subprocess.run([sys.executable, "traced.py"], cwd=folder, env=environment, check=True)
    return folder / "run.mtrace"


def test_tree(trace):
    run = made.show(trace)
    assert (run.stderr, run.returncode) == ("", 0)
    if os.environ.get("MONITORCH_UPDATE_GOLDEN") == "1":
        GOLDEN.write_text(run.stdout, encoding="utf-8")
    assert run.stdout == GOLDEN.read_text(encoding="utf-8")


def test_source_lines_are_those_of_the_original(trace):
    source = (HERE / "program.py").read_text().splitlines()
    shown = made.show("--source", trace).stdout.splitlines()
    numbered = [line.partition("| ") for line in shown if line.strip()[0].isdigit()]
    numbered = [parts for parts in numbered if parts[1]]
    assert len(numbered) > 30
    for number, _, text in numbered:
        assert text == source[int(number) - 1].strip()
