"""Programs of these tests run in forks of one process that has imported torch."""

from __future__ import annotations

import functools
import pathlib
from typing import Callable

import pytest

from tests.python.tracker import tree_log
from tests.support import paths


@pytest.fixture(scope="package", autouse=True)
def package() -> None:
    if not (paths.PACKAGE / "tracker").is_dir():
        pytest.skip("the package is not built (make)")


@pytest.fixture
def run(tmp_path: pathlib.Path) -> Callable[..., tree_log.Ran]:
    """Runs a program in a folder of its own: `run(text, LTAG="x", code=1)`."""
    pytest.importorskip("torch")
    return functools.partial(tree_log.run_program, tmp_path)
