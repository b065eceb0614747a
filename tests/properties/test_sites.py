"""Sites tell the truth: keys that stay, every binding and read found, certain bindings right."""

import ast
import builtins
import contextlib
import importlib.util
import random
import re
import sys
import types
import warnings

import pytest

from tests.properties import bindings, bindings_of_source, runnable
from tests.support import compiler, paths

extension = compiler.EXTENSION
pytestmark = pytest.mark.skipif(extension is None, reason="the extension is not built (make)")

SOURCE = b'''import torch


class Net(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.scale = size ** -0.5
        self.cache = {}

    def forward(self, x, mask=None):
        q = k = x
        for head in range(2):
            q = q * self.scale
            if mask is not None:
                q = q + mask
            elif (n := len(self.cache)) > 1:
                self.cache[head] = q
            else:
                q += k
        while n:
            n -= 1
        with torch.no_grad() as guard, open("f") as (a, b):
            a.b.append(guard)
        try:
            return q
        except (ValueError, TypeError) as error:
            q = error
        match q:
            case [first, *rest]:
                return first, rest
        return helper(q)


def helper(x):
    x = x + 1
    return x


x = helper(1)
'''


def sites_of(source, **selection):
    result = extension.instrument(source, "m.py", **(selection or {"all": True}))
    return extension.sites(result.text) if result.is_changed else []


def keys_of(source, **selection):
    return [site["key"] for site in sites_of(source, **selection)]


def with_lines_between(source, line):
    return re.sub(rb"\n(?=\S)", b"\n" + line + b"\n", source)


@pytest.mark.parametrize("change", [
    lambda s: s.replace(b"\n", b"\n\n"),
    lambda s: b"# comment\n" + s.replace(b"\n    ", b"\n    # one more\n    "),
    lambda s: s.replace(b"\n", b"\r\n"),
    lambda s: s.replace(b"    ", b"\t"),
    lambda s: s.replace(b"    ", b"  "),
    lambda s: s.replace(b" = ", b"  =  ").replace(b"mask is not None", b"mask  is not \\\n None"),
    lambda s: b"import os\n" + s.replace(b"        q = k = x\n", b"        import os\n        q = k = x\n"),
    lambda s: s.replace(b"        q = k = x\n", b"        q = k = x\n        zzz = 1\n        del zzz\n"),
    lambda s: with_lines_between(s, b"def other(x):\n    x = x + 1\n    return x\n"),
    lambda s: s.replace(b"def helper", b"def helpful"),
    lambda s: s + b"\n\ndef forward(q):\n    q = q\n    return q\n",
    lambda s: s.replace(b"q + mask", b"q - torch.exp(mask)"),
], ids=["blank lines", "comments", "line ends", "tabs", "indents", "blanks", "imports", "statement",
        "functions", "renamed", "appended", "value"])
def test_keys_stay(change):
    before, after = keys_of(SOURCE), keys_of(change(SOURCE))
    gone = [key for key in before if key not in after and ":helper:" not in key]
    assert gone == []
    assert [k for k in after if k in before] == [k for k in before if k in after]


@pytest.mark.parametrize("selection", [
    {"lines": [(10, 14)]}, {"lines": [(13, 13), (26, 40)]}, {"functions": ["Net.*"]},
    {"functions": ["helper"]}, {"forward": True}, {"functions": ["*__init__"], "lines": [(20, 99)]},
])
def test_selection_leaves_keys(selection):
    every = {(s["line"], s["column"], s["kind"], s["key"]) for s in sites_of(SOURCE)}
    some = {(s["line"], s["column"], s["kind"], s["key"]) for s in sites_of(SOURCE, **selection)}
    assert some and some <= every


def sample(count, seed):
    files = paths.stdlib_files() + paths.package_files("torch")
    return random.Random(seed).sample(files, min(count, len(files)))


def lines_left_alone(tree, notes):
    """The lines of definitions that the compiler says it left alone."""
    noted = {line for _, line, _, _ in notes}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if noted.intersection([node.lineno, *(d.lineno for d in node.decorator_list)]):
                yield from range(node.lineno, node.end_lineno + 1)


