"""Starts and stops recordings while threads work: python stress_child.py SOURCE FOLDER SECONDS"""

import json
import os
import pathlib
import sys
import threading
import time
import warnings

import monitorch
from child_imports import load


def main():
    source, folder, seconds = sys.argv[1], pathlib.Path(sys.argv[2]), float(sys.argv[3])
    working = load(source)
    sys.setswitchinterval(0.0005)
    warnings.filterwarnings("ignore", "monitorch: nothing recorded")  # on a busy machine
    is_over = threading.Event()
    counts = [0] * 4
    threads = [
        threading.Thread(target=working.work, args=(k, counts, is_over)) for k in range(4)
    ]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    told = []
    while time.monotonic() < end:
        path = folder / f"{len(told)}.mtrace"
        with monitorch.record(path, last=[None, 50][len(told) % 2]) as recording:
            time.sleep(0.01 * (len(told) % 5))
            if len(told) % 10 == 3:
                child = os.fork()
                if child == 0:
                    working.turn(1, counts, 4)
                    monitorch.stop()
                    os._exit(0)
                _, status = os.waitpid(child, 0)
                assert status == 0, status
        told.append([recording.summary.events, recording.summary.lost])
    is_over.set()
    for thread in threads:
        thread.join()
    assert all(count > 0 for count in counts)
    (folder / "told.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main()
