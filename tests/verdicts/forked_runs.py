"""Many short programs under `python -m monitorch run`, each in a process of its own.

torch is imported but once: fork_server.py has imported it, and forks for each of them.
"""

import json
import pathlib
import subprocess
import sys

from tests.support import recording

SERVER = pathlib.Path(__file__).with_name("fork_server.py")


class Run:
    """A program that has ended: its exit code, and what it wrote to both outputs."""

    def __init__(self, code, output):
        self.code, self.output = code, output


def run(jobs, **variables):
    """The Run of each of `jobs`, which are pairs (folder to run in, words after `python -m`)."""
    asked = [(str(folder), [str(word) for word in words]) for folder, words in jobs]
    done = subprocess.run(
        [sys.executable, SERVER],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        # Threads that wait do not spin: programs as short as these would do little else.
        env={**recording.environment("off"), "OMP_WAIT_POLICY": "PASSIVE", **variables},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return [Run(*told) for told in json.loads(done.stdout)]


def record(programs, **variables):
    """Records the Run of each of `programs`, which are (script, trace, *options of run)."""
    runs = run(
        [
            (script.parent, ["monitorch", "run", "-q", "-o", trace, *options, script])
            for script, trace, *options in programs
        ],
        **variables,
    )
    for (script, *_), done in zip(programs, runs):
        assert done.code == 0, f"{script}: {done.output}"
    return runs
