"""`python -m monitorch run` behaves as `python` does: output, errors, tracebacks, exit codes."""

import os
import pathlib
import py_compile
import re
import subprocess
import sys
import textwrap
import zipfile

import pytest

from tests.python.run.run_programs import PROGRAMS
from tests.support import compiler, paths, recording

pytestmark = pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)")
PYTHONS = [(sys.version_info[:2], sys.executable), *paths.other_pythons()]
OURS = re.compile(r"^monitorch: .*\n?", re.M)


def make_files(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            text = textwrap.dedent(text)
            path.write_text(text[1:] if text.startswith("\n") else text, encoding="utf-8")


def split(words):
    """Words for the interpreter itself, and those of the program."""
    flags = []
    while words[0].startswith("-") and words[0] not in ("-", "-m", "-c"):
        flags.append(words[0])
        if words[0] in ("-W", "-X"):
            flags.append(words[1])
            words = words[1:]
        words = words[1:]
    return flags, words


def finish(
    folder, words, ours, stdin="one\ntwo\n", python=sys.executable, options=(), is_plain=True
):
    """The finished process, ours or plain; without our line, and addresses."""
    flags, program = split(list(words))
    trace = str(folder.parent / "run.mtrace")
    if ours:
        program = ["-m", "monitorch", "run", "-o", trace, *options, *program]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "MONITORCH"))}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    if "-E" in flags:
        flags.remove("-E")
    environment["PYTHONPATH"] = str(paths.PYTHON_PATH)
    done = subprocess.run(
        [python, *flags, *program],
        cwd=folder,
        input=stdin,
        env=environment,
        capture_output=True,
        text=True,
        errors="backslashreplace",
        timeout=300,
    )
    own_lines = OURS.findall(done.stderr)
    assert ours or not own_lines or not is_plain
    text = [re.sub(r"0x[0-9a-f]{6,}", "0x…", t) for t in (done.stdout, done.stderr)]
    text[1] = re.sub(r"Ran (\d+) tests? in \S+", r"Ran \1 in …", OURS.sub("", text[1]))
    return done.returncode, text[0], text[1], own_lines


def compare(folder, words, **arguments):
    found = finish(folder, words, True, **arguments)
    arguments.pop("options", None)
    expected = finish(folder, words, False, **arguments)
    assert found[:3] == expected[:3]
    return found


