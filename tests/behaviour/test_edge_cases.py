"""Edge cases behave the same original, instrumented and off, instrumented and on."""

import contextlib
import io
import re
import sys
import traceback
import types
import warnings

import pytest

from tests.behaviour.edge_cases import CASES
from tests.support import compiler, standin

ADDRESS = re.compile(r" at 0x[0-9a-f]+")
FILE = "edge_case.py"


def run_module(code, original, observed, is_traced):
    """What can be seen of a module that runs as `code`, made from `original`."""
    module = types.ModuleType("edge_case")
    module.__file__ = FILE
    printed = io.StringIO()
    events = []

    def tracer(frame, event, argument):
        if frame.f_code.co_filename != FILE:
            return None
        name, line = frame.f_code.co_name, frame.f_lineno
        # The bootstrap may stand alone on a line that held no code.
        if not (event == "line" and name == "<module>" and line not in lines):
            events.append((event, name, line))
        return tracer

    lines = {line for _, _, line in original.co_lines()}
    sys.modules["edge_case"] = module
    value = error = None
    before = sys.gettrace()
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sys.settrace(tracer if is_traced else before)
            exec(code, module.__dict__)
            value = eval(compile(observed, "<observed>", "eval"), module.__dict__)
    except Exception as caught:
        frames = traceback.extract_tb(caught.__traceback__)
        lines = [(f.name, f.lineno) for f in frames if f.filename == FILE]
        error = (type(caught).__name__, str(caught), lines)
    finally:
        sys.settrace(before)
        del sys.modules["edge_case"]
    return {
        "value": ADDRESS.sub("", repr(value)),
        "printed": ADDRESS.sub("", printed.getvalue()),
        "error": error,
        "events": events,
    }


def code_objects(source):
    """{how: (mode, code)} for the ways to run an instrumented source."""
    text = compiler.instrument(source, FILE, all=True).text
    codes = {
        "written, off": ("off", compile(text, FILE, "exec", dont_inherit=True)),
        "written, on": ("on", compile(text, FILE, "exec", dont_inherit=True)),
    }
    if compiler.EXTENSION is not None and hasattr(compiler.EXTENSION, "compile_source"):
        code, _ = compiler.EXTENSION.compile_source(source, FILE, all=True)
        codes["compiled, on"] = ("on", code)
    return codes


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("is_traced", [False, True], ids=["plain", "traced"])
def test_edge_case(case, is_traced, compiler_module):
    if sys.version_info < case.python:
        pytest.skip("syntax of Python %d.%d" % case.python)
    if is_traced and case.events == "none":
        pytest.skip("its line events are not compared")
    source = case.source.encode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        original = compile(source, FILE, "exec", dont_inherit=True)
        expected = run_module(original, original, case.observed, is_traced)
        for how, (mode, code) in code_objects(source).items():
            with standin.active(mode):
                seen = run_module(code, original, case.observed, is_traced)
                visits = standin.hook_module().count_visits()
            for what in expected:
                if what == "events" and case.events == "compiled" and how != "compiled, on":
                    continue
                assert seen[what] == expected[what], f"{how}: {what}"
            if mode == "on" and case.visited:
                assert visits > 0, f"{how}: no site was visited"


def test_names_are_unique():
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))
