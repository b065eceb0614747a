"""A file a context: when it is there, what is in it, and whose it is."""

from __future__ import annotations

import gc
import multiprocessing
import shutil
import threading

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import DebugContext, TensorSaver, spy_load, spy_save  # noqa: E402

from tests.python.spy.signatures import names_in  # noqa: E402
from tests.support import recording, threads, warm  # noqa: E402

pytestmark = pytest.mark.torch
FORMATS = ("safetensors", "mtrace")
X = torch.arange(4.0)


@pytest.fixture(params=FORMATS)
def kind(request):
    return request.param


@pytest.fixture
def saver(tmp_path, kind):
    return TensorSaver(tmp_path, format=kind)


def test_a_context_that_saved_nothing_has_no_file(saver, tmp_path):
    with DebugContext(saver, "p"):
        pass
    assert names_in(tmp_path) == []


def test_file_names(saver, tmp_path, kind):
    for prefix in ("step0", "", "step0", "a/b"):
        with DebugContext(saver, prefix):
            spy_save("x", X)
    assert names_in(tmp_path) == sorted(
        f"{stem}.{kind}"
        for stem in ("step0.context0", "context0", "step0.context1", "a%2Fb.context0")
    )
    assert list(spy_load(tmp_path)["step0"]["manual"]["x"]) == [0, 1]


def test_the_file_is_there_after_an_exception(saver, tmp_path, kind):
    with pytest.raises(ZeroDivisionError), DebugContext(saver, "p"):
        spy_save("x", X)
        1 / 0
    assert names_in(tmp_path) == [f"p.context0.{kind}"]
    assert torch.equal(spy_load(tmp_path)["p"]["manual"]["x"][0], X)


def test_contexts_within_contexts(saver, tmp_path, kind):
    outer = DebugContext(saver, "outer")
    with outer:
        spy_save("x", X)
        with DebugContext(saver, "inner"):
            spy_save("x", X + 1)
        with outer:
            spy_save("x", X + 2)
        assert f"inner.context0.{kind}" in names_in(tmp_path)
        if kind == "safetensors":  # a trace is there from its first event on
            assert f"outer.context0.{kind}" not in names_in(tmp_path)
        spy_save("x", X + 3)
    assert names_in(tmp_path) == [f"inner.context0.{kind}", f"outer.context0.{kind}"]
    found = spy_load(tmp_path)
    assert torch.equal(found["inner"]["manual"]["x"][0], X + 1)
    assert torch.equal(found["outer"]["manual"]["x"][2], X + 3)


def test_saved_directly_in_a_context(saver, tmp_path, kind):
    with DebugContext(saver, "p"):
        spy_save("x", X)
        saver.save("y", X + 1)
    assert names_in(tmp_path) == [f"p.context0.{kind}"]
    assert torch.equal(spy_load(tmp_path)["", "", "y", 0], X + 1)


@pytest.mark.parametrize("end", ["close", "free"])
def test_saved_outside_of_contexts(tmp_path, kind, end):
    saver = TensorSaver(tmp_path, format=kind)
    saver.save("x", X)
    saver.save("x", X + 1)
    if end == "close":
        saver.close()
        saver.close()
    else:
        del saver
        gc.collect()
    assert names_in(tmp_path) == [f"context0.{kind}"]
    assert torch.equal(spy_load(tmp_path)["", "", "x", 1], X + 1)


