"""Code of compile_source stands where the original's code stands, to the column."""

import ast
import io
import random
import re
import sys
import tokenize
import types

import pytest

from tests.support import compiler, paths

extension = compiler.EXTENSION
pytestmark = [
    pytest.mark.skipif(extension is None, reason="the extension is not built (make)"),
    pytest.mark.skipif(
        not hasattr(types.CodeType, "co_positions"), reason="this Python knows lines only"
    ),
]


def codes(code):
    """A code object and those in it, in order."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def node_positions(source):
    return {
        (n.lineno, n.end_lineno, n.col_offset, n.end_col_offset)
        for n in ast.walk(ast.parse(source))
        if hasattr(n, "lineno")
    }


# From 3.13 on, two loads of local names make one instruction, which has one position.
QUIET = (ast.stmt, ast.Constant) + ((ast.Name,) if sys.version_info >= (3, 13) else ())


def quiet_positions(source):
    """Where nothing is raised: whole statements stand for the compiler's own glue."""
    return {
        (n.lineno, n.end_lineno, n.col_offset, n.end_col_offset)
        for n in ast.walk(ast.parse(source))
        if isinstance(n, QUIET)
    }


def utf8_lines(source):
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    return [line.encode() for line in re.split("\r\n|\r|\n", source.decode(encoding))]


class Ends:
    """Where original code starts and where it ends, parentheses counted as code."""

    def __init__(self, source, nodes):
        self.lines = utf8_lines(source)
        self.starts = {(line, column) for line, _, column, _ in nodes}
        self.ends = {(line, column) for _, line, _, column in nodes}

    def are_kept(self, position):
        """What is inserted may stand for any stretch of original code."""
        line, end_line, column, end_column = position
        return (
            (line, column) in self.starts
            or self.lines[line - 1][column : column + 1] == b"("
        ) and (
            (end_line, end_column) in self.ends
            or self.lines[end_line - 1][end_column - 1 : end_column] == b")"
        )


def check(source, path):
    """Returns how many positions were looked at, and what is wrong with them."""
    original = list(codes(compile(source, path, "exec", dont_inherit=True)))
    mapped = list(codes(extension.compile_source(source, path, all=True)[0]))
    assert [c.co_qualname for c in original] == [c.co_qualname for c in mapped], path
    nodes = node_positions(source)
    quiet = quiet_positions(source)
    ends = Ends(source, nodes)
    wrong = []
    count = 0
    for before, after in zip(original, mapped):
        known = set(before.co_positions())
        got = set(after.co_positions())
        count += len(got)
        assert before.co_firstlineno == after.co_firstlineno
        # Code that was inserted has no columns, or those of some original code.
        wrong += [
            (before.co_qualname, position)
            for position in got
            if position[2] is not None
            and position not in known
            and not ends.are_kept(position)
        ]
        # All that raises stands where it stood.
        wrong += [
            (before.co_qualname, "lost", position)
            for position in known - got
            if position not in quiet and position[2] is not None
        ]
    return count, wrong


def sample(count):
    files = [p for p in paths.stdlib_files() if "lib2to3" not in p.parts]
    return sorted(random.Random(20).sample(files, count))


@pytest.mark.parametrize("file_count", [30, pytest.param(100, marks=pytest.mark.slow)])
def test_standard_library(file_count):
    total = 0
    problems = []
    for path in sample(file_count):
        source = path.read_bytes()
        try:
            compile(source, str(path), "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            continue
        count, wrong = check(source, str(path))
        total += count
        problems += [(path.name, *one) for one in wrong]
    assert not problems, "\n".join(map(str, problems[:40]))
    assert total > 500 * file_count


@pytest.mark.parametrize(
    "source",
    [
        b"x = 1",
        b"\xef\xbb\xbfx = (1 +\n 2)\r\ny = [x]\r",
        "# coding: latin-1\né = 'ü'; ä = é + é\nß = [ä, é] + [é]\n".encode("latin-1"),
        "é = 'ü日本'; ä = é + é\nß = [ä, é]; del ß[0], é\n".encode(),
        b"\tx = 1\n".strip() + b"\n\x0cy = x + 1\n",
        b"def f(a):\n\tif a: b = a[0]; c = b\n\telse: return a.x \\\n  .y\n\treturn b, c\n",
        b"while (n := f()): n[0] += g(n); h(n)[1] = n.x = 3; n.y.z += 1; n.q.r(n)\n",
        b"for a, *b in c: d = a; continue\nelse: e = d.f; raise e\n",
        b"def f():\n  return[x for x in y if x.z]\ndef g():\n  return   (yield  1) . x\n",
        b"with a as b, (c) as d: e = b\ntry: f.g\nexcept* h as i: j = i.k\nfinally: l.m\n",
        b"match a.b:\n case {'x': [c, *d], **e} if c.f: g = c.h\n case _: i = a.j\n",
        b"class A(b.c): d = e.f; g = d\n",
        b"@a.b\n@c(d)\nasync def e(f=g.h):\n  async for i in f.j: await i.k\n",
        b"assert a.b, c.d; del a.b, c[d]; raise e.f from g.h\n",
        b"self.x: int = a.b; self.x += c.d; self.y[e.f] = self.z = (g, h) = i.j\n",
    ],
)
def test_small(source):
    try:
        compile(source, "m.py", "exec")
    except SyntaxError:
        pytest.skip("another Python's syntax")
    _, wrong = check(source, "m.py")
    assert not wrong


def test_deep_nesting_of_functions():
    source = b"".join(b" " * i + b"def f%d(a):\n" % i for i in range(90)) + b" " * 90 + b"b = a\n"
    _, wrong = check(source, "m.py")
    assert not wrong
    source = b"x = " + b"lambda: " * 60 + b"y.z\n"
    _, wrong = check(source, "m.py")
    assert not wrong
