"""monitorch.on, off, flush, lines, watch, reset: what a program sees of them."""

import inspect
import os
import re
import stat
import sys
import textwrap
import types

import pytest

from tests.support import compiler, dot, paths, png, recording, threads

np = pytest.importorskip("numpy")

pytestmark = pytest.mark.skipif(
    not (list(paths.PACKAGE.glob("_view*.so")) and list(paths.PACKAGE.glob("_follow/follow.py"))),
    reason="what draws and what follows is not built (make)",
)

THREE = """
    a = np.ones((2, 3))
    b = a * 2
    c = b - a
"""


loaded = []  # modules stay as sys.modules keeps them: no value of one is at another's address


def load(source, name="program.py"):
    """A module of instrumented code, whose file is `name`."""
    text = compiler.instrument(textwrap.dedent(source).encode(), name, all=True).text
    module = types.ModuleType("program")
    module.__file__ = os.path.abspath(name)
    vars(module).update(np=np, monitorch=recording.package())
    loaded.append(module)
    exec(compile(text, module.__file__, "exec"), vars(module))
    return module


def names(path):
    """Of the nodes that are drawn in DOT."""
    with open(path) as file:
        graph = dot.read(file.read())
    labels = [attributes["label"] for _, attributes in graph.nodes.values()]
    return [re.search("<b>(.*?)</b>", label)[1] for label in labels]


def drawn(monitorch, **words):
    """The names of the nodes that `off` draws."""
    output = monitorch.off(filename="drawn.dot", **words)
    return None if output is None else names(output.saved_path)


def traces():
    """The private folders of recordings that go on."""
    from monitorch._flow import flow as _flow

    trace = _flow._runtime._trace
    return [] if trace is None or not trace.is_own else [os.path.dirname(trace.path)]


# What off returns


def test_a_picture_is_saved(monitorch):
    runtime = monitorch.on(show=False, save=True)
    assert runtime.is_on and re.fullmatch(r"<monitorch on, \d+ events? held>", repr(runtime))
    load(THREE)
    output = monitorch.off(filename="three.png")
    assert output == monitorch.RenderOutput("monitorch_outputs/three.png", False, 3)
    assert repr(output) == (
        "RenderOutput(saved_path='monitorch_outputs/three.png', displayed=False, node_count=3)"
    )
    assert not runtime.is_on and runtime.output is output
    with open(output.saved_path, "rb") as file:
        assert file.read(8) == png.SIGNATURE
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(os.stat(output.saved_path).st_mode) == 0o666 & ~umask
    assert os.listdir("monitorch_outputs") == ["three.png"]


@pytest.mark.parametrize(
    "suffix, start",
    [("png", b"\x89PNG"), ("PNG", b"\x89PNG"), ("svg", b"<"), ("pdf", b"%PDF-"), ("dot", b"")],
)
def test_the_suffix_decides_the_format(monitorch, tmp_path, suffix, start):
    monitorch.on(save_dir=tmp_path / "made" / "here")
    load(THREE)
    output = monitorch.off(filename=f"picture.{suffix}")
    assert output.saved_path == str(tmp_path / "made" / "here" / f"picture.{suffix}")
    with open(output.saved_path, "rb") as file:
        assert file.read().startswith(start)


def test_names_of_files(monitorch, tmp_path):
    monitorch.on(save=True, save_dir="out", file_prefix="100%d")
    load(THREE)
    first = monitorch.flush(clear=False).saved_path
    assert re.fullmatch(r"out/100%d_\d{8}_\d{6}\.png", first)
    second = monitorch.flush(clear=False).saved_path
    assert second != first and os.path.exists(first) and os.path.exists(second)
    absolute = tmp_path / "absolute.png"
    assert monitorch.flush(filename=absolute, clear=False).saved_path == str(absolute)
    assert monitorch.flush(filename="a/b.png", clear=False).saved_path == "out/a/b.png"
    assert monitorch.off(filename="no_suffix").saved_path == "out/no_suffix.png"


