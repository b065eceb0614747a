"""A program that traces itself, followed or not: prints what its trace functions saw.

usage: PYTHONPATH=… python follow_beside_child.py plain|followed TRACE
"""

import sys
import threading

import monitorch
from monitorch._follow import follow as _follow

HERE = __file__
NAMES = ("work", "helper", "steps", "run", "swap", "stop", "in_thread")
seen = []


class Tracer:
    """Has wishes of its own: events of instructions in one function, no lines in another."""

    def __init__(self, name):
        self.name = name

    def __call__(self, frame, event, value):
        code = frame.f_code
        if code.co_filename != HERE or code.co_name not in NAMES:
            return None
        seen.append((self.name, code.co_name, frame.f_lineno, event, type(value).__name__))
        if code.co_name == "helper" and event == "call":
            frame.f_trace_opcodes = True
        if code.co_name == "steps":
            frame.f_trace_lines = False
        if event == "line" and code.co_name == "helper":
            return Tracer("local")
        return self


def helper(x):
    if x:
        raise ValueError
    return x


def steps(n):
    for i in range(n):
        yield i


def work(n):
    x = 0; y = 1
    for i in range(n):
        x += i
    try:
        z = helper(x)
    except ValueError:
        z = 2
    kept = list(steps(2))
    return x + z + y + len(kept)


def swap():
    sys.settrace(Tracer("second"))


def stop():
    sys.settrace(None)


def in_thread():
    a = work(1)
    return a


def run():
    first = sys.gettrace()
    a = work(2)
    assert sys.gettrace() is first
    swap()
    b = work(1)
    assert sys.gettrace().name == "second"
    stop()
    c = work(1)
    assert sys.gettrace() is None
    threading.settrace(Tracer("thread"))
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    threading.settrace(None)
    sys.settrace(first)
    return a + b + c


def main(way, trace):
    before = Tracer("first"), Tracer("before")
    original = sys.settrace
    sys.settrace(before[0])
    threading.settrace(before[1])
    if way == "plain":
        run()
    else:
        with monitorch.record(trace, sample=0):
            _follow.begin("test", sys._getframe(), lambda name, _: name == HERE)
            run()
            _follow.end("test")
            assert sys.settrace is original
            assert not sys._getframe().f_trace_opcodes
            assert sys.gettrace() is before[0]
    sys.settrace(None)
    print("\n".join(map(str, seen)))


main(*sys.argv[1:])
