"""CPython's own tests run as before, off and on: see tests/behaviour/cpython.py."""

import importlib.util

import pytest

from tests.behaviour import cpython

pytestmark = [
    pytest.mark.usefixtures("compiler_module"),
    pytest.mark.skipif(
        importlib.util.find_spec(f"test.{cpython.QUICK[0]}") is None,
        reason="this Python came without its tests, as Debian's does",
    ),
]

# What issue and docs promise: modules unchanged.
LEAST_UNCHANGED = {"a-off": 0.97, "a-on": 0.97, "b-off": 0.945, "b-on": 0.945}


def assert_as_before(summary):
    new, _ = cpython.split_known(summary["differences"], summary["mode"])
    told = [f"{m} {t}: {old} -> {now}\n{details}" for m, t, old, now, details in new]
    assert not told, "\n".join(told[:10])
    assert summary["tests"] > 0
    assert (summary["events"] > 0) == summary["mode"].endswith("-on")


@pytest.mark.parametrize("mode", ["b-off", "b-on"])
def test_some_modules_instrumented(mode):
    assert_as_before(cpython.compare(list(cpython.QUICK), mode))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["a-off", "a-on", "b-off", "b-on"])
def test_all_modules(mode):
    summary = cpython.compare(cpython.modules(), mode, jobs=2)
    assert_as_before(summary)
    assert summary["modules unchanged"] >= LEAST_UNCHANGED[mode] * summary["modules"]
