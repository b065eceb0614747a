"""Memory fails at every allocation in turn while values are watched: MemoryError at the line, or
nothing that can be noticed."""


import pytest

from tests.support import compiler, recording

pytestmark = pytest.mark.usefixtures("compiler_module")

SOURCE = b"""\
def f(x):
    y = x
    for z in y:
        w = [z]
    return w
"""

CHILD = """\
import sys
from monitorch import _recorder
from monitorch._record import hooks as _hooks
seen = []
names = {{"__name__": "program"}}
exec(compile({text!r}, "program.py", "exec"), names)
try:
    watcher = _recorder.make_watcher((b"y", b"w"), ((b"program.py", 1, 4),))
    _hooks.begin_watching(watcher, lambda name, *rest: seen.append((name, rest[0])))
    for turn in range(2):
        names["f"]([1, 2])
    _hooks.end_watching(watcher)
except MemoryError:
    print("MemoryError")
else:
    print("whole" if seen == 2 * [("y", [1, 2]), ("w", [1]), ("w", [2])] else seen)
"""


def test_memory_fails_at_each_allocation(tmp_path):
    text = compiler.instrument(SOURCE, "program.py", all=True).text
    program = tmp_path / "child.py"
    program.write_text(CHILD.format(text=text))
    said = []
    for number in range(1, 200):
        environment = recording.environment("off")
        environment["MONITORCH_TEST_FAIL_ALLOCATION"] = str(number)
        done = recording.run_python(program, env=environment)
        if "ImportError" in done.stderr or "MemoryError" in done.stderr:
            assert done.returncode == 1, done.stderr  # the extension could not be loaded
            said.append("not loaded")
            continue
        assert done.returncode == 0, (number, done.stderr)
        if "is not watched" in done.stderr:
            assert done.stdout == "[]\n"
        else:
            assert done.stdout in ("whole\n", "MemoryError\n"), done.stdout
        said.append(done.stdout.strip())
        if said[-4:] == ["whole"] * 4:
            break
    assert said[-4:] == ["whole"] * 4 and said.count("MemoryError") >= 6, said
