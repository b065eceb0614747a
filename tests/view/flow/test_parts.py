"""Arrows from a part of something: an item of a container, a view that is written to."""

import pytest

from tests.support import drawing

pytestmark = pytest.mark.usefixtures("compiler_module")

BEFORE = """
import numpy as np
parts = [np.full(2, number) for number in (1, 2, 3)]
table = {"a": np.ones(2), 'it"s': np.zeros(2), 7: [np.ones(2), np.zeros(2)]}
"""


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("y = parts[0] + 1", ["parts[0]"]),
        ("y = parts[ 2 ] * parts[0]", ["parts[0]", "parts[2]"]),
        ("y = (parts[0] +\n     parts[1])", ["parts[0]", "parts[1]"]),
        ("y = parts[-1] + 1", ["parts[2]"]),
        ("i = 1\ny = parts[i] + parts[0]", ["parts[0]", "parts[1]", "parts[2]"]),
        ("y = sum(parts) + parts[0]", ["parts[0]", "parts[1]", "parts[2]"]),
        ("y = parts[0][1] + 1", ["parts[0]"]),
        ("y = table['a'] + table[7][1]", ["table['a']", "table[7][1]"]),
        ('y = table["a"] + 1', ["table['a']"]),
        ("y = table[7][0] + table[7][1]", ["table[7][0]", "table[7][1]"]),
        ("q = parts[0]; y = parts[1] + 1", ["parts[1]"]),
    ],
)
def test_items_that_a_statement_reads(tmp_path, statement, expected):
    drawn = drawing.run(tmp_path, statement, before=BEFORE, suffix="dot")
    assert sorted(source for source, target in drawing.arrows(drawn) if target == "y") == expected


@pytest.mark.torch
def test_a_view_that_is_written_to(tmp_path):
    drawn = drawing.run(
        tmp_path,
        """
        y = torch.zeros(2)
        y.data.add_(1)
        z = y * 2
        """,
        before="import torch",
        suffix="dot",
    )
    assert ("y", "y.data") in drawing.arrows(drawn)
    assert ("y.data", "z") in drawing.arrows(drawn)
    assert "in place" in drawn.data.decode()
