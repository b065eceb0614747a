"""The extension module's functions: what they take, give and raise."""

from __future__ import annotations
import __future__

import gc
import os
import pathlib
import subprocess
import sys

import pytest

from tests.support import compiler, paths, recording, threads

extension = compiler.EXTENSION
pytestmark = pytest.mark.skipif(extension is None, reason="the extension is not built (make)")

SOURCE = b"""class M:
    def forward(self, x):
        y = x + 1
        return y

    def other(self, z):
        q = z
        return q

def free(a):
    b = a
    return b
"""


def functions_of(result):
    return {site["function"] for site in extension.sites(result.table)}


@pytest.mark.parametrize(
    "selection, functions",
    [
        ({}, {"M.forward"}),
        ({"all": True}, {"<module>", "M.forward", "M.other", "free"}),
        ({"forward": True}, {"M.forward"}),
        ({"forward": False}, set()),
        ({"functions": ["fr*"]}, {"free"}),
        ({"functions": ("M.other", "free")}, {"M.other", "free"}),
        ({"functions": iter(["free"]), "forward": True}, {"M.forward", "free"}),
        ({"lines": [(7, 7)]}, {"M.other"}),
        ({"lines": [11]}, {"free"}),
        ({"lines": [[3, 7]]}, {"M.forward", "M.other"}),
        ({"functions": ["nothing"]}, set()),
    ],
)
def test_selection(selection, functions):
    result = extension.instrument(SOURCE, "m.py", **selection)
    assert functions_of(result) <= functions
    assert functions_of(result) >= functions - {"<module>"}
    assert result.is_changed == bool(functions)
    if not functions:
        assert result.text == SOURCE and result.insertions == ()


def test_spy():
    result = extension.instrument(SOURCE, "m.py", spy=["y", "q"])
    assert b'spy_save("y", y, self)' in result.text
    assert b'spy_save("q", q, self)' in result.text
    assert not extension.is_instrumented(result.text)
    assert extension.strip(result.text) == SOURCE


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, bytes.decode])
def test_sources(kind):
    given = kind(SOURCE)
    assert extension.instrument(given, "m.py").text == extension.instrument(SOURCE, "m.py").text
    assert extension.strip(kind(extension.instrument(SOURCE).text)) == SOURCE
    assert extension.is_instrumented(given) is False
    code, result = extension.compile_source(given, "m.py")
    assert code.co_filename == "m.py" and result.is_changed


def test_a_declared_encoding_is_the_declared_one_for_strings_too():
    text = "# coding: latin-1\nclass M:\n    def forward(self, é):\n        ü = 'ß'; return ü\n"
    result = extension.instrument(text, "m.py")
    assert result.text == extension.instrument(text.encode("latin-1"), "m.py").text
    assert "ß".encode("latin-1") in result.text
    names = {}
    code, _ = extension.compile_source(text, "m.py")
    exec(code, names)
    assert names["M"]().forward(1) == "ß"
    assert ("ü", "value") in [w for site in extension.sites(result.text) for w in site["writes"]]
    assert extension.strip(result.text).decode("latin-1") == text


@pytest.mark.parametrize("source", [None, 3, [1, 2], object(), {}, ()])
def test_other_sources_are_type_errors(source):
    for call in (extension.instrument, extension.strip):
        with pytest.raises(TypeError):
            call(source, "m.py")
    with pytest.raises(TypeError):
        extension.is_instrumented(source)
    with pytest.raises(TypeError):
        extension.sites(source)
    with pytest.raises(TypeError):
        extension.compile_source(source, "m.py")


@pytest.mark.parametrize(
    "error, selection",
    [
        (TypeError, {"functions": "forward"}),
        (TypeError, {"spy": "q"}),
        (TypeError, {"functions": [3]}),
        (TypeError, {"functions": 3}),
        (UnicodeEncodeError, {"functions": ["\udcff"]}),
        (TypeError, {"lines": 3}),
        (TypeError, {"lines": [3.5]}),
        (TypeError, {"lines": ["ab"]}),
        (ValueError, {"lines": [(1, 2, 3)]}),
        (ValueError, {"lines": [0]}),
        (ValueError, {"lines": [(5, 4)]}),
        (OverflowError, {"lines": [-1]}),
        (OverflowError, {"lines": [1 << 80]}),
        (TypeError, {"nothing": 1}),
    ],
)
def test_wrong_selections(error, selection):
    with pytest.raises(error):
        extension.instrument(SOURCE, "m.py", **selection)
    with pytest.raises(error):
        extension.compile_source(SOURCE, "m.py", **selection)