def test_save_and_show_of_a_call_come_first(monitorch):
    monitorch.on(save=True)
    load(THREE)
    assert monitorch.flush(save=False, clear=False).saved_path is None
    assert monitorch.flush(filename="a.png", save=False, clear=False).saved_path is None
    assert not os.path.exists("monitorch_outputs")
    monitorch.on(save=False)
    assert monitorch.flush(clear=False).saved_path is None
    assert monitorch.flush(filename="a.png", clear=False).saved_path is not None
    assert monitorch.off(save=True).saved_path is not None


def test_show_in_a_script_says_where_the_picture_is(monitorch, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monitorch.on(show=True)
    load(THREE)
    output = monitorch.flush(clear=False)
    assert output == monitorch.RenderOutput(None, False, 3)
    told = re.fullmatch(r"monitorch: the picture is in (\S+\.png)\n", capsys.readouterr().err)
    with open(told[1], "rb") as file:
        assert file.read(4) == b"\x89PNG"
    assert os.path.dirname(os.path.dirname(told[1])) == str(tmp_path)
    monitorch.off(filename="here.svg")
    assert capsys.readouterr().err == "monitorch: the picture is in monitorch_outputs/here.svg\n"


def test_nothing_recorded(monitorch):
    assert monitorch.off() is None
    assert monitorch.flush() is None
    monitorch.on(save=True)
    assert monitorch.flush() is None
    assert monitorch.off() is None and traces() == []
    monitorch.on(save=True)
    load("a = 1\nb = 'text'\n")
    assert monitorch.off() is None
    assert not os.path.exists("monitorch_outputs")


def test_off_that_does_not_render_holds_what_was_recorded(monitorch):
    monitorch.on()
    load(THREE)
    assert monitorch.off(render=False) is None
    load("d = np.ones(3)\n")
    assert drawn(monitorch) == ["a", "b", "c"]
    assert monitorch.off() is None and traces() == []


def test_what_runs_while_off_is_not_recorded(monitorch):
    load(THREE)
    monitorch.on()
    load("x = np.ones(3)\n")
    monitorch.off(render=False)
    load(THREE)
    monitorch.on()
    load("y = np.ones(3)\n")
    assert drawn(monitorch) == ["x", "y"]
    load(THREE)
    assert monitorch.off() is None


def test_what_is_not_cleared_is_drawn_again(monitorch):
    monitorch.on()
    load("x = np.ones(3)\n")
    assert drawn(monitorch, clear=False) == ["x"]
    assert drawn(monitorch, clear=False) == ["x"]
    monitorch.on()
    load("y = np.ones(3)\n")
    assert drawn(monitorch) == ["x", "y"]


def test_flush_goes_on(monitorch):
    monitorch.on()
    load("x = np.ones(3)\n")
    assert names(monitorch.flush(filename="1.dot").saved_path) == ["x"]
    assert monitorch.flush() is None
    load("y = np.ones(3)\n")
    assert names(monitorch.flush(filename="2.dot", clear=False).saved_path) == ["y"]
    load("z = np.ones(3)\n")
    assert drawn(monitorch) == ["y", "z"]


def test_on_while_on_changes_settings_and_keeps_what_was_recorded(monitorch):
    first = monitorch.on(max_nodes=2)
    load(THREE)
    assert monitorch.on(save_dir="elsewhere", max_vector=5) is first
    load("d = np.ones(3)\n")
    output = monitorch.off(filename="all.dot")
    assert output.saved_path == "elsewhere/all.dot"
    assert names(output.saved_path) == ["a", "b", "c", "d"]


def test_the_newest_nodes_are_kept(monitorch):
    monitorch.on()
    load("".join(f"v{i} = np.full(3, {i})\n" for i in range(20)))
    assert drawn(monitorch) == [f"v{i}" for i in range(8, 20)]
    monitorch.on(max_nodes=3)
    load(THREE + "    d = a + c\n")
    assert drawn(monitorch) == ["b", "c", "d"]


# Lines


def test_lines_limit_what_is_drawn(monitorch):
    monitorch.on()
    program = load("\nx = np.ones(3)\ny = np.ones(3)\nz = np.ones(3)\n")
    monitorch.lines(3, 3, file=program.__file__)
    assert names(monitorch.flush(filename="1.dot", clear=False).saved_path) == ["y"]
    monitorch.lines(3, 100, file="program.py")
    assert names(monitorch.flush(filename="1.dot", clear=False).saved_path) == ["y", "z"]
    monitorch.lines()
    assert drawn(monitorch) == ["x", "y", "z"]


def test_lines_are_those_of_the_calling_file(monitorch):
    monitorch.on()
    load("monitorch.lines(2, 2)\nx = np.ones(3)\ny = x + 1\n", "one.py")
    load("\nother = np.ones(3)\n", "two.py")
    assert drawn(monitorch) == ["x"]


def test_lines_of_files_with_strange_names(monitorch):
    os.mkdir("[a]*")
    monitorch.on()
    load("monitorch.lines(2, 2)\nx = np.ones(3)\n", "[a]*/b?.py")
    load("\ny = np.ones(3)\n", "[a]*/bc.py")
    assert drawn(monitorch) == ["x"]


def test_lines_in_which_nothing_happens(monitorch):
    monitorch.lines(10, 40)
    monitorch.on()
    load(THREE)
    with pytest.warns(
        RuntimeWarning, match="lines 10-40 of test_flow.py assigned no tensor"
    ):
        assert monitorch.off() is None
    monitorch.lines()
    assert drawn(monitorch) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "words, kind, text",
    [
        ((5,), ValueError, "needs both bounds or none: end is missing"),
        ((None, 5), ValueError, "start is missing"),
        ((0, 5), ValueError, "start must be at least 1, not 0"),
        ((1, 0), ValueError, "end must be at least 1, not 0"),
        ((-3, -1), ValueError, "start must be at least 1, not -3"),
        ((6, 5), ValueError, "6-5"),
        ((True, 5), TypeError, "start must be a whole number, not True"),
        ((1, False), TypeError, "end must be a whole number, not False"),
        ((1.0, 2), TypeError, "not 1.0"),
        (("1", 2), TypeError, "not '1'"),
    ],
)
def test_bounds_that_make_no_sense(monitorch, words, kind, text):
    monitorch.lines(1, 2)
    with pytest.raises(kind, match=re.escape(text)):
        monitorch.lines(*words)
    from monitorch._flow import flow as _flow

    assert _flow._runtime._scope.patterns()[0] == ("1-2",)


