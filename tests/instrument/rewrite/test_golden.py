"""The golden corpus: one construct a pair, named for what it shows.

pairs/NAME.py             a source
pairs/NAME.traced.py      what the compiler makes of it
pairs/NAME.options        optional: command line words in place of `--all`
pairs/NAME.notes          optional: the notes, one a line, `line:column: text`

MONITORCH_UPDATE_GOLDEN=1 writes what the compiler makes now; read the difference before you
commit it.
"""

import os
import pathlib
import shlex
import warnings

import pytest

from tests.properties.check_source import Report, check_lines, check_trees, compile_quietly
from tests.support import compiler

PAIRS = pathlib.Path(__file__).resolve().parent / "pairs"
NAMES = sorted(p.name[:-3] for p in PAIRS.glob("*.py") if not p.name.endswith(".traced.py"))
IS_UPDATING = os.environ.get("MONITORCH_UPDATE_GOLDEN") == "1"

pytestmark = pytest.mark.usefixtures("compiler_module")


def selection_of(words):
    """The library's selection for the command's options."""
    selection = {}
    words = list(words)
    while words:
        word = words.pop(0)
        if word in ("--all", "--forward"):
            selection[word[2:]] = True
        elif word == "--every-line":
            selection["every_line"] = True
        elif word == "--function":
            selection.setdefault("functions", []).append(words.pop(0))
        elif word == "--lines":
            first, last = words.pop(0).split("-")
            selection.setdefault("lines", []).append((int(first), int(last)))
        elif word == "--spy":
            selection.setdefault("spy", []).extend(words.pop(0).split(","))
        else:
            raise ValueError(f"no such option here: {word}")
    return selection


def read_selection(name):
    file = PAIRS / f"{name}.options"
    return selection_of(shlex.split(file.read_text()) if file.exists() else ["--all"])


def text_of_notes(result):
    return "".join(f"{line}:{column}: {text}\n" for _, line, column, text in result.notes)


@pytest.mark.parametrize("name", NAMES)
def test_pair(name):
    source = (PAIRS / f"{name}.py").read_bytes()
    traced, notes = PAIRS / f"{name}.traced.py", PAIRS / f"{name}.notes"
    selection = read_selection(name)
    result = compiler.instrument(source, f"{name}.py", **selection)
    if IS_UPDATING:
        traced.write_bytes(result.text)
        if notes.exists():
            notes.write_text(text_of_notes(result))
    assert result.text == traced.read_bytes()
    assert compiler.strip(result.text, f"{name}.py") == source
    if notes.exists():
        assert text_of_notes(result) == notes.read_text()


@pytest.mark.parametrize("name", NAMES)
def test_pair_is_sound(name):
    """What is expected is itself right: checked without the compiler's own help."""
    source = (PAIRS / f"{name}.py").read_bytes()
    traced = (PAIRS / f"{name}.traced.py").read_bytes()
    report = Report(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_lines(source, traced, report)
        if compile_quietly(source, name) is None:
            refused = compile_quietly(traced, name)
            assert refused is None
            if source != traced:
                check_trees(source, traced, report, spy=bool(read_selection(name).get("spy")))
    assert not report.problems


def test_every_pair_is_whole():
    for file in PAIRS.glob("*"):
        name = file.name.split(".")[0]
        assert (PAIRS / f"{name}.py").exists(), f"{file.name} has no source"
        assert (PAIRS / f"{name}.traced.py").exists(), f"{file.name} has no traced text"
