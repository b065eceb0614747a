"""Metrics in HDF5 files: names, files of others, disks that are full, processes that are killed."""

import math
import os
import signal
import subprocess
import sys
import textwrap

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

h5py = pytest.importorskip("h5py")
pytest.importorskip("monitorch.monitor", reason="the package is not built (make)")

from monitorch.monitor import StorageManager  # noqa: E402

METRICS = {
    0: {"loss": 2.5, "activation/blocks.0.attn/mean": 1.0},
    20: {"loss": 1.5, "activation/blocks.0.attn/mean": -2.0, "late": 7},
    40: {"loss": math.nan, "activation/blocks.0.attn/mean": math.inf},
}
CONDENSED = {
    "loss": {0: 2.5, 20: 1.5, 40: math.nan},
    "activation/blocks.0.attn/mean": {0: 1.0, 20: -2.0, 40: math.inf},
    "late": {20: 7},
}


def storage_of(metrics):
    storage = StorageManager()
    storage.load_metrics(metrics)
    return storage


def same(left, right):
    def plain(entries):
        return {
            key: {step: "nan" if value != value else float(value) for step, value in entry.items()}
            for key, entry in entries.items()
        }

    return plain(left) == plain(right)


def test_what_stands_in_the_file(tmp_path):
    """One group for each key, nested at `/`, with two datasets of float64."""
    path = tmp_path / "m.h5"
    storage_of(METRICS).save_hdf5(path)
    with h5py.File(path) as file:
        group = file["activation/blocks.0.attn/mean"]
        assert set(group) == {"keys", "values"}
        assert group["keys"].dtype == group["values"].dtype == "float64"
        assert group["keys"][:].tolist() == [0, 20, 40]
        assert group["values"][:].tolist() == [1.0, -2.0, math.inf]


@pytest.mark.parametrize("condensed", [True, False])
def test_back_again(tmp_path, condensed):
    path = tmp_path / "m.h5"
    storage_of(METRICS).save_hdf5(str(path), condensed=condensed)
    assert same(StorageManager.load_hdf5(str(path)), CONDENSED)
    entries = set(StorageManager.read_hdf5_entry_keys(path))
    assert entries == (set(CONDENSED) if condensed else {"0", "20", "40"})
    loaded = StorageManager()
    loaded.load_metrics(StorageManager.load_hdf5(path))
    assert same(loaded.condensed_log_dict(), CONDENSED)


def test_steps_are_whole_numbers_again(tmp_path):
    storage_of(METRICS).save_hdf5(tmp_path / "m.h5")
    loaded = StorageManager.load_hdf5(tmp_path / "m.h5")
    assert {type(step) for entry in loaded.values() for step in entry} == {int}


def test_one_entry(tmp_path):
    path = tmp_path / "m.h5"
    storage_of(METRICS).save_hdf5(path)
    steps, values = StorageManager.read_hdf5_entry(path, "activation/blocks.0.attn/mean")
    assert steps.tolist() == [0, 20, 40] and values.tolist() == [1.0, -2.0, math.inf]
    assert StorageManager.read_hdf5_entry(path, "not there") is None
    assert StorageManager.read_hdf5_entry(path, "activation") is None
    storage_of(METRICS).save_hdf5(path, condensed=False)
    keys, values = StorageManager.read_hdf5_entry(path, 20)
    assert dict(zip(keys, values)) == METRICS[20]


KEYS = [
    "", "/", "//", "a//b", "/a", "a/", ".", "./a", "a/.", "..", "keys", "values", "a/keys",
    "a/values", "a", "a/b", "a/b/c", "%", "%keys", "a/%keys", "%%", "%00", "nul\0nul", "größe",
    "注意/力", "new\nline", " ", "x" * 3000, "RCC (W_t-W_0)x_t/m.weight/W_t x_t/l2norm", "\udc80",
]  # fmt: skip


def test_names(tmp_path):
    """All of them at once: none meets another."""
    path = tmp_path / "m.h5"
    metrics = {1: {key: float(number) for number, key in enumerate(KEYS)}}
    storage_of(metrics).save_hdf5(path)
    assert StorageManager.load_hdf5(path) == {
        key: {1: float(number)} for number, key in enumerate(KEYS)
    }
    for number, key in enumerate(KEYS):
        assert StorageManager.read_hdf5_entry(path, key)[1].tolist() == [number]
    storage_of(metrics).save_hdf5(path, condensed=False)
    assert set(StorageManager.load_hdf5(path)) == set(KEYS)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=()) | st.sampled_from("/.%\0keysvalues")),
        st.dictionaries(st.integers(0, 2**53), st.floats(), min_size=1, max_size=3),
        max_size=6,
    )
)
@example({"a": {0: 1.0}, "a/keys/keys": {0: 2.0}, "a/%keys/keys": {0: 3.0}})
def test_any_keys_come_back(tmp_path, entries):
    path = tmp_path / "any.h5"
    storage_of(entries).save_hdf5(path)
    assert same(StorageManager.load_hdf5(path), entries)
    assert set(StorageManager.read_hdf5_entry_keys(path)) == set(entries)


