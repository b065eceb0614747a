"""What spy_save costs outside a context, against a Python function that does nothing.

Claims: by hand, spy_save costs at most 2 times a call of `def noop(name, tensor, module=None): pass`
with the same arguments; put in by the compiler (`--spy`), a line that is to be saved costs what any
instrumented line costs while nothing is recorded: a loop of integer additions takes at most 1.05 times
as long with sites for saving as with ordinary ones. Exit code 1 where a claim does not hold.
"""

import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.support import compiler, paths, recording  # noqa: E402

sys.path.insert(0, str(paths.PYTHON_PATH))

CALL_CLAIM = 2.0
SITE_CLAIM = 1.05
ROUNDS = 41

CALLS = """
def run(function, value, count):
    for _ in range(count):
        function("q", value, value)
        function("k", value, value)
        function("v", value, value)
        function("o", value, value)
"""

LINES = b"""
def run(count):
    total = 0
    other = 0
    for i in range(count):
        total = total + i
        other = other + total
    return total, other
"""


def noop(name, tensor, module=None):
    pass


def in_turns(first, second, rounds=ROUNDS):
    """The median of how much longer the first takes than the second."""
    first(), second()
    ratios = []
    for turn in range(rounds):
        seconds = {}
        for function in (first, second) if turn % 2 else (second, first):
            started = time.perf_counter()
            function()
            seconds[function] = time.perf_counter() - started
        ratios.append(seconds[first] / seconds[second])
    return statistics.median(ratios)


def call_ratio(count=50_000):
    from monitorch.spy import DebugContext, TensorSaver, get_debug_context, spy_save

    assert TensorSaver and DebugContext and get_debug_context() is None
    space = {}
    exec(CALLS, space)
    run = space["run"]
    value = object()
    return in_turns(lambda: run(spy_save, value, count), lambda: run(noop, value, count))


def load(**options):
    text = compiler.instrument(LINES, "loop.py", **options).text
    space = {"__name__": "loop"}
    exec(compile(text, "loop.py", "exec", dont_inherit=True), space)
    return space["run"]


def site_ratio(count=100_000):
    with recording.active("off"):
        spied = load(spy=["total", "other"])
        traced = load(all=True)
    return in_turns(lambda: spied(count), lambda: traced(count))


def main():
    holds = True
    for name, found, claim in (
        ("spy_save outside a context, against a Python no-op", call_ratio(), CALL_CLAIM),
        ("lines with --spy against instrumented lines", site_ratio(), SITE_CLAIM),
    ):
        is_held = found <= claim
        holds = holds and is_held
        print(f"{name}: {found:.3f} (at most {claim}: {'holds' if is_held else 'DOES NOT HOLD'})")
    return int(not holds)


if __name__ == "__main__":
    sys.exit(main())