def test_result():
    result = extension.instrument(SOURCE, "m.py", all=True)
    assert result.function_count == 3
    assert result.selected_count == 3
    assert result.skipped_count == 0
    text = SOURCE
    for offset, inserted, start, end in reversed(result.insertions):
        assert 0 <= start <= end <= len(SOURCE)
        assert b"\n" not in inserted
        text = text[:offset] + inserted + text[offset:]
    assert text == result.text
    assert "Result" in repr(result) and "3 of 3 functions" in repr(result)
    with pytest.raises(AttributeError):
        result.text = b""
    with pytest.raises(TypeError):
        type(result)()
    assert isinstance(result, extension.Result)


def test_notes():
    source = b"import torch\n" + SOURCE + b"@torch.jit.script\ndef s(a):\n    b = a\n    return b\n"
    result = extension.instrument(source, "m.py", all=True)
    assert result.notes, "a function left alone is told of"
    kind, line, column, text = result.notes[0]
    assert kind in ("warning", "remark")
    assert line == source[: source.index(b"def s")].count(b"\n") + 1 and column >= 1 and isinstance(text, str) and text


def test_results_are_freed():
    result = extension.instrument(SOURCE, "m.py")
    result.notes.append(result)
    extension.instrument(SOURCE).notes.append(result)
    before = len(gc.get_objects())
    for _ in range(50):
        result = extension.instrument(SOURCE, "m.py")
        result.notes.append(result)
        del result
    gc.collect()
    assert len(gc.get_objects()) < before + 40


def test_sites():
    sites = extension.sites(extension.instrument(SOURCE, "a b:c.py", all=True).table)
    by_key = {site["key"]: site for site in sites}
    assert len(by_key) == len(sites)
    assign = by_key["a b:c.py:M.forward:assign:y:0"]
    assert assign["reads"][0][:2] == ("x", "local")
    enter = assign["reads"][0][2]
    assert sites[enter]["kind"] == "enter"
    assert [name for name, _ in sites[enter]["writes"]] == ["self", "x"]
    assert set(assign) == {
        *("id", "kind", "line", "column", "function", "function_line", "ordinal", "arm"),
        *("condition", "repeats", "writes", "reads", "key"),
    }


@pytest.mark.parametrize("text", ["", "nothing", b"\xff", "monitorch1 0", SOURCE])
def test_sites_of_what_is_no_table(text):
    with pytest.raises(extension.InstrumentError):
        extension.sites(text)


def test_instrumented_twice():
    text = extension.instrument(SOURCE, "m.py").text
    with pytest.raises(extension.InstrumentError, match=r"^m\.py:\d+:\d+: "):
        extension.instrument(text, "m.py")


@pytest.mark.parametrize(
    "path, source, line, column",
    [
        ("m.py", b"x = 1\n\ty = '\xff'\n", 2, 7),
        ("d/m:1:2: .py", b"x = 1\n# \x00\n", 2, 3),
        (b"odd\xff.py", b"\xc3", 1, 1),
        ("# new\nline.py", b"# coding: nothing\n", 1, None),
    ],
)
def test_errors_tell_where(path, source, line, column):
    with pytest.raises(extension.InstrumentError) as caught:
        extension.instrument(source, path)
    error = caught.value
    assert error.path == os.fsdecode(path)
    assert error.line == line
    assert column is None or error.column == column
    assert "\n" not in str(error)


def test_paths_may_be_path_objects():
    path = pathlib.Path("a") / "m.py"
    assert extension.sites(extension.instrument(SOURCE, path).table)[0]["key"].startswith("a/m.py:")
    code, _ = extension.compile_source(SOURCE, path)
    assert code.co_filename == "a/m.py"
    with pytest.raises(ValueError):
        extension.instrument(SOURCE, "a\0b")


def test_strip_of_other_text_gives_it_back():
    for text in (b"", b"x = 1", b"\xef\xbb\xbfx = 1\r\n", SOURCE):
        assert extension.strip(text) == text


def same_error(source, **options):
    """What compile() and compile_source() raise for a source."""
    errors = []
    for call in (
        lambda: compile(source, "bad.py", "exec", dont_inherit=True, **options),
        lambda: extension.compile_source(source, "bad.py", all=True, **options),
    ):
        with pytest.raises(Exception) as caught:
            call()
        errors.append(caught.value)
    return errors


