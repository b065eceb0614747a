"""`on` in the middle of a function: what its names hold there are the picture's sources."""

import os
import subprocess
import sys

import pytest

from tests.support import drawing, paths

pytestmark = pytest.mark.usefixtures("compiler_module")

PROGRAM = """
import numpy as np, monitorch

def make(p, q):
    outer = np.full(2, 5.0)
    def f(x, w):
        h = np.ones(2) * x + q
        def g():
            return x + p + h
        for i in range(3):
            if i == 1:
                monitorch.on(show=False, save=True, fold="none", max_nodes=100)
            r = x + w * p + h
            w -= outer
        output = monitorch.off(filename="flow.dot")
        return g
    return f

make(np.ones(2), np.ones(2))(np.ones(2), np.full(2, 3.0))
"""


@pytest.mark.parametrize("way", ["as it is", "instrumented"])
def test_names_of_the_running_function(tmp_path, way):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    if way == "instrumented":
        command = [paths.COMMAND, "--all", "--quiet", "program.py", "-o", "traced.py"]
        subprocess.run(command, cwd=tmp_path, check=True)
        script = tmp_path / "traced.py"
    subprocess.run(
        [sys.executable, script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(paths.PYTHON_PATH)},
        check=True,
        timeout=120,
    )
    drawn = drawing.Drawn((tmp_path / "monitorch_outputs" / "flow.dot").read_bytes())
    turn = [("x", "r"), ("w", "r"), ("p", "r"), ("h", "r"), ("outer", "w"), ("w", "w")]
    assert sorted(drawing.arrows(drawn)) == sorted(turn * 2)
    # `q` is read before `on` alone.
    assert sorted(set(drawing.names(drawn))) == ["h", "outer", "p", "r", "w", "x"]


def test_nothing_is_kept_alive(tmp_path):
    (tmp_path / "program.py").write_text("""
import gc, weakref
import numpy as np, monitorch

class Array(np.ndarray):
    pass

def f():
    x = np.ones(3).view(Array)
    seen = weakref.ref(x)
    monitorch.on(show=False)
    y = x + 1
    del x, y
    gc.collect()
    assert seen() is None, gc.get_referrers(seen())
    monitorch.off(render=False)

f()
""")
    subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(paths.PYTHON_PATH)},
        check=True,
        timeout=120,
    )


def test_a_name_that_was_no_array_is_new(tmp_path):
    drawn = drawing.run(
        tmp_path,
        """
        unbound = np.ones(2)
        number = unbound * number
        """,
        before="import numpy as np\nnumber = 3",
    )
    assert "rebound" not in str(drawing.boxes(drawn))
