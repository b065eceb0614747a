"""The type stubs tell what the recorder's modules have, and a type checker agrees."""

import ast
import importlib.util
import pathlib
import shutil
import subprocess
import sys

import pytest

from tests.support import paths, type_checker

needs_recorder = pytest.mark.skipif(
    not list(paths.PACKAGE.glob("_recorder*.so")), reason="the recorder is not built (make)"
)

# What a user may write, and what a checker must refuse.
RIGHT = """
import pathlib
import monitorch

with monitorch.record("run.mtrace", last=100_000, stats=False, values=["q", "attn*"]) as run:
    active: bool = run.is_active
recording: monitorch.Recording = monitorch.record(pathlib.Path("run.mtrace"), size_limit="2G")
recording.start()
summary: monitorch.Summary | None = monitorch.stop()
if summary is not None:
    total: int = summary.events + summary.lost + summary.size
    text: str = summary.path + (summary.stopped or "") + "".join(summary.paths)
version: str = monitorch.__version__

monitorch.lines(10, 40, file=pathlib.Path("model.py"))
monitorch.lines()
monitorch.args(scale=0.5)
monitorch.on(show=False, save=True, save_dir=pathlib.Path("out"), max_nodes=20, fold="none")
result: object = monitorch.run(print, x=3)
flushed: monitorch.RenderOutput | None = monitorch.flush(clear=False)
picture = monitorch.off(filename="flow.svg")
if picture is not None:
    parts: tuple[str | None, bool, int] = (picture.saved_path, picture.displayed, picture.node_count)
with monitorch.watch(save=True):
    pass
monitorch.reset()
"""

WRONG = """
import monitorch

monitorch.record("run.mtrace", threads="one")
monitorch.record("run.mtrace", sample="many")
monitorch.record("run.mtrace", 64)
monitorch.record(3)
monitorch.stop().events
monitorch.start()
monitorch.on(True)
monitorch.on(fold="some")
monitorch.off("flow.png")
monitorch.off().saved_path
monitorch.lines("10")
"""


def stub(name):
    return ast.parse((paths.PACKAGE / f"{name}.pyi").read_text())


def run_python(program):
    run = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(paths.PYTHON_PATH)!r})\n{program}"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@needs_recorder
def test_names_of_the_recorder():
    body = stub("_recorder").body
    told = {n.name for n in body if isinstance(n, ast.FunctionDef)}
    told |= {n.target.id for n in body if isinstance(n, ast.AnnAssign)}
    classes = {n.name for n in body if isinstance(n, ast.ClassDef)}
    out = run_python("from monitorch import _recorder; print(*dir(_recorder))")
    names = {name for name in out.split() if not name.startswith("_")}
    assert told <= names and names - told <= classes


@needs_recorder
def test_arguments_of_the_recorder(tmp_path):
    """Each argument is taken with the default that the stub tells, and no other is."""
    program = "from monitorch import _recorder\n"
    table = "monitorch1 " + "0" * 32 + " _mt m.py --all 1,0 0,0,<module> ."
    given = {
        "path": str(tmp_path / "run.mtrace"),
        "value": 3,
        "text": "words",
        "source": b"x = 1",
        "table": table,
        "module_name": "m",
        "file": "m.py",
        "source_kind": "other",
        "function": "f",
        "parameter": "x",
        "how": "4",
    }
    tried = set()
    for node in stub("_recorder").body:
        if isinstance(node, ast.ClassDef) and node.name == "Plan":
            break  # what follows is called by _follow/follow.py alone, in an order of its own
        if not isinstance(node, ast.FunctionDef):
            continue
        arguments = node.args.args
        required = arguments[: len(arguments) - len(node.args.defaults)]
        # Frames and hooks cannot be written down like these.
        if node.args.posonlyargs or {argument.arg for argument in required} - set(given):
            continue
        tried.add(node.name)
        words = [repr(given[argument.arg]) for argument in required]
        named = zip(arguments[len(required) :], node.args.defaults)
        pairs = [*named, *zip(node.args.kwonlyargs, node.args.kw_defaults)]
        words += [f"{argument.arg}={ast.unparse(default)}" for argument, default in pairs]
        program += f"_recorder.{node.name}({', '.join(words)})\n"
        program += (
            f"try: _recorder.{node.name}({', '.join([*words, 'other=1'])})\n"
            "except TypeError: pass\nelse: raise AssertionError\n"
        )
    run_python(program)
    assert tried >= {"start", "stop", "make_hook", "source_hash", "note", "guess", "measure"}


