"""Plain code between on and off: what is recorded of it, where earlier tools were wrong, blind or
in the way."""

import math
import os
import re
import subprocess
import sys
import textwrap
import threading

import pytest

from tests.support import dot, paths, recording

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(
        not (list(paths.PACKAGE.glob("_view*.so")) and list(paths.PACKAGE.glob("_follow/follow.py"))),
        reason="what draws and what follows is not built (make)",
    ),
]


class Plain:
    """A script that calls on and off, run in this process: its trace, its picture, its names."""

    def __init__(self, folder, source):
        monitorch = recording.package()
        path = folder / "plain.py"
        path.write_text(textwrap.dedent(source))
        self.scope = {"__name__": "plain", "__file__": str(path)}
        self.scope.update(torch=torch, np=np, monitorch=monitorch, threading=threading)
        code = compile(path.read_text(), str(path), "exec")
        trace = folder / "plain.mtrace"
        with monitorch.record(trace, sample=(32, 8, 6), sources=True) as running:
            running.is_quiet = True
            exec(code, self.scope)
            self.output = monitorch.off(filename=folder / "plain.dot")
        self.trace = recording.read(trace)
        self.graph = None
        if self.output is not None:
            self.graph = dot.read((folder / "plain.dot").read_text())

    def events(self, name):
        return [e for e in self.trace.events if e.name == name and e.value_kind == "tensor"]

    def event(self, name):
        """The last one."""
        return self.events(name)[-1]

    def labels(self):
        return [attributes["label"] for _, attributes in self.graph.nodes.values()]

    def names(self):
        return [re.search("<b>(.*?)</b>", label)[1] for label in self.labels()]


@pytest.fixture
def plain(monitorch, tmp_path):
    return lambda source: Plain(tmp_path, source)


# The three ways in which code comes to be recorded


def test_a_module_and_what_it_calls(plain):
    seen = plain("""
        def scale(x, by):
            y = x * by
            return y
        monitorch.on()
        a = torch.ones(2, 3)
        b = scale(a, 2.0)
        c = b + a
        monitorch.off(render=False)
        d = c + 1
    """)
    assert [seen.event(name).line for name in "abcy"] == [6, 7, 8, 3]
    assert seen.events("d") == []
    assert {"a", "b", "c", "y"} <= set(seen.names())


def test_a_function_that_calls_on_in_its_middle(plain):
    seen = plain("""
        def work():
            a = torch.ones(2)
            monitorch.on()
            b = a + 1
            c = b * a
            return c
        out = work()
        after = out + 1
    """)
    assert seen.events("a") == [] or seen.events("a")[0].fields.get("read")
    assert seen.event("b").line == 5 and seen.event("c").line == 6


def test_code_of_other_folders_is_not_followed(plain, tmp_path):
    other = tmp_path.parent / f"{tmp_path.name}-other"
    other.mkdir()
    (other / "elsewhere_of_flow.py").write_text(
        "def work(x):\n    inside = x + 1\n    return inside\n"
    )
    inside = tmp_path / "lib" / "site-packages"
    inside.mkdir(parents=True)
    (inside / "installed_of_flow.py").write_text(
        "def work(x):\n    within = x + 1\n    return within\n"
    )
    sys.path[:0] = [str(other), str(inside)]
    try:
        seen = plain(f"""
            import elsewhere_of_flow, installed_of_flow
            monitorch.on()
            a = elsewhere_of_flow.work(torch.ones(2))
            b = installed_of_flow.work(torch.ones(2))
            monitorch.off(render=False)
            monitorch.lines(1, 9, file={str(other / "elsewhere_of_flow.py")!r})
            monitorch.on()
            c = elsewhere_of_flow.work(torch.ones(2))
        """)
    finally:
        del sys.path[:2]
        for name in ("elsewhere_of_flow", "installed_of_flow"):
            sys.modules.pop(name, None)
    assert seen.events("within") == [] and len(seen.events("inside")) == 1
    assert seen.names() == ["inside"] or set(seen.names()) == {"x", "inside", "return"}


def test_threads_that_are_started_while_on(plain):
    seen = plain("""
        def work(n):
            made = torch.full((2,), float(n))
            return made
        monitorch.on()
        threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
        for thread in threads:
            thread.start()
            thread.join()
    """)
    assert [e.min for e in seen.events("made")] == [0, 1, 2]