def test_a_file_without_bounds(monitorch):
    with pytest.raises(ValueError, match="needs the first and the last line"):
        monitorch.lines(file="model.py")
    with pytest.raises(TypeError, match="file must be a path, not 3"):
        monitorch.lines(1, 2, file=3)
    monitorch.lines(5, 5)


# What goes wrong


@pytest.mark.parametrize(
    "name, kind, text",
    [
        ("picture.jpeg", ValueError, "picture.jpeg: there is no format for the suffix '.jpeg'"),
        ("run.1", ValueError, "must be one of .png, .svg, .pdf, .dot"),
        ("", ValueError, "filename must name a file"),
        ("a\0b.png", ValueError, "null"),
        (3, TypeError, "filename must be a path, not 3"),
        ("folder.png", OSError, "folder.png"),
        ("file/picture.png", OSError, "file"),
        ("locked/picture.png", OSError, "locked/picture.png"),
        ("/proc/nothing/picture.png", OSError, "/proc/nothing"),
        ("x" * 300 + ".png", OSError, "xxx.png"),
    ],
)
def test_what_cannot_be_written_is_still_there(monitorch, name, kind, text):
    os.makedirs("monitorch_outputs/folder.png/inner")
    open("monitorch_outputs/file", "w").close()
    os.mkdir("monitorch_outputs/locked")
    os.chmod("monitorch_outputs/locked", 0o500)
    if text == "locked/picture.png" and os.access("monitorch_outputs/locked", os.W_OK):
        pytest.skip("nothing is locked for this user")
    before = sorted(os.listdir("monitorch_outputs"))
    monitorch.on(save=True)
    load(THREE)
    with pytest.raises(kind, match=re.escape(text)):
        monitorch.flush(filename=name)
    with pytest.raises(kind, match=re.escape(text)):
        monitorch.off(filename=name)
    assert sorted(os.listdir("monitorch_outputs")) == before
    load("d = np.ones(3)\n")
    assert drawn(monitorch) == ["a", "b", "c"]


