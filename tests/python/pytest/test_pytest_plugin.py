"""The pytest plugin, in pytests of their own: --monitorch, and the fixture monitorch_no_nan."""

import importlib.util
import os
import re
import shlex
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
    info = pytester.mkdir("site") / "monitorch_instrument-0.dist-info"
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
    result = run(tests=tests)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["monitorch: *::test_it: not recorded to its end: the program began*"])
    assert (pytester.path / "own.mtrace").exists()


def test_nothing_is_left_behind(run, pytester, monkeypatch):
    temporary = pytester.mkdir("temporary")
    monkeypatch.setenv("TMPDIR", str(temporary))
    run("-p", "no:tmpdir")
    assert not list(temporary.glob("monitorch-*"))


# --monitorch-no-nan


OPTION_TESTS = f"""
import numpy, pytest, unittest
from model import mask, share
{QUIET}
@pytest.fixture
def made():
    return share(numpy.zeros(2))

def test_good():
    assert share(numpy.ones(3)).sum() == 1

def test_nan():
    share(numpy.zeros(3))

def test_infinity():
    big = numpy.exp(numpy.array([1000.0]))

def test_number():
    low = float("inf")
    apart = low - low

def test_meant():
    hidden = mask(numpy.ones(3) * 2)
    best = float("inf")
    weights = numpy.exp(hidden)

def test_nan_of_a_fixture(made):
    pass

@pytest.mark.monitorch_allow_nan
def test_on_purpose():
    share(numpy.zeros(3))

def test_both():
    assert share(numpy.zeros(3)).sum() == 1, "not one"

@pytest.mark.xfail(strict=True)
def test_known():
    share(numpy.zeros(3))

class TestCase(unittest.TestCase):
    def test_unit(self):
        share(numpy.zeros(3))

    def test_unit_fails(self):
        share(numpy.zeros(3))
        self.assertEqual(1, 2)
"""
OPTION_FAILED = {
    "test_nan", "test_infinity", "test_number", "test_nan_of_a_fixture", "test_both", "test_unit", "test_unit_fails",
}  # fmt: skip


def failed_in(text):
    return set(re.findall(r"^FAILED test_it\.py::(?:\w+::)?(\w+)", text, re.MULTILINE))


@pytest.mark.parametrize("words", [[], ["--monitorch=run.mtrace"], ["-n2"]], ids=" ".join)
def test_no_test_may_make_a_nan(run, words):
    if words == ["-n2"]:
        pytest.importorskip("xdist")
    result = run("--monitorch-no-nan", "--strict-markers", *words, tests=OPTION_TESTS)
    result.assert_outcomes(passed=3, failed=7, xfailed=1)
    text = result.stdout.str()
    assert failed_in(text) == OPTION_FAILED
    assert re.search(r"^model\.py:5: NaN made here: y: 0/0", text, re.MULTILINE), text
    assert re.search(r"^test_it\.py:16: Inf made here: big: exp overflows", text, re.MULTILINE)
    assert "@pytest.mark.monitorch_allow_nan" in text
    result.stdout.fnmatch_lines(["*AssertionError: not one*", "*AssertionError: 1 != 2*"])


def test_the_option_and_the_fixture(run):
    """The fixture counts where the marker takes the option away; else they are one."""
    tests = f"""
    import numpy, pytest
    from model import share
    {QUIET}
    def test_infinity(monitorch_no_nan):
        big = numpy.exp(numpy.array([1000.0]))

    def test_number(monitorch_no_nan):
        number = float(share(numpy.zeros(1))[0])

    @pytest.mark.monitorch_allow_nan
    def test_marked(monitorch_no_nan):
        share(numpy.zeros(3))
    """
    run("--monitorch-no-nan", tests=tests).assert_outcomes(failed=3)
    run(tests=tests).assert_outcomes(passed=1, failed=2)


def test_each_test_is_asked_for_its_own_values(run):
    """What an earlier one made, and a module keeps, is no fault of a later one."""
    tests = f"""
    import numpy
    from model import share
    {QUIET}
    kept = []

    def test_makes():
        kept.append(share(numpy.zeros(3)))

    def test_after():
        total = numpy.ones(3).sum()
    """
    for words in ([], ["--monitorch=run.mtrace"]):
        result = run("--monitorch-no-nan", *words, tests=tests)
        assert failed_in(result.stdout.str()) == {"test_makes"}


def test_include_chooses_for_the_option(run):
    result = run("--monitorch-no-nan", "--monitorch-include=other", tests=OPTION_TESTS)
    assert failed_in(result.stdout.str()) == {"test_both", "test_known", "test_unit_fails"}
    result = run("--monitorch-no-nan", "--monitorch-include=model", tests=OPTION_TESTS)
    assert failed_in(result.stdout.str()) == OPTION_FAILED - {"test_infinity", "test_number"}


