"""Each thread has a file and an indent of its own."""

import threading

import numpy as np
from monitorch.tracker import auto_diff, var_tracker

ready = threading.Barrier(3)


@auto_diff
def step(x, by):
    ready.wait()
    return x * by


@var_tracker("x")
def work(number):
    x = np.full((2,), number, dtype=np.int64)
    for _ in range(2):
        ready.wait()
        x = step(x, number)


threads = [threading.Thread(target=work, args=(number,)) for number in (2, 3, 4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
