"""Forks programs that record and are killed: python killed_child.py PLAN.json

The plan names the instrumented source, the folder, the kind of values ("numpy" or "torch"), the
options of the recording and the deaths: (name of the trace, "kill" or "segfault", seconds). Writes
FOLDER/counts.json: for each trace what each thread had counted when the process was gone, which
is what had been recorded at least.
"""

import ctypes
import importlib.util
import json
import mmap
import os
import resource
import signal
import sys
import threading
import time
import traceback

THREADS = 3


def maker(kind):
    if kind == "numpy":
        import numpy

        return lambda n: numpy.full(4, n, dtype=numpy.float64)
    import torch

    torch.set_num_threads(1)
    return lambda n: torch.full((4,), n, dtype=torch.float64)


def is_at_work(counts):
    return all(counts[slot] for slot in range(THREADS))


def fall():
    """What a program that follows a wild pointer does."""
    ctypes.string_at(0)


def run_child(plan, make, counts, death):
    name, how, delay = death
    # All threads get their turn soon. The recording begins in here: the parent records nothing.
    sys.setswitchinterval(0.0002)
    import monitorch

    with monitorch.record(os.path.join(plan["folder"], name), **plan["options"]):
        spec = importlib.util.spec_from_file_location("working", plan["source"])
        working = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(working)
        for slot in range(THREADS):
            arguments = (make, counts, slot)
            name = f"slot {slot}"
            threading.Thread(target=working.work, args=arguments, name=name, daemon=True).start()
        while not is_at_work(counts):
            time.sleep(0.001)
        if how == "segfault":
            time.sleep(delay)
            fall()
        time.sleep(60)


def run_death(plan, make, memory, death):
    counts = memoryview(memory).cast("Q")
    for slot in range(THREADS):
        counts[slot] = 0
    child = os.fork()
    if child == 0:
        try:
            run_child(plan, make, counts, death)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    ended, status = 0, 0
    while not is_at_work(counts) and not ended:
        time.sleep(0.0005)
        ended, status = os.waitpid(child, os.WNOHANG)
    if death[1] == "kill" and not ended:
        time.sleep(death[2])
        os.kill(child, signal.SIGKILL)
    if not ended:
        _, status = os.waitpid(child, 0)
    told = {"signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None}
    told["counts"] = [counts[slot] for slot in range(THREADS)]
    return told


def main():
    with open(sys.argv[1]) as file:
        plan = json.load(file)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    make = maker(plan["kind"])
    make(0)
    memory = mmap.mmap(-1, mmap.PAGESIZE)
    told = {death[0]: run_death(plan, make, memory, death) for death in plan["deaths"]}
    with open(os.path.join(plan["folder"], "counts.json"), "w") as file:
        json.dump(told, file)


if __name__ == "__main__":
    main()