def test_file_of_another_program(tmp_path):
    """Names that ours would write in another way stand for themselves there."""
    path = tmp_path / "old.h5"
    with h5py.File(path, "w") as file:
        for name in ("loss", "gradient/0.weight/norm", "%odd"):
            group = file.create_group(name)
            group.create_dataset("keys", data=[0.0, 20.0])
            group.create_dataset("values", data=[3.0, 4.0])
        file.create_dataset("notes", data=[1, 2])
        file.create_group("empty")
    entry = {0: 3.0, 20: 4.0}
    assert StorageManager.load_hdf5(path) == {
        "loss": entry, "gradient/0.weight/norm": entry, "%odd": entry,
    }  # fmt: skip
    assert sorted(StorageManager.read_hdf5_entry_keys(path)) == [
        "%odd", "gradient/0.weight/norm", "loss",
    ]  # fmt: skip


def test_what_is_no_number_is_left_out_and_told(tmp_path, caplog):
    import logging

    storage = StorageManager(logging.getLogger("mine"))
    storage.load_metrics({0: {"text": "x", "number": 1.0, "mixed": 1}, 1: {"mixed": [1]}})
    storage.save_hdf5(tmp_path / "m.h5")
    assert StorageManager.load_hdf5(tmp_path / "m.h5") == {"number": {0: 1.0}, "mixed": {0: 1.0}}
    assert "text" in caplog.text and "mixed" in caplog.text and "number," not in caplog.text


def test_step_that_still_runs_is_saved_as_it_is(tmp_path):
    storage = StorageManager()
    storage.log_scalar(3, "forced", 1)
    storage.log_scalar(3, "forced", 2)
    storage.save_hdf5(tmp_path / "m.h5")
    assert StorageManager.load_hdf5(tmp_path / "m.h5") == {"forced": {3: 1.5}}


def test_nothing_to_save(tmp_path):
    StorageManager().save_hdf5(tmp_path / "m.h5")
    assert StorageManager.load_hdf5(tmp_path / "m.h5") == {}


def test_files_that_are_not_there_or_no_hdf5(tmp_path):
    with pytest.raises(FileNotFoundError):
        StorageManager.load_hdf5(tmp_path / "none.h5")
    (tmp_path / "text.h5").write_text("no HDF5")
    with pytest.raises(OSError):
        StorageManager.load_hdf5(tmp_path / "text.h5")
    with pytest.raises(OSError):
        StorageManager().append_hdf5(tmp_path / "text.h5")
    assert (tmp_path / "text.h5").read_text() == "no HDF5"


def test_without_h5py(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    for call in (
        lambda: StorageManager().save_hdf5(tmp_path / "m.h5"),
        lambda: StorageManager().append_hdf5(tmp_path / "m.h5"),
        lambda: StorageManager.load_hdf5(tmp_path / "m.h5"),
    ):
        with pytest.raises(ImportError, match="pip install h5py"):
            call()


# ---- appending ----


def end_step(storage, step, metrics):
    for key, value in metrics.items():
        storage.log_scalar(step, key, value)
    storage.aggregate_step(step)


def test_each_step_is_there_when_it_has_ended(tmp_path):
    path = tmp_path / "m.h5"
    storage = StorageManager()
    storage.append_hdf5(path)
    for step in range(50):
        end_step(storage, step, {"a/b": step, "late" if step > 30 else "early": 1.0})
        loaded = StorageManager.load_hdf5(path)
        assert list(loaded["a/b"]) == list(range(step + 1))
        assert StorageManager.read_hdf5_entry(path, "a/b")[0].tolist() == list(range(step + 1))
    assert set(StorageManager.read_hdf5_entry_keys(path)) == {"a/b", "early", "late"}
    storage.close_hdf5()
    assert os.listdir(tmp_path) == ["m.h5"]
    with h5py.File(path) as file:  # and by those who know nothing of journals
        assert file["a/b/values"][:].tolist() == list(range(50))
        assert file["late/keys"][:].tolist() == list(range(31, 50))
    end_step(storage, 50, {"a/b": 1})
    assert 50 not in StorageManager.load_hdf5(path)["a/b"]


def test_what_was_logged_before_is_in_the_file_too(tmp_path):
    storage = storage_of({0: {"k": 1.0}})
    storage.append_hdf5(tmp_path / "m.h5")
    end_step(storage, 1, {"k": 2.0})
    assert StorageManager.load_hdf5(tmp_path / "m.h5") == {"k": {0: 1.0, 1: 2.0}}
    storage.close_hdf5()


def test_a_run_that_goes_on_keeps_the_file_of_the_one_before(tmp_path):
    path = tmp_path / "m.h5"
    for first in (0, 10):
        storage = StorageManager()
        storage.append_hdf5(path)
        for step in range(first, first + 12):
            end_step(storage, step, {"k": step + first})
        storage.close_hdf5()
    expected = {step: step for step in range(10)} | {step: step + 10 for step in range(10, 22)}
    assert StorageManager.load_hdf5(path) == {"k": expected}


def test_metrics_that_are_forgotten_stay_in_the_file(tmp_path):
    storage = StorageManager()
    storage.append_hdf5(tmp_path / "m.h5")
    for step in range(5):
        end_step(storage, step, {"k": step})
        storage.clear()
    storage.close_hdf5()
    assert list(StorageManager.load_hdf5(tmp_path / "m.h5")["k"]) == [0, 1, 2, 3, 4]


def child(program, *words):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *map(str, words)],
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("pause", [0, 3, 17, 60])
def test_killed_process(tmp_path, pause):
    """What it said had ended is there, whenever it dies."""
    path = tmp_path / "m.h5"
    process = child(
        """
        import sys
        from monitorch.monitor import StorageManager
        storage = StorageManager()
        storage.append_hdf5(sys.argv[1])
        for step in range(100000):
            for key in range(40):
                storage.log_scalar(step, f"a/{key}", step * key)
            storage.aggregate_step(step)
            print(step, flush=True)
        """,
        path,
    )
    last = -1
    for line in process.stdout:
        last = int(line)
        if last >= pause:
            break
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read().split()
    process.wait()
    last = int(rest[-1]) if rest and rest[-1].isdigit() else last
    loaded = StorageManager.load_hdf5(path)
    assert len(loaded) == 40
    for key in range(40):
        entry = loaded[f"a/{key}"]
        assert {step: step * key for step in range(last + 1)}.items() <= entry.items()
    again = StorageManager()
    again.append_hdf5(path)
    again.close_hdf5()
    assert list(StorageManager.load_hdf5(path)["a/1"])[: last + 1] == list(range(last + 1))
    with h5py.File(path) as file:
        assert len(file["a/39/keys"]) >= last + 1


