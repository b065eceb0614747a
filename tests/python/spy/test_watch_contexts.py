"""Watched tensors in contexts that nest, in threads and tasks, and beside a recording."""

from __future__ import annotations

import asyncio
import importlib
import threading
from fnmatch import fnmatchcase

import pytest

pytest.importorskip("hypothesis")
torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from monitorch.spy import DebugContext, TensorSaver, spy_save  # noqa: E402

from tests.python.spy.watched import MODEL, X, load_module, saved  # noqa: E402
from tests.support import recording, threads  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]


def head(folder, names="q", **options):
    return TensorSaver(folder, names=names, modules="head", **options)


def calls(*numbers, name="head.q"):
    return [f"{name}.call{number}" for number in numbers]


def test_hooks_are_there_as_long_as_a_context(tmp_path, program, model):
    saver = head(tmp_path)
    assert program._mt is None
    with DebugContext(saver):
        hook = program._mt
        with DebugContext(saver):
            assert program._mt is hook is not None
        assert program._mt is hook
    assert program._mt is None
    with DebugContext(TensorSaver(tmp_path)):
        assert program._mt is None  # nothing is watched
    with DebugContext(saver):
        assert program._mt is hook  # torch.compile's code is made for this one


def test_an_exception_ends_it(tmp_path, program, model):
    with pytest.raises(KeyError), DebugContext(head(tmp_path)):
        raise KeyError
    assert program._mt is None


def test_a_module_that_is_imported_in_the_context(tmp_path):
    with DebugContext(TensorSaver(tmp_path, names="h")):
        load_module(MODEL).Model()(X)
    assert saved(tmp_path) == ["root.h.call0"]


def test_the_innermost_context_counts(tmp_path, model):
    plain = TensorSaver(tmp_path / "plain")
    other = TensorSaver(tmp_path / "other", names="k", modules="head")
    with DebugContext(head(tmp_path / "outer")):
        model(X)
        with DebugContext(plain):
            model(X)
        with DebugContext(other):
            model(X)
        model(X)
    assert saved(tmp_path / "outer") == calls(0, 1)
    assert saved(tmp_path / "plain") == []
    assert saved(tmp_path / "other") == calls(0, name="head.k")


def test_a_saver_that_is_switched_off(tmp_path, model):
    saver = head(tmp_path)
    with DebugContext(saver):
        saver.enabled = False
        model(X)
        saver.enabled = True
        model(X)
    assert saved(tmp_path) == calls(0)


def test_a_spy_save_of_the_same_name_counts_on(tmp_path, model):
    saver = head(tmp_path)
    with DebugContext(saver):
        model(X)
        spy_save("q", X, model.head)
        model(X)
    assert saved(tmp_path) == calls(0, 1, 2)


def test_a_context_of_a_derived_class(tmp_path, model):
    class Context(DebugContext):
        def _save(self, name, tensor, module=None):
            seen.append((name, module))

    seen = []
    with Context(head(tmp_path)):
        model(X)
    assert seen == [("q", model.head)] and saved(tmp_path) == []


def test_each_thread_has_its_own_context(tmp_path, model):
    barrier = threading.Barrier(3)

    def in_context(name):
        with DebugContext(head(tmp_path / name, names=name)):
            barrier.wait()
            for _ in range(20):
                model(X)
            barrier.wait()

    def without():
        barrier.wait()
        for _ in range(20):
            model(X)
        barrier.wait()

    threads.run(lambda: in_context("q"), lambda: in_context("k"), without)
    for name in "qk":
        assert sorted(saved(tmp_path / name)) == sorted(calls(*range(20), name=f"head.{name}"))


def test_threads_that_are_given_the_context(tmp_path, model):
    with DebugContext(head(tmp_path), threads=True):
        threads.run(lambda: model(X))
    with DebugContext(head(tmp_path)):
        threads.run(lambda: model(X))
    assert saved(tmp_path) == calls(0)


def test_tasks_have_their_own_contexts(tmp_path, model):
    async def run(name):
        with DebugContext(head(tmp_path / name, names=name)):
            for _ in range(3):
                await asyncio.sleep(0)
                model(X)

    async def run_all():
        await asyncio.gather(run("q"), run("k"))

    asyncio.run(run_all())
    assert saved(tmp_path / "q") == calls(0, 1, 2)
    assert saved(tmp_path / "k") == calls(0, 1, 2, name="head.k")


# Beside a recording


def events(path):
    """Those of the program: saved tensors are events too."""
    every = recording.read(path).events
    return [(e.line, e.name, e.kind) for e in every if e.function != "TensorSaver.save"]


def test_a_recording_is_the_same_with_and_without(tmp_path, program, model):
    with recording.record(tmp_path / "alone.mtrace"):
        hook = program._mt
        model(X)
    with recording.record(tmp_path / "both.mtrace"), DebugContext(head(tmp_path / "saved")):
        assert program._mt is hook
        model(X)
    assert events(tmp_path / "alone.mtrace") == events(tmp_path / "both.mtrace") != []
    assert saved(tmp_path / "saved") == calls(0)
    assert program._mt is None


