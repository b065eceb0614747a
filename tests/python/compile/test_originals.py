"""Written files: whoever asks Python for their source gets the lines without the inserted calls."""

import subprocess
import sys
import textwrap

import pytest

from tests.support import compiler, paths, recording, warm

pytestmark = pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)")
PYTHONS = [(sys.version_info[:2], sys.executable), *paths.other_pythons()]

MODEL = '''\
"""A docstring."""
def half(x):
    y = x / 2
    if y > 1:
        y = y - 1
    return y + half.more  # \u00e9

half.more = 1
class A:
    def method(self, x):
        self.x = x; return [self.x][
            3]
'''


def write(folder, name="model.py", text=MODEL, **options):
    source = textwrap.dedent(text).encode()
    result = compiler.EXTENSION.instrument(source, name, all=True)
    (folder / name).write_bytes(result.text)
    return result


def run(folder, program, python=sys.executable, **variables):
    environment = recording.environment("off")
    environment.update(PYTHONPATH=str(paths.PYTHON_PATH), PYTHONDONTWRITEBYTECODE="1", **variables)
    (folder / "main.py").write_text(textwrap.dedent(program))
    done = subprocess.run(
        [python, "main.py"], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("version, python", PYTHONS)
def test_sources_are_the_original(tmp_path, version, python):
    write(tmp_path)
    (tmp_path / "plain.py").write_text(MODEL)
    program = """
    import sys
    before = list(sys.meta_path)
    import model, plain
    import inspect, linecache
    assert sys.meta_path == before, sys.meta_path
    assert type(linecache.__loader__).__name__ != "_Loader" and linecache.__spec__.loader is linecache.__loader__
    for name in ("half", "A"):
        assert inspect.getsource(getattr(model, name)) == inspect.getsource(getattr(plain, name))
    assert inspect.getsource(model) == inspect.getsource(plain)
    assert inspect.getsourcelines(model.A.method) == inspect.getsourcelines(plain.A.method)
    assert linecache.getline(model.__file__, 2) == "def half(x):\\n"
    assert linecache.getline(model.__file__, 99) == ""
    entry = linecache.cache[model.__file__]
    size, mtime, lines, name = entry
    assert (lines, name) == (entry[2], model.__file__) and entry[1:3] == (mtime, lines)
    """
    run(tmp_path, program, python)


@pytest.mark.parametrize("version, python", PYTHONS)
def test_also_where_linecache_was_there_before(tmp_path, version, python):
    write(tmp_path)
    program = """
    import inspect, linecache
    import model
    assert "_mt" not in inspect.getsource(model.half)
    """
    run(tmp_path, program, python)


def test_a_traceback_has_the_lines_whose_columns_it_marks(tmp_path):
    write(tmp_path)
    program = """
    import traceback, linecache, model
    try:
        model.A().method(1)
    except IndexError:
        text = traceback.format_exc()
    with open(model.__file__) as file:
        line = file.read().splitlines()[10].strip()
    assert line in text and "_mt" in line, text
    assert "_mt" not in linecache.getline(model.__file__, 11)
    """
    run(tmp_path, program)


def test_a_file_that_was_changed_is_read_anew(tmp_path):
    write(tmp_path)
    program = """
    import linecache, model, os
    assert linecache.getline(model.__file__, 2) == "def half(x):\\n"
    with open(model.__file__, "w") as file:
        file.write("new\\nlines\\n")
    linecache.checkcache()
    assert linecache.getlines(model.__file__) == ["new\\n", "lines\\n"]
    """
    run(tmp_path, program)


def test_a_file_that_is_gone_has_no_lines(tmp_path):
    write(tmp_path)
    program = """
    import linecache, model, os
    os.remove(model.__file__)
    assert linecache.getlines(model.__file__) == []
    linecache.checkcache()
    assert model.__file__ not in linecache.cache
    """
    run(tmp_path, program)


@pytest.mark.torch
def test_torch_jit_script_from_another_file(tmp_path):
    pytest.importorskip("torch")
    text = """
    import torch
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(3))
        def forward(self, x):
            y = x * self.scale
            if y.sum() > 100:
                y = y * 2
            return helper(y, 2) + self.more(y)
        def more(self, x):
            z = x + 1
            return z
    def helper(x, n: int):
        out = x
        for i in range(n):
            out = out + x
        return out
    """
    write(tmp_path, text=text)
    program = """
    import torch, model
    net = model.Net()
    x = torch.arange(3.0)
    assert torch.jit.script(net)(x).equal(net(x))
    assert torch.jit.script(model.helper)(x, 3).equal(x * 4)
    assert torch.jit.script(torch.nn.Sequential(net, model.Net()))(x).equal(net(net(x)))
    """
    run(tmp_path, program, warm.python())
    run(tmp_path, program, warm.python(), MONITORCH=str(tmp_path / "run.mtrace"))


def test_the_compiler_says_that_moved_code_needs_the_hooks_name():
    text = b"""import types
def f(x):
    y = x + 1
    return y
g = types.FunctionType(f.__code__, {"__builtins__": {}})
"""
    [(kind, line, column, said)] = compiler.EXTENSION.instrument(text, "m.py", all=True).notes
    assert (kind, line, column) == ("remark", 5, 37)
    assert "NameError: name '_mt'" in said
    for other in (b'eval("1", {"__builtins__": {}})', b"f.__code__", b'"the __builtins__ of __code__"'):
        text = b"def f(x):\n    y = x\n" + other + b"\n"
        assert not compiler.EXTENSION.instrument(text, "m.py", all=True).notes
