"""One function compiled anew: the same function for all who look, and it records."""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import json
import linecache
import pickle
import subprocess
import sys
import textwrap
import traceback

import pytest

from tests.support import paths, viewer

_function = pytest.importorskip("monitorch._compile.function", reason="the package is not built (make)")
pytest.importorskip("monitorch._recorder", reason="the recorder is not built (make)")

import monitorch  # noqa: E402

SOURCE = '''
"""A module of functions, most of them odd."""
from __future__ import annotations
import functools

def keep(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    wrapper.kept = True
    return wrapper

def plain(a, b=2, *rest, c: int = 3, **more) -> int:
    """Adds."""
    total = a + b + c
    print(end="")
    return total

def make_counter(start):
    count = start
    def step(by=1):
        nonlocal count
        count = count + by
        return count
    return step

class Base:
    def name(self):
        return "base"

class Thing(Base):
    __secret = 5
    def name(self):
        word = super().name()
        return word + __class__.__name__ + str(self.__secret)
    @staticmethod
    def fixed(x):
        y = x + 1
        return y
    @classmethod
    def made(cls, x):
        thing = cls()
        thing.x = x
        return thing

def factorial(n):
    if n == 0:
        return 1
    smaller = factorial(n - 1)
    return n * smaller

def numbers(n):
    for i in range(n):
        got = yield i
    return "done"

async def wait(x):
    y = x + 1
    return y

async def stream(n):
    for i in range(n):
        yield i

@keep
@keep
def wrapped(x):
    inside = x * 2
    return inside

one, two = lambda x: x, lambda x: x + 1
def on(x): y = x; return y
def fails(x):
    y = x
    raise ValueError(
        y)
def outer(x):
    def inner(z):
        w = z + x
        return w
    return inner(x)
'''


def line_of(text):
    """The one line of the source that begins so."""
    (line,) = [
        number
        for number, line in enumerate(SOURCE.split("\n"), 1)
        if line.strip().startswith(text)
    ]
    return line


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The module, new for each test."""
    (tmp_path / "odd_functions.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    sys.modules.pop("odd_functions", None)
    linecache.checkcache()
    yield importlib.import_module("odd_functions")
    sys.modules.pop("odd_functions", None)


def names_recorded(tmp_path, run):
    """What a run tells: (function, line, name) of its events."""
    trace = tmp_path / "run.mtrace"
    with monitorch.record(trace):
        run()
    shown = viewer.run("show", "--json", trace)
    assert shown.returncode <= 1, shown.stderr  # 1: there is no event
    events = [json.loads(line) for line in shown.stdout.splitlines()]
    return [(e["function"], e["line"], e["name"]) for e in events if e["record"] == "event"]


def test_it_records_and_does_the_same(module, tmp_path):
    made = _function.compile_function(module.plain)
    results = []
    told = names_recorded(tmp_path, lambda: results.append(made(1, c=5)))
    assert results == [8] == [module.plain(1, c=5)]
    assert ("plain", line_of("total ="), "total") in told
    assert ("plain", line_of("return total"), "return") in told
    assert names_recorded(tmp_path, lambda: module.plain(1)) == []


def test_every_line(module, tmp_path):
    made = _function.compile_function(module.plain, every_line=True)
    assert ("plain", line_of("print("), "") in names_recorded(tmp_path, lambda: made(1))


def test_who_looks_sees_the_same(module):
    made = _function.compile_function(module.plain)
    assert made is not module.plain
    assert inspect.signature(made) == inspect.signature(module.plain)
    assert inspect.getsource(made) == inspect.getsource(module.plain)
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__defaults__",
                 "__kwdefaults__", "__annotations__", "__dict__", "__globals__"):  # fmt: skip
        assert getattr(made, name) == getattr(module.plain, name), name
    module.plain = made
    assert pickle.loads(pickle.dumps(made)) is made


def test_what_records_already_stays(module, tmp_path):
    made = _function.compile_function(module.plain)
    assert _function.compile_function(made) is made


def test_closures_are_shared(module, tmp_path):
    step = module.make_counter(10)
    made = _function.compile_function(step)
    results = []
    told = names_recorded(tmp_path, lambda: results.extend([made(), step(), made(5)]))
    assert results == [11, 12, 17]
    assert told.count(("make_counter.<locals>.step", line_of("count = count"), "count")) == 2


def test_methods(module, tmp_path):
    module.Thing.name = _function.compile_function(module.Thing.__dict__["name"])
    told = names_recorded(tmp_path, lambda: module.Thing().name())
    assert module.Thing().name() == "baseThing5"
    assert ("Thing.name", line_of("word ="), "word") in told
    fixed = module.Thing.__dict__["fixed"].__func__
    assert _function.compile_function(fixed)(1) == 2
    made = module.Thing.__dict__["made"].__func__
    assert _function.compile_function(made)(module.Thing, 3).x == 3


def test_recursion_goes_through_the_name(module, tmp_path):
    module.factorial = _function.compile_function(module.factorial)
    told = names_recorded(tmp_path, lambda: module.factorial(3))
    assert [name for _, _, name in told].count("smaller") == 3
    assert module.factorial(5) == 120


def test_generators_and_coroutines(module):
    assert inspect.isgeneratorfunction(_function.compile_function(module.numbers))
    assert list(_function.compile_function(module.numbers)(3)) == [0, 1, 2]
    assert asyncio.run(_function.compile_function(module.wait)(1)) == 2
    stream = _function.compile_function(module.stream)
    assert inspect.isasyncgenfunction(stream)

    async def collect():
        return [i async for i in stream(3)]

    assert asyncio.run(collect()) == [0, 1, 2]


def test_what_stands_below_decorators(module, tmp_path):
    made = _function.compile_function(module.wrapped)
    told = names_recorded(tmp_path, lambda: made(4))
    assert made(4) == 8 and made.kept
    assert ("wrapped", line_of("inside ="), "inside") in told
    assert names_recorded(tmp_path, lambda: module.wrapped(4)) == []


def test_functions_inside_record_too(module, tmp_path):
    made = _function.compile_function(module.outer)
    told = names_recorded(tmp_path, lambda: made(1))
    assert ("outer.<locals>.inner", line_of("w ="), "w") in told


def test_tracebacks_are_those_of_the_source(module):
    texts = []
    for function in (module.fails, _function.compile_function(module.fails)):
        try:
            function(1)
        except ValueError as error:
            frame = traceback.TracebackException.from_exception(error).stack[-1]
            texts.append((frame.filename, frame.lineno, frame.line, frame.name))
    assert texts[0] == texts[1]


def test_one_file_is_compiled_once(module, monkeypatch):
    count = []
    compile_source = _function._instrument.compile_source
    monkeypatch.setattr(
        _function._instrument, "compile_source",
        lambda *args, **kwargs: count.append(1) or compile_source(*args, **kwargs),
    )  # fmt: skip
    for name in ("plain", "factorial", "numbers", "on"):
        _function.compile_function(getattr(module, name))
    assert len(count) == 1


def refusal(function):
    with pytest.raises(_function.CannotCompile) as caught:
        _function.compile_function(function)
    return str(caught.value)


def test_what_cannot_be_compiled(module, tmp_path):
    file = module.__file__
    place = f"{file}:{line_of('one, two')}"
    assert refusal(module.one) == f"{place}: <lambda>: a lambda has no lines of its own"
    assert "len" in refusal(len) and "partial" in refusal(functools.partial(module.plain))
    namespace = {}
    exec("def hidden():\n    x = 1\n    return x", namespace)
    assert refusal(namespace["hidden"]) == "<string>:1: hidden: its source is not to be found"
    text = SOURCE.replace("total = a + b + c", "total = a + b - c")
    (tmp_path / "odd_functions.py").write_text("# one line more\n" + text)
    assert "the file was changed since it was loaded" in refusal(module.plain)


def test_another_function_at_the_same_place_is_not_run_instead(module):
    text = SOURCE.replace("total = a + b + c", "total = a + b - c")
    with open(module.__file__, "w") as file:
        file.write(text)
    assert "the file was changed since it was loaded" in refusal(module.plain)


def test_a_cell(tmp_path):
    """Sources that are in linecache alone, as a notebook's are."""
    name = "<ipython-input-3-abc>"
    text = "def cell(x):\n    y = x + 1\n    return y\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"__name__": "__main__"}
    exec(compile(text, name, "exec"), namespace)
    made = _function.compile_function(namespace["cell"])
    assert ("cell", 2, "y") in names_recorded(tmp_path, lambda: made(1))
    del linecache.cache[name]


