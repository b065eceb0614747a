"""What runs while a module is imported is recorded where it is asked for, and nowhere else."""

import subprocess
import sys

import pytest

from tests.python.run.test_run import good, run
from tests.python.run.test_run_equality import make_files
from tests.support import compiler, paths, recording

pytestmark = pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)")
PYTHONS = [(sys.version_info[:2], sys.executable), *paths.other_pythons()]

FILES = {
    "main.py": """
    import helper
    import package.lazy
    def work(x):
        import package.inner
        in_work = package.inner.double(x)
        return in_work
    at_main = work(helper.add(1))
    """,
    "helper.py": """
    at_helper = 1
    def add(x):
        added = x + 1
        return added
    at_helper = add(100)
    """,
    "package/__init__.py": "at_package = 1\n",
    "package/lazy.py": "import helper\nclass Lazy:\n    at_class = helper.add(200)\n",
    "package/inner.py": """
    from helper import add
    at_inner = add(300)
    def double(x):
        doubled = x * 2
        return doubled
    """,
}


@pytest.fixture
def project(tmp_path):
    make_files(tmp_path, FILES)
    return tmp_path


def names_in(trace):
    return sorted(e.name for e in recording.read(trace).events if e.kind == "assign")


def added_in(trace):
    return [e.fields["value"] for e in recording.read(trace).events if e.name == "added"]


WITHOUT = ["added", "at_main", "doubled", "in_work"]


@pytest.mark.parametrize("python", [p for _, p in PYTHONS], ids=["%d.%d" % v for v, _ in PYTHONS])
def test_imports_are_left_out(project, python):
    good(project, "main.py", python=python)
    assert names_in(project / "run.mtrace") == WITHOUT
    calls = recording.read(project / "run.mtrace").calls.values()
    assert sorted(call.number for call in calls) == [1, 2, 3, 4]  # numbers have no gaps


@pytest.mark.parametrize("words", [["--imports"], ["--record", "imports=yes"]])
def test_imports_on_request(project, words):
    good(project, *words, "main.py")
    names = names_in(project / "run.mtrace")
    assert {"at_helper", "at_package", "at_inner", *WITHOUT} <= set(names)
    assert sorted(added_in(project / "run.mtrace")) == [2, 101, 201, 301]


def test_functions_alone(project):
    """No module level is recorded: what calls a function is known by Python's own frames."""
    good(project, "--function", "add", "main.py")
    assert added_in(project / "run.mtrace") == [2]


def test_a_module_that_is_not_selected_calls_one_that_is(project):
    good(project, "--include", "helper", "main.py")
    assert added_in(project / "run.mtrace") == [2]


def test_nothing_but_imports(project):
    done = good(project, "-c", "import helper")
    assert "what ran did so while modules were imported; record it with --imports" in done.stderr


def test_the_same_function_before_and_after(project):
    """At one place of memory, as a rule; only one line of it is recorded."""
    words = ["--lines", "helper.py:3", "-c", "import helper, package.lazy\nfor i in range(3): helper.add(i)"]
    good(project, *words)
    assert added_in(project / "run.mtrace") == [1, 2, 3]


def test_a_reload_is_an_import(project):
    good(project, "-c", "import helper, importlib\nimportlib.reload(helper)\nhelper.add(5)")
    assert added_in(project / "run.mtrace") == [6]


def test_generators_and_threads_of_an_import(project):
    make_files(
        project,
        {
            "source.py": """
            import threading
            def turns():
                for i in range(3):
                    turn = i
                    yield turn
            begun = turns()
            next(begun)
            waiting = turns()
            def work():
                in_thread = 1
            thread = threading.Thread(target=work)
            """,
            "main.py": """
            import source, threading
            source.thread.start()
            source.thread.join()
            for i in source.waiting:
                pass
            """,
        },
    )
    good(project, "main.py")
    events = recording.read(project / "run.mtrace").events
    assert [e.fields["value"] for e in events if e.name == "turn"] == [0, 1, 2]
    assert [e.name for e in events if e.name == "in_thread"] == ["in_thread"]


def test_the_words_do_not_go_together(project):
    assert run(project, "run", "--no-record", "--imports", "main.py").returncode == 2
    done = run(project, "run", "--imports", "main.py", MONITORCH="x.mtrace")
    assert done.returncode == 2 and "--imports" in done.stderr


