"""Full disks, room that is left on them, and files that killed processes have left."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.python.run.test_run import good, run
from tests.support import compiler, recording, viewer

pytestmark = pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)")

GIGABYTE = 1_000_000_000
MANY = "for i in range(40000): x = i"
FEW = "x = 1"


@pytest.mark.parametrize("number", range(1, 8))
def test_a_full_disk_is_named(tmp_path, number):
    done = run(tmp_path, "run", "-o", "t.mtrace", "-c", FEW, MONITORCH_TEST_FAIL_WRITE=str(number))
    assert (done.returncode, done.stdout) == (3, "")
    message = done.stderr.removeprefix(f"monitorch run: {tmp_path}/t.mtrace: ")
    assert message.endswith(": No space left on device\n") and message != done.stderr


def test_a_folder_that_is_not_there_is_named(tmp_path):
    done = run(tmp_path, "run", "-o", "no/t.mtrace", "-c", FEW)
    assert done.returncode == 3
    assert done.stderr == "monitorch run: no/t.mtrace: No such file or directory\n"


# Room on the disk: its size, and what of it is free when recording begins


def record(folder, size, free, *words, code=MANY):
    disk = f"{int(size)}:{int(free)}"
    words = ["--record", "scalars=all", *words]
    return good(folder, *words, "-c", code, MONITORCH_TEST_DISK=disk).stderr


def left(size, free):
    """How much room this recording must leave."""
    part = size / 10 if free > size / 10 else free / 2
    return max(part, GIGABYTE)


@pytest.mark.parametrize(
    "size, free",
    [
        (100 * GIGABYTE, 10 * GIGABYTE + 1_000_000),  # a tenth
        (12 * GIGABYTE, 1.2 * GIGABYTE + 700_000),
        (5 * GIGABYTE, GIGABYTE + 300_000),  # less than 1 GB would be a tenth
        (100 * GIGABYTE, GIGABYTE + 500_000),  # less than a tenth is free
        (100 * GIGABYTE, 500),
        (64_000_000, 64_000_000),
    ],
)
def test_room_is_left(tmp_path, size, free):
    errors = record(tmp_path, size, free)
    kept = left(size, free)
    assert f"the last {kept / 1e9:.1f} GB to other files" in errors
    assert "the option size_limit lets it use them" in errors
    written = (tmp_path / "run.mtrace").stat().st_size
    room = max(free - kept, 0)
    assert written <= max(room, 131_072) and written >= room / 3
    assert recording.count_events(tmp_path / "run.mtrace") > 500  # up to there it is whole


@pytest.mark.parametrize(
    "size, free", [(100 * GIGABYTE, 50 * GIGABYTE), (100 * GIGABYTE, 4 * GIGABYTE)]
)
def test_a_disk_with_room(tmp_path, size, free):
    """Half of what is free may be used where a tenth is not."""
    assert "ended early" not in record(tmp_path, size, free)


def test_a_short_recording_needs_no_room(tmp_path):
    assert "ended early" not in record(tmp_path, 64_000_000, 64_000_000, code=FEW)


def test_a_limit_is_the_users(tmp_path):
    words = ["--record", "scalars=all,size_limit=1G", "-c", MANY]
    done = good(tmp_path, *words, MONITORCH_TEST_DISK="64000000:64000000")
    assert "ended early" not in done.stderr


def test_the_program_goes_on(tmp_path):
    words = ["--record", "scalars=all", "-c", MANY + "\nprint('done')"]
    done = good(tmp_path, *words, MONITORCH_TEST_DISK="1000:1000")
    assert done.stdout == "done\n"


# Files that killed processes have left


@pytest.fixture
def trace(tmp_path):
    record(tmp_path, 100 * GIGABYTE, 50 * GIGABYTE)
    return tmp_path / "run.mtrace"


def hidden(folder):
    return sorted(name for name in os.listdir(folder) if name.startswith("."))


def age(path, seconds=120):
    before = time.time() - seconds
    os.utime(path, (before, before))


@pytest.mark.parametrize("option", ["--csv=again.csv", "--sqlite=again.db"])
def test_what_a_killed_export_left_is_removed(trace, option):
    folder = trace.parent
    words = [viewer.PATH, "export", "run.mtrace", "--csv=first.csv", "--jsonl=-"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE) as process:
        while not hidden(folder):
            time.sleep(0.01)
        (left,) = hidden(folder)
        age(folder / left)
        assert viewer.run("export", "run.mtrace", option, cwd=folder).returncode == 0
        assert hidden(folder) == [left]  # it is being written: nobody reads the pipe
        process.send_signal(signal.SIGKILL)
    os.utime(folder / left)
    assert viewer.run("export", "run.mtrace", option, cwd=folder).returncode == 0
    assert hidden(folder) == [left]  # written to just now, as another machine may do
    age(folder / left)
    assert viewer.run("export", "run.mtrace", option, cwd=folder).returncode == 0
    assert hidden(folder) == []
    assert sorted(os.listdir(folder)) == sorted([option.partition("=")[2], "run.mtrace"])


def test_other_hidden_files_stay(trace):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    names = [
        f".monitorch-{os.getpid()}-0.tmp",
        f".monitorch-{dead.pid}-0.tmpx",
        f".monitorch-{dead.pid}.tmp",
        ".monitorch-0-0.tmp",
        ".monitorch--1-0.tmp",
        f"monitorch-{dead.pid}-0.tmp",
    ]
    folder = trace.parent
    (folder / f".monitorch-{dead.pid}-1.tmp").mkdir()
    for name in names:
        (folder / name).write_text("somebody's")
        age(folder / name)
    before = set(os.listdir(folder))
    assert viewer.run("export", "run.mtrace", "--csv=x.csv", cwd=folder).returncode == 0
    assert set(os.listdir(folder)) == before | {"x.csv"}