def test_the_trace_function_of_a_debugger_is_put_back(plain):
    seen = plain("""
        import sys
        met = []
        def watch(frame, event, argument):
            if frame.f_code.co_name == "work":
                met.append((event, frame.f_lineno))
                return watch
        def work(x):
            y = x + 1
            return y
        sys.settrace(watch)
        try:
            work(torch.ones(2))
            before = list(met)
            monitorch.on()
            work(torch.ones(2))
            is_held = sys.gettrace() is not None
            monitorch.off(render=False)
            is_back = sys.gettrace() is watch
            work(torch.ones(2))
        finally:
            sys.settrace(None)
    """)
    met, before = seen.scope["met"], seen.scope["before"]
    assert len(before) == 4 and met == before * 3, met
    assert seen.scope["is_held"] and seen.scope["is_back"]
    assert len(seen.events("y")) == 1


def test_exceptions_of_the_program_are_its_own(plain):
    seen = plain("""
        def fail(x):
            y = x + 1
            raise KeyError("own")
        monitorch.on()
        try:
            fail(torch.ones(2))
        except KeyError as error:
            lines = []
            trace = error.__traceback__
            while trace is not None:
                lines.append(trace.tb_lineno)
                trace = trace.tb_next
        z = torch.ones(2)
    """)
    assert seen.scope["lines"] == [7, 4]
    assert seen.event("y").line == 3 and seen.event("z").line == 14


def test_watch_within_an_exit_stack(plain):
    seen = plain("""
        import contextlib
        with contextlib.ExitStack() as stack:
            runtime = stack.enter_context(monitorch.watch())
            a = torch.ones(2)
            b = a * 2
        output = runtime.output
    """)
    assert [seen.event(name).line for name in "ab"] == [5, 6]
    assert seen.scope["output"].node_count == 2


def test_code_without_a_source(monitorch, tmp_path):
    (tmp_path / "file_of_flow.py").write_text("def work(x):\n    y = x + 1\n    return y\n")
    scope = {"monitorch": monitorch, "torch": torch}
    sys.path.insert(0, str(tmp_path))
    try:
        import file_of_flow
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("file_of_flow", None)
    scope["work"] = file_of_flow.work
    with pytest.warns(
        RuntimeWarning, match="<string> is not followed: its source is not to be had"
    ):
        exec("monitorch.on()\na = work(torch.ones(2))", scope)
    assert monitorch.off().node_count == 3  # x, y and what is returned


# What was told wrong


def test_statistics_are_those_of_the_whole_tensor(plain):
    seen = plain("""
        monitorch.on()
        x = torch.zeros(100, 100)
        x[99, 50] = 7.0
        x[3, 3] = -2.0
        y = x + 0
    """)
    event = seen.event("y")
    assert (event.min, event.max) == (-2.0, 7.0)
    assert math.isclose(event.mean, 5.0 / 10_000, rel_tol=1e-6)


def test_whole_numbers_are_told_exactly(plain):
    seen = plain("""
        monitorch.on()
        x = torch.tensor([2**53 + 1, 2**62 + 1, -(2**53) - 1])
    """)
    assert (seen.event("x").min, seen.event("x").max) == (-(2**53) - 1, 2**62 + 1)


def test_a_number_that_changes_is_not_kept_by_reference(plain):
    seen = plain("""
        monitorch.on()
        total = torch.zeros(())
        total += 1
        total += 1
    """)
    assert [event.max for event in seen.events("total")] == [0, 1, 2]


def test_changes_behind_the_back_of_torch(plain):
    seen = plain("""
        monitorch.on()
        y = torch.zeros(3)
        y.data.add_(1)
        z = y
        y.numpy()[0] = 9
        w = y
    """)
    assert seen.event("z").max == 1 and seen.event("w").max == 9


def test_tensors_in_attributes_lists_and_dicts(plain):
    seen = plain("""
        class Box:
            pass
        monitorch.on()
        box = Box()
        box.value = torch.ones(2)
        many = [torch.ones(2) * 2, {"key": torch.ones(2) * 3}]
        many[0] = torch.ones(2) * 4
        table = {}
        table["a"] = torch.ones(2) * 5
        box.value.add_(5)
    """)
    told = {(e.name, e.path): e.max for e in seen.trace.events if e.value_kind == "tensor"}
    assert told["box.value", ""] == 6
    assert told["many", "[1]['key']"] == 3
    values = {value for (name, _), value in told.items() if name.startswith("many")}
    assert 4 in values
    assert any(value == 5 for (name, _), value in told.items() if name.startswith("table"))


