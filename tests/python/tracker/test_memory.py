"""Large tensors are not cloned: what tracking adds to the memory that a program takes."""

from __future__ import annotations

import pathlib
import re

import pytest

from tests.python.tracker import tree_log
from tests.support import recording

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

MEGABYTE = 1 << 20
MAY_BE_MORE = 20 * MEGABYTE

PROGRAM = """
import resource
import numpy, torch
from monitorch.tracker import var_tracker

{decorator}
def ten():
    kept = []
    for i in range(10):
        x = {make}
        kept.append(x)
        x {change}  # changed
    total = 0.0
    for x in kept:
        total += float(x.sum())
    return kept, total

torch.set_num_threads(1)
kept, total = ten()
assert len(kept) == 10 and total == 20 * kept[0].nbytes / 4, total
print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""

MAKES = {
    "tensors": ("torch.ones({count})", "+= 1"),
    "views": ("torch.ones(2, {count} // 2).t()", "+= 1"),
    "arrays": ("numpy.ones({count}, dtype=numpy.float32)", "+= 1"),
    "parameters": ("torch.nn.Parameter(torch.ones({count}), requires_grad=False)", "+= 1"),
}


def peak_of(
    folder: pathlib.Path, size: int, make: str, change: str, decorator: str = ""
) -> int:
    folder.mkdir()
    text = PROGRAM.format(decorator=decorator, make=make.format(count=size // 4), change=change)
    tree_log.write_program(folder, text)
    environment = {**recording.environment("off"), "LC_ALL": "C.UTF-8"}
    done = recording.run_file(folder, "program.py", env=environment)
    assert done.returncode == 0, done.stderr
    found = re.search(r"^peak (\d+)$", done.stdout, re.MULTILINE)
    assert found, done.stdout
    return int(found[1])


@pytest.mark.parametrize("megabytes", [32, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", MAKES)
def test_ten_large_tensors(kind: str, megabytes: int, tmp_path: pathlib.Path) -> None:
    """All of them kept, and changed in place; a clone of one alone is more than there may be."""
    size = megabytes * MEGABYTE
    plain = peak_of(tmp_path / "plain", size, *MAKES[kind])
    tracked = peak_of(tmp_path / "tracked", size, *MAKES[kind], decorator='@var_tracker("x", "kept")')
    (file,) = (tmp_path / "tracked").glob("logs/*/*.log")
    log = tree_log.Log.read(file.read_text(encoding="utf-8"))
    assert plain > 10 * size > 10 * MAY_BE_MORE
    assert len(log.lines_of("x")) >= 20  # each was seen twice: as made, and as changed
    assert tracked - plain < MAY_BE_MORE, f"{(tracked - plain) / MEGABYTE:.1f} MB more"
