"""python -m monitorch run -m pytest: pytest's own output stays the same, and tests are recorded."""

import os
import re
import sys

import pytest

from tests.python.run.test_run import FUNCTION, functions_in
from tests.python.run.test_run_equality import make_files
from tests.support import compiler, paths, recording

pytestmark = pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)")

FILES = {
    "model.py": "def double(x):\n    y = x * 2\n    return y\n",
    "tests/conftest.py": """
    import pytest
    @pytest.fixture
    def three():
        value = 3
        assert value == 3
        return value
    """,
    "tests/helper.py": "def check(x):\n    assert x == 6, f'not six: {x}'\n",
    "tests/test_many.py": '''
    """Tests."""
    import pytest, warnings
    from model import double
    pytest.register_assert_rewrite("helper")
    import helper

    def inner(x):
        assert x == 6, f"not six: {x}"

    class Thing:
        count = 0
        def add_(self, n):
            self.count += n
            return self
        def __repr__(self):
            return "Thing"

    def test_good(three):
        a = double(three)
        assert a == 6

    def test_values(three):
        a = double(three); b = [1, 2, 3]
        assert a == 7 and b

    def test_walrus(three):
        é = 1; assert (n := double(three)) == 7, (m := "message")

    def test_walrus_over_lines(three):
        è = "è"; x = 1; assert (
            è and (n := double(three))
            == 7 + x
        )

    def test_in_place():
        t = Thing()
        assert t.add_(2).count == 3

    def test_containers():
        a = {"x": 1, "y": [1, 2]}
        assert a == {"x": 1, "y": [1, 3]}

    def test_in_a_function(three):
        inner(double(three) +
              1)

    def test_in_another_module():
        helper.check(7)

    class TestClass:
        @pytest.mark.parametrize("n", [1, 2])
        def test_attribute(self, n):
            self.x = double(n)
            assert self.x.bit_length() == 2

    def test_error():
        1 / double(0); y = 3

    def test_caught():
        with pytest.raises(ZeroDivisionError):
            x = 1 / 0
        with pytest.warns(UserWarning):
            warnings.warn("x")
        assert not all(z for z in (1, 0))

    def test_always_true():
        assert (1, "x")
    ''',
    "tests/test_broken.py": "import pytest\ndef f(:\n    pass\n",
    "tests/test_fails_at_import.py": "x = 1\nassert x == 2\n",
}


def python_m(folder, *words, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MONITORCH", "PYTEST"))}
    environment["PYTHONPATH"] = str(paths.PYTHON_PATH)
    environment["COLUMNS"] = "100"
    # Those of other plugins that happen to be installed are rewritten at each start.
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["XDG_CACHE_HOME"] = str(folder.parent / "cache")
    environment.update(variables)
    return recording.run_python("-m", *words, folder=folder, env=environment)


def clean(text):
    text = re.sub(r"\n.*monitorch: .*", "", text)
    text = re.sub(r"0x[0-9a-f]{6,}", "0x…", text)
    return re.sub(r"in \d+\.\d+s", "in …", text)


def compare(folder, *words):
    words = ["pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *words]
    plain = python_m(folder, *words, PYTHONDONTWRITEBYTECODE="1")
    ours = python_m(folder, "monitorch", "run", "-m", *words, PYTHONDONTWRITEBYTECODE="1")
    lines = [line.rstrip("=") for line in clean(ours.stdout).splitlines()]
    assert lines == [line.rstrip("=") for line in clean(plain.stdout).splitlines()]
    assert ours.returncode == plain.returncode
    return ours


@pytest.fixture
def tests(tmp_path):
    make_files(tmp_path, FILES)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["tests/test_many.py"],
        ["-l", "--tb=long", "tests/test_many.py"],
        ["--tb=native", "tests/test_many.py"],
        ["-v", "--tb=short", "--import-mode=importlib", "--deselect", "x", "tests/test_many.py"],
        ["--assert=plain", "tests/test_many.py"],
        ["tests/test_broken.py", "tests/test_fails_at_import.py"],
        ["--fixtures", "-q", "tests"],
        ["-o", "enable_assertion_pass_hook=true", "tests/test_many.py"],
    ],
    ids=lambda words: "_".join(words[:2]),
)
def test_the_same_output(tests, words):
    compare(tests, *words)


def test_tests_fixtures_and_modules_are_recorded(tests):
    done = compare(tests, "-q", "tests/test_many.py")
    assert "9 failed, 4 passed" in done.stdout
    found = functions_in(tests / "run.mtrace")
    assert {
        ("model.py", "double"),
        ("conftest.py", "three"),
        ("helper.py", "check"),
        ("test_many.py", "test_good"),
        ("test_many.py", "TestClass.test_attribute"),
    } <= found
    assert not any("pytest" in name for name, _ in found)
    events = recording.read(tests / "run.mtrace").events
    assert ("a", 6) in {(event.name, event.value) for event in events}
    lines = {e.line for e in events if e.name == "a" and e.function == "test_good"}
    source = (tests / "tests" / "test_many.py").read_text().splitlines()
    assert [source[line - 1].strip() for line in lines] == ["a = double(three)"]


def test_bytecode_caches_hold_the_originals_alone(tests):
    """Those of pytest too, before and after."""
    words = ["pytest", "-q", "-p", "no:cacheprovider", "tests/test_many.py"]

    def caches():
        return {path: path.read_bytes() for path in tests.rglob("*.pyc")}

    python_m(tests, "monitorch", "run", "-m", *words)
    assert caches() == {}
    python_m(tests, *words)
    before = caches()
    assert any("test_many" in path.name and "pytest" in path.name for path in before)
    python_m(tests, "monitorch", "run", "-m", *words)
    assert caches() == before and b"_mt" not in b"".join(before.values())
    assert ("test_many.py", "test_good") in functions_in(tests / "run.mtrace")


def test_in_process(tests):
    """pytest.main in a script, which has imported pytest before."""
    make_files(tests, {"go.py": "import pytest, sys\nsys.exit(pytest.main(['-q', 'tests/test_many.py']))\n"})
    done = python_m(tests, "monitorch", "run", "go.py")
    assert done.returncode == 1
    assert ("test_many.py", "test_good") in functions_in(tests / "run.mtrace")


def test_the_program_pytest(tests):
    program = os.path.join(os.path.dirname(sys.executable), "pytest")
    if not os.path.exists(program):
        pytest.skip("there is no such program")
    done = python_m(
        tests, "monitorch", "run", program, "-q", "tests/test_many.py",
        PYTHONPATH=f"{paths.PYTHON_PATH}:{tests}",
    )
    assert done.returncode == 1, done.stderr
    names = {name for name, _ in functions_in(tests / "run.mtrace")}
    assert "test_many.py" in names and "pytest" not in names


def test_another_pytest_is_told(tests):
    """One that lacks what we build on: test modules run as ever, and a line says so."""
    make_files(tests, {
        "go.py": """
        import sys, pytest
        import _pytest.assertion.rewrite as rewrite
        from monitorch._pytest import assertions as _assertions
        del rewrite._read_pyc
        try:
            _assertions.change(rewrite)
        except AttributeError as error:
            print(error)
        """
    })
    done = python_m(tests, "monitorch", "run", "go.py")
    assert "has no _read_pyc: test modules and conftest.py are not recorded" in done.stdout


def test_doctests(tests):
    make_files(tests, {"doc.py": FUNCTION + "def g():\n    '''\n    >>> f(1)\n    3\n    '''\n"})
    compare(tests, "--doctest-modules", "doc.py")
    assert ("doc.py", "f") in functions_in(tests / "run.mtrace")
