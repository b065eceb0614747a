"""Whose method runs is read from running frames, which each version of CPython keeps otherwise."""

import sys

import pytest

from tests.support import compiler, paths, recording

PYTHONS = [(sys.version_info[:2], sys.executable), *paths.other_pythons()]

pytestmark = pytest.mark.usefixtures("compiler_module")

SOURCE = b"""\
from torch.nn.modules.module import Module


class Plain(Module):
    def forward(self, x):
        y = [x]
        return y


class Closed(Module):
    def forward(this, x):
        def inner():
            z = [this]
            return z

        y = [inner()]
        return y


class Outer(Module):
    def __init__(self):
        self.parts = Plain(), Closed()

    def forward(self, x):
        for part in self.parts:
            helper(part, [x])
        return x


def helper(part, x):
    y = x
    del part.gone
    part = None
    y = list(map(lambda item: item, x))
    return y


def generate(self):
    for number in range(2):
        y = [number]
        yield y
"""

CHILD = """\
import sys, types

class Module:
    gone = property(fdel=lambda self: None)

module = types.ModuleType("torch.nn.modules.module")
module.Module = Module
for name in ("torch", "torch.nn", "torch.nn.modules"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["torch.nn.modules.module"] = module

from monitorch import _recorder
from monitorch._record import hooks as _hooks

def learn():
    value = object()
    _recorder.learn_layout(value)

def visit(name, value, may_be_unchanged, module):
    running = [type(found).__name__ for found, _ in _recorder.running_modules()]
    found = None if module is None else type(module).__name__
    seen.append((name, found, running, may_be_unchanged))

seen = []
names = {{"__name__": "program"}}
exec(compile({text!r}, "program.py", "exec"), names)
learn()
watcher = _recorder.make_watcher((b"y", b"z"), ())
_hooks.begin_watching(watcher, visit)

def run(call, *expected):
    seen.clear()
    call()
    assert seen == list(expected), seen

Y = "y", "Plain", ["Plain"], False
run(lambda: names["Plain"]().forward(1), Y)
run(
    lambda: names["Closed"]().forward(1),
    ("z", "Closed", ["Closed"], False),
    ("y", "Closed", ["Closed"], False),
)
run(
    lambda: names["Outer"]().forward(1),
    ("y", "Plain", ["Plain", "Outer"], False),
    ("y", "Outer", ["Outer"], False),
    ("y", "Closed", ["Closed", "Outer"], False),
    ("y", "Outer", ["Outer"], False),
)
run(lambda: list(names["generate"](names["Plain"]())), Y, Y)
run(lambda: list(names["generate"](1)), *2 * [("y", None, [], False)])
_hooks.end_watching(watcher)
run(lambda: names["Plain"]().forward(1))
"""


@pytest.mark.parametrize("python", [path for _, path in PYTHONS], ids=[str(v) for v, _ in PYTHONS])
def test_whose_method_runs(tmp_path, python):
    text = compiler.instrument(SOURCE, "program.py", all=True).text
    program = tmp_path / "child.py"
    program.write_text(CHILD.format(text=text))
    done = recording.run_python(program, python=python)
    assert done.returncode == 0, done.stderr