def test_the_option_leaves_nothing_behind(run, pytester, monkeypatch):
    temporary = pytester.mkdir("temporary")
    monkeypatch.setenv("TMPDIR", str(temporary))
    run("--monitorch-no-nan", "-p", "no:tmpdir", tests=OPTION_TESTS)
    run("--monitorch-no-nan", "--setup-only", "-p", "no:tmpdir", tests=OPTION_TESTS)
    assert not list(temporary.glob("monitorch-*"))


# monitorch_golden


GOLDEN = """
import numpy, pytest
from model import scale

@pytest.mark.parametrize("kind", ["a/b", "a_b"])
def test_scale(monitorch_golden, kind):
    scale(numpy.arange(4.0))
"""
SCALE = """
def scale(x):
    y = x * 3
    return y + 1
"""


@pytest.fixture
def golden(run, pytester, monkeypatch):
    monkeypatch.delenv("CI", raising=False)

    def start(*words, tests=GOLDEN, model=SCALE):
        pytester.makepyfile(model=model)
        return run(*words, tests=tests)

    return start


def traces_in(pytester):
    return sorted(path.name for path in pytester.path.glob("golden/*/*"))


def test_a_golden_trace_is_written_once(golden, pytester):
    result = golden()
    result.assert_outcomes(passed=2)
    assert "test_scale[a_b].mtrace" in traces_in(pytester) and len(traces_in(pytester)) == 2
    result.stdout.fnmatch_lines(["monitorch: golden trace written: golden/test_it/test_scale*.mtrace"])
    before = {path: path.read_bytes() for path in pytester.path.glob("golden/*/*")}
    result = golden()
    result.assert_outcomes(passed=2)
    assert "golden trace" not in result.stdout.str()
    assert {path: path.read_bytes() for path in pytester.path.glob("golden/*/*")} == before


def test_a_golden_trace_differs(golden, pytester):
    golden()
    result = golden("-p", "cacheprovider", "-k", "a_b", model=SCALE.replace("x * 3", "x * 3.01"))
    result.assert_outcomes(failed=1, deselected=1)
    text = result.stdout.str()
    assert re.search(r"^model\.py:2: first divergence: y: values", text, re.MULTILINE), text
    look = re.search(r"details: +(monitorch diff .*\.mtrace'?)  ", text)
    assert look, text
    again = shown(pytester, *shlex.split(look[1])[1:])
    assert again.startswith(f"{pytester.path}/model.py:2: first divergence: y"), again
    result.stdout.fnmatch_lines(
        ["golden trace: *golden/test_it/test_scale*", "accept: *pytest --monitorch-update-golden *"]
    )


def test_a_golden_trace_is_rewritten(golden, pytester):
    golden()
    model = SCALE.replace("x * 3", "x * 3.01")
    result = golden("--monitorch-update-golden", model=model)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["monitorch: golden trace rewritten: *"])
    golden(model=model).assert_outcomes(passed=2)
    assert "golden trace" not in golden("--monitorch-update-golden", model=model).stdout.str()


def test_other_code_with_the_same_values_is_equal(golden):
    golden()
    other = "def helper(x):\n    return x\n\n\ndef scale(x):\n    n = 3\n    y = n * x\n    return y + 1\n"
    golden(model=other).assert_outcomes(passed=2)


def test_options_of_the_golden_trace(golden):
    tests = GOLDEN.replace("    scale(", "    monitorch_golden(rtol=0.1)\n    scale(")
    golden(tests=tests)
    golden(tests=tests, model=SCALE.replace("x * 3", "x * 3.01")).assert_outcomes(passed=2)
    tests = GOLDEN.replace("    scale(", "    monitorch_golden(exact=True, ignore='y')\n    scale(")
    golden(tests=tests, model=SCALE.replace("x * 3", "x * 3.0000001")).assert_outcomes(failed=2)


def test_under_ci_a_golden_trace_must_be_there(golden, pytester, monkeypatch):
    monkeypatch.setenv("CI", "true")
    result = golden()
    result.assert_outcomes(failed=2)
    assert not traces_in(pytester)
    result.stdout.fnmatch_lines(
        ["golden/test_it/test_scale*: there is no golden trace*", "*pytest --monitorch-update-golden*"]
    )
    golden("--monitorch-update-golden").assert_outcomes(passed=2)
    golden().assert_outcomes(passed=2)


def test_a_test_that_fails_writes_no_golden_trace(golden, pytester):
    tests = GOLDEN + "    assert kind == 'a/b'\n"
    golden(tests=tests).assert_outcomes(passed=1, failed=1)
    assert len(traces_in(pytester)) == 1
    golden(tests=GOLDEN.replace("scale(numpy", "(numpy"), model=SCALE)
    assert len(traces_in(pytester)) == 2


def test_a_damaged_golden_trace(golden, pytester):
    golden("-k", "a_b")
    for path in pytester.path.glob("golden/*/*"):
        path.write_bytes(b"nothing")
    result = golden("-k", "a_b")
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["golden/test_it/test_scale*is no trace*", "accept: *"])
    golden("--monitorch-update-golden").assert_outcomes(passed=2)


