"""What happens when a program ends is the same under `python -m monitorch run` and `python`: files
are flushed, objects destroyed, generators closed, warnings given, and in the same order."""

import os
import re
import shutil
import subprocess
import sys
import textwrap

import pytest

from tests.python.run.exit_programs import FILES, PROGRAMS, UNORDERED
from tests.support import compiler, paths

pytestmark = pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)")
PYTHONS = [(sys.version_info[:2], sys.executable), *paths.other_pythons()]
OTHERS = [pytest.param(p, id="%d.%d" % v) for v, p in PYTHONS[1:]]
NAMES = [name for name, _ in PROGRAMS]

# How a program is started, and the options of `monitorch run`.
WAYS = {
    "recorded": ("script", []),
    "not_recorded": ("script", ["--no-record"]),
    "forward": ("script", ["--forward"]),
    "module": ("module", []),
    "code": ("code", []),
    "stdin": ("stdin", []),
    "folder": ("folder", []),
    "module_not_recorded": ("module", ["--no-record"]),
    "code_forward": ("code", ["--forward"]),
    "all_values": ("script", ["--record", "values=all,sources=yes"]),
    "written": ("written", []),
}


def end(folder, kind, source, python, ours, options=()):
    """Runs a program in a new folder: (exit code, output, errors, {file: content})."""
    shutil.rmtree(folder, ignore_errors=True)
    work = folder / "work"
    files = {"s.py": source, "app/__main__.py": source, **FILES}
    for name, text in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "MONITORCH"))}
    environment.update(PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=str(paths.PYTHON_PATH))
    words = {"module": ["-m", "s"], "code": ["-c", source], "stdin": ["-"], "folder": ["app"]}
    program = words.get(kind, ["s.py"])
    if ours and kind == "written":
        write(work)
        environment["MONITORCH"] = str(folder / "run.mtrace")
    elif ours:
        program = ["-m", "monitorch", "run", *options, *program]
        if "--no-record" not in options:
            program[3:3] = ["-o", str(folder / "run.mtrace")]
    done = subprocess.run(
        [python, "-W", "always", *program],
        cwd=work,
        env=environment,
        input=source if kind == "stdin" else "",
        capture_output=True,
        text=True,
        timeout=120,
    )
    errors = re.sub(r"monitorch: .*\n", "", done.stderr) if ours else done.stderr
    texts = [re.sub("0x[0-9a-f]{6,}|kept-[^/']*", "…", text) for text in (done.stdout, errors)]
    found = {str(p.relative_to(work)): p for p in work.rglob("*") if p.is_file()}
    contents = {name: path.read_bytes() for name, path in found.items() if name not in files}
    return done.returncode, *texts, contents


def write(work):
    """The written form of the files: it stands in the originals' place."""
    names = ["s.py", *FILES]
    subprocess.run(
        [paths.COMMAND, "-q", "--all", "-d", "written", *names], cwd=work, check=True
    )
    for name in names:
        os.replace(work / "written" / name, work / name)


def compare(tmp_path, name, way, python=sys.executable):
    kind, options = WAYS[way]
    source = textwrap.dedent(dict(PROGRAMS)[name]).lstrip("\n")
    expected = end(tmp_path / "run", kind, source, python, False)
    found = end(tmp_path / "run", kind, source, python, True, options)
    if name in UNORDERED:
        expected, found = [
            (code, sorted(output.splitlines()), errors, files)
            for code, output, errors, files in (expected, found)
        ]
    assert found == expected


@pytest.mark.parametrize("name", NAMES)
def test_the_end_is_that_of_python(name, tmp_path):
    """Each program in the first way and in one other, in turn."""
    others = list(WAYS)[1:]
    for way in ("recorded", others[NAMES.index(name) % len(others)]):
        compare(tmp_path, name, way)


@pytest.mark.parametrize("way", WAYS)
def test_an_open_file_in_every_way(way, tmp_path):
    compare(tmp_path, "file", way)


@pytest.mark.parametrize("python", OTHERS)
@pytest.mark.parametrize("way", ["recorded", "module_not_recorded"])
def test_the_end_in_other_pythons(way, python, tmp_path):
    for name in ("archives", "order_of_names", "generators", "exit_code", "uncaught", "atexit"):
        compare(tmp_path, name, way, python)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("python", [p for _, p in PYTHONS], ids=["%d.%d" % v for v, _ in PYTHONS])
@pytest.mark.parametrize("name", NAMES)
def test_every_end_in_every_way(name, python, way, tmp_path):
    compare(tmp_path, name, way, python)
