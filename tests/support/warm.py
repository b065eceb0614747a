"""A `python` that has imported torch already, for tests that start many programs.

To import torch takes longer than most programs of these tests. `warm.python()` is the path of a program that
takes the words of `python` and does what it does, in a fork of a process that has torch: to be started in
the place of sys.executable, by a test or by bash. What a fork cannot do as a new process would, options of the
interpreter or variables that are read when it starts, it leaves to sys.executable; so it does no harm, and is
only slower. Tests of what happens while torch is being imported, or of which modules are, start
sys.executable itself.

warm_server.py forks; warm_client.py is what is started.
"""

import atexit
import contextlib
import functools
import importlib.util
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


@functools.lru_cache(None)
def python():
    """The path of the program. What it needs is started at the first call, and ends with this process."""
    # Counts of a build that counts are written by an end that forks do not come to.
    if importlib.util.find_spec("torch") is None or os.environ.get("MONITORCH_MODE") == "coverage":
        return sys.executable
    running = server()
    atexit.register(running.__exit__, None, None, None)
    return running.__enter__()


@contextlib.contextmanager
def server(**variables):
    """The path of such a program, of a process of its own that forks as long as the block lasts and was
    started with the variables in its environment."""
    with tempfile.TemporaryDirectory(prefix="monitorch-warm-") as folder:
        address, program = os.path.join(folder, "socket"), pathlib.Path(folder, "python")
        words = [sys.executable, "-I", "-S", str(HERE / "warm_client.py"), sys.executable, address]
        program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        program.chmod(0o755)
        environment = {k: v for k, v in os.environ.items() if k not in ("MONITORCH", "PYTHONPATH")}
        running = subprocess.Popen(
            [sys.executable, str(HERE / "warm_server.py"), address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**environment, **variables},
            start_new_session=True,
        )
        with running:
            assert running.stdout.readline() == b"ready\n", "warm_server.py did not start"
            yield str(program)
            running.stdin.close()
