"""Values that a line reads and that no recorded line has made."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from tests.support import compiler, paths, viewer

pytestmark = [
    pytest.mark.usefixtures("compiler_module"),
    pytest.mark.skipif(
        not list(paths.PACKAGE.glob("_recorder*.so")), reason="the recorder is not built (make)"
    ),
]


def record(folder, source, program, sources=True):
    """Runs a program with an instrumented module; the events with tensors: (line, name, read?)."""
    text = compiler.instrument(textwrap.dedent(source).encode(), "model.py", all=True).text
    (folder / "model.py").write_bytes(text)
    (folder / "script.py").write_text(
        "import monitorch, model, numpy as np\n"
        f"with monitorch.record('run.mtrace', sources={sources}):\n"
        + textwrap.indent(textwrap.dedent(program), "    ")
    )
    environment = {**os.environ, "PYTHONPATH": str(paths.PYTHON_PATH)}
    subprocess.run([sys.executable, "script.py"], cwd=folder, env=environment, check=True, timeout=300)
    done = viewer.run("show", "--json", folder / "run.mtrace", check=True)
    items = [json.loads(line) for line in done.stdout.splitlines()]
    return [
        (item["line"], item["name"] + item["path"], item.get("read", False), item)
        for item in items
        if item["record"] == "event" and item["value_kind"] == "tensor"
    ]


def names(events):
    return [(line, name, is_read) for line, name, is_read, _ in events]


def test_globals_are_told_once_in_each_call(tmp_path):
    events = record(
        tmp_path,
        """\
        import numpy as np
        scale = np.full(3, 2.0)
        def f(a):
            b = a * scale
            return b + scale
        """,
        "model.f(np.arange(3.0)); model.f(np.arange(3.0))",
    )
    one_call = [(3, "a", False), (4, "scale", True), (4, "b", False), (5, "return", False)]
    assert names(events) == 2 * one_call
    assert events[1][3]["mean"] == 2.0
    # Who reads the second one learns that it is the first one's object.
    assert events[5][3]["origin"] == events[1][3]["seq"]


def test_nothing_is_told_unasked(tmp_path):
    source = """\
        import numpy as np
        scale = np.full(3, 2.0)
        def f(a):
            return a * scale
        """
    events = record(tmp_path, source, "model.f(np.arange(3.0))", sources=False)
    assert names(events) == [(3, "a", False), (4, "return", False)]


def test_what_the_call_has_made_is_no_source(tmp_path):
    events = record(
        tmp_path,
        """\
        def f(a):
            global made
            made = a + 1
            return made * 2
        """,
        "model.f(np.arange(3.0))",
    )
    assert names(events) == [(1, "a", False), (3, "made", False), (4, "return", False)]


def test_containers_with_tensors_and_without(tmp_path):
    events = record(
        tmp_path,
        """\
        import numpy as np
        layers = [np.zeros(2), {"bias": np.ones(2)}]
        sizes = [1, 2]
        def f(a):
            b = a + layers[0]
            return b * sizes[0] + len(sizes)
        """,
        "model.f(np.arange(2.0))",
    )
    assert names(events) == [
        (4, "a", False),
        (5, "layers[0]", True),
        (5, "layers[1]['bias']", True),
        (5, "b", False),
        (6, "return", False),
    ]


def test_a_name_that_its_own_line_rebinds(tmp_path):
    # Its old value is gone when the line is told.
    events = record(
        tmp_path,
        """\
        import numpy as np
        total = np.zeros(2)
        def f(a):
            global total
            total = total + a
        """,
        "model.f(np.ones(2))",
    )
    assert names(events) == [(3, "a", False), (5, "total", False)]


def test_no_code_of_the_program_runs(tmp_path):
    events = record(
        tmp_path,
        """\
        class Loud:
            def __getattr__(self, name):
                raise SystemExit("asked for " + name)
            @property
            def size(self):
                raise SystemExit("property")
        loud = Loud()
        def f(a):
            b = a if loud is None else a + 1
            return b if type(loud).size else loud.size
        """,
        "model.f(np.ones(2))",
    )
    assert names(events) == [(8, "a", False), (9, "b", False), (10, "return", False)]


@pytest.mark.torch
def test_parameters_of_modules(tmp_path):
    events = record(
        tmp_path,
        """\
        import torch
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(torch.full((2,), 3.0))
                self.register_buffer("mask", torch.ones(2))
                self.inner = torch.nn.Linear(2, 2)
            def forward(self, x):
                y = x * self.weight
                z = y + self.mask * self.weight
                return z @ self.inner.weight
        net = Net()
        """,
        """
        import torch
        model.net(torch.ones(2)); model.net(torch.ones(2))
        """,
    )
    one_call = [
        (8, "x", False),
        (9, "self.weight", True),
        (9, "y", False),
        (10, "self.mask", True),
        (10, "z", False),
        (11, "self.inner.weight", True),
        (11, "return", False),
    ]
    assert names(events) == 2 * one_call
    assert events[1][3]["parameter"] and events[1][3]["mean"] == 3.0


@pytest.mark.parametrize("sources", ["yes", 1, None])
def test_the_option_is_checked(sources):
    done = subprocess.run(
        [sys.executable, "-c", f"import monitorch; monitorch.record('x', sources={sources!r})"],
        env={**os.environ, "PYTHONPATH": str(paths.PYTHON_PATH)},
        capture_output=True,
        text=True,
    )
    assert "sources must be True or False" in done.stderr