def test_an_old_picture_stays_until_the_new_one_is_whole(monitorch, monkeypatch):
    monitorch.on(save_dir="out")
    load(THREE)
    path = monitorch.flush(filename="a.png", clear=False).saved_path
    with open(path, "rb") as file:
        before = file.read()

    def fail(file, data):
        raise OSError(28, "full")

    with monkeypatch.context() as patch:
        patch.setattr("os.write", fail)
        with pytest.raises(OSError, match="full: 'out/a.png'"):
            monitorch.flush(filename="a.png", clear=False)
    with open(path, "rb") as file:
        assert file.read() == before
    assert os.listdir("out") == ["a.png"]


def test_settings_have_the_defaults_that_on_tells():
    """They are written out at both: one for help(), one for contexts, which hand theirs on."""
    from monitorch._flow.flow import Runtime
    from monitorch._flow.settings import NAMES, Settings

    defaults = {name: found.default for name, found in inspect.signature(Runtime.on).parameters.items()}
    del defaults["self"]
    assert defaults == {name: getattr(Settings(), name) for name in NAMES}


def test_no_limit_of_nodes(monitorch):
    monitorch.on(max_nodes=0)
    load("x = np.ones(2)\n" + "".join(f"x{i} = x + {i}\n" for i in range(40)))
    assert len(drawn(monitorch)) == 41


VALUES = """
    vector = np.array([-50000, 7106, 90000])
    matrix = np.array([[-50000, 7107, 90000]])
    cube = np.array([[[-50000, 7108, 90000]]])
"""


@pytest.mark.parametrize(
    "words, shown",
    [
        ({}, "678"),
        ({"max_matrix": 0}, ""),
        ({"max_vector": 0}, "78"),
        ({"max_slices": 0}, "67"),
        ({"max_vector": 0, "max_slices": 0}, "7"),
    ],
)
def test_no_tables(monitorch, words, shown):
    """Which of the values are in a table: the middle ones stand nowhere else."""
    monitorch.on(**words)
    load(VALUES)
    output = monitorch.off(filename="values.svg")
    assert output.node_count == 3
    with open(output.saved_path) as file:
        text = file.read()
    assert set(re.findall(r">710([678])<", text)) == set(shown)


@pytest.mark.parametrize(
    "words, kind",
    [
        ({"max_nodes": -1}, ValueError),
        ({"max_nodes": True}, TypeError),
        ({"max_vector": -1}, ValueError),
        ({"max_matrix": 2.5}, TypeError),
        ({"max_slices": -1}, ValueError),
        ({"show": "yes"}, TypeError),
        ({"save": None}, TypeError),
        ({"save_dir": 3}, TypeError),
        ({"save_dir": ""}, ValueError),
        ({"file_prefix": None}, TypeError),
        ({"fold": "some"}, ValueError),
        ({"theme": 1}, TypeError),
        ({"last": 0}, ValueError),
        ({"unknown": 1}, TypeError),
    ],
)
def test_settings_that_make_no_sense(monitorch, words, kind):
    with pytest.raises(kind, match=next(iter(words))):
        monitorch.on(**words)
    with pytest.raises(kind, match=next(iter(words))):
        monitorch.watch(**words)
    assert monitorch.off() is None


def test_off_is_off_even_where_it_fails(monitorch):
    runtime = monitorch.on()
    load(THREE)
    with pytest.raises(TypeError, match="show must be True or False"):
        monitorch.off(show=1)
    assert not runtime.is_on
    with pytest.raises(TypeError, match="render must be True or False"):
        monitorch.off(render="no")
    assert drawn(monitorch) == ["a", "b", "c"]


# watch


def test_watch(monitorch):
    with monitorch.watch(save=True, save_dir="out") as runtime:
        assert runtime.is_on
        load(THREE)
    assert not runtime.is_on and runtime.output.node_count == 3
    assert os.listdir("out") == [os.path.basename(runtime.output.saved_path)]


