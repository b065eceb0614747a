"""The pytest plugin, in pytests of their own: --monitorch, and the fixture monitorch_no_nan."""

import os
import re
import subprocess
import sys
import time

import pytest

from tests.support import paths

pytest.importorskip("numpy")
pytest_plugins = ["pytester"]

pytestmark = pytest.mark.skipif(
    not list(paths.PACKAGE.glob("_recorder*.so")), reason="the recorder is not built (make)"
)

MODEL = """
import numpy

def share(x):
    total = x.sum()
    y = x / total
    return y

def mask(x):
    hidden = numpy.where(x > 1, -numpy.inf, x)
    return hidden
"""
QUIET = 'numpy.seterr(all="ignore")\n'
TESTS = f"""
import numpy
from model import share
{QUIET}
def test_good(monitorch_no_nan):
    assert share(numpy.ones(3)).sum() == 1

def test_bad(monitorch_no_nan):
    share(numpy.zeros(3))

def test_unwatched():
    share(numpy.zeros(3))
"""


@pytest.fixture(autouse=True)
def outside_of_xdist(monkeypatch):
    """The programs of these tests are no workers of the run that they are tests of."""
    for name in ("WORKER", "WORKER_COUNT", "TESTRUNUID"):
        monkeypatch.delenv(f"PYTEST_XDIST_{name}", raising=False)


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs a pytest that has found the plugin by its entry point, as where the wheel is installed."""
    info = pytester.mkdir("site") / "monitorch_instrument-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: monitorch-instrument\nVersion: 0\n")
    program = "from distribution import metadata; print(metadata.entry_points())"
    options = {"env": {**os.environ, "PYTHONPATH": str(paths.ROOT / "tools")}, "text": True}
    points = subprocess.run([sys.executable, "-c", program], capture_output=True, **options)
    (info / "entry_points.txt").write_text(points.stdout)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(info.parent), str(paths.PYTHON_PATH)]))
    monkeypatch.delenv("MONITORCH", raising=False)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", raising=False)
    pytester.makepyfile(model=MODEL)

    def start(*words, tests=TESTS):
        pytester.makepyfile(test_it=tests)
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *words)

    return start


def shown(pytester, *words):
    command = [str(paths.COMMAND.with_name("monitorch")), *words]
    return subprocess.run(command, cwd=pytester.path, capture_output=True, text=True).stdout


# The fixture


def test_a_nan_fails_the_test_that_made_it(run, pytester):
    result = run()
    result.assert_outcomes(passed=2, failed=1)
    text = result.stdout.str()
    assert re.search(r"^model\.py:5: NaN made here: y: 0/0", text, re.MULTILINE), text
    assert "test_unwatched" not in text
    result.stdout.fnmatch_lines(["FAILED test_it.py::test_bad - Failed: model.py:5: NaN *"])


def test_it_tells_what_why_tells(run, pytester):
    text = run("--monitorch=run.mtrace").stdout.str()
    why = shown(pytester, "why", "run.mtrace").splitlines()[0]
    assert why.startswith(f"{pytester.path}/model.py:5: NaN made here: y")
    assert f"\n{why.removeprefix(f'{pytester.path}/')}\n" in text


def test_an_infinity_is_none(run):
    tests = f"""
    import numpy
    from model import mask
    {QUIET}
    def test_masked(monitorch_no_nan):
        x = mask(numpy.ones(3) * 2)
        y = 1 / x
    """
    run(tests=tests).assert_outcomes(passed=1)


def test_a_test_that_fails_by_itself_keeps_its_failure(run):
    tests = f"""
    import numpy
    from model import share
    {QUIET}
    def test_both(monitorch_no_nan):
        assert share(numpy.zeros(3)).sum() == 1, "not one"
    """
    result = run(tests=tests)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*AssertionError: not one*", "*monitorch call*", "*model.py:5: NaN made here: y*"]
    )


def test_a_nan_that_other_tests_made_is_not_told(run):
    tests = f"""
    import numpy
    from model import share
    {QUIET}
    def test_first():
        share(numpy.zeros(3))

    def test_second(monitorch_no_nan):
        share(numpy.ones(3))
    """
    for words in ([], ["--monitorch=run.mtrace"]):
        run(*words, tests=tests).assert_outcomes(passed=2)


def test_ways_to_ask_for_it(run):
    tests = f"""
    import numpy, pytest
    from model import share
    {QUIET}
    @pytest.mark.usefixtures("monitorch_no_nan")
    class TestMarked:
        @pytest.mark.parametrize("x", [numpy.ones(3), numpy.zeros(3)])
        def test_it(self, x):
            share(x)

    def test_dynamic(request):
        request.getfixturevalue("monitorch_no_nan")
        share(numpy.zeros(3))

    @pytest.fixture
    def made(monitorch_no_nan):
        return share(numpy.zeros(3))

    def test_made_by_a_fixture(made):
        pass
    """
    run(tests=tests).assert_outcomes(passed=1, failed=3)


def test_a_test_may_record_itself(run, pytester):
    tests = f"""
    import numpy, monitorch
    from model import share
    {QUIET}
    def test_it(monitorch_no_nan):
        with monitorch.record("own.mtrace"):
            share(numpy.ones(3))

    def test_after(monitorch_no_nan):
        share(numpy.zeros(3))
    """
    run(tests=tests).assert_outcomes(passed=1, failed=1)
    assert (pytester.path / "own.mtrace").exists()


def test_nothing_is_left_behind(run, pytester, monkeypatch):
    temporary = pytester.mkdir("temporary")
    monkeypatch.setenv("TMPDIR", str(temporary))
    run("-p", "no:tmpdir")
    assert not list(temporary.glob("monitorch-*"))


# --monitorch


def test_the_run_is_recorded(run, pytester):
    result = run("--monitorch=run.mtrace")
    result.assert_outcomes(passed=2, failed=1)
    result.stderr.fnmatch_lines(["monitorch: * events in run.mtrace *: monitorch show run.mtrace"])
    text = shown(pytester, "show", "run.mtrace")
    assert "share  " in text and "test_good  " in text and "test_unwatched  " in text


def test_its_output_is_the_same(run):
    def told(result):
        return re.sub(r"in [\d.]+s", "", result.stdout.str())

    tests = TESTS.replace("monitorch_no_nan", "")
    assert told(run(tests=tests)) == told(run("--monitorch=run.mtrace", tests=tests))


def test_options_and_include(run, pytester):
    result = run("--monitorch=run.mtrace,sample=0,quiet=yes", "--monitorch-include=model")
    result.assert_outcomes(passed=2, failed=1)
    assert result.stderr.str() == ""
    text = shown(pytester, "show", "run.mtrace")
    assert "share  " in text and "test_good  " not in text


@pytest.mark.parametrize(
    "value, told",
    [
        ("none/run.mtrace", "No such file or directory"),
        ("run.mtrace,nothing=1", "nothing"),
        ("model.py", "no trace"),
    ],
)
def test_what_cannot_be(run, pytester, value, told):
    result = run(f"--monitorch={value}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert told in result.stderr.str() and "--monitorch" in result.stderr.str()
    assert (pytester.path / "model.py").read_text().strip() == MODEL.strip()


def test_monitorch_in_the_environment_goes_first(run, monkeypatch):
    monkeypatch.setenv("MONITORCH", "other.mtrace")
    result = run("--monitorch=run.mtrace")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "recording to other.mtrace already" in result.stderr.str()


def test_workers_have_traces_of_their_own(run, pytester):
    pytest.importorskip("xdist")
    result = run("-n2", "--monitorch=run.mtrace")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["model.py:5: NaN made here: y*"])
    result.stderr.fnmatch_lines(["monitorch: the workers' traces: run.gw*.mtrace"])
    assert {p.name for p in pytester.path.glob("*.mtrace")} == {"run.gw0.mtrace", "run.gw1.mtrace"}


# Not asked for


def test_it_costs_nothing(run):
    tests = """
    import sys

    def test_nothing_is_loaded():
        ours = {name for name in sys.modules if name.startswith("monitorch")}
        assert ours <= {"monitorch", "monitorch._registry", "monitorch._pytest"}, ours
        assert sys.gettrace() is None
    """
    run(tests=tests).assert_outcomes(passed=1)


def test_help_tells_of_it(run):
    run("--help").stdout.fnmatch_lines(["monitorch:", "*--monitorch=TRACE*"])
    run("--fixtures").stdout.fnmatch_lines(["monitorch_no_nan*", "*Fails the test where a line*"])


# Pictures of test modules, which pytest compiles with other assertions in them


def write_tests(pytester, text, mtime):
    path = pytester.makepyfile(test_picture=text)
    os.utime(path, (mtime, mtime))
    return path


PICTURE = """
import numpy, os, pathlib, monitorch

def double(x):
    assert x.sum() >= 0, f"{x}"
    y = x * 2
    assert (total := y.sum()) >= 0 and all(part >= 0 for part in [total]); z = y + total
    return z

def test_it():
    monitorch.on()
    a = numpy.ones(3)
    b = double(a)
    output = monitorch.off(filename=pathlib.Path("drawn.dot").absolute())
    assert output is not None and output.node_count >= 5, output
"""


@pytest.mark.parametrize("age", [-5, 0, 3600])
def test_on_follows_a_test_module_however_new_it_is(run, pytester, age):
    """The file's time is that of the process, so that contents are compared, or far from it."""
    write_tests(pytester, PICTURE, time.time() - age)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)


def test_a_test_module_that_has_changed_is_not_followed(run, pytester):
    rewritten = PICTURE.replace(
        "    a = numpy",
        "    path = pathlib.Path(__file__)\n"
        "    path.write_text(path.read_text().replace('x * 2', 'x * 3'))\n"
        "    a = numpy",
        1,
    ).replace("output.node_count >= 5", "output.node_count == 2")
    write_tests(pytester, rewritten, time.time() - 3600)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
