"""Instrumented code is kept in a folder of the user's own from one run to the next."""

import os
import shutil
import subprocess
import sys
import time

import pytest

from tests.python.run.test_run_equality import make_files
from tests.support import compiler, paths, recording

pytestmark = pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)")

SOURCE = "def f(x):\n    y = x + 1\n    return y\n"


@pytest.fixture
def work(tmp_path):
    make_files(tmp_path / "work", {
        "s.py": "import one, two\nprint(one.f(1) + two.f(2))\n",
        "one.py": SOURCE,
        "two.py": SOURCE,
    })
    return tmp_path / "work"


def run(work, *options, python=sys.executable, **variables):
    """What it prints, and its entries: path -> (bytes, inode), which a second write changes."""
    environment = recording.environment("off")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["XDG_CACHE_HOME"] = str(work.parent / "cache")
    environment["PYTHONPATH"] = str(paths.PYTHON_PATH)
    environment.update(variables)
    done = recording.run_python(
        "-m", "monitorch", "run", *options, "s.py", python=python, folder=work, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert not list(work.rglob("__pycache__"))
    return done.stdout, entries(work)


def folder_of(work):
    return work.parent / "cache" / "monitorch" / "code"


def entries(work):
    found = folder_of(work).glob("*") if folder_of(work).is_dir() else []
    return {p: (p.read_bytes(), p.stat().st_ino) for p in found if p.name != "cleaned"}


def names(work):
    events = recording.read(work / "run.mtrace").events
    return [(os.path.basename(e.file), e.line, e.name, e.value) for e in events]


def test_a_second_run_takes_what_the_first_has_made(work):
    first, made = run(work)
    events = names(work)
    assert first == "5\n" and len(made) == 2  # the main module is compiled anew, as Python does
    assert folder_of(work).stat().st_mode & 0o077 == 0
    second, kept = run(work)
    assert second == first and kept == made and names(work) == events
    assert ("one.py", 2, "y", 2) in events


def test_it_is_really_used(work):
    """The entries of one file exchanged for those of another."""
    _, made = run(work)
    (work / "one.py").write_text(SOURCE.replace("1", "100"))
    _, more = run(work)
    (other,) = set(more) - set(made)
    first, second = made
    for path in (first, second):
        path.write_bytes(other.read_bytes())
    (work / "one.py").write_text(SOURCE)
    assert run(work)[0] == "203\n"


def test_what_it_depends_on(work):
    count = len(run(work)[1])
    (work / "one.py").write_text(SOURCE.replace("+ 1", "+ 11"))
    found, made = run(work)
    assert found == "15\n" and len(made) == count + 1
    assert len(run(work, "--function", "f")[1]) == count + 3
    assert len(run(work, "--function", "f")[1]) == count + 3
    for version, python in paths.other_pythons()[:1]:
        assert run(work, python=python)[0] == "15\n" and len(entries(work)) == count + 5


@pytest.mark.parametrize("damage", [b"", b"mtcode1\n", b"x" * 500, None])
def test_damaged_entries_are_made_again(work, damage):
    _, made = run(work)
    for path, (data, _) in made.items():
        path.write_bytes(data[:-5] + b"aaaaa" if damage is None else damage)
    found, again = run(work)
    assert found == "5\n" and {p: d for p, (d, _) in again.items()} == {
        p: d for p, (d, _) in made.items()
    }


def test_where_others_could_write_it_is_not_used(work):
    folder_of(work).mkdir(parents=True)
    folder_of(work).chmod(0o777)
    assert run(work) == ("5\n", {})


def test_where_there_can_be_none(work):
    (work.parent / "cache").write_text("a file\n")
    assert run(work)[0] == "5\n"
    assert run(work, XDG_CACHE_HOME="relative")[0] == "5\n"
    assert not (work / "relative").exists()


def test_no_bytecode_means_none_of_this_either(work):
    assert run(work, PYTHONDONTWRITEBYTECODE="1") == ("5\n", {})


def test_entries_of_no_use_are_removed(work):
    _, made = run(work)
    old = time.time() - 40 * 86400
    first, second = made
    for path in (first, second, folder_of(work) / "cleaned"):
        os.utime(path, (old, old))
    (work / "one.py").write_text(SOURCE + "z = 1\n")
    _, left = run(work)
    # Of the two one was used, and is as new; the other was of the text that is gone.
    assert len(left) == 2 and len(set(left) & set(made)) == 1


def test_warnings_come_again(work):
    """What could not be instrumented is told on each run."""
    (work / "one.py").write_text(SOURCE + "def g():\n    pass\n")
    texts = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], cwd=work, capture_output=True, text=True,
            env=dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH), XDG_CACHE_HOME=str(work / "c")),
        )
        assert done.returncode == 0, done.stderr
        texts.append(done.stdout)
    assert texts == ["one.py:3:5: a warning\n1 made\n", "one.py:3:5: a warning\n0 made\n"]


PROGRAM = """
import sys
sys.dont_write_bytecode = False
from monitorch import _instrument
from monitorch._compile import import_hook as _import
from monitorch._compile.selected import Selected
settings = dict(script="", roots=["."], include=["one"], exclude=[], functions=[], lines=[], forward=False)
made = 0
class Result:
    notes = [("warning", 3, 5, "a warning"), ("remark", 1, 1, "a remark")]
def compile_source(source, path, **options):
    global made
    made += 1
    return compile(source, path, "exec"), Result
_instrument.compile_source = compile_source
hook = _import.Hook(Selected(settings), print)
assert hook.compile("one", open("one.py", "rb").read(), "one.py") is not None
print(made, "made")
"""


def test_another_compiler_of_the_same_size_and_time(work):
    packages = work.parent / "packages"
    shutil.copytree(paths.PYTHON_PATH, packages)
    _, made = run(work, PYTHONPATH=str(packages))
    (extension,) = packages.glob("monitorch/_instrument*.so")
    times = extension.stat()
    text = bytearray(extension.read_bytes())
    text[-1] ^= 1  # in the section headers, which nothing loads
    extension.write_bytes(text)
    os.utime(extension, ns=(times.st_atime_ns, times.st_mtime_ns))
    _, both = run(work, PYTHONPATH=str(packages))
    assert len(made) > 0 and len(both) == 2 * len(made)
