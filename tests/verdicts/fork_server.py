"""Runs modules as `python -m` does, each in a fork of this process, which has imported torch.

Each line of standard input is one, as JSON: [folder to run in, [module, arguments…], variables of
its environment]; a line of standard output answers it: [exit code, what it wrote]; the code of an
exception is 1.
"""

import atexit
import gc
import json
import os
import runpy
import sys
import tempfile

import torch
import torch._dynamo  # noqa: F401  what optimizers import


def leave():
    """Ends without taking torch apart, which takes ten times as long as a program here."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(hasattr(sys, "last_type"))


def run_here(folder, words, variables, output):
    """In a new process: ends with it."""
    atexit.register(leave)  # what is registered later is called before
    os.chdir(folder)
    os.environ.update(variables)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.path[0] = folder
    sys.argv = words
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    sys.exit(0)


def main():
    torch.nn.Linear(1, 1)(torch.zeros(1, 1))
    gc.freeze()
    for line in sys.stdin:
        with tempfile.TemporaryFile() as output:
            process = os.fork()
            if process == 0:
                run_here(*json.loads(line), output.fileno())
            _, status = os.waitpid(process, 0)
            output.seek(0)
            told = output.read().decode(errors="backslashreplace")
            print(json.dumps((os.waitstatus_to_exitcode(status), told)), flush=True)


if __name__ == "__main__":
    main()
