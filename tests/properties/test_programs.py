"""Random programs: what compiled before compiles after, with the same tree and lines."""

import io
import random
import sys
import types
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.properties.check_source import check_source, compile_quietly
from tests.properties.programs import program
from tests.support import compiler, reduce

pytestmark = pytest.mark.usefixtures("compiler_module")

COMMON = dict(
    deadline=None, database=None, suppress_health_check=list(HealthCheck), derandomize=True
)


def make(seed):
    return program(random.Random(seed).randrange).encode()


def assert_sound(source, selection):
    report = check_source(source, "program.py", selection)
    if not report.problems:
        return
    kind = report.problems[0].split(":")[0]

    def fails(smaller):
        found = check_source(smaller, "program.py", selection)
        return found.compiles and any(p.startswith(kind) for p in found.problems)

    if report.compiles:
        source = reduce.reduce_source(source, fails)
        report = check_source(source, "program.py", selection)
    shown = "\n".join(report.problems)
    pytest.fail(f"{shown}\n--- source: {source!r}\n--- text: {report.text!r}")


def test_most_random_programs_compile():
    compiled = [compile_quietly(make(seed), "program.py") is None for seed in range(100)]
    assert sum(compiled) > 70


@settings(max_examples=400, **COMMON)
@given(st.integers(0, 2**40))
def test_everything_selected(seed):
    assert_sound(make(seed), {"all": True})


@settings(max_examples=150, **COMMON)
@given(st.integers(0, 2**40), st.integers(1, 60), st.integers(0, 30))
def test_lines_and_functions_selected(seed, first, count):
    selection = {"lines": [(first, first + count)], "functions": ["*f", "A.*"]}
    assert_sound(make(seed), selection)


@settings(max_examples=100, **COMMON)
@given(st.integers(0, 2**40))
def test_forward_selected(seed):
    assert_sound(make(seed), {"forward": True})


@settings(max_examples=100, **COMMON)
@given(st.integers(0, 2**40))
def test_spy_selected(seed):
    assert_sound(make(seed), {"spy": ["*"]})


@pytest.mark.slow
def test_many_random_programs():
    for seed in range(20_000):
        assert_sound(make(seed), {"all": True})


# Running them: programs of plain statements, traced.

RUNNABLE = """
class O:
    def __init__(self): self.v = 1; self.l = [1, 2]; self.d = {}
def f(a, n):
    o = O(); out = []; x = y = z = a
%s
    return out, x, y, z, o.v, o.l, o.d
"""

STATEMENTS = [
    "x = y + 1", "y, z = z, x", "o.v = x", "o.v += 2", "o.l[0] = y", "o.l.append(z)", "x = -y; y = x",
    "o.d[x] = o.v; z = 3", "out.append((x, y)); out.append(z)", "(x) = y", "x += 1 ; y *= 2 ;",
    "o.v: int = x", "y: int = 4", "z = (w := x) + 1", "x = [i for i in range(3)][1]", "pass", "o.l, q = [5], 6",
    "if n > 40: return x, [y]", "if x > 30: return (out,\n{i} o.v)", "y = (x +\n{i}  1)", "x = \\\n{i}  y",
    "assert x is not None, 'm'", "del o.d; o.d = {{}}", "'text'", "# comment", "", "z = '''a\nb''' and 2",
    "if y > 10: y = 1; z = 2", "global g1", "import sys as s", "out.append(f'{{x}}{{y:>3}}')",
    "raise_ = n; n -= 1", "if n < 0: raise ValueError(x)", "lambda: x", "def h(): return x\n{i}z = h()",
]
HEADERS = [
    "if x > 2:", "if x % 2 and (y or z):", "while n > 0:\n{i}    n -= 1", "for i in range(2):",
    "for x, (y, *k) in [(1, (2, 3))]:", "try:", "with open('/dev/null') as file:", "def g():",
    "if not (x):", "for o.v in [7, 8]:", "class C:", "while (n := n - 1) > 0:", "match x:\n{i}  case 1:",
]


def runnable(choose):
    lines = []

    def block(depth, count, indent):
        for _ in range(count):
            if depth < 3 and choose(3) == 0:
                header = HEADERS[choose(len(HEADERS))]
                inner = indent + "    "
                lines.append(indent + header.format(i=indent))
                block(depth + 1, 1 + choose(3), inner)
                if "def g" in header or "class" in header:
                    lines.append(inner + "x = 5")
                else:
                    lines.append(inner + ["pass", "x = 1", "continue_ = 1", "y"][choose(4)])
                if header == "try:":
                    lines.append(indent + ["finally:", "except ValueError as e:"][choose(2)])
                    block(depth + 1, 1 + choose(2), inner)
                    lines.append(inner + "x = 2")
                elif header.startswith(("if", "for", "while")) and choose(3) == 0:
                    lines.append(indent + "else:")
                    block(depth + 1, 1 + choose(2), inner)
                    lines.append(inner + "y = 2")
            else:
                statement = STATEMENTS[choose(len(STATEMENTS))]
                lines.append(indent + statement.format(i=indent))

    block(0, 2 + choose(6), "    ")
    return (RUNNABLE % "\n".join(lines)).encode()


class TooLong(BaseException):
    """A made program, or one made smaller, need not end."""


def watch(code):
    """What a run prints, gives and raises, and the lines that a tracer sees."""
    module = types.ModuleType("program")
    events = []

    def tracer(frame, event, argument):
        if frame.f_code.co_filename != "program.py":
            return None
        if len(events) > 3000:
            raise TooLong
        events.append((event, frame.f_code.co_name, frame.f_lineno))
        return tracer

    before, told = sys.gettrace(), []
    out, sys.stdout = sys.stdout, io.StringIO()
    try:
        exec(code, module.__dict__)
        sys.settrace(tracer)
        for arguments in ((1, 2), (3, 1), (40, 3), (0, -1)):
            try:
                told.append(repr(module.f(*arguments)))
            except Exception as error:
                told.append((type(error).__name__, str(error), error.__traceback__.tb_next.tb_lineno))
    finally:
        sys.settrace(before)
        sys.stdout = out
    return told, events


@settings(max_examples=300, **COMMON)
@given(st.integers(0, 2**40))
def test_running_is_the_same_traced(seed):
    from tests.support import standin

    source = runnable(random.Random(seed).randrange)
    if compile_quietly(source, "program.py"):
        return

    def outcome(candidate):
        if compile_quietly(candidate, "program.py"):
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                expected = watch(compile(candidate, "program.py", "exec", dont_inherit=True))
            except TooLong:
                return None
            text = compiler.instrument(candidate, "program.py", all=True).text
            for mode in ("off", "on"):
                with standin.active(mode):
                    seen = watch(compile(text, "program.py", "exec", dont_inherit=True))
                if seen[0] != expected[0]:
                    return f"{mode}: results differ: {expected[0]} became {seen[0]}"
                if seen[1] != expected[1]:
                    extra = [(a, b) for a, b in zip(expected[1], seen[1]) if a != b][:1]
                    return f"{mode}: line events differ: first {extra}"
        return None

    if outcome(source):

        def fails(candidate):
            try:
                return bool(outcome(candidate))
            except Exception:
                return False

        small = reduce.reduce_source(source, fails, 1500)
        text = compiler.instrument(small, "program.py", all=True).text
        pytest.fail(f"{outcome(small)}\n--- source:\n{small.decode()}\n--- text:\n{text.decode()}")
