"""Following beside debuggers, coverage and threads; what it leaves behind; where it keeps out."""

import difflib
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

from tests.support import paths, recording

HERE = pathlib.Path(__file__).parent
PYTHONS = [(sys.version_info[:2], sys.executable), *paths.other_pythons()]
PYTHONS = [(version, path) for version, path in PYTHONS if (3, 10) <= version <= (3, 13)]
HAS_MONITORING = {path: version >= (3, 12) for version, path in PYTHONS}

pytestmark = pytest.mark.usefixtures("compiler_module")
each_python = pytest.mark.parametrize(
    "python", [path for _, path in PYTHONS], ids=["%d.%d" % version for version, _ in PYTHONS]
)

BEGIN = """
import sys
import monitorch
from monitorch._follow import follow as _follow
HERE = __file__
exec(compile('''
def begin(is_followed=lambda name, _: name == HERE):
    _follow.begin("test", sys._getframe(1), is_followed)
''', "<begin>", "exec"))
recording = monitorch.record(sys.argv[1], sample=0)
recording.start()
"""


def run(python, source, folder, given="", words=(), name="program.py"):
    """What a followed program printed, and its trace."""
    program = folder / name
    trace = folder / "run.mtrace"
    program.write_text(BEGIN.lstrip("\n") + textwrap.dedent(source) + "\nmonitorch.stop()\n")
    done = subprocess.run(
        [python, *words, str(program), str(trace)],
        env={**os.environ, "PYTHONPATH": str(paths.PYTHON_PATH), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=folder, capture_output=True, text=True, timeout=120, input=given,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout, recording.read(trace)


def told(trace, function=None):
    return [
        (event.name, event.value) for event in trace.events
        if event.name and (function is None or event.function == function)
    ]  # fmt: skip


def notes(trace):
    return [note.text for note in trace.notes]


@each_python
def test_trace_functions_see_what_they_saw(python, tmp_path):
    shown = []
    for way in ("plain", "followed"):
        done = subprocess.run(
            [python, str(HERE / "follow_beside_child.py"), way, str(tmp_path / "run.mtrace")],
            env={**os.environ, "PYTHONPATH": str(paths.PYTHON_PATH)},
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        shown.append(done.stdout.splitlines())
    assert len(shown[0]) > 80
    assert {"'first'", "'second'", "'local'", "'thread'"} <= {
        line[1:].split(",")[0] for line in shown[0]
    }
    assert shown[0] == shown[1], "\n".join(difflib.unified_diff(*shown, lineterm="", n=1))
    trace = recording.read(tmp_path / "run.mtrace")
    work = [event for event in trace.events if event.function == "work"]
    assert len({event.call for event in work}) == 4
    assert not trace.notes


@each_python
def test_a_debugger_in_a_followed_program(python, tmp_path):
    printed, trace = run(python, """
        def work(n):
            x = n
            import pdb; pdb.set_trace()
            y = x + 1
            z = y * 2
            return z
        begin()
        r = work(3)
        s = r + 1
        _follow.end("test")
        print(r, s)
    """, tmp_path, given="p x\\n!x = 10\\nn\\nn\\np y\\nc\\n".replace("\\n", "\n"))  # fmt: skip
    assert "22 23" in printed and "unknown" not in printed
    assert "(Pdb) 3" in printed and "(Pdb) 11" in printed
    expected = [("n", 3), ("x", 3), ("y", 11), ("z", 22), ("return", 22), ("r", 22), ("s", 23)]
    if HAS_MONITORING[python]:
        # One line's may be lost where the debugger changes what it is told of (docs/internals/follow.md).
        assert len(told(trace)) >= len(expected) - 1
        assert set(told(trace)) <= set(expected)
        assert {("r", 22), ("s", 23)} <= set(told(trace))
    else:
        assert told(trace) == expected


@each_python
def test_threads_are_followed(python, tmp_path):
    _, trace = run(python, """
        import threading
        def work(n):
            x = n + 1
            return x
        begin()
        for i in range(3):
            thread = threading.Thread(target=work, args=(i,))
            thread.start()
            thread.join()
        _follow.end("test")
        assert threading.gettrace() is None
        thread = threading.Thread(target=work, args=(9,))
        thread.start()
        thread.join()
    """, tmp_path)  # fmt: skip
    assert told(trace, "work") == [
        (name, value) for i in range(3) for name, value in
        (("n", i), ("x", i + 1), ("return", i + 1))
    ]  # fmt: skip


@each_python
def test_callers_are_followed_when_they_are_reached_again(python, tmp_path):
    _, trace = run(python, """
        def switch():
            begin()
        def inner():
            a = 1
            switch()
            b = 2
        def outer():
            inner()
            c = 3
            _follow.end("test")
            d = 4
        outer()
    """, tmp_path)  # fmt: skip
    assert told(trace) == [("b", 2), ("c", 3)]


@each_python
def test_a_generator_that_began_before(python, tmp_path):
    _, trace = run(python, """
        def steps():
            for i in range(3):
                x = i
                yield x
        generator = steps()
        next(generator)
        begin()
        second = next(generator)
        _follow.end("test")
        third = next(generator)
    """, tmp_path)  # fmt: skip
    assert told(trace) == [("i", 1), ("x", 1), ("second", 1)]


@each_python
def test_nothing_is_kept_alive(python, tmp_path):
    printed, trace = run(python, """
        import weakref
        class Thing: pass
        def look():
            thing = Thing()
            known = weakref.ref(thing)
            other = thing
            del thing, other
            assert known() is None
            thing = Thing()
            known = weakref.ref(thing)
            thing = None
            assert known() is None
            return known
        def fail():
            thing = Thing()
            known.append(weakref.ref(thing))
            raise ValueError
        known = []
        begin()
        assert look()() is None
        try:
            fail()
        except ValueError:
            pass
        assert known[0]() is None
        box = Thing()
        dead = weakref.ref(box)
        del box
        assert dead() is None
        names = {}
        exec(compile("def made(x): y = x; return y", HERE, "exec"), names)
        names["made"](1)
        code = weakref.ref(names["made"].__code__)
        names.clear()
        _follow.end("test")
        assert code() is None
        print("fine")
    """, tmp_path)  # fmt: skip
    assert printed.strip() == "fine"
    assert ("x", 1) not in told(trace)  # that code is of no line of the file


@each_python
def test_locals_that_a_program_holds_stay_as_they_were(python, tmp_path):
    source = """
        def work():
            x = 1
            seen = locals()
            y = 2
            x = 3
            return sorted(seen), seen["x"]
        begin()
        result = work()
        _follow.end("test")
        print(result)
    """
    printed, trace = run(python, source, tmp_path)
    assert printed.strip() == "(['x'], 1)"
    assert ("y", 2) in told(trace)


@each_python
def test_a_file_that_changed(python, tmp_path):
    _, trace = run(python, """
        import os
        def work():
            x = 1
            return x
        def other():
            return work()
        text = open(HERE).read()
        with open(HERE, "w") as file:
            file.write("\\n\\n\\n" + text.replace("x = 1", "zz = 0; x = 1"))
        os.utime(HERE, (os.stat(HERE).st_atime, os.stat(HERE).st_mtime + 5))
        begin()
        r = work()
        _follow.end("test")
    """, tmp_path)  # fmt: skip
    assert told(trace) == []
    assert any("has changed since it was loaded" in note for note in notes(trace))


@each_python
def test_what_is_wrong_is_noted_and_the_program_goes_on(python, tmp_path):
    printed, trace = run(python, """
        def refuse(name, module):
            if name == HERE:
                raise KeyError("nobody knows")
            return False
        def work():
            x = 1
            return x
        begin(refuse)
        print(work())
        _follow.end("test")
    """, tmp_path)  # fmt: skip
    assert printed.strip() == "1"
    assert any("nobody knows" in note for note in notes(trace))
    assert told(trace) == []


@each_python
def test_code_without_a_source(python, tmp_path):
    printed, trace = run(python, """
        names = {}
        exec(compile("def f(x):\\n    y = x\\n    return y\\n", "<nowhere>", "exec"), names)
        begin(lambda name, _: True if name == "<nowhere>" else False)
        print(names["f"](1))
        _follow.end("test")
    """, tmp_path)  # fmt: skip
    assert printed.strip() == "1"
    assert told(trace) == []
    assert any("source is not to be found" in note for note in notes(trace))


@each_python
def test_cells_of_a_notebook(python, tmp_path):
    """Each statement of a cell is compiled alone; its text is in linecache."""
    _, trace = run(python, """
        import ast, linecache
        name = "/tmp/ipykernel_17/123.py"
        text = "a = 1; b = 2\\ndef f(x):\\n    y = x + a\\n    return y\\nc = f(b)\\n"
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        names = {"__name__": "__main__"}
        def cell():
            for node in ast.parse(text).body:
                exec(compile(ast.Module([node], []), name, "exec"), names)
        begin(lambda path, _: path == name)
        cell()
        _follow.end("test")
    """, tmp_path)  # fmt: skip
    assert told(trace) == [
        ("a", 1), ("b", 2), ("x", 2), ("y", 3), ("return", 3), ("c", 3)
    ]  # fmt: skip
    assert {event.line for event in trace.events} == {1, 2, 3, 4, 5}


@each_python
def test_instrumented_code_is_told_once(python, tmp_path):
    _, trace = run(python, """
        from monitorch import _instrument
        text = "def f(x):\\n    y = x\\n    return y\\nr = f(1)\\n"
        with open("made.py", "w") as file:
            file.write(text)
        code, _ = _instrument.compile_source(text, "made.py", all=True)
        begin(lambda name, _: name == "made.py")
        exec(code, {"__name__": "made"})
        _follow.end("test")
    """, tmp_path)  # fmt: skip
    assert told(trace) == [("x", 1), ("y", 1), ("return", 1), ("r", 1)]


@each_python
def test_lines_may_be_chosen(python, tmp_path):
    first = BEGIN.lstrip("\n").count("\n") + 2
    _, trace = run(python, f"""
        def work(n):
            x = n
            y = x
            return y
        begin(lambda name, _: (({first + 2}, {first + 2}),) if name == HERE else False)
        r = work(1)
        _follow.end("test")
    """, tmp_path)  # fmt: skip
    assert told(trace) == [("n", 1), ("y", 1)]


@each_python
def test_begin_again_and_end_twice(python, tmp_path):
    _, trace = run(python, """
        def work(n):
            x = n
        def noop(name): return False
        begin(); begin(noop)
        work(1)
        begin()
        work(2)
        _follow.end("test"); _follow.end("test")
        work(3)
        original = sys.settrace
        begin(); _follow.end("test")
        assert sys.settrace is original and sys.gettrace() is None
    """, tmp_path)  # fmt: skip
    assert told(trace, "work") == [("n", 2), ("x", 2)]


COVERED = """
def work(n):
    x = 0
    for i in range(n):
        if i > 5:
            x = -1
        x += i
    return x
begin()
work(3)
_follow.end("test")
"""


@pytest.fixture(scope="module")
def coverage_folder():
    """Where coverage.py can be imported from; installed where it is not there."""
    folder = paths.scratch("coverage")
    if not (folder / "coverage").exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), "coverage"]
        if subprocess.run(pip, capture_output=True).returncode != 0:
            pytest.skip("coverage cannot be installed")
    return folder


@pytest.mark.parametrize("core", ["ctrace", "pytrace", "sysmon"])
def test_coverage_measures_the_same(core, coverage_folder, tmp_path):
    program = tmp_path / "program.py"
    environment = {**os.environ, "PYTHONPATH": f"{paths.PYTHON_PATH}:{coverage_folder}",
                   "COVERAGE_CORE": core, "COVERAGE_FILE": str(tmp_path / "data")}  # fmt: skip
    lines = []
    for is_followed in (False, True):
        text = BEGIN.lstrip("\n") + COVERED + "monitorch.stop()\n"
        if not is_followed:
            text = text.replace("    _follow.begin(", "    0 and (")
        program.write_text(text)
        for words in (["run", str(program), str(tmp_path / "run.mtrace")],
                      ["json", "-q", "-o", str(tmp_path / "lines.json")]):  # fmt: skip
            done = recording.run_python("-m", "coverage", *words, folder=tmp_path, env=environment)  # fmt: skip
            if "Can't use core=sysmon" in done.stderr:
                pytest.skip("this Python has no sys.monitoring")
            assert done.returncode == 0, done.stderr + done.stdout
        measured = (tmp_path / "lines.json").read_text()
        lines.append(measured[measured.index('"executed_lines"'):].split('"summary"')[0])
    assert lines[0] == lines[1]
    trace = recording.read(tmp_path / "run.mtrace")
    assert ("return", 3) in told(trace, "work")
