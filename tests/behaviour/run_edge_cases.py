"""Runs edge cases: original, instrumented and off, instrumented and on.

python -m tests.behaviour.run_edge_cases [NAME ...]   works with any CPython
"""

import contextlib
import io
import re
import sys
import traceback
import types
import warnings

from tests.behaviour.edge_cases import CASES
from tests.support import compiler, recording

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


def problems_of(case, is_traced):
    """What differs between the original's run and the instrumented ones."""
    problems = []
    source = case.source.encode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        original = compile(source, FILE, "exec", dont_inherit=True)
        expected = run_module(original, original, case.observed, is_traced)
        for how, (mode, code) in code_objects(source).items():
            with recording.active(mode) as recorded:
                seen = run_module(code, original, case.observed, is_traced)
            for what in expected:
                if what == "events" and not are_events_compared(case, how):
                    continue
                if seen[what] != expected[what]:
                    was, now = told(expected[what], seen[what])
                    problems.append(f"{how}: {what}: {was} became {now}")
            if mode == "on" and case.visited and recorded.events == 0:
                problems.append(f"{how}: no event is in the trace")
    return problems


def told(expected, seen):
    """The two, or of two lists the part around the first difference."""
    if not isinstance(expected, list):
        return expected, seen
    pairs = zip(expected, seen)
    first = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(expected), len(seen)))
    return expected[max(0, first - 1) : first + 3], seen[max(0, first - 1) : first + 3]


def are_events_compared(case, how):
    if sys.version_info[:2] in case.one_more_event_on:
        return False
    # Before 3.11 code objects keep lines alone, and positions cannot be mapped as closely.
    is_mapped = sys.version_info >= (3, 11) and not how.startswith("written")
    return case.events == "both" or is_mapped


def is_for_this_python(case, is_traced):
    return sys.version_info >= case.python and not (is_traced and case.events == "none")


def main():
    failed = False
    for case in CASES:
        for is_traced in (False, True):
            if sys.argv[1:] and case.name not in sys.argv[1:]:
                continue
            if is_for_this_python(case, is_traced):
                for problem in problems_of(case, is_traced):
                    print(f"{case.name}{', traced' if is_traced else ''}: {problem}"[:1000])
                    failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
