"""Inputs that once found a bug, replayed: each source with each kind of selection."""

import pathlib

import pytest

from tests.properties.check_source import check_source

INPUTS = sorted((pathlib.Path(__file__).resolve().parent / "inputs").glob("*.py"))
SELECTIONS = [
    {"all": True},
    {"forward": True},
    {"lines": [(1, 9), (12, 60)]},
    {"functions": ["*f", "A.*"]},
    {"spy": ["*"]},
    {"all": True, "spy": ["*"]},
]

pytestmark = pytest.mark.usefixtures("compiler_module")


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.stem)
@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
def test_input(path, selection):
    report = check_source(path.read_bytes(), path.name, selection)
    assert report.problems == []
