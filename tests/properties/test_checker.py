"""The checker itself: it accepts every inserted form, and sees every kind of damage."""

import ast

import pytest

from tests.properties import tree
from tests.properties.check_source import Report, check_lines, check_trees

BOOT = "_mt = __import__('monitorch' or 'is missing')._instrumented(globals(), 'monitorch2 0 _mt x .'); "

# (original, rewritten)
FORMS = [
    ("x = 1\n", BOOT + "x = 1; _mt and _mt(0, x)\n"),
    ("x = 1\n", "x = 1; _mt and _mt(0, x)\n"),
    ("x = 1; y = 2\n", "x = 1; not (_mt and _mt(0, x)); y = 2\n"),
    ("x = 1\nif x: pass\n", "x = 1\nif (_mt and _mt(0, x)) or (x): pass\n"),
    ("x = 1\nwhile x: pass\n", "x = 1\nwhile (x) and not (_mt and _mt(0, x)): pass\n"),
    ("x = 1\nif x: pass\n", "x = 1\nif (x) and not (_mt and _mt(1)) or _mt and _mt(2): pass\n"),
    ("x = 1\nif x or y and z: pass\n", "x = 1\nif _mt and _mt(1) or x or y and z: pass\n"),
    ("x = 1\nfor i in x: pass\n", "x = 1\nfor i in (_mt and _mt(1)) or (x): pass\n"),
    ("x = 1\nwith x as y, z: pass\n", "x = 1\nwith (_mt and _mt(1)) or (x) as y, z: pass\n"),
    ("x = (n := 1)\n", "x = ((n := 1) is not _mt and _mt and _mt(1, n) or n)\n"),
    ("o.x = f()\n", "o.x = _mt_t = f(); not (_mt and _mt(1, _mt_t)); del _mt_t\n"),
    ("o.x = f()\n", "_mt_t = o.x = f(); not (_mt and _mt(1, _mt_t)); _mt_t = None\n"),
    ("o.b[1] = f()\n", "(_mt_t := o.b)[1] = f(); _mt and _mt(1, _mt_t); del _mt_t\n"),
    ("o.b: int = f()\n", "o.b: int = (_mt_t := (f())); _mt and _mt(1, _mt_t); del _mt_t\n"),
    (
        "def f(a):\n    return a or 1\n",
        "def f(a):\n    return (_mt_v := (a or 1)) is not _mt and _mt and _mt(1, _mt_v) or _mt_v\n",
    ),
    ("class A: pass\n", "class A(*((_mt := __import__('monitorch')._instrumented) and () or ())): pass\n"),
    ("@d\ndef f(): pass\n", "@(_mt and _mt(1)) or (d)\ndef f(): pass\n"),
]

DAMAGE = [
    ("x = 1\n", "x = 2; _mt and _mt(0, x)\n"),
    ("x = 1\n", "x = True; _mt and _mt(0, x)\n"),
    ("x = 1\ny = 2\n", "x = 1; y = 2\n"),
    ("x = 1\ny = 2\n", "y = 2\nx = 1\n"),
    ("x = 1\n", "_mt and _mt(0, x)\n"),
    ("if x: pass\n", "if not (_mt and _mt(1)) and not x: pass\n"),
    ("if x: pass\n", "if (_mt and _mt(0, x)) or (x) or y: pass\n"),
    ("while x: y\n", "while x: y; break\n"),
    ("x = (n := 1)\n", "x = ((n := 1) is not _mt and _mt and _mt(1, n) or m)\n"),
    ("x = (n := 1)\n", "x = ((n := 1) is not _mt and _mt and g(1, n) or n)\n"),
    ("o.x = f()\n", "o.x = o.y = _mt_t = f(); del _mt_t\n"),
    ("del o\n", "del o, p, _mt\n"),
    ("@d\ndef f(): pass\n", "@(_mt and _mt(1)) or (e)\ndef f(): pass\n"),
    ("f(*a)\n", "f(*a, *b)\n"),
    ("x: int = 1\n", "x: str = 1\n"),
]


def found_in(original, rewritten):
    trees = ast.parse(original), ast.parse(rewritten)
    return tree.difference(*trees, tree.find_prefix(trees[1]) or "_mt")


@pytest.mark.parametrize("original, rewritten", FORMS)
def test_inserted_forms_are_accepted(original, rewritten):
    assert found_in(original, rewritten) is None


@pytest.mark.parametrize("original, rewritten", DAMAGE)
def test_damage_is_seen(original, rewritten):
    assert found_in(original, rewritten) is not None


@pytest.mark.parametrize(
    "original, rewritten",
    [(b"a\nb\n", b"a b\n"), (b"a # b\n", b"a\n"), (b"ab\n", b"ba\n"), (b"a\r\nb", b"a\nb")],
)
def test_damaged_lines_are_seen(original, rewritten):
    report = Report("x")
    check_lines(original, rewritten, report)
    assert report.problems


def test_a_prefix_that_the_file_uses_is_seen():
    report = Report("x")
    check_trees(b"_mtx = 1\n", BOOT.encode() + b"_mtx = 1; _mt and _mt(0, _mtx)\n", report)
    assert any("prefix" in problem for problem in report.problems)