def test_a_golden_trace_with_other_options(golden, pytester):
    """A trace of the whole run leaves it out and says so; the rest goes together."""
    golden()
    other = SCALE.replace("x * 3", "x * 3.01")
    result = golden("--monitorch=run.mtrace", model=other)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["monitorch: *not compared: run.mtrace records the whole run"])
    golden("--monitorch-no-nan", model=other).assert_outcomes(failed=2)
    bad = SCALE.replace("x * 3", "x / x")
    result = golden("--monitorch-no-nan", "--monitorch-update-golden", model=bad)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["model.py:2: NaN made here: y: 0/0*"])
    golden("--monitorch-no-nan").assert_outcomes(passed=2)


def test_golden_traces_of_workers(golden, pytester):
    pytest.importorskip("xdist")
    result = golden("-n2")
    result.assert_outcomes(passed=2)
    assert result.stdout.str().count("golden trace written") == 2
    golden("-n2", model=SCALE.replace("x * 3", "x * 3.01")).assert_outcomes(failed=2)


# --monitorch


def test_the_run_is_recorded(run, pytester):
    result = run("--monitorch=run.mtrace")
    result.assert_outcomes(passed=2, failed=1)
    result.stderr.fnmatch_lines(["monitorch: * events in run.mtrace *, * with NaN: monitorch why run.mtrace"])
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
    result.stderr.fnmatch_lines(["monitorch: traces of the workers: run.gw*.mtrace"])
    assert {p.name for p in pytester.path.glob("*.mtrace")} == {"run.gw0.mtrace", "run.gw1.mtrace"}


# Not asked for


def test_it_costs_nothing(run):
    tests = """
    import sys

    def test_nothing_is_loaded():
        ours = {name for name in sys.modules if name.startswith("monitorch")}
        assert ours <= {
            "monitorch",
            "monitorch._registry",
            "monitorch._pytest",
            "monitorch._pytest.plugin",
        }, ours
        assert sys.gettrace() is None
    """
    run(tests=tests).assert_outcomes(passed=1)


def test_help_tells_of_it(run):
    run("--help").stdout.fnmatch_lines(["monitorch:", "*--monitorch=TRACE*"])
    run("--fixtures").stdout.fnmatch_lines(["monitorch_no_nan*", "*Fails the test if a line*"])


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


# Gradients

TRAINING = """
    import pytest, torch
    {mark}
    def test_root(monitorch_no_nan):
        x = torch.zeros(3, requires_grad=True)
        mask = torch.full((3,), -torch.inf)
        square = x * x
        root = square.sqrt()
        root.sum().backward()

    {mark}
    def test_step(monitorch_no_nan):
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=3e38)
        loss = (model(torch.ones(4, 2)) * 10).mean()
        loss.backward()
        optimizer.step()

    {mark}
    def test_right(monitorch_no_nan):
        x = torch.zeros(3, requires_grad=True)
        big = x.detach() + torch.inf
        (x * x + 1e-8).sqrt().sum().backward()
"""
# Not imported here: pytester forgets the modules that a test has imported.
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not there")
ROOT = "test_it.py:7: Inf made in the backward of this line: gradient of square: the derivative of sqrt at 0"
STEP = "test_it.py:16: Inf written by the call on this line: weight: SGD.step wrote"


@needs_torch
@pytest.mark.torch
@pytest.mark.parametrize("mark, words", [("@pytest.mark.monitorch_backward", []), ("", ["--monitorch-backward"])])
def test_a_gradient_or_a_step_fails_the_test_that_made_it(run, mark, words):
    result = run(*words, tests=TRAINING.format(mark=mark))
    result.assert_outcomes(passed=1, failed=2)
    text = result.stdout.str()
    assert ROOT in text and STEP in text


@needs_torch
@pytest.mark.torch
def test_gradients_with_the_option_for_all_tests(run):
    tests = TRAINING.format(mark="").replace("(monitorch_no_nan)", "()")
    tests = tests.replace("big = x.detach() + torch.inf", "pass")
    result = run("--monitorch-no-nan", "--monitorch-backward", tests=tests)
    result.assert_outcomes(passed=1, failed=2)
    assert ROOT in result.stdout.str() and STEP in result.stdout.str()


@needs_torch
@pytest.mark.torch
def test_without_the_option_gradients_are_not_recorded(run):
    run(tests=TRAINING.format(mark="")).assert_outcomes(passed=3)


@needs_torch
@pytest.mark.torch
def test_the_trace_of_the_whole_run_has_gradients(run, pytester):
    tests = TRAINING.format(mark="").replace("(monitorch_no_nan)", "()")
    run("--monitorch=run.mtrace", "--monitorch-backward", tests=tests).assert_outcomes(passed=3)
    assert "gradient of square" in shown(pytester, "show", "--backward", "run.mtrace")