# A site names so many reads at most (instrument/tree/reads.h).
READS_LIMIT = 64
MORE = "and more"


def differences(source, path):
    """Where the sites of a source are not what Python's parser finds in it; None: not compared."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            compile(source, path, "exec")
        result = extension.instrument(source, path, all=True)
    except (SyntaxError, ValueError):
        return None
    if not result.is_changed:
        return []
    sites, found = extension.sites(result.text), {}
    keys = [site["key"] for site in sites]
    problems = [] if len(set(keys)) == len(keys) else [f"{path}: two sites of one key"]
    for site in sites:
        names = tuple(name for name, _ in site["writes"] if "." not in name)
        if names and site["kind"] not in ("mutate", "spy"):
            reads = {name.partition(".")[0] for name, _, _ in site["reads"]}
            if len(site["reads"]) >= READS_LIMIT:
                reads.add(MORE)
            function = found.setdefault((site["function"], site["function_line"]), {})
            function.setdefault((site["line"], names), set()).update(reads)
    left_alone = set(lines_left_alone(tree, result.notes))
    expected = bindings_of_source.expected(tree)
    for name, line in found.keys() - expected.keys():
        problems.append(f"{path}:{line}: {name} is no function")
    for function, wanted in expected.items():
        if function[1] in left_alone and function not in found:
            continue
        made = found.get(function, {})
        for line, names in wanted.keys() ^ made.keys():
            what = "no site" if (line, names) in wanted else "a site too many"
            problems.append(f"{path}:{line}: {what} for {', '.join(names)} in {function[0]}")
        for line, names in wanted.keys() & made.keys():
            known = made[line, names]
            is_equal = known - {MORE} <= wanted[line, names] if MORE in known else known == wanted[line, names]
            if not is_equal:
                problems.append(f"{path}:{line}: {', '.join(names)} reads {made[line, names]}, "
                                f"not {wanted[line, names]}")
    return problems


def check_files(files):
    compared, problems = 0, []
    for path in files:
        found = differences(path.read_bytes(), str(path))
        compared += found is not None
        problems += found or []
    assert problems == []
    assert compared > len(files) // 2


def test_functions_whose_source_is_read_are_left_alone():
    source = b"import triton\n\n@triton.jit\ndef kernel(x):\n    y = x\n    return y\n"
    assert differences(source, "kernel.py") == []


def test_every_binding_is_a_site():
    check_files(sample(15, 5))


@pytest.mark.slow
def test_every_binding_is_a_site_in_many_files():
    check_files(sample(300, 6))


@contextlib.contextmanager
def watching(watcher):
    """Instrumented modules that start inside are watched."""
    package = types.ModuleType("monitorch")
    package._instrumented = lambda module_globals, table: watcher.hook_for(watcher.sites)
    before = sys.modules.get("monitorch"), getattr(builtins, "_mt", watching)
    sys.modules["monitorch"], builtins._mt = package, None
    try:
        yield
    finally:
        del sys.modules["monitorch"], builtins._mt
        if before[0] is not None:
            sys.modules["monitorch"] = before[0]
        if before[1] is not watching:
            builtins._mt = before[1]


ENDS = (runnable.Failure, runnable.Exhausted, NameError, AssertionError, TypeError, ValueError,
        AttributeError, RuntimeError)


def run_program(seed, watcher):
    source = ("import things\n" + runnable.program(random.Random(seed).randrange)).encode()
    try:
        compile(source, "program", "exec")
    except SyntaxError:
        return source  # a nonlocal of no outer function's name, two captures of one name
    text = extension.instrument(source, "program", all=True).text
    watcher.sites = extension.sites(text)
    code = compile(text, f"program {seed}", "exec")
    for turn in range(4):
        space = runnable.namespace(random.Random(seed * 10 + turn).randrange)
        sys.modules["things"] = space["things"]
        with watching(watcher), contextlib.suppress(*ENDS):
            exec(code, space)
            for _ in space["main"](space["mix"](), space["mix"]()) or ():
                pass
    sys.modules.pop("things", None)
    return source


def check_programs(seeds):
    watcher = bindings.Watcher()
    for seed in seeds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            source = run_program(seed, watcher)
        assert watcher.problems == [], source.decode()
    return watcher.claim_count / watcher.read_count


def test_certain_bindings_are_right():
    assert check_programs(range(150)) > 0.2


@pytest.mark.slow
def test_certain_bindings_are_right_in_many_programs():
    check_programs(range(1000, 6000))


def drive_json(m):
    return m.loads(m.dumps({"a": [1, 2.5, None, "x\n", {"b": True}]}, indent=1))


def drive_textwrap(m):
    return m.fill(m.dedent("  one two three\n  four five " * 20), 30)


def drive_difflib(m):
    return list(m.unified_diff("a b c d e f".split(), "a c d x f g".split()))


def drive_fractions(m):
    return sum((m.Fraction(1, n) for n in range(1, 30)), m.Fraction("3/7")).limit_denominator(99)


def drive_heapq(m):
    return m.nsmallest(3, range(20, 0, -1)), list(m.merge([1, 4], [2, 3])), m.nlargest(2, "hello")


def drive_statistics(m):
    data = [1.5, 2.5, 2.5, 2.75, 3.25, 4.75]
    return m.mean(data), m.stdev(data), m.quantiles(data), m.linear_regression(data, data[::-1])


def drive_tokenize(m):
    lines = iter(SOURCE.decode().splitlines(True))
    return list(m.generate_tokens(lambda: next(lines, "")))


def drive_shlex(m):
    return m.split("a 'b c' \"d e\" f\\ g # h", comments=True), list(m.shlex("x=1; y"))


def drive_configparser(m):
    parser = m.ConfigParser()
    parser.read_string("[a]\nb = 1\nc = %(b)s\n d\n[e]\nf: on\n")
    return {s: dict(parser[s]) for s in parser.sections()}


def drive_argparse(m):
    parser = m.ArgumentParser(prog="p")
    parser.add_argument("--x", type=int, nargs="*", help="some numbers")
    parser.add_argument("rest", nargs="?")
    return parser.format_help(), parser.parse_args(["r", "--x", "1", "2"])


def drive_pprint(m):
    return m.pformat({"a": list(range(60)), "b": ("x" * 70, {1, 2, 3})}, width=30)


def drive_colorsys(m):
    return [m.rgb_to_hls(r / 3, 0.5, 0.2) + m.hsv_to_rgb(r / 3, 0.5, 0.2) for r in range(4)]


DRIVERS = {
    "json": drive_json, "textwrap": drive_textwrap, "difflib": drive_difflib,
    "fractions": drive_fractions, "heapq": drive_heapq, "statistics": drive_statistics,
    "tokenize": drive_tokenize, "shlex": drive_shlex, "configparser": drive_configparser,
    "argparse": drive_argparse, "pprint": drive_pprint, "colorsys": drive_colorsys,
}


@pytest.mark.parametrize("name", DRIVERS)
def test_certain_bindings_are_right_in_library(name):
    """A module of the standard library, run as it is and watched: the same results, true claims."""
    spec = importlib.util.find_spec(name)
    plain = importlib.import_module(name)
    wanted = DRIVERS[name](plain)
    watcher = bindings.Watcher()
    with open(spec.origin, "rb") as file:
        text = extension.instrument(file.read(), spec.origin, all=True).text
    watcher.sites = extension.sites(text)
    module = importlib.util.module_from_spec(spec)
    with watching(watcher):
        sys.modules[name] = module
        try:
            exec(compile(text, spec.origin, "exec"), module.__dict__)
            made = DRIVERS[name](module)
        finally:
            sys.modules[name] = plain
    assert repr(made) == repr(wanted)
    assert watcher.problems == []