@needs_recorder
def test_keys_of_dictionaries(tmp_path):
    keys = {
        node.name: {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}
        for node in stub("_recorder").body
        if isinstance(node, ast.ClassDef)
    }
    out = run_python(
        "import array\nfrom monitorch import _recorder\n"
        f"_recorder.start({str(tmp_path / 'run.mtrace')!r})\nprint(*_recorder.stop())\n"
    )
    assert keys["Summary"] == set(out.split())
    if importlib.util.find_spec("numpy") is None:
        pytest.skip("numpy is missing")
    out = run_python(
        "import numpy\nfrom monitorch import _recorder\n"
        "print(*_recorder.measure(numpy.arange(3.0)))\n"
    )
    assert keys["_Described"] | keys["Measured"] == set(out.split())


def test_names_of_the_package():
    tree = stub("__init__")
    told = {alias.asname for n in tree.body if isinstance(n, ast.ImportFrom) for alias in n.names}
    packages = {"monitor", "spy", "tracer", "tracker"}
    out = run_python("import monitorch; print(*monitorch.__all__)")
    assert told - packages | {"__version__"} == set(out.split())
    out = run_python("import monitorch; print(*dir(monitorch)); monitorch.spy.TensorSaver")
    offered = {name for name in out.split() if not name.startswith("_")}
    assert offered == told | {"load_ipython_extension", "unload_ipython_extension"}


def test_the_package_is_typed(tmp_path):
    run = type_checker.check(tmp_path / "cache", "monitorch")
    assert run.returncode == 0, run.stdout + run.stderr


def test_programs_that_use_it(tmp_path):
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    run = type_checker.check(tmp_path / "cache", str(tmp_path / "right.py"))
    assert run.returncode == 0, run.stdout + run.stderr
    run = type_checker.check(tmp_path / "cache", str(tmp_path / "wrong.py"))
    refused = {line.split(":")[1] for line in run.stdout.splitlines() if ": error:" in line}
    assert refused == {str(number) for number in range(4, 15)}, run.stdout


TYPED = pathlib.Path(__file__).parent / "typed"
WANTED = [
    number
    for number, line in enumerate((TYPED / "wrong.py").read_text().splitlines(), 1)
    if line.endswith("# wrong")
]


@pytest.mark.torch
def test_a_users_script_by_mypy(tmp_path):
    """Completions and types of all four packages, and slips that a checker finds."""
    pytest.importorskip("torch")
    for name in ("right.py", "wrong.py"):
        shutil.copy(TYPED / name, tmp_path)
    run = type_checker.check(tmp_path / "cache", "right.py", cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    run = type_checker.check(tmp_path / "cache", "wrong.py", cwd=tmp_path)
    errors = {int(line.split(":")[1]) for line in run.stdout.splitlines() if ": error:" in line}
    assert sorted(errors) == WANTED, run.stdout


@pytest.mark.torch
def test_a_users_script_by_pyright(tmp_path):
    pytest.importorskip("torch")
    for name in ("right.py", "wrong.py"):
        shutil.copy(TYPED / name, tmp_path)
    assert type_checker.pyright_errors(tmp_path, "right.py") == []
    errors = type_checker.pyright_errors(tmp_path, "wrong.py")
    assert sorted({line for line, _ in errors}) == WANTED, errors
