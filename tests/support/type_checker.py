"""mypy and pyright, which `make test-all` brings. Tests skip where they are not there."""

import functools
import importlib.util
import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.support import paths

_BROUGHT = paths.BUILD / "types"


@functools.lru_cache(None)
def _command(name):
    """The words that run it, and its environment. Skips the test where it cannot be had."""
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    if (_BROUGHT / name).is_dir():
        environment["PYTHONPATH"] = f"{_BROUGHT}{os.pathsep}{paths.PYTHON_PATH}"
        return [sys.executable, "-m", name], environment
    if importlib.util.find_spec(name) is not None:
        return [sys.executable, "-m", name], environment
    if shutil.which(name):
        return [name], environment
    pytest.skip(f"{name} is not installed (make test-all brings it)")


def check(cache, *words, cwd=paths.PYTHON_PATH, python=sys.executable):
    """The finished process of a strict check by mypy, with the packages that `python` has."""
    command, environment = _command("mypy")
    options = ["--strict", "--python-version", "3.10", "--python-executable", str(python)]
    options += ["--cache-dir", str(cache)]
    return subprocess.run(
        [*command, *options, *words], cwd=cwd, env=environment, capture_output=True, text=True
    )


def pyright_errors(folder, file):
    """What pyright finds in a file of the folder: (line, message)."""
    command, environment = _command("pyright")
    settings = {
        "pythonVersion": "3.10",
        "typeCheckingMode": "standard",
        "extraPaths": [str(paths.PYTHON_PATH)],
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    words = [*command, "--pythonpath", sys.executable, "--outputjson", file]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    if not done.stdout.startswith("{"):
        pytest.skip(f"pyright cannot fetch its program: {done.stderr[-200:]}")
    found = json.loads(done.stdout)["generalDiagnostics"]
    return [
        (each["range"]["start"]["line"] + 1, each["message"])
        for each in found
        if each["severity"] == "error"
    ]
