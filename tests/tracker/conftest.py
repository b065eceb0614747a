"""Programs of these tests run in forks of one process that has imported torch."""

from __future__ import annotations

import functools
import pathlib
from typing import Callable, Iterator

import pytest

from tests.support import paths
from tests.tracker import tree_log
from tests.verdicts import forked_runs


@pytest.fixture(scope="package", autouse=True)
def package() -> None:
    if not (paths.PACKAGE / "tracker").is_dir():
        pytest.skip("the package is not built (make)")


@pytest.fixture(scope="package")
def server(package: None) -> Iterator[forked_runs.Server]:
    pytest.importorskip("torch")
    with forked_runs.Server() as running:
        yield running


@pytest.fixture
def run(server: forked_runs.Server, tmp_path: pathlib.Path) -> Callable[..., tree_log.Ran]:
    """Runs a program in a folder of its own: `run(text, LTAG="x", code=1)`."""
    return functools.partial(tree_log.run_program, server, tmp_path)