def test_either_may_end_first(tmp_path, program, model):
    saver = head(tmp_path / "saved")
    recorded = recording.record(tmp_path / "first.mtrace").start()
    with DebugContext(saver):
        model(X)
        recorded.stop()
        model(X)
        recorded = recording.record(tmp_path / "second.mtrace").start()
        model(X)
    model(X)
    recorded.stop()
    assert program._mt is None
    first, second = (events(tmp_path / f"{name}.mtrace") for name in ("first", "second"))
    assert len(second) == 2 * len(first) > 0
    assert saved(tmp_path / "saved") == calls(0, 1, 2)


def test_a_recording_that_pauses(tmp_path, program, model):
    with recording.record(tmp_path / "run.mtrace") as recorded:
        model(X)
        count = recording.package()._recorder.event_count()
        with DebugContext(head(tmp_path / "saved")):
            recorded.pause()
            model(X)
            assert recording.package()._recorder.event_count() == count
            recorded.resume()
            model(X)
        assert recording.package()._recorder.event_count() == 2 * count + 1  # and head.q
    assert saved(tmp_path / "saved") == calls(0, 1)


def test_a_recording_that_leaves_compiled_lines_out(tmp_path, program, model):
    """Its hooks are others, and its watchers the same."""
    with DebugContext(head(tmp_path / "saved")):
        hook = program._mt
        with recording.record(tmp_path / "run.mtrace", compile="skip"):
            assert program._mt is not hook
            model(X)
        assert program._mt is hook
    assert saved(tmp_path / "saved") == calls(0) and events(tmp_path / "run.mtrace") != []


def test_a_value_that_stops_the_recording_is_saved(tmp_path, model):
    with torch.no_grad():
        model.head.proj.bias[0] = float("nan")
    with recording.record(tmp_path / "run.mtrace", stop="nan"):
        with DebugContext(head(tmp_path / "saved")):
            with pytest.raises(recording.package().NonFinite):
                model(X)
    assert saved(tmp_path / "saved") == calls(0)


def test_what_watchers_do_is_not_watched(tmp_path, model):
    module = load_module("def double(tensor):\n    q = tensor * 2\n    return q.sum() == q.sum()\n")
    with DebugContext(head(tmp_path, when=module.double)):
        model(X)
    assert saved(tmp_path) == calls(0)


@pytest.mark.filterwarnings("error:Dynamo")
def test_code_that_torch_compile_compiles(tmp_path, program, model, monkeypatch):
    module = importlib.import_module("monitorch._compile.compiled")
    monkeypatch.setattr(module, "_warned", set())
    # What was met is told to each trace that follows in this process.
    monkeypatch.setattr(module, "_seen", {"break": {}, "skip": {}})
    torch._dynamo.reset()
    compiled = torch.compile(model, backend="eager")
    expected = compiled(X)
    with DebugContext(head(tmp_path)):
        with pytest.warns(UserWarning, match="slower, as long as a TensorSaver watches them"):
            assert torch.equal(compiled(X), expected)
    assert torch.equal(compiled(X), expected)
    assert saved(tmp_path) == calls(0)


GLOBS = st.lists(st.sampled_from(["*", "q", "*o*", "self.*", "[k-q]", "?", "attn_?", "none"]))
LINES = st.lists(
    st.tuples(
        st.sampled_from([b"", b"model.py", b"*.py", b"other.py"]),
        st.integers(1, 40),
        st.integers(1, 40),
    )
)


@pytest.fixture(scope="module")
def told(program, tmp_path_factory):
    """(line, name, shape) of all tensors in the trace of a call."""
    path = tmp_path_factory.mktemp("told") / "run.mtrace"
    model = program.Model()
    with recording.record(path):
        model(X)
    events = [e for e in recording.read(path).events if e.value_kind == "tensor" and not e.path]
    assert len(events) > 30
    return model, [(e.line, e.name, e.shape) for e in events]


@settings(max_examples=60, deadline=None)
@given(globs=GLOBS, lines=LINES)
def test_what_is_watched_is_what_is_recorded(told, globs, lines):
    """Every tensor of the trace under these names and on these lines, in its order."""
    hooks = importlib.import_module("monitorch._record.hooks")
    recorder = importlib.import_module("monitorch._recorder")
    model, tensors = told
    seen = []

    def visit(name, value, may_be_unchanged, module):
        if isinstance(value, torch.Tensor):
            seen.append((name, list(value.shape)))

    def is_wanted(line, name):
        is_named = not globs or any(fnmatchcase(name, glob) for glob in globs)
        is_there = not lines or any(
            first <= line <= last and file != b"other.py" for file, first, last in lines
        )
        return is_named and is_there

    watcher = recorder.make_watcher(tuple(glob.encode() for glob in globs), tuple(lines))
    hooks.begin_watching(watcher, visit)
    model(X)
    hooks.end_watching(watcher)
    assert seen == [(name, shape) for line, name, shape in tensors if is_wanted(line, name)]
