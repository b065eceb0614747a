"""Visits sites a hundred thousand times: python growth_child.py SOURCE RESULT.json

Writes what the process's own memory and the interpreter's objects grew by after the first turns.
"""

import gc
import json
import sys

from child_imports import load


def own_memory():
    """Bytes of memory that no file stands behind; a trace's pages are the file's."""
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith("RssAnon:"):
                return 1024 * int(line.split()[1])
    raise OSError("no RssAnon in /proc/self/status")


def main():
    path, result = sys.argv[1:3]
    growth = load(path)
    growth.run(2000)
    gc.collect()
    objects, blocks, memory = len(gc.get_objects()), sys.getallocatedblocks(), own_memory()
    growth.run(20_000)
    gc.collect()
    told = {
        "objects": len(gc.get_objects()) - objects,
        "blocks": sys.getallocatedblocks() - blocks,
        "memory": own_memory() - memory,
    }
    with open(result, "w") as file:
        json.dump(told, file)


if __name__ == "__main__":
    main()
