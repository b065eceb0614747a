"""Random programs that run: results, errors and traced line events stay as they were.

python -m tests.properties.running COUNT [SEED]   works with any CPython that the extension knows
"""

import ast
import io
import random
import sys
import types
import warnings

from tests.properties.check_source import compile_quietly
from tests.support import compiler, recording, reduce

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


def has_long_statement(source):
    """Whether a simple statement spans lines: a record behind it stands on its last line, which
    may have had no event of its own."""
    compound = (ast.FunctionDef, ast.ClassDef, ast.If, ast.While, ast.For, ast.Try, ast.With)
    return any(
        isinstance(node, ast.stmt)
        and not isinstance(node, (*compound, ast.Match))
        and node.end_lineno > node.lineno
        for node in ast.walk(ast.parse(source))
    )


def differing(source, every_line=False):
    """How an instrumented run differs from the plain one; None where it does not."""
    selection = {"all": True, "every_line": every_line}
    if compile_quietly(source, "program.py"):
        return None
    try:
        expected = watch(compile(source, "program.py", "exec", dont_inherit=True))
    except TooLong:
        return None
    text = compiler.instrument(source, "program.py", **selection).text
    written = compile(text, "program.py", "exec", dont_inherit=True)
    runs = [("off", written), ("on", written)]
    if compiler.EXTENSION is not None:
        made, _ = compiler.EXTENSION.compile_source(source, "program.py", **selection)
        runs.append(("on, compiled", made))
    for mode, code in runs:
        with recording.active(mode.split(",")[0]):
            seen = watch(code)
        if seen[0] != expected[0]:
            return f"{mode}: results differ: {expected[0]} became {seen[0]}"
        if seen[1] != expected[1] and not has_long_statement(source):
            different = [(a, b) for a, b in zip(expected[1], seen[1]) if a != b][:1]
            return f"{mode}: line events differ: first {different}"
    return None


def complaint(seed):
    """None, or what went wrong with the program of that seed, made small."""
    source = runnable(random.Random(seed).randrange)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every_line = seed % 2 == 1
        found = differing(source, every_line)
        if found is None:
            return None
        kind = found.split(":")[1]

        def fails(candidate):
            try:
                return kind in (differing(candidate, every_line) or "")
            except Exception:
                return False

        small = reduce.reduce_source(source, fails, 1500)
        text = compiler.instrument(small, "program.py", all=True, every_line=every_line).text
        return (
            f"{differing(small, every_line)}\n--- source:\n{small.decode()}\n--- text:\n{text.decode()}"
        )


def main():
    count = int(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for seed in range(first, first + count):
        found = complaint(seed)
        if found:
            print(f"seed {seed}: {found}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