def test_starred_and_nested_targets(plain):
    seen = plain("""
        monitorch.on()
        a, *rest = torch.ones(4, 2).unbind()
        (b, [c, *d]), e = (torch.ones(1), [torch.ones(2), torch.ones(3)]), torch.ones(4)
        for i, f in enumerate(torch.ones(2, 5)):
            pass
        with torch.no_grad():
            (g := torch.ones(6))
    """)
    assert len([e for e in seen.trace.events if e.name == "rest" and e.value_kind == "tensor"]) == 3
    shapes = {name: seen.event(name).shape for name in "abcdefg"}
    assert shapes == {"a": [2], "b": [1], "c": [2], "d": [3], "e": [4], "f": [5], "g": [6]}


def test_statements_of_several_lines_and_several_on_one(plain):
    seen = plain("""
        monitorch.on()
        x = torch.ones(2); w = x * 2; y = x + w
        z = (
            x
            + y
        )
    """)
    edges = {
        (
            seen.names()[list(seen.graph.nodes).index(s)],
            seen.names()[list(seen.graph.nodes).index(t)],
        )
        for s, t, _ in seen.graph.edges
    }
    assert {("x", "w"), ("x", "y"), ("w", "y"), ("x", "z"), ("y", "z")} <= edges


# What stopped the program, or the tracing


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_tensors_without_values_do_not_stop_anything(plain):
    seen = plain("""
        def add(x):
            y = x + 1
            return y
        monitorch.on(max_nodes=100)
        empty = torch.empty(0, 3)
        sparse = torch.eye(3).to_sparse()
        meta = torch.ones(4, device="meta")
        quantized = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)
        batched = torch.func.vmap(add)(torch.ones(3, 2))
        complex = torch.ones(2, dtype=torch.complex64)
        half = torch.ones(2, dtype=torch.bfloat16)
        many = torch.ones(1, 2, 1, 2, 1, 2)
        last = torch.ones(5)
    """)
    names = ["empty", "sparse", "meta", "quantized", "batched", "complex", "half", "many", "last"]
    assert [name for name in names if seen.events(name)] == names
    assert set(names) <= set(seen.names())
    assert seen.event("sparse").layout == "sparse_coo" and seen.event("meta").note
    assert seen.event("y").shape == [2]


def test_many_nodes_are_drawn(plain):
    body = "".join(f"    v{i} = v{i - 1} + 1\n" for i in range(1, 300))
    source = f"def work():\n    v0 = torch.ones(2)\n{body}    return v299\nmonitorch.on(max_nodes=1000)\nr = work()\n"
    seen = plain(source)
    assert seen.output.node_count >= 300 and "v299" in seen.names()


def test_guesses_are_marked_on_the_picture(plain):
    seen = plain("""
        def block(x, scale: float, bias):
            y = x * scale
            return y + bias
        monitorch.on()
        out = monitorch.run(block, x=torch.ones(8, 8))
    """)
    assert [(n.parameter, n.text) for n in seen.trace.notes if n.tag == "guess"] == [
        ("scale", "0.1"),
        ("bias", "randn(8, 8)"),
    ]
    labels = dict(zip(seen.names(), seen.labels()))
    assert "randn(8, 8)" in labels["bias"] and "0.1" in labels["scale"], labels


def test_what_is_left_out_of_long_containers_is_counted(plain, tmp_path):
    plain("""
        monitorch.on(max_nodes=500)
        parts = torch.arange(100.0).chunk(100)
        few = torch.arange(10.0).chunk(10)
    """)
    text = (tmp_path / "plain.dot").read_text()
    assert re.search(r"not shown: [^<]*\b1 lists and dicts in part", text)


