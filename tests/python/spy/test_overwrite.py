"""What becomes of files that are there: a saver's own, others', those of an earlier run."""

from __future__ import annotations

import logging
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import time

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import DebugContext, TensorSaver, spy_save  # noqa: E402

from tests.python.spy.signatures import names_in  # noqa: E402
from tests.support import recording, threads, warm  # noqa: E402

pytestmark = pytest.mark.torch


def value_in(path):
    return torch.load(path, weights_only=True).item()


def save(saver, value, **words):
    saver.save("x", torch.tensor(value), **words)


def values(folder):
    return {path.name: value_in(path) for path in pathlib.Path(folder).iterdir()}


def make_old(folder):
    """As if an earlier run had written what is there."""
    long_ago = time.time() - 3600
    for path in pathlib.Path(folder).iterdir():
        os.utime(path, (long_ago, long_ago))


def earlier_run(folder, value):
    """Writes x.call0.pt behind the package's back."""
    torch.save(torch.tensor(value), pathlib.Path(folder, "x.call0.pt"))
    make_old(folder)


def test_own_files_are_replaced(tmp_path, caplog):
    saver = TensorSaver(tmp_path, overwrite=False)
    save(saver, 1, call_idx=0)
    save(saver, 2, call_idx=0)
    save(saver, 3)
    saver.reset_counts()
    save(saver, 4)
    assert values(tmp_path) == {"x.call0.pt": 4} and not caplog.records


def test_earlier_runs_are_replaced_with_one_warning(tmp_path, caplog):
    for value in (1, 2):
        torch.save(torch.tensor(value), tmp_path / f"x.call{value}.pt")
    make_old(tmp_path)
    saver = TensorSaver(tmp_path)
    for value in (10, 11, 12, 13):
        save(saver, value)
    assert values(tmp_path) == {f"x.call{i}.pt": 10 + i for i in range(4)}
    (record,) = caplog.records
    assert record.levelno == logging.WARNING and record.name == "monitorch.spy.saver"
    assert "x.call1.pt is left from an earlier run" in record.getMessage()


def test_overwrite_is_silent(tmp_path, caplog):
    earlier_run(tmp_path, 1)
    save(TensorSaver(tmp_path, overwrite=True), 2)
    save(TensorSaver(tmp_path, overwrite=True), 3)
    assert values(tmp_path) == {"x.call0.pt": 3} and not caplog.records


@pytest.mark.parametrize("is_earlier_run", [True, False])
def test_nothing_may_be_overwritten(tmp_path, is_earlier_run):
    if is_earlier_run:
        earlier_run(tmp_path, 1)
    else:
        save(TensorSaver(tmp_path), 1)
    saver = TensorSaver(tmp_path, overwrite=False)
    with pytest.raises(FileExistsError, match="x.call0.pt"):
        save(saver, 2)
    save(saver, 3)
    assert values(tmp_path) == {"x.call0.pt": 1, "x.call1.pt": 3}


def test_other_savers_are_left_alone(tmp_path, caplog):
    first, second, third = (TensorSaver(tmp_path) for _ in range(3))
    save(first, 1)
    save(second, 2)
    save(first, 3)
    save(third, 4)
    save(second, 5)
    wanted = [1, 2, 3, 4, 5]
    assert values(tmp_path) == {f"x.call{i}.pt": value for i, value in enumerate(wanted)}
    assert second.call_counts == {"x": 5} and len(caplog.records) == 3  # one for each


def test_a_call_that_was_asked_for_is_not_another_savers(tmp_path):
    save(TensorSaver(tmp_path), 1, call_idx=7)
    save(TensorSaver(tmp_path), 2, call_idx=7)
    assert values(tmp_path) == {"x.call7.pt": 1, "x.call8.pt": 2}


def test_savers_that_are_gone_are_savers(tmp_path):
    """A function that makes its saver anew for each step does not lose the former step."""
    for value in range(3):
        with DebugContext(TensorSaver(tmp_path), "p"):
            spy_save("x", torch.tensor(value))
    assert values(tmp_path) == {f"p.manual.x.call{i}.pt": i for i in range(3)}


def test_what_was_removed_is_no_longer_anybodys(tmp_path, caplog):
    folder = tmp_path / "saved"
    for _ in range(2):
        saver = TensorSaver(folder)
        for value in range(3):
            save(saver, value)
        assert values(folder) == {f"x.call{i}.pt": i for i in range(3)}
        shutil.rmtree(folder)
    assert not caplog.records


def test_one_folder_by_two_paths(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    save(TensorSaver(real), 1)
    make_old(real)
    save(TensorSaver(link), 2)
    assert values(real) == {"x.call0.pt": 1, "x.call1.pt": 2}


def _save_in_child(saver, value):
    saver.save("x", torch.tensor(value))


def test_forked_children_leave_each_other_alone(tmp_path):
    saver = TensorSaver(tmp_path)
    save(saver, 0)
    fork = multiprocessing.get_context("fork")
    children = [fork.Process(target=_save_in_child, args=(saver, i)) for i in (1, 2, 3)]
    for child in children:
        child.start()
    for child in children:
        child.join()
        assert child.exitcode == 0
    save(saver, 4)
    assert sorted(values(tmp_path).values()) == [0, 1, 2, 3, 4]


BESIDE = """
import sys, torch
from monitorch.spy import TensorSaver
saver = TensorSaver("saved")
print("ready", flush=True)
sys.stdin.readline()
saver.save("x", torch.tensor(2))
"""


def test_processes_beside_each_other(tmp_path):
    """As ranks are: what the one writes after the other has started is left alone."""
    child = subprocess.Popen(
        [warm.python(), "-c", BESIDE],
        cwd=tmp_path,
        env=recording.environment("off"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "ready\n"
    save(TensorSaver(tmp_path / "saved"), 1)
    _, errors = child.communicate("go on\n")
    assert child.returncode == 0 and "was saved by another saver or process of this run" in errors
    assert values(tmp_path / "saved") == {"x.call0.pt": 1, "x.call1.pt": 2}


def test_threads_take_numbers_of_their_own(tmp_path):
    savers = [TensorSaver(tmp_path) for _ in range(2)]

    def work(index):
        for i in range(50):
            save(savers[index % 2], 100 * index + i)

    threads.run_for(range(4), work)
    assert sorted(values(tmp_path).values()) == sorted(
        100 * index + i for index in range(4) for i in range(50)
    )
    assert names_in(tmp_path) == sorted(f"x.call{i}.pt" for i in range(200))


def test_leaves_of_one_call_keep_their_number(tmp_path):
    saver = TensorSaver(tmp_path)
    one = torch.tensor(1)
    for value in ((one, one), one, [one], {"k": one}):
        saver.save("x", value)
    assert saver.call_counts == {"x": 4}
    assert names_in(tmp_path) == sorted(
        ["x[0].call0.pt", "x[1].call0.pt", "x.call1.pt", "x[0].call2.pt", "x[%27k%27].call3.pt"]
    )


def test_a_failed_write_leaves_its_name_free(tmp_path):
    saver = TensorSaver(tmp_path)
    with pytest.raises(TypeError):
        saver.save("x", torch.empty(2, device="meta"), call_idx=0)
    save(TensorSaver(tmp_path), 2)
    assert values(tmp_path) == {"x.call0.pt": 2}


@pytest.mark.parametrize("call", [-1, 1.5, "2"])
def test_wrong_call_numbers_are_refused(tmp_path, call):
    with pytest.raises((TypeError, ValueError)):
        save(TensorSaver(tmp_path), 1, call_idx=call)
    assert names_in(tmp_path) == []
