"""What CPython compiles, it compiles instrumented too, however deep it is nested.

A function that is too deep to carry insertions is left as it is, a warning names the place, and the rest
of the file is recorded.
"""

import json
import random
import subprocess
import sys

import pytest

from tests.support import compiler, paths

pytestmark = pytest.mark.usefixtures("compiler_module")

AROUND = "def before(a):\n    return a + 1\n\n{}\ndef after(a):\n    return a + 2\n"


def body(line):
    return "def f(self, x):\n    " + line + "\n"


#: Each nests one construct n times.
FORMS = {
    "elif": lambda n: (
        "def f(x):\n    if x == 0:\n        y = 0\n"
        + "".join(f"    elif x == {i}:\n        y = {i}\n" for i in range(1, n))
        + "    else:\n        y = g(x)\n    return y\n"
    ),
    "sum returned": lambda n: body("return " + "x + " * n + "x"),
    "sum assigned": lambda n: body("self.y = " + "x + " * n + "x"),
    "attributes": lambda n: body("return x" + ".a" * n),
    "attributes set": lambda n: body("x" + ".a" * n + " = 1"),
    "attributes augmented": lambda n: body("x" + ".a" * n + " += 1"),
    "subscripts set": lambda n: body("self.b" + "[0]" * n + " = 1"),
    "methods": lambda n: body("x.b" + ".a_()" * n),
    "methods returned": lambda n: body("return x" + ".a()" * n),
    "nots": lambda n: body("return " + "not " * n + "x"),
    "powers": lambda n: body("return " + "x ** " * n + "x"),
    "conditions": lambda n: body("return " + "x if x else " * n + "x"),
    "lambdas": lambda n: body("return " + "lambda: " * n + "x"),
    "header": lambda n: body("while " + "x + " * n + "x: y = 1"),
    "for": lambda n: body("for y in x" + ".a" * n + ": y = 1"),
    "with": lambda n: body("with x" + ".a" * n + " as y: y = 1"),
    "match": lambda n: body("match x" + ".a" * n + ":\n        case 1: y = 1"),
    "parentheses": lambda n: body("return " + "(" * n + "x" + ")" * n),
    "parentheses of an if": lambda n: body("if " + "(" * n + "x" + ")" * n + ": y = 1"),
    "calls": lambda n: body("return " + "f(" * n + "x" + ")" * n),
    "lists": lambda n: body("y = " + "[" * n + "x" + "]" * n),
    "dictionaries": lambda n: body("return " + "{1: " * n + "x" + "}" * n),
    "indices": lambda n: body("self.b[" + "x[" * n + "0" + "]" * n + "] = 1"),
    "assignment expressions": lambda n: body("return " + "(y := " * n + "x" + ")" * n),
    "comprehensions": lambda n: body("return " + "[x for x in " * n + "x" + "]" * n),
    "format": lambda n: body('return f"{' + "x + " * n + 'x}"'),
    "decorator": lambda n: "def f(x):\n    y = x\n    @x" + ".a" * n + "\n    def g(): return 1\n",
    "default": lambda n: "def f(x):\n    y = x\n    def g(a=x" + ".a" * n + "): return 1\n",
    "base": lambda n: "def f(x):\n    y = x\n    class A(x" + ".a" * n + "): pass\n",
    "statement of the module": lambda n: "y = " + "x + " * n + "x\n",
    "if of the module": lambda n: (
        "x = 1\nif x:\n    y = 0\n" + "".join(f"elif x == {i}:\n    y = {i}\n" for i in range(n))
    ),
    "flat or": lambda n: body("return " + "x or " * n + "x"),
    "flat assignments": lambda n: body("y = " * n + "x"),
    "flat comparison": lambda n: body("return " + "x < " * n + "x"),
}
BRACKETED = ("parentheses", "parentheses of an if", "calls", "lists", "dictionaries", "indices",
             "assignment expressions", "comprehensions")  # fmt: skip
#: Around the limits of ours and of CPython: 200 brackets, 2,980 levels, 6,000 rules of the parser.
BRACKET_COUNTS = (65, 66, 67, 182, 186, 190, 194, 196, 197, 198, 199, 200)
COUNTS = (1491, 1990, 2979, 2981, 2984, 2991, 5952)


def counts_of(name):
    if name == "lambdas":  # CPython takes a second for each
        return (1990,)
    return BRACKET_COUNTS if name in BRACKETED else COUNTS


