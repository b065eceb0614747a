"""What becomes of files that are there, and names that are no file names."""

from __future__ import annotations

import pathlib
import shutil

import pytest

from tests.python.spy.signatures import names_in, run_program

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import DebugContext, TensorSaver, spy_load, spy_save  # noqa: E402

from tests.python.spy.facts import X, load  # noqa: E402

nn = torch.nn
pytestmark = pytest.mark.torch

FORMATS = ["pt", "safetensors", "mtrace"]

# Later runs, other contexts

AGAIN = """
import torch
from monitorch.spy import DebugContext, TensorSaver, spy_save
saver = TensorSaver("saved", **OPTIONS)
with DebugContext(saver, prefix="p"):
    for i in range(3):
        spy_save("x", torch.full((2,), float(VALUE)))
"""


def again(folder, value, **options):
    return run_program(folder, f"VALUE, OPTIONS = {value}, {options}\n" + AGAIN)


def values_in(folder):
    return [load(folder, name)[0].item() for name in names_in(folder)]


def test_second_run_warns_once(tmp_path):
    first = again(tmp_path, 1)
    assert (first.returncode, first.stderr) == (0, "")
    second = again(tmp_path, 2)
    assert second.returncode == 0 and len(second.stderr.strip().splitlines()) == 1
    assert "saved" in second.stderr and "overwrite" in second.stderr
    assert values_in(tmp_path / "saved") == [2, 2, 2]


def test_second_run_that_may_overwrite_is_silent(tmp_path):
    again(tmp_path, 1)
    second = again(tmp_path, 2, overwrite=True)
    assert (second.returncode, second.stderr) == (0, "")
    assert values_in(tmp_path / "saved") == [2, 2, 2]


def test_second_run_that_may_not_overwrite_raises(tmp_path):
    again(tmp_path, 1)
    second = again(tmp_path, 2, overwrite=False)
    assert second.returncode == 1 and "FileExistsError" in second.stderr
    assert values_in(tmp_path / "saved") == [1, 1, 1]


@pytest.mark.parametrize("name", FORMATS)
def test_other_savers_files_are_kept(tmp_path, name):
    """Two savers of one process with the same folder, prefix and name."""
    for value in (1.0, 2.0):
        with DebugContext(TensorSaver(tmp_path, format=name), "p"):
            spy_save("x", torch.full((2,), value))
    found = spy_load(tmp_path)["p"]["manual"]["x"]
    assert sorted(found[call][0].item() for call in found) == [1, 2]


@pytest.mark.parametrize("name", FORMATS)
def test_folder_that_was_removed_begins_anew(tmp_path, name, caplog):
    """What is not there is not to be kept, whoever wrote it."""
    for _ in range(2):
        with DebugContext(TensorSaver(tmp_path / "saved", format=name), "p"):
            spy_save("x", X)
        found = spy_load(tmp_path / "saved")["p"]["manual"]["x"]
        assert list(found) == [0]
        shutil.rmtree(tmp_path / "saved")
    assert caplog.records == []


# Names

NAMES = [
    "a/b",
    "../../up",
    "/root",
    "..",
    ".hidden",
    "",
    " ",
    "x" * 1000,
    "y" * 1000 + "/",
    "注意力.q",
    "Größe",
    "a\nb\0c",
    "%2F",
    "a.call7.pt",
    "-rf *",
    "con\\nul:",
    "😀" * 100,
]


@pytest.mark.parametrize("name", FORMATS)
def test_any_name_is_a_file_name_and_is_read_back(tmp_path, name):
    folder = tmp_path / "in" / "here"
    saver = TensorSaver(folder, format=name)
    with DebugContext(saver, "p/q"):
        for i, given in enumerate(NAMES):
            spy_save(given, torch.tensor(i))
    assert names_in(tmp_path) == ["in"] and names_in(tmp_path / "in") == ["here"]
    assert all(p.is_file() and len(p.name.encode()) < 256 for p in folder.iterdir())
    found = spy_load(folder)
    assert list(found) == ["p/q"]
    read = {given: found["p/q"]["manual"][given][0].item() for given in NAMES}
    assert read == {given: i for i, given in enumerate(NAMES)}


def test_long_names_that_begin_alike_are_apart(tmp_path):
    saver = TensorSaver(tmp_path)
    for end in "abc":
        saver.save("x" * 500 + end, X)
    assert len(names_in(tmp_path)) == 3


def test_plain_names_are_not_escaped(tmp_path):
    saver = TensorSaver(tmp_path)
    saver.save("a_b-c[0](1)", X)
    assert names_in(tmp_path) == ["a_b-c[0](1).call0.pt"]


def test_module_named_by_the_user(tmp_path):
    model = nn.ModuleDict({"a/b": nn.Linear(3, 3)})
    saver = TensorSaver(tmp_path)
    saver.register_modules(model)
    with DebugContext(saver, "p"):
        spy_save("x", X, model["a/b"])
    assert list(spy_load(tmp_path)["p"]) == ["a/b"]
    assert all(isinstance(p, pathlib.Path) and p.is_file() for p in tmp_path.iterdir())