def test_watch_lets_exceptions_pass_and_draws_all_the_same(monitorch):
    with pytest.raises(ZeroDivisionError):
        with monitorch.watch(save=True, save_dir="out") as runtime:
            load("a = np.ones(2)\nb = 1 // 0\n")
    assert runtime.output.node_count == 1 and len(os.listdir("out")) == 1


def test_what_fails_in_watch_does_not_hide_an_exception(monitorch, capsys):
    open("out", "w").close()
    with pytest.raises(ZeroDivisionError):
        with monitorch.watch(save=True, save_dir="out"):
            load("a = np.ones(2)\nb = 1 // 0\n")
    assert "monitorch: what was recorded could not be drawn" in capsys.readouterr().err
    with pytest.raises(OSError):
        with monitorch.watch(save=True, save_dir="out"):
            load(THREE)
    assert names(monitorch.off(filename=os.path.abspath("x.dot")).saved_path)[-3:] == [
        "a",
        "b",
        "c",
    ]


def test_watch_as_a_decorator(monitorch):
    @monitorch.watch(save=True, save_dir="out")
    def work(source):
        "Does it."
        return load(source)

    assert work.__name__ == "work" and work.__doc__ == "Does it."
    assert work(THREE).c.shape == (2, 3)
    work(THREE)
    assert len(os.listdir("out")) == 2


# Beside other recordings


def test_a_recording_that_goes_on_is_used(monitorch):
    with monitorch.record("run.mtrace", sample=16) as running:
        load(THREE)
        monitorch.on()
        assert traces() == []
        load("x = np.ones(3)\n")
        assert drawn(monitorch) == ["x"]
        assert running.is_active
        load("y = np.ones(3)\n")
        monitorch.on()
        load("z = np.ones(3)\n")
    assert drawn(monitorch) == ["z"]
    assert [e.name for e in recording.read("run.mtrace").events if e.value_kind == "tensor"] == [
        *"abcxyz"
    ]


def test_another_recording_begins_while_something_is_held(monitorch):
    monitorch.on()
    load(THREE)
    monitorch.off(render=False)
    with monitorch.record("run.mtrace"):
        load("x = np.ones(3)\n")
    assert drawn(monitorch) == ["a", "b", "c"]
    assert [e.name for e in recording.read("run.mtrace").events] == ["x"]


def test_another_recording_while_on(monitorch):
    monitorch.on()
    load(THREE)
    with pytest.raises(RuntimeError, match="flow.mtrace already: call monitorch.off.. first"):
        monitorch.record("run.mtrace")
    assert monitorch.stop().events >= 3
    load("d = np.ones(3)\n")
    assert drawn(monitorch) == ["a", "b", "c"]


def test_another_recording_while_on_and_nothing_is_held(monitorch):
    monitorch.on()
    load("number = 3\n")
    with monitorch.record("run.mtrace") as recording:
        load(THREE)
    assert recording.summary.events >= 3
    load("d = np.ones(3)\n")
    assert drawn(monitorch) == ["a", "b", "c"]


def test_on_again_after_its_recording_was_ended(monitorch):
    monitorch.on()
    load(THREE)
    monitorch.stop()
    with pytest.warns(RuntimeWarning, match="has not been drawn: its recording was ended"):
        monitorch.on()
    load("d = np.ones(3)\n")
    assert drawn(monitorch) == ["d"]


def test_a_trace_that_was_replaced_is_not_drawn_for_another(monitorch):
    with monitorch.record("run.mtrace"):
        monitorch.on()
        load(THREE)
    with monitorch.record("run.mtrace"):
        load("x = np.ones(3)\ny = x + 1\nz = y + 1\nu = z\n")
    with pytest.raises(FileNotFoundError, match="run.mtrace"):
        monitorch.off()


# Temporary files


