"""The extension that draws for Python: what it gives and raises, with threads, on a trace that is still
recorded, by each CPython; and that what only records loads nothing of it."""

import inspect
import os
import pathlib
import subprocess
import sys
import threading
import time

import pytest

from tests.support import dot, paths, png, svg, threads, viewer
from tests.trace import made, scenarios

sys.path.insert(0, str(paths.PYTHON_PATH))
try:
    from monitorch import _view
except ImportError:
    _view = None
pytestmark = pytest.mark.skipif(_view is None, reason="the extension is not built (make)")

PYTHONS = [(sys.version_info[:2], sys.executable), *paths.other_pythons()]
KEYS = {"data", "nodes", "events", "older"}


@pytest.fixture(scope="module")
def nested(tmp_path_factory):
    return str(scenarios.nested_calls().write(tmp_path_factory.mktemp("view") / "nested.mtrace"))


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Takes a second or so."""
    trace = made.Trace()
    trace.module("m.py", [("<module>", 1), ("f", 1)], [("assign", 1, 1, "a")])
    call = trace.call(1)
    trace.repeat(30000)
    trace.event(0, call, made.tensor((2,), min=1, max=2, mean=1.5, std=0.5))
    trace.again()
    return str(trace.write(tmp_path_factory.mktemp("view") / "large.mtrace"))


def test_formats(nested):
    pictures = {name: _view.render(nested, name) for name in ("png", "svg", "pdf", "dot")}
    assert all(set(rendered) == KEYS for rendered in pictures.values())
    assert len({rendered["nodes"] for rendered in pictures.values()}) == 1
    nodes = svg.read(pictures["svg"]["data"]).find("node")
    assert pictures["svg"]["nodes"] == len(nodes) > 3
    assert pictures["svg"]["events"] >= len(nodes)
    assert png.read(pictures["png"]["data"]).shape[2] == 3
    assert pictures["pdf"]["data"].startswith(b"%PDF-")
    assert len(dot.read(pictures["dot"]["data"].decode()).nodes) == len(nodes)


def test_the_same_as_the_command(nested, tmp_path):
    output = tmp_path / "out.svg"
    words = [nested, "--fold=none", "--theme=dark", "--title=A", "--name=q", "--max-nodes=2"]
    assert viewer.run("graph", *words, "-o", output).returncode == 0
    rendered = _view.render(
        nested, "svg", fold="none", theme="dark", title="A", names=("q",), max_nodes=2
    )
    assert rendered["data"] == output.read_bytes()


def test_choices(nested):
    everything = _view.render(nested, "svg", fold="none")
    for choice in (
        {"lines": ("7",)},
        {"lines": ["1-7", "9"]},
        {"functions": ("Attention.*",)},
        {"names": ("q", "weights")},
        {"max_nodes": 2},
        {"first_event": 8},
    ):
        some = _view.render(nested, "svg", fold="none", **choice)
        assert 0 < some["nodes"] < everything["nodes"], choice
    assert _view.render(nested, "svg", files=("mod*.py",))["nodes"] > 0
    newest = _view.render(nested, "svg", fold="none", max_nodes=2)
    assert (newest["nodes"], newest["older"]) == (2, everything["nodes"] - 2)
    nothing = _view.render(nested, "png", names=("nobody",))
    assert (nothing["data"], nothing["nodes"]) == (b"", 0)
    assert _view.render(nested, "svg", first_event=10**9)["nodes"] == 0


def test_paths(nested, tmp_path):
    by_path = _view.render(pathlib.Path(nested), "dot")
    assert by_path == _view.render(nested.encode(), "dot") == _view.render(nested, "dot")
    odd = tmp_path / "größe \udcff.mtrace"
    os.link(nested, odd)
    assert _view.render(odd, "svg")["nodes"] == by_path["nodes"]


WRONG = [
    ({"format": "gif"}, ValueError, "format: expected png, svg, pdf or dot, not gif"),
    ({"format": ""}, ValueError, "format"),
    ({"fold": "some"}, ValueError, "some"),
    ({"theme": "red"}, ValueError, "red"),
    ({"lines": ("5-2",)}, ValueError, "5-2"),
    ({"lines": "5-9"}, TypeError, "lines"),
    ({"names": (1,)}, TypeError, ""),
    ({"names": 1}, TypeError, ""),
    ({"names": ("\udcff",)}, UnicodeEncodeError, ""),
    ({"dpi": 0}, ValueError, "dpi"),
    ({"dpi": float("nan")}, ValueError, "dpi"),
    ({"max_nodes": -1}, ValueError, "max_nodes"),
    ({"max_nodes": 2**70}, OverflowError, ""),
    ({"first_event": -1}, ValueError, "first_event"),
    ({"max_matrix": -1}, ValueError, "max_matrix"),
    ({"max_vector": -3}, ValueError, "max_vector"),
    ({"max_slices": 2**40}, ValueError, "max_slices"),
    ({"title": None}, TypeError, ""),
    ({"colour": 1}, TypeError, "colour"),
    ({"path": "nul\0"}, ValueError, "null"),
]


@pytest.mark.parametrize("words,error,message", WRONG, ids=lambda value: str(value)[:40])
def test_wrong_arguments(words, error, message, nested):
    with pytest.raises(error, match=message or None):
        _view.render(**{"path": nested, "format": "svg", **words})


def test_unreadable(tmp_path):
    with pytest.raises(OSError, match="none.mtrace"):
        _view.render(str(tmp_path / "none.mtrace"), "svg")
    (tmp_path / "text.mtrace").write_bytes(b"text" * 3000)
    with pytest.raises(OSError, match="text.mtrace"):
        _view.render(str(tmp_path / "text.mtrace"), "svg")


def test_memory(nested):
    """In a process of its own: each allocation of ours fails, and then it works again."""
    program = f"""