def test_inherited_future_flags(tmp_path):
    """Code that exec has compiled in the company of `from __future__ import annotations`."""
    name = "<ipython-input-4-abc>"
    text = "def cell(x: Unknown) -> Unknown:\n    return x\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"__name__": "__main__"}
    exec(compile("from __future__ import annotations\n", "a", "exec"), namespace)
    flags = sys.modules["__future__"].annotations.compiler_flag
    exec(compile(text, name, "exec", flags), namespace)
    made = _function.compile_function(namespace["cell"])
    assert made.__annotations__ == {"x": "Unknown", "return": "Unknown"}
    del linecache.cache[name]


def test_a_file_that_was_instrumented_in_part(tmp_path, monkeypatch):
    text = "class A:\n    def forward(self, x):\n        return x\n\n"
    text += "def other(x):\n    y = x\n    return y\n"
    (tmp_path / "partly_source.py").write_text(text)
    subprocess.run(
        [paths.COMMAND, "partly_source.py", "-o", "partly_traced.py"], cwd=tmp_path, check=True
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    module = importlib.import_module("partly_traced")
    try:
        assert _function.compile_function(module.A.forward) is module.A.forward
        made = _function.compile_function(module.other)
        assert ("other", 6, "y") in names_recorded(tmp_path, lambda: made(1))
    finally:
        del sys.modules["partly_traced"]


def test_a_module_that_is_reloaded(module, tmp_path):
    first = _function.compile_function(module.plain)
    importlib.reload(module)
    second = _function.compile_function(module.plain)
    told = names_recorded(tmp_path, lambda: (first(1), second(1)))
    assert [name for _, _, name in told].count("total") == 2


def test_many_functions_of_the_library():
    """Functions of real modules: each is found, and none loses anything that can be seen of it."""
    import argparse
    import statistics
    import textwrap as wrap

    count = 0
    for owner in (argparse, statistics, wrap, traceback, argparse.ArgumentParser, inspect):
        for name, function in list(vars(owner).items()):
            if not inspect.isfunction(function) or function.__name__ == "<lambda>":
                continue
            if function.__module__ != getattr(owner, "__module__", owner.__name__):
                continue
            made = _function.compile_function(function)
            assert inspect.signature(made) == inspect.signature(function), name
            assert made.__code__.co_freevars == function.__code__.co_freevars
            assert made.__code__.co_firstlineno == function.__code__.co_firstlineno
            count += 1
    assert count > 150
    wrapped = _function.compile_function(textwrap.wrap)
    assert wrapped("some words that are wrapped", 10) == textwrap.wrap(
        "some words that are wrapped", 10
    )
