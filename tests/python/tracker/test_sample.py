"""samples/tracked.py tells the one call of three that overflows, and the line."""

from __future__ import annotations

import os
import pathlib
import subprocess

import pytest

from tests.support import paths, warm

pytestmark = pytest.mark.torch


def test_the_sample(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("torch")
    done = subprocess.run(
        [warm.python(), str(paths.ROOT / "samples" / "tracked.py")],
        env=dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH), LTAG="sample"),
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    told = [line for line in lines if "function [" in line]
    assert ["[answer]" in line for line in told] == [True, False]
    scores = [line for line in lines if " scores@" in line]
    assert scores[0].endswith("dtype=torch.float16 | value=[[49984.0, inf], [inf, inf]]")
    assert scores[1].endswith("value=[[-inf, nan], [nan, nan]] | changed: value, in place")
    assert lines[-2].endswith("output[1] value: True") and len(lines) == 16
    (log,) = (tmp_path / "logs" / "sample").iterdir()
    assert log.read_text() == done.stdout
