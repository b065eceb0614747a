"""The pytest plugin: `pytest --monitorch run.mtrace`, and the fixture `monitorch_no_nan`.

pytest loads it wherever the package is installed, so all that costs anything is imported where it is
asked for.
"""

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from monitorch._pytest_watch import Watch

_WATCH = "_monitorch_watch"  # of an item: what the fixture began


def pytest_addoption(parser: "pytest.Parser") -> None:
    group = parser.getgroup("monitorch")
    group.addoption(
        "--monitorch",
        metavar="TRACE[,OPTIONS]",
        help="record what the lines of tests, and of the modules that they import, do to their values; "
        "such as run.mtrace,last=100000 (then: monitorch show run.mtrace)",
    )
    group.addoption(
        "--monitorch-include",
        metavar="GLOB",
        action="append",
        default=[],
        help="record these modules or files instead of all below the current folder; repeatable",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: "pytest.Config") -> None:
    options = early_config.known_args_namespace
    if options.monitorch:
        from monitorch import _pytest_record

        _pytest_record.begin(early_config, options.monitorch, options.monitorch_include)


@pytest.fixture
def monitorch_no_nan(request: "pytest.FixtureRequest") -> "Generator[Watch, None, None]":
    """Fails the test where a line makes a NaN, and tells which.

    Looked at is what runs from here on: the test, and what it calls in files below the current
    folder; with --monitorch, all that is recorded.
    """
    from monitorch import _pytest_watch

    watch = _pytest_watch.Watch(request)
    setattr(request.node, _WATCH, watch)
    watch.begin()
    yield watch
    watch.end()


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item: "pytest.Item") -> "Generator[None, Any, None]":
    """A NaN is the test's failure, not one of its teardown."""
    outcome = yield
    watch: "Watch | None" = getattr(item, _WATCH, None)
    if watch is not None:
        found = watch.end()
        if found and outcome.excinfo is None:
            outcome.force_exception(pytest.fail.Exception(found, pytrace=False))
        elif found:
            item.add_report_section("call", "monitorch", found)
