"""Importing monitorch costs next to nothing, and recording imports only what is built in."""

import os
import resource
import statistics
import subprocess
import sys

import pytest

from tests.support import compiler, paths

SHARE = 0.5  # of what an empty interpreter takes
ROUNDS = 15


def run(words, **variables):
    environment = dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH))
    environment.pop("MONITORCH", None)
    environment.update(variables)
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def duration(python, program):
    """The processor's, which others that run here disturb little."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run([python, "-c", program])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


PYTHONS = [(sys.version_info[:2], sys.executable), *paths.other_pythons()]


@pytest.mark.parametrize(
    "python", [path for _, path in PYTHONS], ids=["%d.%d" % version for version, _ in PYTHONS]
)
def test_time(python):
    """Against an empty interpreter, the two in turns; what else runs here disturbs both."""
    run([python, "-c", "import monitorch"])  # writes the bytecode
    empty, full = [], []
    for _ in range(ROUNDS):
        empty.append(duration(python, "pass"))
        full.append(duration(python, "import monitorch"))
    added = statistics.median(full) - statistics.median(empty)
    assert added < SHARE * statistics.median(empty), (empty, full)


def new_modules(program, **variables):
    """What a program imports that stands in no other interpreter than an empty one."""
    before = "import sys; before = set(sys.modules)\n"
    after = "\nprint(*set(sys.modules) - before)"
    return set(run([sys.executable, "-S", "-c", before + program + after], **variables).split())


def test_modules():
    assert new_modules("import monitorch") == {"monitorch", "monitorch._registry"}


@pytest.mark.usefixtures("compiler_module")
def test_modules_while_recording(tmp_path):
    """Those that Python loads while it starts may be instrumented, and find us recording."""
    if not list(paths.PACKAGE.glob("_recorder*.so")):
        pytest.skip("the recorder is not built (make)")
    text = compiler.instrument(b"def f(x):\n    y = x + 1\n    return y\n", "m.py", all=True).text
    (tmp_path / "traced.py").write_bytes(text)
    trace = str(tmp_path / "run.mtrace")
    program = f"sys.path.insert(0, {str(tmp_path)!r})\nimport traced\ntraced.f(1)"
    found = new_modules(program, MONITORCH=f"{trace},quiet")
    others = {name for name in found if not name.startswith("monitorch")} - {"traced"}
    assert others <= set(sys.builtin_module_names), others
    assert "monitorch._recorder" in found and os.path.getsize(trace) > 4096
    program += f"\nimport monitorch\nwith monitorch.record({trace!r}): traced.f(1)"
    found = new_modules(program)
    others = {name for name in found if not name.startswith("monitorch")} - {"traced"}
    assert others <= set(sys.builtin_module_names), others


@pytest.mark.usefixtures("compiler_module")
def test_a_start_of_python_that_is_instrumented(tmp_path):
    """The modules that even `site` needs are instrumented, and recorded from their first line."""
    if not list(paths.PACKAGE.glob("_recorder*.so")):
        pytest.skip("the recorder is not built (make)")
    for name in ("os", "codecs", "site", "posixpath", "stat", "genericpath", "abc", "io"):
        source = (paths.STDLIB / f"{name}.py").read_bytes()
        text = compiler.instrument(source, f"{name}.py", all=True).text
        (tmp_path / f"{name}.py").write_bytes(text)
    out = run(
        [sys.executable, "-X", "frozen_modules=off", "-c", "import os; print(os.__file__)"],
        PYTHONPATH=os.pathsep.join([str(tmp_path), str(paths.PYTHON_PATH)]),
        MONITORCH=str(tmp_path / "run.mtrace"),
    )
    assert out.strip() == str(tmp_path / "os.py")
    assert (tmp_path / "run.mtrace").stat().st_size > 100_000
