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


class Server:
    """A process that has imported torch, and runs programs while the `with` block lasts."""

    def __init__(self, **variables):
        # Threads that wait do not spin: programs as short as these would do little else.
        environment = {**recording.environment("off"), "OMP_WAIT_POLICY": "PASSIVE", **variables}
        self._process = subprocess.Popen(
            [sys.executable, SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self._process.communicate(timeout=300)
        assert self._process.returncode == 0

    def run(self, folder, words, **variables):
        """The Run of the words after `python -m`, in the folder; it has torch already."""
        job = str(folder), [str(word) for word in words], variables
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return Run(*json.loads(self._process.stdout.readline()))


def run(jobs, **variables):
    """The Run of each of `jobs`, which are pairs (folder to run in, words after `python -m`)."""
    with Server(**variables) as server:
        return [server.run(folder, words) for folder, words in jobs]


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
