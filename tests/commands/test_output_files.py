"""No command writes an output over a file that it reads, whatever name or link leads there."""

import os
import shutil

import pytest

from tests.support import compiler, recording, viewer

pytestmark = pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)")
PROGRAM = """
x = 1.5
y = x * 2
"""
MESSAGE = "is an input of this command"


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("output-files")
    (folder / "program.py").write_text(PROGRAM)
    words = ["-m", "monitorch", "run", "-q", "-o", "run.mtrace", "program.py"]
    done = recording.run_python(*words, folder=folder, env=recording.environment("off"))
    assert done.returncode == 0, done.stderr
    return folder / "run.mtrace"


@pytest.fixture
def folder(trace, tmp_path, monkeypatch):
    """Two traces and names of all kinds for the first one."""
    shutil.copy(trace, tmp_path / "a.mtrace")
    shutil.copy(trace, tmp_path / "b.mtrace")
    for suffix in ("svg", "html", "json", "csv", "db"):
        os.link(tmp_path / "a.mtrace", tmp_path / f"hard.{suffix}")
        (tmp_path / f"soft.{suffix}").symlink_to("a.mtrace")
    (tmp_path / "twice.svg").symlink_to("soft.svg")
    monkeypatch.chdir(tmp_path)
    return tmp_path


REFUSED = [
    "graph a.mtrace --format svg -o a.mtrace",
    "graph a.mtrace -o soft.svg",
    "graph a.mtrace -o hard.svg",
    "graph a.mtrace -o twice.svg",
    "calls a.mtrace -o ./hard.svg",
    "calls a.mtrace --save-json a.mtrace",
    "calls a.mtrace --save-json hard.json",
    "calls soft.json -o hard.json",
    "why a.mtrace -o hard.svg",
    "diff a.mtrace b.mtrace -o hard.html",
    "diff b.mtrace a.mtrace -o soft.svg",
    "diff --ranks b.mtrace a.mtrace -o soft.html",
    "export a.mtrace --csv=a.mtrace",
    "export b.mtrace a.mtrace --jsonl=hard.json",
    "export a.mtrace --perfetto soft.json",
    "export a.mtrace --sqlite hard.db",
    "export a.mtrace --force --sqlite soft.db",
]


@pytest.mark.parametrize("words", REFUSED)
def test_an_output_is_no_input(folder, words):
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    done = viewer.run(*words.split())
    assert done.returncode != 0 and done.stdout == ""
    assert MESSAGE in done.stderr
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before


def test_a_text_that_is_read(folder):
    (folder / "calls.txt").write_text("any text")
    done = viewer.run("calls", "calls.txt", "--save-json", "calls.txt")
    assert done.returncode == 2 and MESSAGE in done.stderr
    assert (folder / "calls.txt").read_text() == "any text"


def test_two_outputs_in_one_file(folder):
    (folder / "x.json").write_text("{}")
    (folder / "y.json").symlink_to("x.json")
    done = viewer.run("calls", "a.mtrace", "-o", "x.json", "--save-json", "y.json")
    assert done.returncode == 2
    assert "-o and --save-json would both be written to y.json" in done.stderr


def test_files_that_a_command_finds_by_itself(folder):
    """In a folder that is named, for instance."""
    for name in ("one", "two"):
        (folder / name).mkdir()
        shutil.copy("a.mtrace", folder / name / "run.mtrace")
    os.link("two/run.mtrace", "two/page.html")
    before = (folder / "two" / "run.mtrace").read_bytes()
    done = viewer.run("diff", "one", "two", "-o", "two/page.html")
    assert done.returncode in (2, 3) and MESSAGE in done.stderr
    assert (folder / "two" / "page.html").read_bytes() == before
    assert sorted(os.listdir("two")) == ["page.html", "run.mtrace"]


def test_other_files_are_replaced(folder):
    (folder / "page.html").write_text("old")
    (folder / "name.html").symlink_to("page.html")
    done = viewer.run("diff", "a.mtrace", "b.mtrace", "-o", "name.html")
    assert done.returncode == 0, done.stderr
    assert (folder / "page.html").read_text().startswith("<!") and (folder / "name.html").is_symlink()
    viewer.run("export", "a.mtrace", "--sqlite", "new.db")
    assert viewer.run("export", "a.mtrace", "--sqlite", "new.db").returncode == 0
