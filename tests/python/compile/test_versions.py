"""The self test, by each CPython that is found: one build of the extension serves them all."""

import os
import pathlib
import sys

import pytest

from tests.support import paths, recording

SCRIPT = pathlib.Path(__file__).with_name("selftest.py")
PYTHONS = [(sys.version_info[:2], sys.executable), *paths.other_pythons()]


@pytest.mark.parametrize(
    "python", [path for _, path in PYTHONS], ids=["%d.%d" % version for version, _ in PYTHONS]
)
def test_version(python, compiler_module, tmp_path):
    environment = dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH))
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    run = recording.run_python(
        "-W", "error", SCRIPT, python=python, folder=tmp_path, env=environment
    )
    assert run.returncode == 0, run.stdout + run.stderr