def test_a_journal_that_was_cut(tmp_path):
    path = tmp_path / "m.h5"
    storage_of({0: {"k": 1.0}}).save_hdf5(path)
    (tmp_path / "m.h5.journal").write_bytes(b'[1, {"k": 2.0}]\n[2, {"k": 3.0}]\n[3, {"k": 4.')
    assert StorageManager.load_hdf5(path) == {"k": {0: 1.0, 1: 2.0, 2: 3.0}}
    (tmp_path / "m.h5.journal").write_bytes(b'\xff[1]\n{}\n[1, 2]\n[1, {"k": "x"}]\nnull\n')
    assert StorageManager.load_hdf5(path) == {"k": {0: 1.0}}


def test_saving_ends_the_journal(tmp_path):
    path = tmp_path / "m.h5"
    (tmp_path / "m.h5.journal").write_bytes(b'[1, {"k": 2.0}]\n')
    storage_of({0: {"k": 1.0}}).save_hdf5(path)
    assert StorageManager.load_hdf5(path) == {"k": {0: 1.0}}


def test_child_processes_leave_the_file_alone(tmp_path):
    path = tmp_path / "m.h5"
    storage = StorageManager()
    storage.append_hdf5(path)
    end_step(storage, 0, {"k": 0})
    process = os.fork()
    if process == 0:
        end_step(storage, 1, {"k": 1})
        storage.close_hdf5()
        os._exit(0)
    os.waitpid(process, 0)
    storage.close_hdf5()
    assert StorageManager.load_hdf5(path) == {"k": {0: 0.0}}


# ---- disks that are full ----

FULL = """
import resource, signal, sys, warnings
from monitorch.monitor import StorageManager
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
"""


def run(program, *words):
    done = subprocess.run(
        [sys.executable, "-c", FULL + textwrap.dedent(program), *map(str, words)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "m.h5"
    storage_of({0: {"k": 1.0}}).save_hdf5(path)
    before = path.read_bytes()
    told = run(
        """
        storage = StorageManager()
        storage.load_metrics({step: {f"k{n}": 1.0 for n in range(50)} for step in range(100)})
        limit(20000)
        try:
            storage.save_hdf5(sys.argv[1])
        except OSError as error:
            print(error.errno, error.filename)
        """,
        path,
    )
    number, name = told.split()
    assert int(number) > 0 and name == str(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.h5"]


def test_full_disk_while_appending(tmp_path):
    """One warning, no exception; and nothing is lost where there is room again."""
    path = tmp_path / "m.h5"
    told = run(
        """
        storage = StorageManager()
        storage.append_hdf5(sys.argv[1])
        def step(number):
            for n in range(50):
                storage.log_scalar(number, f"k{n}", number)
            storage.aggregate_step(number)
        for number in range(3):
            step(number)
        limit(10)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for number in range(3, 9):
                step(number)
        print(len(caught), caught[0].message)
        print(list(StorageManager.load_hdf5(sys.argv[1])["k7"]))
        limit(resource.RLIM_INFINITY)
        step(9)
        print(list(StorageManager.load_hdf5(sys.argv[1])["k7"]))
        """,
        path,
    ).splitlines()
    assert told[0].startswith("1 monitorch: ") and "m.h5" in told[0]
    assert told[1] == str([0, 1, 2])
    assert told[2] == str(list(range(10)))
    assert list(StorageManager.load_hdf5(path)["k7"]) == list(range(10))
    assert os.listdir(tmp_path) == ["m.h5"]
