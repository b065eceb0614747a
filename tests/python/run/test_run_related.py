"""Which traces belong to one run: what is told of them, and what the next run into the path removes."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.python.run.test_run import good
from tests.python.run.test_run_equality import make_files
from tests.support import compiler, paths, recording

pytestmark = pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)")

FILES = {
    "program.py": """
    import multiprocessing, os, subprocess, sys
    def work(is_deep):
        at_work = 1
        if is_deep and os.fork() == 0:
            in_grandchild = 2
            os._exit(0)
        if is_deep:
            os.wait()
    if __name__ == "__main__":
        at_main = 0
        for kind in sys.argv[1:]:
            if kind == "program":
                words = [sys.executable, "-m", "monitorch", "run", "-q", "other.py"]
                subprocess.run(words, check=True)
                continue
            context = multiprocessing.get_context(kind.removeprefix("deep-"))
            process = context.Process(target=work, args=(kind.startswith("deep-"),))
            process.start()
            process.join()
    """,
    "other.py": "in_other = 1\n",
    "slow.py": """
    import sys
    at_slow = 1
    print("started", flush=True)
    sys.stdin.read()
    """,
}
LAUNCHER = """
import os, subprocess, sys
world, *words = sys.argv[1:]
for rank in range(int(world)):
    os.environ.update(RANK=str(rank), WORLD_SIZE=world)
    subprocess.run([sys.executable, "-m", "monitorch", "run", "-q", "program.py", *words], check=True)
"""


@pytest.fixture
def folder(tmp_path):
    make_files(tmp_path, FILES)
    return tmp_path


def traces(folder):
    return sorted(p.name for p in folder.glob("*.mtrace"))


@pytest.mark.parametrize(
    "kinds, count",
    [(["fork"], 1), (["spawn"], 1), (["forkserver"], 1), (["program"], 1), (["deep-fork", "deep-spawn", "program"], 5)],
)
def test_the_next_run_removes_traces_of_child_processes(folder, kinds, count):
    done = good(folder, "program.py", *kinds)
    word = "1 trace of a child process" if count == 1 else f"{count} traces of child processes"
    assert word in done.stderr
    assert len(traces(folder)) == count + 1
    done = good(folder, "program.py")
    assert traces(folder) == ["run.mtrace"]
    assert "child" not in done.stderr


def test_other_files_stay(folder):
    """Copies, traces of other runs, of other names, and whatever is no trace."""
    good(folder, "program.py", "fork")
    (child,) = [name for name in traces(folder) if name != "run.mtrace"]
    for name in ("run.mine.mtrace", "run.1.mtrace", "run2.1.mtrace", "mine.mtrace"):
        shutil.copy(folder / child, folder / name)
    (folder / "run.2.mtrace").write_bytes(b"no trace")
    (folder / "run.3.mtrace").write_bytes(b"")
    good(folder, "-o", "other.mtrace", "program.py", "fork")
    others = set(traces(folder)) - {child}
    good(folder, "program.py")
    assert set(traces(folder)) == others


def test_a_recording_that_was_moved_keeps_its_children(folder):
    good(folder, "program.py", "fork")
    (folder / "run.mtrace").rename(folder / "kept.mtrace")
    before = traces(folder)
    good(folder, "program.py")
    assert traces(folder) == sorted([*before, "run.mtrace"])


def test_a_damaged_header_removes_nothing(folder):
    good(folder, "program.py", "fork")
    with open(folder / "run.mtrace", "r+b") as file:
        file.truncate(60)
    before = traces(folder)
    good(folder, "program.py")
    assert traces(folder) == before


def launch(folder, world, *words):
    environment = recording.environment("off")
    words = [sys.executable, "-c", LAUNCHER, str(world), *words]
    subprocess.run(words, cwd=folder, env=environment, check=True)


def test_ranks_of_an_earlier_larger_job(folder):
    launch(folder, 4, "fork", "spawn")
    assert len(traces(folder)) == 12
    launch(folder, 2)
    assert traces(folder) == ["run.rank0.mtrace", "run.rank1.mtrace"]


def test_ranks_of_another_job_stay(folder):
    """What stands behind a rank today is not of the job whose rank 0 is replaced."""
    launch(folder, 3)
    (folder / "run.rank2.mtrace").rename(folder / "kept")
    launch(folder, 2)
    (folder / "kept").rename(folder / "run.rank2.mtrace")
    launch(folder, 2)
    assert traces(folder) == ["run.rank0.mtrace", "run.rank1.mtrace", "run.rank2.mtrace"]


def start(folder, script):
    """A program that goes on until its standard input ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "monitorch", "run", script],
        cwd=folder,
        env=recording.environment("off"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "started\n"
    return process


def test_another_program_with_the_same_path_is_no_child(folder):
    first = start(folder, "slow.py")
    done = good(folder, "program.py")
    _, errors = first.communicate("")
    assert "child" not in errors
    assert f"run.mtrace was being written by another program, process {first.pid}" in done.stderr
    assert len(traces(folder)) == 2
    good(folder, "program.py")
    assert len(traces(folder)) == 2  # it is another program's yet


def test_a_child_that_is_still_recorded_stays(folder):
    """Its parent has ended, and a new run has the path."""
    program = """
    import subprocess, sys
    words = [sys.executable, "-m", "monitorch", "run", "slow.py"]
    child = subprocess.Popen(words)
    at_leave = 1
    while child.poll() is None and not any(".mtrace" in n and n != "run.mtrace" for n in __import__("os").listdir()):
        pass
    """
    make_files(folder, {"leave.py": program})
    parent = start(folder, "leave.py")
    parent.wait(60)
    (child,) = [name for name in traces(folder) if name != "run.mtrace"]
    good(folder, "program.py")
    assert traces(folder) == sorted([child, "run.mtrace"])
    parent.communicate("")  # the child ends too
    assert len(recording.read(folder / child).events) == 1


def test_the_environment_and_the_program(folder):
    """In recordings by MONITORCH and record() as in `monitorch run`."""
    make_files(
        folder,
        {
            "forks.py": """
            import os, sys
            def fork():
                at_parent = 1
                if os.fork() == 0:
                    at_child = 1
                    os._exit(0)
                os.wait()
            if __name__ == "__main__":
                for i in range(int(sys.argv[1])):
                    fork()
            """
        },
    )
    subprocess.run([paths.COMMAND, "-q", "--all", "--in-place", "forks.py"], cwd=folder, check=True)
    environment = recording.environment("on", "run.mtrace")
    recording.run_python("forks.py", "2", folder=folder, env=environment)
    assert len(traces(folder)) == 3
    program = (
        "import monitorch, forks\nwith monitorch.record('run.mtrace') as r: forks.fork()\n"
        "print(len(r.summary.paths))"
    )
    done = recording.run_python("-c", program, folder=folder, env=recording.environment("off"))
    assert done.stdout == "2\n", done.stderr
    assert len(traces(folder)) == 2
    assert os.path.exists(folder / "run.mtrace")
