"""Runs the C unit tests: each test_*.c below tests/ is a program of its own."""

import os
import subprocess

import pytest

from tests.support import paths

NAMES = sorted(source.stem for source in paths.unit_sources())


@pytest.mark.parametrize("name", NAMES)
def test_program(name, tmp_path, request):
    environment = dict(os.environ)
    if request.config.getoption("--slow"):
        environment["MONITORCH_TEST_SLOW"] = "1"
    # A program carries its sanitizer itself, and unlike Python it has to free everything.
    environment.pop("LD_PRELOAD", None)
    environment["ASAN_OPTIONS"] = "detect_leaks=1"
    # A program works in a folder of its own; files where it was started are no concern of it.
    (tmp_path / "saved").write_text("somebody else's")
    program = paths.unit_program(name)
    assert program.exists(), f"{program} is missing: run `make unit-programs`"
    run = subprocess.run(
        [str(program)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=600,
    )
    assert run.returncode == 0, f"exit code {run.returncode}\n{run.stdout}{run.stderr}"
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]
