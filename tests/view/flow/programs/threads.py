"""Threads that work at the same time, each on its own; they take turns."""
# begin
import threading

import numpy as np

turn = threading.Lock()


def work(number, results):
    with turn:
        mine = np.arange(3) + number
        squared = mine * mine
        results[number] = squared


results = {}
workers = [threading.Thread(target=work, args=(number, results)) for number in range(3)]
for worker in workers:
    worker.start()
    worker.join()
total = results[0] + results[1] + results[2]
# end
