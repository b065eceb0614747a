"""What spy_save costs outside a context, against a Python function that does nothing.

Claims: by hand, spy_save costs at most 2 times a call of a Python function that does nothing, with
the same arguments. Put in by the compiler (`--spy`) it costs what sites cost: a loop of operations on
64x64 tensors, each line spied on, takes at most 1.03 times the same lines with ordinary sites, whose
own cost is bench_off_cost.py's. Exit code 1 where a claim does not hold.
"""

import sys
import time

import torch
from claims import Claims, best
from loops import TENSORS
from monitorch.spy import DebugContext, TensorSaver, get_debug_context, spy_save

from tests.support import compiler, recording

CALL_CLAIM = 2.0
LINE_CLAIM = 1.03
ROUNDS = 201

CALLS = """
def run(function, value, count):
    for _ in range(count):
        function("q", value, value)
        function("k", value, value)
        function("v", value, value)
        function("o", value, value)
"""

# The same in a method, whose `self` spy_save is given.
METHOD = TENSORS.replace("def run(count)", "class Loop:\n  def forward(self, count)").encode()


def noop(name, tensor, module=None):
    pass


def in_turns(first, second, rounds=ROUNDS):
    """How much longer the first takes than the second: calls add to a time, whatever else is noise."""
    first(), second()
    seconds = {first: [], second: []}
    for turn in range(rounds):
        for function in (first, second) if turn % 2 else (second, first):
            started = time.process_time()
            function()
            seconds[function].append(time.process_time() - started)
    return best(seconds[first], seconds[second])


def call_ratio(count=5_000):
    assert TensorSaver and DebugContext and get_debug_context() is None
    space = {}
    exec(CALLS, space)
    run = space["run"]
    value = object()
    return in_turns(lambda: run(spy_save, value, count), lambda: run(noop, value, count))


def load(**selection):
    text = compiler.instrument(METHOD, "loop.py", **selection).text
    space = {"__name__": "loop"}
    exec(compile(text, "loop.py", "exec", dont_inherit=True), space)
    return space["Loop"]().forward


def line_ratio(count=200):
    """Of lines with calls of spy_save, to the same lines with ordinary sites."""
    with recording.active("off"):
        spied, traced = load(spy=["y", "z", "h", "x"]), load(lines=[(9, 13)])
    return in_turns(lambda: spied(count), lambda: traced(count))


def main():
    torch.set_num_threads(1)
    claims = Claims("What spy_save costs outside a context")
    peer = "a Python function that does nothing"
    claims.at_most(CALL_CLAIM, "spy_save outside a context", call_ratio(), peer=peer)
    lines = "operations on 64x64 tensors, each line with --spy"
    claims.at_most(LINE_CLAIM, lines, line_ratio(), peer="the same lines with ordinary sites")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
