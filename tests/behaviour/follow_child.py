"""Runs a program instrumented or followed, and records it.

usage: PYTHONPATH=… python follow_child.py instrumented|followed PROGRAM TRACE
"""

import contextlib
import io
import sys

import monitorch
from monitorch import _instrument
from monitorch._follow import follow as _follow


def compile_program(way, source, path):
    if way == "instrumented":
        return _instrument.compile_source(source, path, all=True)[0]
    return compile(source, path, "exec", dont_inherit=True)


def main(way, path, trace):
    with open(path, "rb") as file:
        code = compile_program(way, file.read(), path)
    names = {"__name__": "program", "__file__": path}
    printed = io.StringIO()
    outcome = None
    with monitorch.record(trace, sample=0):
        if way == "followed":
            _follow.begin("test", sys._getframe(), lambda name, _: name == path)
        try:
            with contextlib.redirect_stdout(printed):
                exec(code, names)
        except Exception as error:
            outcome = repr(error)
        finally:
            if way == "followed":
                _follow.end("test")
    assert sys.gettrace() is None and not sys._getframe().f_trace_opcodes
    print(printed.getvalue() + repr(outcome))


main(*sys.argv[1:])