@pytest.mark.parametrize("python", [p for _, p in PYTHONS], ids=["%d.%d" % v for v, _ in PYTHONS])
@pytest.mark.parametrize("name, words, files", PROGRAMS, ids=[p[0] for p in PROGRAMS])
def test_the_same_as_python(name, words, files, python, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    make_files(folder, files)
    compare(folder, words, python=python)
    made = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    assert made == set(files)  # nothing is written beside the sources


@pytest.mark.parametrize("python", [p for _, p in PYTHONS], ids=["%d.%d" % v for v, _ in PYTHONS])
def test_standard_input(python, tmp_path):
    (tmp_path / "work").mkdir()
    text = "import sys\nprint(sys.argv, __name__, [n for n in globals() if n[:3] != '_mt'])\n1/0\n"
    compare(tmp_path / "work", ["-", "a"], stdin=text, python=python)
    compare(tmp_path / "work", ["-"], stdin="x = (\n", python=python)


@pytest.mark.parametrize("python", [p for _, p in PYTHONS], ids=["%d.%d" % v for v, _ in PYTHONS])
def test_zip_files(python, tmp_path):
    (tmp_path / "work").mkdir()
    with zipfile.ZipFile(tmp_path / "work" / "app.zip", "w") as archive:
        archive.writestr("__main__.py", "import sys, m\nprint(__file__, sys.argv, sys.path[0])\nm.f(0)\n")
        archive.writestr("m.py", "def f(x):\n    y = 1 / x\n    return y\n")
    compare(tmp_path / "work", ["app.zip", "x"], python=python)


def test_bytecode(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "s.py").write_text("import sys\nprint(sys.argv, __loader__.path, __file__)\n1/0\n")
    py_compile.compile(str(tmp_path / "s.py"), str(tmp_path / "work" / "s.pyc"))
    compare(tmp_path / "work", ["s.pyc", "x"])


def test_a_link_to_a_script(tmp_path):
    make_files(tmp_path / "work", {"real/s.py": "import sys, m\nprint(sys.path[0], __file__)\n", "real/m.py": ""})
    (tmp_path / "work" / "bin").mkdir()
    (tmp_path / "work" / "bin" / "tool").symlink_to("../real/s.py")
    compare(tmp_path / "work", ["bin/tool"])


def test_a_script_that_cannot_be_read(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("everything can be read")
    make_files(tmp_path / "work", {"s.py": ""})
    (tmp_path / "work" / "s.py").chmod(0)
    compare(tmp_path / "work", ["s.py"])


def test_a_safe_path(tmp_path):
    if sys.version_info < (3, 11):
        pytest.skip("needs -P")
    make_files(tmp_path / "work", {"s.py": "import sys\nprint(sys.path[0], sys.flags)\nimport m\n", "m.py": ""})
    compare(tmp_path / "work", ["-P", "s.py"])


def test_frames_of_ours_in_no_traceback_at_all(tmp_path):
    """Also not where an exception has gone through an import, a reload or runpy."""
    files = {
        "s.py": """
        import importlib, runpy, sys, traceback
        def show(act):
            try:
                act()
            except Exception:
                traceback.print_exc()
        open("m.py", "w").write("x = 1\\n")
        import m
        open("m.py", "w").write("x = 1 / 0\\n")
        show(lambda: importlib.reload(m))
        show(lambda: runpy.run_path("m.py"))
        show(lambda: runpy.run_module("m"))
        open("m.py", "w").write("x = = 1\\n")
        show(lambda: importlib.reload(m))
        show(lambda: runpy.run_module("m"))
        show(lambda: __import__("nothing_there"))
        """
    }
    make_files(tmp_path / "work", files)
    code, _, errors, _ = compare(tmp_path / "work", ["s.py"])
    assert code == 0 and errors.count("Traceback") == 6
    assert "monitorch" not in errors


@pytest.mark.parametrize("python", [p for _, p in PYTHONS], ids=["%d.%d" % v for v, _ in PYTHONS])
def test_depth_of_recursion(python, tmp_path):
    """Not a frame less; in 3.10 a record that is made at the very bottom would take one."""
    files = {
        "s.py": """
        def f(n):
            global deepest
            deepest = n
            f(n + 1)
        try:
            f(0)
        except RecursionError:
            print(deepest)
        """
    }
    make_files(tmp_path / "work", files)
    compare(tmp_path / "work", ["s.py"], python=python, options=["--exclude", "s.py"])


@pytest.mark.parametrize("python", [p for _, p in PYTHONS], ids=["%d.%d" % v for v, _ in PYTHONS])
def test_started_by_something_else(python, tmp_path):
    """A profiler, coverage: their frames below are left where they are, and tracebacks are right."""
    files = {
        "go.py": """
        import runpy, sys
        sys.argv[0:1] = []
        sys.argv[0:0] = ["monitorch"]
        runpy._run_module_as_main("monitorch")
        """,
        "s.py": """
        import atexit, sys
        atexit.register(lambda: print("__file__" in globals()))
        def f(x):
            return 1 / x
        print(sys.argv, __file__, f(1))
        if sys.argv[1] == "exit":
            sys.exit(4)
        if sys.argv[1] == "interrupt":
            raise KeyboardInterrupt
        if sys.argv[1] == "hook":
            sys.excepthook = lambda *x: [][1]
        if sys.argv[1] == "none":
            del sys.excepthook
        f(0)
        """,
    }
    make_files(tmp_path / "work", files)
    for how in ("exit", "interrupt", "error", "hook", "none"):
        expected = finish(tmp_path / "work", ["s.py", how], False, python=python)
        trace = str(tmp_path / "run.mtrace")
        words = ["go.py", "run", "-o", trace, "s.py", how]
        assert finish(tmp_path / "work", words, False, python=python, is_plain=False)[:3] == expected[:3]


@pytest.mark.parametrize("python", [p for _, p in PYTHONS], ids=["%d.%d" % v for v, _ in PYTHONS])
def test_a_profiler_in_front(python, tmp_path):
    make_files(tmp_path / "work", {"s.py": "def work(x):\n    y = x\n    return y\nprint(work(3))\n"})
    words = ["-m", "cProfile", "-m", "monitorch", "run", "-q", "--no-record", "s.py"]
    code, out, errors, _ = finish(tmp_path / "work", words, False, python=python)
    assert (code, errors) == (0, "") and out.startswith("3\n")
    assert "s.py:1(work)" in out


def test_an_interactive_end(tmp_path):
    make_files(tmp_path / "work", {"s.py": "x = 5\nprint(__name__)\n"})
    compare(tmp_path / "work", ["-i", "s.py"], stdin="print(x + 1, __name__)\n")


def test_a_module_is_the_same_from_its_bytecode(tmp_path):
    """Files in __pycache__ hold the original's code, before and after."""
    make_files(tmp_path / "work", {"s.py": "import m, sys\nprint(m.f(1))\n", "m.py": "def f(x):\n    y = x\n    return y\n"})
    environment = dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH))
    environment["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run(*words):
        done = recording.run_python(*words, folder=tmp_path / "work", env=environment)
        assert done.stdout == "1\n", done.stderr
        return {p: p.read_bytes() for p in pathlib.Path(tmp_path, "work").rglob("*.pyc")}

    assert run("-m", "monitorch", "run", "-q", "-o", "a.mtrace", "s.py") == {}
    before = run("s.py")
    assert len(before) == 1
    assert run("-m", "monitorch", "run", "-q", "-o", "a.mtrace", "s.py") == before
    assert b"_mt" not in b"".join(before.values())