@pytest.mark.parametrize(
    "source",
    [
        b"def f(:\n    pass\n",
        b"x = (1,\n",
        b"def f():\n    return 1\n  x = 2\n",
        b"x = 1\nreturn x\n",
        b"def f():\n    a = 1\n    break\n",
        b"def f(a):\n    a = 1\n    global a\n",
        b"x = '\xff'\n",
        b"# coding: nothing\nx = 1\n",
        b"x = 1\0\n",
        b"from __future__ import braces\n",
        b"f() = 3\n",
        b"def f():\n    x: int = yield = 1\n",
        b"'a' is 3; (",
        "x = '\udc00'\n",
    ],
)
def test_what_python_refuses_is_refused_by_python(source):
    plain, ours = same_error(source)
    assert type(ours) is type(plain)
    assert ours.args == plain.args


def test_compile_options():
    source = b"def f():\n    'doc'\n    assert 0\n    return __debug__\n"
    names = {}
    exec(extension.compile_source(source, "m.py", all=True, optimize=2)[0], names)
    assert names["f"].__doc__ is None and names["f"]() is False
    source = b"def f(a: b): return a.__class__\n"
    flags = __future__.annotations.compiler_flag
    exec(extension.compile_source(source, "m.py", all=True, flags=flags)[0], names)
    assert names["f"].__annotations__ == {"a": "b"}
    with pytest.raises(ValueError):
        extension.compile_source(source, "m.py", flags=0x400)


def test_compile_does_not_inherit():
    # This file itself is compiled with `annotations` from __future__.
    names = {}
    exec(extension.compile_source(b"def f(a: int): return a.real\n", "m.py", all=True)[0], names)
    assert names["f"].__annotations__ == {"a": int}


def test_unchanged_source_compiles_as_it_is():
    code, result = extension.compile_source(SOURCE, "m.py", functions=["nothing"])
    assert not result.is_changed
    assert code == compile(SOURCE, "m.py", "exec", dont_inherit=True)


def test_syntax_warnings_come_once(recwarn):
    extension.compile_source(b"def f(a):\n    b = a is 3\n    return b\n", "m.py", all=True)
    assert [(w.category, w.lineno) for w in recwarn.list] == [(SyntaxWarning, 2)]


def test_the_gil_is_released():
    source = b"import os\n" + b"def f(a):\n    b = a + 1\n    return b\n" * 40000
    text = extension.instrument(source, all=True).text
    program = """
import sys, threading
from monitorch import _instrument as extension
source = open(sys.argv[1], "rb").read()
calls = {"instrument": lambda: extension.instrument(source, all=True),
         "strip": lambda: extension.strip(source)}
sys.setswitchinterval(1000)  # a thread that keeps the GIL keeps it to the end
started, done = threading.Event(), []
def work():
    started.set()
    calls[sys.argv[2]]()
    done.append(1)
thread = threading.Thread(target=work)
thread.start()
started.wait()
assert not done, "the other thread had to wait"
thread.join()
"""
    for call, data in (("instrument", source), ("strip", text)):
        path = paths.scratch("extension") / f"gil_{call}.py"
        path.write_bytes(data)
        run = subprocess.run(
            [sys.executable, "-c", program, str(path), call],
            env=dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH)),
            capture_output=True,
            text=True,
        )
        path.unlink()
        assert run.returncode == 0, run.stderr


def test_threads_give_the_same_texts():
    sources = [SOURCE.replace(b"forward", b"forward%d" % i) * 20 for i in range(8)]
    expected = [extension.instrument(source, all=True).text for source in sources]
    wrong = []

    def work():
        for source, text in zip(sources, expected):
            if extension.instrument(source, all=True).text != text:
                wrong.append(source)

    threads.run(*[work] * 4)
    assert not wrong


def test_module_can_be_loaded_twice_and_dies():
    program = """
import gc, importlib.util, sys, weakref
from monitorch import _instrument as first
def load():
    spec = importlib.util.spec_from_file_location("monitorch._instrument", first.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
second = load()
assert second is not first and second.InstrumentError is not first.InstrumentError
try: second.instrument(b"\\xff")
except second.InstrumentError: pass
gone = weakref.ref(second)
del second
gc.collect()
assert gone() is None
assert first.strip(b"x") == b"x"
"""
    run = subprocess.run(
        [sys.executable, "-c", program],
        env=dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH)),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