CHILD = """
import json, sys, warnings
warnings.simplefilter("ignore")
def compiles(text):
    try:
        compile(text, "m.py", "exec", dont_inherit=True)
    except (SyntaxError, RecursionError, MemoryError):
        return False
    return True
bad = []
for name, text, traced in json.load(sys.stdin):
    if compiles(text) and not compiles(traced):
        bad.append(name)
json.dump(bad, sys.stdout)
"""


def instrument(text):
    return compiler.EXTENSION.instrument(text.encode(), "m.py", all=True)


def nest_at_random(rng):
    """A function that nests many constructs, near the limits of brackets or of the parser."""
    before, after = "", ""
    count = rng.randrange(150, 230)
    constructs = [("(", ")"), ("f(", ")"), ("[", "]"), ("{1: ", "}"), ("x[", "]"), ("(y := ", ")"),
                  ("not ", ""), ("x ** ", ""), ("x if x else ", ""), ("lambda: ", ""),
                  ("[i for i in ", "]"), ("f(*", ")"), ("(yield ", ")"), ("x.a(b=", ")")]  # fmt: skip
    chosen = rng.sample(constructs, 4)
    while count > 0:
        opener, closer = rng.choice(chosen)
        repeat = rng.choice((1, 1, 2, 40)) if not closer else 1
        before, after = before + opener * repeat, closer * repeat + after
        count -= 1
    start = rng.choice(("return ", "y = ", "self.y = ", "if ", "assert ", "x += ", ""))
    blocks = rng.randrange(15)
    text = "def f(self, x):\n" + "".join("  " * (i + 1) + "if x:\n" for i in range(blocks))
    return text + "  " * (blocks + 1) + start + before + "x" + after + (": y = 1" * (start == "if ")) + "\n"


def make_cases():
    rng = random.Random(1)
    texts = [(f"{name} {n}", make(n)) for name, make in FORMS.items() for n in counts_of(name)]
    texts += [(f"random {i}", nest_at_random(rng)) for i in range(40)]
    cases = []
    for name, text in texts:
        text = AROUND.format(text)
        try:
            cases.append((name, text, instrument(text).text.decode()))
        except compiler.EXTENSION.InstrumentError as error:
            assert "deeper than 200" in str(error), name
    return cases


@pytest.fixture(scope="module")
def cases():
    return make_cases()


@pytest.mark.parametrize("version, python", [("this", sys.executable), *paths.other_pythons()])
def test_what_compiles_compiles_instrumented(version, python, cases):
    run = subprocess.run([python, "-c", CHILD], input=json.dumps(cases), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-1000:]
    assert json.loads(run.stdout) == []


@pytest.mark.parametrize("name", FORMS)
def test_the_rest_is_recorded_and_the_place_is_named(name):
    if name.startswith("flat"):
        result = instrument(AROUND.format(FORMS[name](5000)))
        assert list(result.notes) == [] and result.skipped_count == 0
        return
    count = 199 if name in BRACKETED else 5000
    result = instrument(AROUND.format(FORMS[name](count)))
    functions = {site["function"] for site in compiler.EXTENSION.sites(result.table)}
    assert {"before", "after"} <= functions and "f" not in functions
    [(kind, line, column, text)] = result.notes
    assert kind == "warning" and line >= 4 and column >= 1
    what = "the statement" if "module" in name else "function 'f'"
    assert text.startswith(f"{what} stays as it is: CPython could not compile its nesting")


def test_what_is_not_too_deep_is_recorded():
    for name, make in FORMS.items():
        count = 60 if name in BRACKETED else 900
        result = instrument(AROUND.format(make(count)))
        assert list(result.notes) == [], name


def test_an_inner_function_is_left_alone_and_the_outer_recorded():
    inner = FORMS["sum returned"](4000).replace("\n", "\n    ").rstrip()
    result = instrument(f"def outer(a):\n    {inner}\n    return f\n")
    functions = {site["function"] for site in compiler.EXTENSION.sites(result.table)}
    assert functions == {"outer"}
    assert "function 'outer.<locals>.f'" in result.notes[0][3]


def test_a_function_that_is_not_selected_is_not_mentioned():
    text = AROUND.format(FORMS["sum returned"](4000)).encode()
    result = compiler.EXTENSION.instrument(text, "m.py", functions=["after"])
    assert list(result.notes) == [] and result.is_changed
