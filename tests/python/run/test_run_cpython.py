"""Modules of CPython's own tests, run by `python -m monitorch run -m unittest`.

Those of the import system meet the hook; the others are instrumented and recorded. What must
differ where code is instrumented is listed in tests/behaviour/cpython_differences.json.
"""

import fnmatch
import importlib.util
import json
import os
import re
import subprocess
import sys

import pytest

from tests.support import compiler, paths

pytestmark = [
    pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)"),
    pytest.mark.skipif(
        importlib.util.find_spec("test.support") is None, reason="CPython's tests are not installed"
    ),
]
QUICK = ("test_runpy", "test_pkgutil", "test_scope", "test_with", "test_unpack_ex")
SLOW = (
    "test_import test_importlib test_zipimport test_linecache test_traceback test_inspect "
    "test_warnings test_doctest test_modulefinder test_atexit test_dataclasses test_contextlib "
    "test_functools test_generators test_coroutines test_exceptions test_cmd_line_script"
).split()
MODULES = [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]
PYTHON = getattr(sys, "_base_executable", sys.executable)


def may_differ(test):
    known = json.loads((paths.ROOT / "tests/behaviour/cpython_differences.json").read_text())
    text = json.dumps(known)
    patterns = set(re.findall(r'"(test\.[^" ]+)"', text))
    return any(fnmatch.fnmatchcase(test, pattern) for pattern in patterns)


def outcomes(words, folder):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "MONITORCH"))}
    environment["PYTHONPATH"] = str(paths.PYTHON_PATH)
    environment["XDG_CACHE_HOME"] = str(folder.parent / "cache")
    done = subprocess.run(
        [PYTHON, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="replace", timeout=600,
    )
    failed = set(re.findall(r"^(?:ERROR|FAIL): \w+ \((\S+?)\)", done.stderr, re.M))
    count = re.search(r"^Ran (\d+) tests?", done.stderr, re.M)
    assert count, done.stderr[-3000:]
    return failed, int(count[1])


@pytest.mark.parametrize("module", MODULES)
def test_module_of_cpython(module, tmp_path):
    name = f"test.{module}"
    plain, count = outcomes(["-m", "unittest", name], tmp_path)
    options = ["-q", "--record", "last=100000,hash=no", "--include", name]
    ours, our_count = outcomes(
        ["-m", "monitorch", "run", *options, "-m", "unittest", name], tmp_path
    )
    assert our_count == count > 0
    assert {test for test in ours - plain if not may_differ(test)} == set()
    assert (tmp_path / "run.mtrace").stat().st_size > 65536