import os, subprocess, sys
from monitorch import _view
try:
    _view.render({nested!r}, sys.argv[1])
except MemoryError:
    print("failed")
else:
    print("done")
"""
    for name in ("svg", "png"):
        told = []
        for countdown in (*range(1, 30, 4), 100000):
            run = subprocess.run(
                [sys.executable, "-c", program, name],
                env=dict(
                    os.environ,
                    PYTHONPATH=str(paths.PYTHON_PATH),
                    MONITORCH_TEST_FAIL_ALLOCATION=str(countdown),
                ),
                capture_output=True,
                text=True,
            )
            assert run.returncode == 0, run.stderr
            told.append(run.stdout.strip())
        assert told[0] == "failed" and told[-1] == "done", told


def test_threads(nested):
    """Several draw at once, and each gets what it would have got alone."""
    alone = {name: _view.render(nested, name)["data"] for name in ("png", "svg", "dot")}
    found = []

    def draw():
        for _ in range(6):
            for name, data in alone.items():
                found.append(_view.render(nested, name)["data"] == data)

    threads.run(*[draw] * 4)
    assert found == [True] * (4 * 6 * 3)


def printed(program):
    """What a process of its own prints."""
    run = subprocess.run(
        [sys.executable, "-c", program],
        env=dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH)),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_forked(nested):
    """A process that was forked from one that has drawn draws too."""
    program = f"""
import os, sys
from monitorch import _view
before = _view.render({nested!r}, "png", title="\u0416")["data"]
child = os.fork()
if child == 0:
    same = _view.render({nested!r}, "png", title="\u0416")["data"] == before
    other = _view.render({nested!r}, "png", title="\u05e9\u4e2d", dpi=77)["data"]
    os._exit(not (same and other))
print(os.waitpid(child, 0)[1])
"""
    assert printed(program) == "0\n"


def test_others_run_meanwhile(large):
    """While it draws, another thread goes on."""
    turns = 0
    drawing = threading.Thread(target=_view.render, args=(large, "svg"), kwargs={"fold": "none"})
    drawing.start()
    while drawing.is_alive():
        time.sleep(0.001)
        turns += 1
    assert turns > 20


def test_control_c(large):
    """Is answered in the midst of it."""
    program = f"""
import _thread, threading
from monitorch import _view
threading.Timer(0.15, _thread.interrupt_main).start()
try:
    for _ in range(200):
        _view.render({large!r}, "dot", fold="none")
except KeyboardInterrupt:
    print("interrupted")
"""
    assert printed(program) == "interrupted\n"


def test_stub():
    """The stub's arguments are those of the extension, and its defaults are taken."""
    import ast

    tree = ast.parse((paths.PACKAGE / "_view.pyi").read_text())
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {name for name in dir(_view) if not name.startswith("_")} == set(functions)
    function = functions["render"]
    text = inspect.getdoc(_view.render)
    for argument in (*function.args.args, *function.args.kwonlyargs):
        assert argument.arg in text
    (rendered,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    assert {node.target.id for node in rendered.body} == KEYS


def test_stub_defaults(nested):
    import ast

    tree = ast.parse((paths.PACKAGE / "_view.pyi").read_text())
    function = next(node for node in tree.body if getattr(node, "name", "") == "render")
    defaults = {
        argument.arg: ast.literal_eval(default)
        for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults)
    }
    assert _view.render(nested, "png", **defaults) == _view.render(nested, "png")


LIVING = """
import sys
import monitorch
from monitorch import _instrument, _view

source = b"def f(x):\\n    for i in range(50):\\n        y = x + i\\n    return y\\n"
names = {"__name__": "m"}
exec(compile(_instrument.instrument(source, "m.py", all=True).text, "m.py", "exec"), names)
counts = []
with monitorch.record(sys.argv[1]):
    def maps():
        return open("/proc/self/maps").read()
    for _ in range(3):
        names["f"](2.5)
        counts.append(len(_view.render(sys.argv[1], "dot", fold="none")["data"]))
    assert "libpango" not in maps() and "libcairo" not in maps()
assert counts == sorted(counts), counts
assert _view.render(sys.argv[1], "svg")["nodes"] == 0  # numbers are no arrays
assert "libpango" not in maps()
try:
    _view.render(sys.argv[1] + "x", "png")
except OSError:
    pass
print(_view.render(sys.argv[2], "png")["nodes"], "libpango" in maps())
"""


@pytest.mark.parametrize(
    "python", [path for _, path in PYTHONS], ids=["%d.%d" % version for version, _ in PYTHONS]
)
def test_version(python, nested, tmp_path):
    """One build for all; a living trace; nothing that draws is loaded before something is drawn."""
    nodes = _view.render(nested, "png")["nodes"]
    run = subprocess.run(
        [python, "-W", "error", "-c", LIVING, str(tmp_path / "run.mtrace"), nested],
        env=dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH), PYTHONDONTWRITEBYTECODE="1"),
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stdout) == (0, f"{nodes} True\n"), run.stderr
