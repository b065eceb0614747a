"""`monitorch.record(include=…)`: code is recorded as it is, loaded before or imported later."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

from tests.support import paths, recording

pytest.importorskip("numpy")

pytestmark = pytest.mark.skipif(
    not list(paths.PACKAGE.glob("_recorder*.so")), reason="the recorder is not built (make)"
)

MODEL = """
def double(x):
    twice = x * 2
    return twice
"""
BEFORE = "import monitorch, numpy as np\n"


@pytest.fixture
def run(tmp_path):
    """Runs a program beside the installed package `netlib`; its output and its warnings."""
    package = tmp_path / "site-packages" / "netlib"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "model.py").write_text(MODEL)
    (package / "other.py").write_text(MODEL.replace("double", "triple").replace("2", "3"))

    def run(program, **variables):
        (tmp_path / "program.py").write_text(BEFORE + textwrap.dedent(program))
        environment = {**recording.environment("off"), **variables}
        environment["PYTHONPATH"] += os.pathsep + str(tmp_path / "site-packages")
        done = subprocess.run(
            [sys.executable, "program.py"], env=environment, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        said = [line.partition("monitorch: ")[2] for line in done.stderr.splitlines()]
        return done.stdout, [line for line in said if line]

    run.folder = tmp_path
    return run


def names(folder, path="run.mtrace"):
    """Who assigned what: (function, name) of all events with an array."""
    trace = recording.read(folder / path)
    return [(e.function, e.name) for e in trace.events if e.value_kind == "tensor"]


DOUBLE = [("double", "x"), ("double", "twice"), ("double", "return")]
TRIPLE = [("triple", *name[1:]) for name in DOUBLE]


@pytest.mark.parametrize(
    "include", ["'netlib.model'", "'netlib'", "['none', 'net*']", "'model.py'", "'site-packages/netlib/m*'",
                "('netlib.model',)", "'*.model'"],
)  # fmt: skip
@pytest.mark.parametrize("is_late", [False, True])
def test_functions_that_are_loaded_or_imported_later(run, include, is_late):
    where = ("", "    import netlib.model, netlib.other")
    _, said = run(f"""
import sys
{where[not is_late].strip()}
with monitorch.record("run.mtrace", include={include}):
{where[is_late]}
    netlib.model.double(np.ones(2))
    if sys.argv == 3: netlib.other.triple(np.ones(2))
netlib.model.double(np.ones(3))
""")  # fmt: skip
    assert names(run.folder) == DOUBLE
    assert [text[:14] for text in said] == (["include='none'"] if "none" in include else [])


def test_the_program_itself(run):
    _, said = run("""
        from netlib.model import double
        def work(x):
            y = double(x)
            return y
        with monitorch.record("run.mtrace", include="program"):
            z = work(np.ones(2))
    """)
    wanted = [("work", "x"), ("work", "y"), ("work", "return"), ("<module>", "z")]
    assert names(run.folder) == wanted and said == []


def test_from_start_to_stop_and_again(run):
    """A thread that begins meanwhile is recorded too, and nothing after the end."""
    out, _ = run("""
        import sys, threading
        from netlib.model import double
        before = sys.gettrace(), sys.settrace
        for path in ("run.mtrace", "again.mtrace"):
            recording = monitorch.record(path, include="netlib").start()
            thread = threading.Thread(target=double, args=(np.ones(2),))
            thread.start()
            thread.join()
            double(np.ones(2))
            print(monitorch.stop().events)
            double(np.ones(2))
        assert (sys.gettrace(), sys.settrace) == before
    """)
    assert out == "6\n6\n"
    assert names(run.folder) == DOUBLE * 2 == names(run.folder, "again.mtrace")


def test_pictures_of_the_program_meanwhile(run):
    """`on` follows its own files beside what the recording includes, and neither ends the other."""
    out, said = run("""
        from netlib.model import double
        from netlib.other import triple
        def work(x):
            y = double(x)
            return triple(y)
        with monitorch.record("run.mtrace", include="netlib.model"):
            work(np.ones(2))
            monitorch.on(show=False, include="netlib.other")
            work(np.ones(2))
            print(monitorch.off(filename="flow.dot").node_count)
            work(np.ones(2))
    """)
    assert said == [] and int(out) > 5
    found = names(run.folder)
    assert [n for f, n in found if f == "double"] == [n for _, n in DOUBLE] * 3
    assert [n for f, n in found if f == "triple"] == [n for _, n in TRIPLE]
    assert [n for f, n in found if f == "work"] == ["x", "y", "return"]


def test_instrumented_code_is_recorded_once(run):
    source = run.folder / "site-packages" / "netlib" / "model.py"
    subprocess.run([paths.COMMAND, "--all", "--in-place", source], check=True)
    _, said = run("""
        from netlib.model import double
        with monitorch.record("run.mtrace", include="netlib"):
            double(np.ones(2))
    """)
    assert said == [] and names(run.folder) == DOUBLE


@pytest.mark.parametrize(
    "include, body, said",
    [
        ("'netlib.modle'", "double(np.ones(2))",
         ["include='netlib.modle': no code of such a module ran; did you mean 'netlib.model'?",
          "nothing recorded in run.mtrace: no line that was followed ran. Code of '__main__' and "
          "'netlib.model' ran and was not followed; record it with include='__main__'"]),
        ("'netlib.other'", "import netlib.other",
         ["nothing recorded in run.mtrace: the modules of include= ran no line that assigns a value"]),
        ("'sys'", "pass",
         ["include='sys': no code of such a module ran; it is loaded, but none of its Python functions "
          "was called",
          "nothing recorded in run.mtrace: no line that was followed ran. Code of '__main__' ran and was "
          "not followed; record it with include='__main__'"]),
        ("'netlib.other'", "pass",
         ["include='netlib.other': no code of such a module ran; did you mean 'netlib.model'?",
          "nothing recorded in run.mtrace: no line that was followed ran. Code of '__main__' ran and was "
          "not followed; record it with include='__main__'"]),
        ("()", "double(np.ones(2))",
         ["nothing recorded in run.mtrace: no instrumented code was imported; run `monitorch run "
          "program.py` instead, or pass include='__main__' to record code as it is"]),
    ],
)  # fmt: skip
def test_nothing_is_recorded_and_why(run, include, body, said):
    _, found = run(f"""
        from netlib.model import double
        with monitorch.record("run.mtrace", include={include}):
            {body}
    """)
    assert found == said


def test_the_variable(run):
    _, said = run(
        "from netlib.model import double\ndouble(np.ones(2))", MONITORCH="run.mtrace,include=netlib:zzz"
    )
    assert names(run.folder) == DOUBLE
    assert said[0] == (
        "include='zzz': no code of such a module ran; expected a module such as "
        "'transformers.models.llama', or a path"
    )
    assert said[1].startswith("3 events in run.mtrace")


def test_what_cannot_be(run):
    out, _ = run("""
        for options in ({"include": 3}, {"include": ""}, {"include": [b"x"]},
                        {"include": "netlib", "stop": "nan"}):
            try:
                monitorch.record("run.mtrace", **options)
            except (TypeError, ValueError) as error:
                print(error)
    """)
    expected = "include must be names of modules or files, such as 'transformers.models.*'"
    assert out.splitlines() == [
        f"{expected}, not 3",
        f"{expected}; one is empty",
        f"{expected}; b'x' is no name",
        "stop='nan' needs instrumented code, and include= follows code as it is: run `monitorch run "
        "--include netlib --record stop=nan train.py` instead",
    ]
    assert not pathlib.Path(run.folder, "run.mtrace").exists()