def test_a_watch_within_a_watch_leaves_the_outer_one_on(monitorch, tmp_path):
    path = tmp_path / "nested.py"
    path.write_text(
        "with monitorch.watch(save=True, file_prefix='outer', max_nodes=50) as outer:\n"
        "    a = torch.ones(2)\n"
        "    with monitorch.watch(save=True, file_prefix='inner', max_nodes=7):\n"
        "        b = a + 1\n"
        "    inner = outer.output\n"
        "    is_on = outer.is_on\n"
        "    c = b * a\n"
    )
    scope = {"__name__": "nested", "torch": torch, "monitorch": monitorch}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    outer = scope["outer"]
    assert "inner" in scope["inner"].saved_path and scope["inner"].node_count == 2
    assert "outer" in outer.output.saved_path and outer.output.node_count == 3
    assert scope["is_on"] and not outer.is_on
    assert monitorch.off() is None


def test_limits_larger_than_anything(monitorch, tmp_path):
    monitorch.on(max_nodes=10**12, max_vector=10**12, max_matrix=10**12, max_slices=10**12)
    x = torch.ones(3, 3)
    assert monitorch.off(filename="all.svg").node_count == 1 and x.sum() == 9


# Nothing to draw


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A module `netlib.model` outside of the working directory, as an installed one is."""
    folder = tmp_path / "elsewhere" / "site-packages"
    (folder / "netlib").mkdir(parents=True)
    (folder / "netlib" / "__init__.py").write_text("")
    (folder / "netlib" / "model.py").write_text(
        "def double(x):\n    twice = x * 2\n    return twice\n"
    )
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    environment = recording.environment("off")
    environment["PYTHONPATH"] += os.pathsep + str(folder)

    def run(program):
        (work / "program.py").write_text(textwrap.dedent(program))
        done = subprocess.run(
            [sys.executable, "program.py"], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        said = [line for line in done.stderr.splitlines() if "Warning: " in line]
        return done.stdout, [line.partition("monitorch: ")[2] for line in said]

    return run


INSTALLED = """
    import numpy as np, monitorch
    {before}
    def go():
        netlib.model.double(np.ones(2))
    {imported}
    monitorch.on({words})
    go()
    print(monitorch.off(filename="drawn.dot"))
"""


def test_code_of_an_installed_package_is_named(installed):
    program = INSTALLED.format(before="import netlib.model", imported="", words="")
    out, said = installed(program)
    assert out == "None\n"
    assert said == [
        "nothing to draw: no line that was followed assigned a tensor. Code outside of the working "
        "directory ran and is not followed: netlib.model; to follow it: "
        "monitorch.on(include='netlib.model')"
    ]


@pytest.mark.parametrize(
    "words", ["include='netlib.model'", "include='netlib'", "include=['x', 'net*']",
              "include='model.py'", "include='../elsewhere'"],
)  # fmt: skip
@pytest.mark.parametrize("is_late", [False, True])
def test_an_installed_package_is_followed_where_it_is_included(installed, words, is_late):
    """Whether it was imported before or not."""
    program = INSTALLED.format(
        before="" if is_late else "import netlib.model", imported="", words=words
    )
    if is_late:
        program = program.replace("        netlib", "        import netlib.model\n        netlib")
    out, said = installed(program)
    assert "node_count=3" in out  # x, twice and what is returned
    unknown = (
        "include='x': no code of such a module ran; expected a module such as "
        "'transformers.models.llama', or a path"
    )
    assert said == ([unknown] if "'x'" in words else [])


def test_an_include_that_matches_nothing(installed):
    words = "include='netlib.modle'"
    out, said = installed(INSTALLED.format(before="import netlib.model", imported="", words=words))
    assert out == "None\n" and len(said) == 2
    assert said[0] == (
        "include='netlib.modle': no code of such a module ran; did you mean 'netlib.model'?"
    )


def test_nothing_was_on(installed):
    program = """
        import numpy as np, monitorch
        monitorch.off()
        for _ in range(3):
            monitorch.flush()
        monitorch.on()
        x = np.ones(2)
        monitorch.off(render=False)
        monitorch.off(filename="x.dot")
        monitorch.off()
        monitorch.on()
        number = 1
        monitorch.lines(1, 2)
        monitorch.off()
    """
    assert installed(program)[1] == [
        "nothing to draw: monitorch.on() was not called before",
        "nothing to draw: monitorch.on() was not called before",
        "nothing to draw: nothing was recorded since the last picture; monitorch.on() begins",
        "nothing to draw: lines 1-2 of program.py assigned no tensor. Other lines were recorded; "
        "call monitorch.lines() to include them",
    ]
