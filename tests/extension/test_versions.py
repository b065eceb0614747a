"""The self test, by each CPython that is found: one build of the extension serves them all."""

import os
import pathlib
import subprocess
import sys

import pytest

from tests.support import paths

SCRIPT = pathlib.Path(__file__).with_name("selftest.py")
PYTHONS = [(sys.version_info[:2], sys.executable), *paths.other_pythons()]


@pytest.mark.parametrize(
    "python", [path for _, path in PYTHONS], ids=["%d.%d" % version for version, _ in PYTHONS]
)
def test_version(python, compiler_module, tmp_path):
    environment = dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH))
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    run = subprocess.run(
        [python, "-W", "error", str(SCRIPT)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
