"""mypy, made in the build's folder where there is none."""

import functools
import importlib.util
import shutil
import subprocess
import sys

import pytest

from tests.support import paths


@functools.lru_cache(None)
def command():
    """Its words. Skips the test where it cannot be had."""
    if importlib.util.find_spec("mypy") is not None:
        return [sys.executable, "-m", "mypy"]
    if shutil.which("mypy"):
        return ["mypy"]
    folder = paths.scratch("mypy")
    python = folder / "bin" / "python"
    if not (folder / "bin" / "mypy").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "mypy"]
        if subprocess.run(pip, capture_output=True).returncode != 0:
            pytest.skip("mypy cannot be installed")
    return [str(python), "-m", "mypy"]


def check(cache, *words, cwd=paths.PYTHON_PATH, python=sys.executable):
    """The finished process of a strict check, with the packages that `python` has."""
    options = ["--strict", "--python-version", "3.10", "--python-executable", str(python)]
    options += ["--cache-dir", str(cache)]
    return subprocess.run([*command(), *options, *words], cwd=cwd, capture_output=True, text=True)