def test_temporary_files_go_with_what_they_hold(monitorch, monkeypatch, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monitorch.on()
    load(THREE)
    made = traces()
    assert [str(folder / name) for name in os.listdir(folder)] == made
    assert stat.S_IMODE(os.stat(made[0]).st_mode) == 0o700
    monitorch.off(render=False)
    assert os.listdir(folder)
    assert drawn(monitorch) == ["a", "b", "c"]
    assert os.listdir(folder) == []
    monitorch.on()
    load(THREE)
    monitorch.reset()
    assert os.listdir(folder) == []


def test_long_runs_do_not_fill_the_disk(monitorch):
    monitorch.on(last=1000, max_nodes=3)
    program = load("def work(n):\n    for i in range(n):\n        x = np.full(64, i)\n")
    program.work(20_000)
    size = os.path.getsize(os.path.join(traces()[0], "flow.mtrace"))
    assert size < 8_000_000
    assert monitorch.off().node_count >= 1


def test_reset_forgets_everything(monitorch):
    monitorch.on(save=True, save_dir="out", max_nodes=1)
    monitorch.lines(1, 1)
    monitorch.args(n=77)
    load(THREE)
    monitorch.reset()
    assert monitorch.off() is None
    assert monitorch.run(lambda n: n) == 4
    monitorch.on()
    load(THREE)
    output = monitorch.off(filename="x.dot")
    assert output.saved_path == "monitorch_outputs/x.dot"
    assert names(output.saved_path) == ["a", "b", "c"]


# Threads and processes


def test_threads_share_it(monitorch):
    def work(i):
        for _ in range(10):
            monitorch.on()
            load(THREE)
            monitorch.flush(clear=bool(i % 2))
            if i == 3:
                monitorch.off(render=False)

    threads.run_for(range(4), work)
    monitorch.off()
    assert traces() == []


def test_on_and_off_in_different_threads(monitorch):
    threads.run(monitorch.on)
    load(THREE)
    results = []
    threads.run(lambda: results.append(drawn(monitorch)))
    assert results == [["a", "b", "c"]]


def run_script(folder, source, **variables):
    """The finished process of an instrumented script."""
    text = compiler.instrument(textwrap.dedent(source).encode(), "script.py", all=True).text
    (folder / "script.py").write_bytes(text)
    (folder / "temporary").mkdir(exist_ok=True)
    environment = recording.environment("off")
    environment.update(variables, TMPDIR=str(folder / "temporary"))
    return recording.run_file(folder, "script.py", env=environment)


def test_a_forked_child_leaves_its_parents_files_alone(tmp_path):
    done = run_script(
        tmp_path,
        """
        import os, sys, monitorch
        import numpy as np
        monitorch.on()
        x = np.ones(3)
        child = os.fork()
        if child == 0:
            y = np.ones(3)
            z = y + 1
            monitorch.off(filename="child.dot")
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        w = x + 1
        monitorch.off(filename="parent.dot")
        """,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert names(tmp_path / "monitorch_outputs" / "parent.dot")[-2:] == ["x", "w"]
    assert "z" in names(tmp_path / "monitorch_outputs" / "child.dot")
    assert "x" not in names(tmp_path / "monitorch_outputs" / "child.dot")
    assert os.listdir(tmp_path / "temporary") == []


def test_a_child_that_draws_nothing_is_silent(tmp_path):
    done = run_script(
        tmp_path,
        """
        import os, sys, monitorch
        import numpy as np
        monitorch.on(save=True)
        child = os.fork()
        if child == 0:
            y = np.ones(3)
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        monitorch.off(render=False)
        """,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "monitorch_outputs").exists()
    assert os.listdir(tmp_path / "temporary") == []


# The end of the program


def test_still_on_at_exit(tmp_path):
    source = "import monitorch\nimport numpy as np\nmonitorch.on()\nx = np.ones(3)\n"
    done = run_script(tmp_path, source)
    assert done.stderr == (
        "monitorch: 1 event recorded and never drawn: monitorch.off() was not called\n"
    )
    assert os.listdir(tmp_path / "temporary") == []


def test_still_on_at_exit_where_pictures_are_saved(tmp_path):
    """What happened before the exception is what one wants to see."""
    source = """
    import monitorch
    import numpy as np
    monitorch.on(save=True, show=True)
    x = np.ones(3)
    y = x / 0
    raise KeyError("end")
    """
    done = run_script(tmp_path, source, PYTHONWARNINGS="ignore")
    assert done.returncode == 1 and "KeyError: 'end'" in done.stderr
    told = re.search(
        r"^monitorch: monitorch.off\(\) was never called: drawn at exit, (.*)$", done.stderr, re.M
    )
    assert (tmp_path / told[1]).read_bytes().startswith(b"\x89PNG")
    assert "atexit" not in done.stderr and "AttributeError" not in done.stderr
    assert os.listdir(tmp_path / "temporary") == []


@pytest.mark.parametrize(
    "source",
    [
        "import monitorch\nmonitorch.on()\n",
        "import monitorch\nimport numpy as np\nmonitorch.on()\nx = np.ones(3)\nmonitorch.off()\n",
        "import monitorch\nimport numpy as np\nmonitorch.on()\nx = np.ones(3)\nmonitorch.off(render=False)\n",
    ],
)
def test_a_quiet_end(tmp_path, source):
    done = run_script(tmp_path, source)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert os.listdir(tmp_path / "temporary") == []


# Calls


def test_a_call_made_before_its_callers_first_event_has_its_caller(monitorch):
    program = load("""
        def inner(x):
            y = x + 1
            return y
        @staticmethod
        def work(x):
            monitorch.on(show=False)
            out = inner(x * 2)
            return out
    """)
    program.work(np.ones(2))
    output = monitorch.off(filename="x.dot", clear=False)
    trace = recording.read(os.path.join(traces()[0], "flow.mtrace"))
    calls = {call.function: call for call in trace.calls.values()}
    assert calls["inner"].parent == calls["work"].number and calls["inner"].parent_line == 8
    assert calls["work"].joined and calls["work"].line == 6
    with open(output.saved_path) as file:
        graph = dot.read(file.read())
    named = {node: re.search("<b>(.*?)</b>", a["label"])[1] for node, (_, a) in graph.nodes.items()}
    assert ("return", "out") in [
        (named[source], named[target]) for source, target, _ in graph.edges
    ]


def test_what_can_be_joined(monitorch):
    from monitorch import _recorder, _registry

    program = load("import sys\ndef frame():\n    return sys._getframe()\n")
    with monitorch.record("run.mtrace") as running:
        running.is_quiet = True
        hook = _registry.find_hook(program.frame())
        assert hook is not None and _registry.find_hook(sys._getframe()) is None
        _recorder.join(hook, sys._getframe())  # of another file: no function of that name
        for wrong in ((None, sys._getframe()), (hook, 3), (print, sys._getframe()), (hook,)):
            with pytest.raises(TypeError):
                _recorder.join(*wrong)
    trace = recording.read("run.mtrace")
    assert [call.function for call in trace.calls.values()] == ["frame"]


# Errors


@pytest.mark.parametrize(
    "call, words, message",
    [
        ("on", {"max_node": 3}, "'max_node'; did you mean 'max_nodes'?"),
        ("watch", {"them": "dark"}, "'them'; did you mean 'theme'?"),
        ("off", {"file_name": "x.png"}, "'file_name'; did you mean 'filename'?"),
        ("flush", {"colour": 1}, "'colour'; there are 'filename', 'show', 'save' and 'clear'"),
        ("lines", {"files": "x.py"}, "'files'; did you mean 'file'?"),
    ],
)
def test_an_argument_that_there_is_not(monitorch, call, words, message):
    with pytest.raises(TypeError) as caught:
        getattr(monitorch, call)(**words)
    assert str(caught.value) == f"monitorch.{call}() got an unexpected keyword argument {message}"
    assert not monitorch.on().off()


def test_errors_name_what_was_called(monitorch):
    for name in ("on", "off", "flush", "reset"):
        with pytest.raises(TypeError, match=rf"^monitorch\.{name}\(\) takes"):
            getattr(monitorch, name)(1)
    with pytest.raises(TypeError, match=r"^monitorch\.run\(\) missing"):
        monitorch.run()


def test_signatures_are_those_of_the_runtime(monitorch):
    from monitorch._flow.flow import _runtime

    for name in ("on", "off", "flush", "lines", "args", "run", "reset"):
        function = getattr(monitorch, name)
        assert inspect.signature(function) == inspect.signature(getattr(_runtime, name))
        assert function.__doc__ == getattr(_runtime, name).__doc__ and function.__name__ == name
