"""Instrumented ahead of time, on import, or followed as it is: the same program gives the same picture.

The programs have a line `# begin`, from which on they are drawn, and a line `# end`.
"""

import concurrent.futures
import difflib
import os
import pathlib
import re
import subprocess

import pytest

from tests.support import dot, paths, recording, viewer

PROGRAMS = pathlib.Path(__file__).parent / "programs"
INSTRUMENT = paths.COMMAND
BEGIN = "import monitorch; monitorch.on(show=False, save=True, max_nodes=1000)"
END = 'monitorch.off(filename="flow.dot")'

pytestmark = [
    pytest.mark.usefixtures("compiler_module"),
    pytest.mark.skipif(
        not list(paths.PACKAGE.glob("_view*.so")), reason="what draws for Python is not built"
    ),
]


def as_case(path):
    uses_torch = "import torch" in path.read_text()
    return pytest.param(path, id=path.stem, marks=[pytest.mark.torch] if uses_torch else [])


CASES = [as_case(path) for path in sorted(PROGRAMS.glob("*.py"))]


def run(folder, *words):
    environment = {**os.environ, "PYTHONPATH": str(paths.PYTHON_PATH)}
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, env=environment, capture_output=True, text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def write_program(folder, source, marked):
    text = source.read_text()
    if marked:
        text = re.sub("^# begin$", BEGIN, text, flags=re.MULTILINE)
        text = re.sub("^# end$", END, text, flags=re.MULTILINE)
        assert BEGIN in text and END in text
    folder.mkdir()
    (folder / "program.py").write_text(text)


def described(folder, path="monitorch_outputs/flow.dot"):
    """What is drawn, told without the folder that it was made in."""
    text = (folder / path).read_text()
    return dot.describe(dot.read(text.replace(f"{folder}{os.sep}", "")))


def instrument(folder):
    run(folder, INSTRUMENT, "--all", "--quiet", "program.py", "-o", "traced.py")


def draw(folder):
    run(folder, viewer.PATH, "graph", "run.mtrace", "-o", "flow.dot", "--max-nodes", "1000")
    return described(folder, "flow.dot")


def at_once(*works):
    """Children of several ways run side by side; the first that fails is told."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for done in [pool.submit(*work) for work in works]:
            done.result()


def assert_same(one, other, ways):
    difference = difflib.unified_diff(one, other, *ways, lineterm="", n=0)
    assert one == other, "\n".join(difference)
    assert sum(line.startswith("node") for line in one) >= 5
    assert sum(line.startswith("edge") for line in one) >= 4


@pytest.mark.parametrize("program", CASES)
def test_program_that_says_what_is_drawn(program, tmp_path):
    for way in "abc":
        write_program(tmp_path / way, program, marked=True)
    python = recording.python_for(program.read_text())
    instrument(tmp_path / "a")
    at_once(
        (run, tmp_path / "a", python, "traced.py"),
        (run, tmp_path / "b", python, "-m", "monitorch", "run", "program.py"),
        (run, tmp_path / "c", python, "program.py"),
    )
    ahead, on_import, followed = (described(tmp_path / way) for way in "abc")
    assert_same(ahead, on_import, ("instrumented ahead", "instrumented on import"))
    assert_same(ahead, followed, ("instrumented ahead", "followed"))


@pytest.mark.parametrize("program", CASES)
def test_program_that_knows_of_nothing(program, tmp_path):
    for way in "ab":
        write_program(tmp_path / way, program, marked=False)
    instrument(tmp_path / "a")
    python = recording.python_for(program.read_text())
    records = [python, "-m", "monitorch", "run", "-o", "run.mtrace", "program.py"]
    at_once(
        (run, tmp_path / "a", "env", "MONITORCH=run.mtrace,quiet", python, "traced.py"),
        (run, tmp_path / "b", *records),
    )
    ahead, on_import = (draw(tmp_path / way) for way in "ab")
    assert_same(ahead, on_import, ("instrumented ahead", "instrumented on import"))


def test_there_are_programs_enough():
    assert len(CASES) >= 20
