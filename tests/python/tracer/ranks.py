"""Runs a function in several processes that form a gloo group, quickly: they are forked from a
server that has imported torch."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import traceback
from dataclasses import dataclass

from tests.support import recording

recording.package()

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["torch", "torch.distributed", "torch._dynamo", "numpy"])


@dataclass
class Outcome:
    """Of one rank: what its function gave back, or how it ended."""

    result: object = None
    error: str = ""
    exitcode: int | None = None


def run(function, world, *arguments, seconds=240):
    """Calls function(rank, world, *arguments) in each rank; it stands in a module of the tests."""
    with tempfile.TemporaryDirectory() as folder:
        processes = [
            _context.Process(target=_begin, args=(function, rank, world, folder, arguments))
            for rank in range(world)
        ]
        for process in processes:
            process.start()
        outcomes = []
        for rank, process in enumerate(processes):
            process.join(seconds)
            is_stuck = process.is_alive()
            if is_stuck:
                process.kill()
                process.join()
            outcome = _read(os.path.join(folder, f"result{rank}"))
            outcome.exitcode = None if is_stuck else process.exitcode
            outcomes.append(outcome)
    return outcomes


def results(function, world, *arguments, seconds=240):
    """The same where all must end well."""
    outcomes = run(function, world, *arguments, seconds=seconds)
    for rank, outcome in enumerate(outcomes):
        assert outcome.exitcode == 0 and not outcome.error, f"rank {rank}: {outcome}"
    return [outcome.result for outcome in outcomes]


def kill_self():
    os.kill(os.getpid(), signal.SIGKILL)


def _read(path):
    if not os.path.exists(path):
        return Outcome()
    with open(path, "rb") as file:
        return pickle.load(file)


def _begin(function, rank, world, folder, arguments):
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    sys.stdout = sys.stderr = open(os.devnull, "w")
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=world
    )
    dist.barrier()  # on a busy machine one may have ended before another has met all
    outcome = Outcome()
    try:
        outcome.result = function(rank, world, *arguments)
    except BaseException:
        outcome.error = traceback.format_exc()
    with open(os.path.join(folder, f"result{rank}.new"), "wb") as file:
        pickle.dump(outcome, file)
    os.rename(os.path.join(folder, f"result{rank}.new"), os.path.join(folder, f"result{rank}"))
    if not outcome.error:
        dist.destroy_process_group()
