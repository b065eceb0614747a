"""The pytest plugin: `--monitorch`, `--monitorch-no-nan`, and the fixtures `monitorch_no_nan` and
`monitorch_golden`.

pytest loads it wherever the package is installed, so modules that cost something are imported only
if an option or a fixture needs them.
"""

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from monitorch._pytest.golden import Golden
    from monitorch._pytest.watch import Watch

_WATCH = "_monitorch_watch"  # attribute of an item: the recording of the running test


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
    group.addoption(
        "--monitorch-no-nan",
        action="store_true",
        help="fail each test in which a line makes a NaN, or an infinity that the line does not name, "
        "with the line and the cause; the marker monitorch_allow_nan excepts a test",
    )
    group.addoption(
        "--monitorch-backward",
        action="store_true",
        help="record gradients, parameters and optimizer steps too; the marker monitorch_backward does "
        "it for a test",
    )
    group.addoption(
        "--monitorch-update-golden",
        action="store_true",
        help="write the traces of the fixture monitorch_golden anew where they differ",
    )


def pytest_configure(config: "pytest.Config") -> None:
    config.addinivalue_line(
        "markers",
        "monitorch_allow_nan: --monitorch-no-nan leaves out this test, which makes NaN on purpose",
    )
    config.addinivalue_line(
        "markers",
        "monitorch_backward: the recording of this test has gradients, parameters and optimizer steps",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: "pytest.Config") -> None:
    options = early_config.known_args_namespace
    if options.monitorch or options.monitorch_no_nan:
        from monitorch._pytest import record as _pytest_record

        _pytest_record.begin(early_config, options.monitorch, options.monitorch_include)


def _find_watch(item: "pytest.Item") -> "Watch":
    """The test's only watch, which its fixtures and options share."""
    watch: "Watch | None" = getattr(item, _WATCH, None)
    if watch is None:
        from monitorch._pytest import watch as _pytest_watch

        watch = _pytest_watch.Watch(item)
        setattr(item, _WATCH, watch)
    return watch


@pytest.fixture
def monitorch_no_nan(request: "pytest.FixtureRequest") -> "Generator[Watch, None, None]":
    """Fails the test if a line makes a NaN, and names the line and the cause.

    Records the code that runs from here on: the test, and the functions that it calls in files
    below the current folder; with --monitorch, everything that is recorded.
    """
    watch = _find_watch(request.node)
    watch.forbid("nan")
    yield watch
    watch.end()


@pytest.fixture
def monitorch_golden(request: "pytest.FixtureRequest") -> "Generator[Golden, None, None]":
    """Compares the values of the test's code with the golden trace of an earlier run.

    Records the code that runs from here on, as monitorch_no_nan does. The first run writes the
    golden trace into the folder `golden` beside the test's file. A later run fails if `monitorch
    diff` finds a difference; call the fixture to set its options: monitorch_golden(rtol=1e-3,
    ignore=["run_id"]). pytest --monitorch-update-golden replaces the golden trace.
    """
    from monitorch._pytest import golden as _pytest_golden

    watch = _find_watch(request.node)
    golden = _pytest_golden.Golden(request.node)
    watch.compare(golden)
    yield golden
    watch.end()


def _report(item: "pytest.Item", outcome: "Any", phase: str) -> None:
    """Makes the recording's findings the test's failure, or a section of its report if it has
    failed already."""
    watch: "Watch | None" = getattr(item, _WATCH, None)
    if watch is None:
        return
    # A unittest.TestCase keeps its failure in a list, which pytest reads later.
    has_passed = outcome.excinfo is None and not getattr(item, "_excinfo", None)
    for title, found in watch.finish(has_passed):
        if has_passed:
            has_passed = False
            outcome.force_exception(pytest.fail.Exception(found, pytrace=False))
        else:
            item.add_report_section(phase, title, found)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_setup(item: "pytest.Item") -> "Generator[None, Any, None]":
    if hasattr(item, _WATCH):
        delattr(item, _WATCH)  # the test may be run again
    if item.config.option.monitorch_no_nan:
        if item.get_closest_marker("monitorch_allow_nan") is None:
            _find_watch(item).forbid("nonfinite")
    outcome = yield
    if outcome.excinfo is not None:
        _report(item, outcome, "setup")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item: "pytest.Item") -> "Generator[None, Any, None]":
    """Fails the test itself, and not its teardown, for a NaN."""
    outcome = yield
    _report(item, outcome, "call")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: "pytest.Item") -> None:
    """With --setup-only there was no call."""
    watch: "Watch | None" = getattr(item, _WATCH, None)
    if watch is not None:
        watch.end()


def pytest_terminal_summary(terminalreporter: "Any") -> None:
    """Prints written golden traces and recordings that ended early, also of workers of
    pytest-xdist."""
    lines: "list[str]" = []
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == "monitorch" and value not in lines:
                    lines.append(value)
    for line in lines:
        terminalreporter.write_line(f"monitorch: {line}")
