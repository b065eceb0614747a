"""What every command that reads traces says of a trace itself, in the same words."""


import pytest

from tests.support import viewer
from tests.trace.made import numbered

UNFINISHED = (
    "remark: the recording is unfinished: its process was killed, ended by "
    "os._exit, or is still recording; the events so far were {}"
)
# What each command calls what it does with a trace, and its other words.
COMMANDS = {
    "show": ("shown", []),
    "graph": ("drawn", ["--scalars", "--max-nodes=9", "-o", "out.svg"]),
    "why": ("read", []),
    "check": ("checked", []),
    "diff": ("compared", []),
    "sql": ("queried", ["select count(*) from events"]),
    "export": ("written", ["--csv=out.csv"]),
}


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("remarks")
    killed = numbered(100)
    killed.kill()
    whole = numbered(100).write(folder / "whole.mtrace")
    cut = folder / "cut.mtrace"
    cut.write_bytes(whole.read_bytes()[:-40])
    return {
        "killed": killed.write(folder / "killed.mtrace"),
        "limit": numbered(20000, size_limit=1 << 18).write(folder / "limit.mtrace"),
        "cut": cut,
        "ring": numbered(20000, last=1000).write(folder / "ring.mtrace"),
    }


def run(command, trace, folder, *options):
    _, words = COMMANDS[command]
    names = [trace, trace] if command == "diff" else [trace]
    return viewer.run(command, *options, *names, *words, cwd=folder)


@pytest.mark.parametrize("command", COMMANDS)
def test_that_the_recording_was_not_finished(command, traces, tmp_path):
    path = traces["killed"]
    remark = f"{path}: {UNFINISHED.format(COMMANDS[command][0])}"
    answer = run(command, path, tmp_path)
    assert answer.returncode == 0
    assert remark in answer.stderr.splitlines()
    assert run(command, path, tmp_path, "-q").stderr == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_that_events_were_lost(command, traces, tmp_path):
    path = traces["limit"]
    answer = run(command, path, tmp_path)
    assert answer.returncode == 0
    lines = [line for line in answer.stderr.splitlines() if "recording had" in line]
    assert lines[0].startswith(f"{path}: remark: the last ")
    assert len(set(lines)) == 1
    assert run(command, path, tmp_path, "-q").stderr == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_that_a_part_could_not_be_read(command, traces, tmp_path):
    """Asked for or not, and with exit code 3."""
    path = traces["cut"]
    answer = run(command, path, tmp_path, "-q")
    assert answer.returncode == 3
    assert answer.stderr.startswith(f"{path}: ")


@pytest.mark.parametrize("command", ["why", "check", "diff"])
def test_that_a_ring_has_dropped_events(command, traces, tmp_path):
    """Those whose answer may lie there say so."""
    path = traces["ring"]
    answer = run(command, path, tmp_path)
    assert answer.returncode == 0
    assert f"{path}: remark: the trace keeps only its newest events" in answer.stderr
    assert run(command, path, tmp_path, "-q").stderr == ""
