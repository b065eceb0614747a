"""What all tests share: the path to their helpers, those that cannot run left out, the compiler under test."""

import gc
import importlib.util
import pathlib
import signal
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


try:
    from hypothesis.configuration import set_hypothesis_home_dir
except ImportError:
    pass
else:
    set_hypothesis_home_dir(ROOT / "build" / "hypothesis")


def pytest_configure(config):
    # A runner in the background is often started with these ignored, and children inherit that.
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            default = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, default)


def pytest_collection_finish():
    """What is in memory by now stays: to look through it takes half a second, which each gc.collect()
    of a test would spend."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the slow tests too")


def pytest_collection_modifyitems(config, items):
    reasons = {}
    if not config.getoption("--slow") and "slow" not in (config.getoption("-m") or ""):
        reasons["slow"] = "slow: runs with --slow"
    if importlib.util.find_spec("torch") is None:
        reasons["torch"] = "torch is not installed"
    for item in items:
        for mark, reason in reasons.items():
            if mark in item.keywords:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session", autouse=True)
def deep_recursion():
    """Python's own parser and compiler need room for the deepest files of the corpora."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 5000))
    yield
    sys.setrecursionlimit(before)


@pytest.fixture(scope="session")
def compiler_module():
    """The compiler under test; tests that need it skip where it was not built."""
    from tests.support import compiler

    if not compiler.is_built():
        pytest.skip("the compiler is not built (make)")
    return compiler


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("traces")


@pytest.fixture(scope="module")
def nested(folder):
    """A trace that several commands are tested with."""
    from tests.trace import scenarios

    return scenarios.nested_calls().write(folder / "nested.mtrace")