# Written files, and recordings of the program's own


@pytest.fixture
def written(project):
    words = [paths.COMMAND, "-q", "--all", "-d", "written", *FILES]
    subprocess.run(words, cwd=project, check=True)
    return project / "written"


def python(folder, *words, mode="off", **options):
    environment = recording.environment(mode, "run.mtrace", **options)
    done = recording.run_python(*words, folder=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("program", ["main.py", "-c"])
def test_by_the_environment(written, program):
    """Also where recording begins while the first instrumented module is imported."""
    words = [program] if program != "-c" else ["-c", "import helper\nhelper.add(1)"]
    python(written, *words, mode="on")
    assert added_in(written / "run.mtrace") == [2]
    python(written, *words, mode="on", imports="yes")
    assert 101 in added_in(written / "run.mtrace")


def test_by_the_program(written):
    program = "import monitorch\nwith monitorch.record('run.mtrace'{}):\n import helper\n helper.add(1)\n"
    python(written, "-c", program.format(""))
    assert added_in(written / "run.mtrace") == [2]
    python(written, "-c", program.format(", imports=True"))
    assert added_in(written / "run.mtrace") == [101, 2]
    done = python(written, "-c", "import monitorch\nwith monitorch.record('run.mtrace'): import helper\n")
    assert "what ran did so while modules were imported; record it with imports=True" in done.stderr


def test_a_recording_that_begins_in_an_import(written):
    """What the importing module does from then on is recorded, other imports are not."""
    make_files(
        written,
        {
            "starter.py": """
            import monitorch, helper
            with monitorch.record("run.mtrace"):
                helper.add(1)
                import package.inner
                helper.add(2)
            """
        },
    )
    python(written, "-c", "import starter")
    assert added_in(written / "run.mtrace") == [2, 3]
    later = "import starter, monitorch\nr = monitorch.record('later.mtrace').start()\nimport package.lazy\nimport helper; helper.add(7)"
    python(written, "-c", later)
    assert added_in(written / "later.mtrace") == [8]


REFUSES = """
import types
class Settings(types.ModuleType):
    def __setattr__(self, name, value):
        raise TypeError(name)
def install(module):
    for name, value in list(vars(module).items()):
        if not name.startswith("__") and not isinstance(value, (int, types.ModuleType, types.FunctionType)):
            raise TypeError(f"{name} is no setting")
    module.__class__ = Settings
"""


@pytest.mark.parametrize("words", ["install(sys.modules[__name__])", "install(module=sys.modules[__name__])"])
def test_a_module_that_refuses_names_runs_as_it_is(tmp_path, words):
    """As torch.distributed.config, and what else hands its own module to a function."""
    make_files(
        tmp_path,
        {
            "main.py": "import config\ndef work(x):\n    got = x + config.limit\n    return got\nprint(work(1))\n",
            "settings.py": REFUSES,
            "config.py": f"import sys\nfrom settings import install\nlimit = 3\n{words}\n",
        },
    )
    done = good(tmp_path, "--include", "*", "--imports", "main.py")
    assert done.stdout == "4\n"
    assert "config.py:" in done.stderr and "the module hands itself to a function" in done.stderr
    assert "got" in names_in(tmp_path / "run.mtrace")


@pytest.mark.parametrize(
    "words",
    [
        "setattr(sys.modules[__name__], 'limit', 4)",
        "here = list(vars(sys.modules[__name__]))",
        "if __name__ == '__main__':\n    print(sys.modules[__name__])",
        "def later():\n    install(sys.modules[__name__])",
        "'install(sys.modules[__name__])'",
    ],
)
def test_modules_that_only_use_their_own_are_recorded(tmp_path, words):
    make_files(
        tmp_path,
        {
            "main.py": "import config\nprint(config.add(1))\n",
            "config.py": f"import sys\n{words}\ndef add(x):\n    added = x + 1\n    return added\n",
        },
    )
    done = good(tmp_path, "--include", "*", "main.py")
    assert done.stdout == "2\n" and "hands itself" not in done.stderr
    assert added_in(tmp_path / "run.mtrace") == [2]
