"""Statements that bind nothing."""
from __future__ import annotations
import os, sys
from math import (
    floor,
    ceil,
)


def run(values, flag):
    """Doc."""
    global counter
    total: int
    print(values)
    print(
        values,
    )
    assert values, "none"
    if flag: pass
    elif (flag
          is None):
        values.sort()
    else:
        ...
    for value in values:
        if value < 0:
            continue
        elif value > 9: break
        total = value
        yield value
    while flag:
        flag -= 1; print(flag); pass
    with open(os.devnull) as sink, open(os.devnull):
        sink.read()
    with (open(os.devnull)):
        "text"
    try:
        raise ValueError(
            total
        )
    except ValueError:
        raise
    finally:
        del values
    match flag:
        case 1:
            pass
    import json; json.dumps(1)
    class Inner:
        print(1)
    if (n := flag) and n: print(n)
    1 + n
    return


async def wait(x):
    await x
    async with x: await x.y()
    lambda: x
    raise


if __name__ == "__main__": run([], 1)
print("end")
