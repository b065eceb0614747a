"""`monitorch diff` where there is little to compare: nothing in common, ranks of an earlier job, values of the
process itself."""

import os
import subprocess
import sys

import pytest

from tests.support import recording, viewer

pytestmark = pytest.mark.usefixtures("compiler_module")


def record(folder, text, trace="run.mtrace", options=(), **variables):
    folder.mkdir(exist_ok=True)
    script = folder / "prog.py"
    script.write_text(text)
    environment = {**recording.environment("off"), **variables}
    words = [sys.executable, "-m", "monitorch", "run", "-q", "-o", folder / trace, *options, script]
    subprocess.run(list(map(str, words)), check=True, env=environment, cwd=folder)
    return folder / trace


def test_nothing_in_common(tmp_path):
    """A selection that matches nothing, on one side or both, is no proof that two runs are equal."""
    full = record(tmp_path / "full", "x = 1\ny = x + 1\n")
    none = record(tmp_path / "none", "print()\n")
    for a, b, counts in (
        (none, none, "A has 0 events, B has 0"),
        (full, none, "A has 2 events, B has 0"),
        (none, full, "A has 0 events, B has 2"),
    ):
        done = viewer.run("diff", a, b)
        assert done.returncode == 1, done.stdout
        assert done.stdout.startswith(f"nothing to compare: {counts}, and no event is in both")
        assert "--include" in done.stdout and "lines that only" not in done.stdout
    assert viewer.run("diff", full, full).returncode == 0


def test_ranks_of_an_earlier_job(tmp_path):
    for size in (4, 2):
        for rank in range(size):
            variables = {"RANK": str(rank), "WORLD_SIZE": str(size)}
            record(tmp_path / "job", f"x = {size}\n", **variables)
    job = tmp_path / "job"
    assert len(list(job.glob("run.rank*.mtrace"))) == 4
    done = viewer.run("diff", "--ranks", job / "run.mtrace")
    assert (done.returncode, done.stdout[:6]) == (0, "equal:"), done.stdout
    said = "not compared: an earlier job wrote this trace (WORLD_SIZE of rank 0 is 2)"
    assert [line.split(": ", 1)[1] for line in done.stderr.splitlines()] == [said] * 2
    assert [f"rank{rank}.mtrace" in done.stderr for rank in range(4)] == [False, False, True, True]


PROCESS = """\
import os, time
class Box: pass
box = Box()
text = f"{box!r} of {__file__}"
inside = [os.path.dirname(__file__), repr(box)]
process = os.getpid()
size = len(__file__)
def work(rank, world_size):
    number = rank * 10
    return number
number = work(int(os.environ["RANK"]), 2)
x = 3
"""


def test_values_of_the_process(tmp_path):
    traces = [
        record(tmp_path / name, PROCESS, f"{name}.mtrace", RANK=rank, WORLD_SIZE="1")
        for name, rank in (("first", "0"), ("another", "1"))
    ]
    done = viewer.run("diff", *traces)
    assert (done.returncode, done.stdout[:7]) == (0, "equal: "), done.stdout
    text = PROCESS.replace("x = 3", "x = 4")
    other = record(tmp_path / "third", text, RANK="1", WORLD_SIZE="1")
    assert f"third{os.sep}prog.py:12: first divergence: x: 4, A has 3" in viewer.run(
        "diff", traces[0], other
    ).stdout
    text = PROCESS.replace('f"{box', 'f"!{box')
    other = record(tmp_path / "fourth", text, RANK="1", WORLD_SIZE="1")
    assert "prog.py:4: first divergence: text" in viewer.run("diff", traces[0], other).stdout
