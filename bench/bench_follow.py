"""What a function costs that is called while `monitorch.on()` follows others.

Claim: a line of a function that is not followed costs at most 100 ns more than untraced. Beside
it, in the same run: a trace function in Python that does nothing, and PySnooper's where it is
installed. Exit code 1 where the claim does not hold.
"""

import statistics
import sys
import time

import monitorch
from claims import Claims
from monitorch._follow import follow as _follow

from tests.support import paths

LIMIT = 100  # nanoseconds a line
TURNS = 2000
LINES = 50
ROUNDS = 30


def make_function():
    """A function of so many plain lines, in a loop."""
    body = "".join(f"        a{i % 4} = b\n" for i in range(LINES - 1))
    text = f"def lines(b):\n    for _ in range({TURNS}):\n{body}"
    names = {}
    exec(compile(text, "<not followed>", "exec"), names)
    return names["lines"]


def make_calls():
    """Calls of a function with one line."""
    text = f"def one(b):\n    return b\ndef calls(b):\n    for _ in range({TURNS}): one(b)\n"
    names = {}
    exec(compile(text, "<not followed>", "exec"), names)
    return names["calls"]


def measure(function):
    started = time.perf_counter_ns()
    function(1)
    return time.perf_counter_ns() - started


def untraced(function):
    return measure(function)


def followed(function):
    _follow.begin("test", sys._getframe(), lambda name, _: name == "<followed>")
    try:
        function(1)  # it is met
        return measure(function)
    finally:
        _follow.end("test")


def in_python(function):
    def trace(frame, event, value):
        return trace

    sys.settrace(trace)
    try:
        return measure(function)
    finally:
        sys.settrace(None)


def snooped(function):
    """What PySnooper's trace function does to lines of functions that it was not asked for."""
    import io

    import pysnooper

    with pysnooper.snoop(io.StringIO()):
        return measure(function)


def find_ways():
    ways = {"untraced": untraced, "followed": followed, "a Python function": in_python}
    try:
        import pysnooper  # noqa: F401
    except ImportError:
        return ways
    return {**ways, "PySnooper": snooped}


def compare(function, count):
    """The best of many short runs of each way, taken in turns; nanoseconds a line or call."""
    ways = find_ways()
    times = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            times[name].append(way(function) / count)
    return {name: (min(found), statistics.median(found)) for name, found in times.items()}


def main():
    trace = paths.scratch("bench") / "follow.mtrace"
    print(f"Python {sys.version.split()[0]}: nanoseconds, best (median) of {ROUNDS} in turns")
    with monitorch.record(str(trace)) as run:
        run.is_quiet = True
        lines = compare(make_function(), TURNS * LINES)
        calls = compare(make_calls(), TURNS)
    for title, found in (("a line", lines), ("a call", calls)):
        for name, (best, median) in found.items():
            more = best - found["untraced"][0]
            print(f"{title:8}{name:20}{best:9.1f} ({median:.1f})   {more:+.1f}")
    added = lines["followed"][0] - lines["untraced"][0]
    claims = Claims("What lines cost that are not followed, while monitorch.on() follows others")
    what, peer = "a line of a function that is not followed", "the same untraced"
    claims.at_most(LIMIT, what, added, peer=peer, unit="ns more")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