@pytest.mark.parametrize("is_left", [True, False])
def test_at_the_programs_end(tmp_path, kind, is_left):
    program = f"""
import torch
from monitorch.spy import DebugContext, TensorSaver, spy_save
saver = TensorSaver("saved", format={kind!r})
context = DebugContext(saver, "p")
context.__enter__()
spy_save("x", torch.ones(3))
if {is_left}:
    context.__exit__(None, None, None)
    saver.save("y", torch.ones(3))
"""
    done = recording.run_python("-c", program, python=warm.python(), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    wanted = ["p.context0"] + (["context0"] if is_left else [])
    assert names_in(tmp_path / "saved") == sorted(f"{stem}.{kind}" for stem in wanted)


def test_threads_share_the_contexts_file(saver, tmp_path, kind):
    def work(index):
        for i in range(20):
            spy_save(f"x{index}", X + i)

    with DebugContext(saver, "p", threads=True):
        threads.run_for(range(4), work)
    assert names_in(tmp_path) == [f"p.context0.{kind}"]
    found = spy_load(tmp_path)["p"]["manual"]
    for index in range(4):
        assert all(torch.equal(found[f"x{index}"][i], X + i) for i in range(20))


def test_a_thread_that_outlives_its_context(saver, tmp_path, kind):
    """What it saves afterwards is in a file of its own, also where others open contexts."""
    may_go_on = threading.Event()

    def work():
        may_go_on.wait()
        spy_save("late", X)

    with DebugContext(saver, "p", threads=True):
        spy_save("early", X)
        thread = threading.Thread(target=work)
        thread.start()
    with DebugContext(saver, "q"):
        spy_save("other", X)
        may_go_on.set()
        thread.join()
    saver.close()
    names = [f"p.context0.{kind}", f"p.context1.{kind}", f"q.context0.{kind}"]
    assert names_in(tmp_path) == names
    found = spy_load(tmp_path)
    assert sorted(found["p"]["manual"]) == ["early", "late"]
    assert list(found["q"]["manual"]) == ["other"]


def _save_in_child(value):
    spy_save("x", X + value)


def test_a_forked_child_leaves_the_parents_file_alone(saver, tmp_path, kind):
    fork = multiprocessing.get_context("fork")
    with DebugContext(saver, "p"):
        spy_save("x", X)
        child = fork.Process(target=_save_in_child, args=(1,))
        child.start()
        child.join()
        assert child.exitcode == 0
        spy_save("y", X + 2)
    found = spy_load(tmp_path)["p"]["manual"]
    assert torch.equal(found["x"][0], X) and torch.equal(found["y"][0], X + 2)


def test_a_forked_childs_own_file_is_finished(saver, tmp_path, kind):
    with DebugContext(saver, "p"):
        spy_save("x", X)
        child = multiprocessing.get_context("fork").Process(target=_save_in_child, args=(1,))
        child.start()
        child.join()
        assert child.exitcode == 0
    assert names_in(tmp_path) == [f"p.context{number}.{kind}" for number in range(2)]
    found = spy_load(tmp_path)["p"]["manual"]["x"]
    assert torch.equal(found[0], X) and torch.equal(found[1], X + 1)


def test_what_was_removed_is_no_longer_anybodys(tmp_path, kind, caplog):
    folder = tmp_path / "saved"
    for turn in range(2):
        saver = TensorSaver(folder, format=kind)
        for _ in range(2):
            with DebugContext(saver, "p"):
                spy_save("x", X)
        assert names_in(folder) == [f"p.context{number}.{kind}" for number in range(2)]
        assert list(spy_load(folder)["p"]["manual"]["x"]) == [0, 1]
        shutil.rmtree(folder)
    assert not caplog.records


def test_reset_counts_begins_with_the_first_file(saver, tmp_path, kind):
    for turn in range(2):
        with DebugContext(saver, "p"):
            spy_save("x", X + turn)
        saver.reset_counts()
    assert names_in(tmp_path) == [f"p.context0.{kind}"]
    assert torch.equal(spy_load(tmp_path)["p"]["manual"]["x"][0], X + 1)


def test_norms(saver, tmp_path):
    with DebugContext(saver):
        saver.save("x", torch.tensor([[3.0, 4.0], [0.0, 2.0]]), norm_only=True)
    assert spy_load(tmp_path)["", "", "x", 0].tolist() == [5.0, 2.0]


def test_other_formats_are_refused(tmp_path):
    with pytest.raises(ValueError, match="'pt', 'safetensors' or 'mtrace'"):
        TensorSaver(tmp_path, format="npz")