def test_no_memory():
    program = """
import sys
from monitorch import _instrument as extension
source = open(sys.argv[1], "rb").read()
for call in (lambda: extension.instrument(source, all=True), lambda: extension.compile_source(source, "m.py"),
             lambda: extension.strip(source), lambda: extension.sites("monitorch1 0")):
    try: call()
    except MemoryError: pass
    except extension.InstrumentError: pass
"""
    path = paths.scratch("extension") / "memory.py"
    path.write_bytes(SOURCE)
    for countdown in [*range(1, 40), 60, 100]:
        run = subprocess.run(
            [sys.executable, "-c", program, str(path)],
            env=dict(
                os.environ,
                PYTHONPATH=str(paths.PYTHON_PATH),
                MONITORCH_TEST_FAIL_ALLOCATION=f"{countdown}+",
            ),
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, (countdown, run.stderr)


# Prefixes


def test_sources_in_one_namespace_have_prefixes_of_their_own():
    names, calls = {"__name__": "notebook"}, []
    package = recording.package()
    registry = sys.modules["monitorch._registry"]
    prefixes = []
    registry.set_hook(lambda table, module_globals: lambda *values: calls.append((table, *values)))
    try:
        for cell in range(4):
            # The third says what the second's names begin with, and so cannot have them.
            source = f"def f{cell}(x):\n    y = x + {cell}\n    return y\nz{cell} = '_mt1x'\n"
            source = source if cell == 2 else source.replace("_mt1x", "")
            prefix = registry.find_prefix(names, source)
            code, result = extension.compile_source(source, f"cell{cell}", all=True, prefix=prefix)
            assert result.table.split()[2] == prefix
            assert extension.strip(result.text) == source.encode()
            exec(code, names)
            prefixes.append(prefix)
        calls.clear()
        for cell in range(4):
            assert names[f"f{cell}"](1) == 1 + cell
    finally:
        registry.set_hook(None)
    assert prefixes == ["_mt", "_mt0x", "_mt2x", "_mt1x"]
    tables = [table.split()[3] for table, *_ in calls]
    assert tables == [f"cell{cell}" for cell in range(4) for _ in range(3)]
    assert package.__version__


@pytest.mark.parametrize(
    "prefix", ["", "x", "_m", "_mt_t", "_mtx", "_mt0", "_mt0xx", "_mt٠x", "_mt0x ", "_mt0x\0"]
)
def test_a_prefix_of_another_form_is_refused(prefix):
    with pytest.raises(ValueError, match="prefix") as caught:
        extension.compile_source(SOURCE, "m.py", prefix=prefix)
    assert type(caught.value) is ValueError


def test_a_prefix_that_the_source_holds_is_refused():
    with pytest.raises(extension.InstrumentError, match="m.py:1:1: the prefix _mt7x occurs"):
        extension.compile_source(b"x = 1\n# not_mt7xy\n", "m.py", all=True, prefix="_mt7x")
    with pytest.raises(TypeError, match="prefix is a string or None"):
        extension.compile_source(SOURCE, "m.py", prefix=b"_mt")


# Code that something else has compiled


def test_positions_of_code_that_was_compiled_of_a_tree():
    import ast

    source = "\ufeff# \u00e9\ndef f(a):\n    return (a.b.c(a[1]), (n := a.d)) + g(a)\n".encode()
    code, result = extension.compile_source(source, "m.py", all=True)
    tree = ast.parse(result.text, "m.py")
    other = extension.map_positions(compile(tree, "m.py", "exec"), source, result)

    def places(code):
        inner = [c for c in code.co_consts if hasattr(c, "co_code")]
        found = list(getattr(code, "co_positions", code.co_lines)())
        return found + [place for c in inner for place in places(c)]

    assert places(other) == places(code)
    with pytest.raises(ValueError, match="another source"):
        extension.map_positions(code, source + b" ", result)
    with pytest.raises(TypeError, match="code is a code object"):
        extension.map_positions("code", source, result)
    with pytest.raises(TypeError):
        extension.map_positions(code, source, None)


def test_positions_of_a_source_that_stays_as_it_is():
    result = extension.instrument(SOURCE, "m.py", functions=["nothing"])
    code = compile(result.text, "m.py", "exec")
    assert extension.map_positions(code, SOURCE, result) == code
