"""Traced values in an HDF5 file: shapes, dtypes, growing, readers beside, a killed writer."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")
h5py = pytest.importorskip("h5py")

from tests.support import paths, recording  # noqa: E402

recording.package()

from monitorch import _hdf5 as _names_and_marks  # noqa: E402
from monitorch.tracer import H5PYSaverCallback, _hdf5, _rows  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def told_anew():
    _rows._warned.clear()
    _hdf5._warned.clear()


def save(saver, values, iterations=None, ranks=None, name="x"):
    iterations = list(range(1, len(values) + 1)) if iterations is None else iterations
    lists = list(values), list(iterations), list(ranks or [0] * len(iterations))
    saver(name, *lists)
    return lists


def content(path, name="x"):
    with h5py.File(path, "r") as file:
        return [file[name + end][...].tolist() for end in ("", "_iterations", "_ranks")]


def test_rows_are_appended_and_moved(tmp_path):
    saver = H5PYSaverCallback(tmp_path / "r.h5")
    assert save(saver, [torch.ones(2), torch.zeros(2)], [1, 2], [0, 1]) == ([], [], [])
    save(saver, [torch.full((2,), 3.5)], [3], [0])
    assert content(tmp_path / "r.h5") == [[[1, 1], [0, 0], [3.5, 3.5]], [1, 2, 3], [0, 1, 0]]
    dataset = saver.datasets["x"]
    assert isinstance(dataset, h5py.Dataset) and dataset.shape == (3, 2)
    assert dataset.maxshape[0] is None and dataset.dtype == np.float32
    assert saver.datasets["x_iterations"].dtype == np.int64
    assert list(saver.datasets) == ["x"] and len(saver.datasets) == 1 and "y" not in saver.datasets
    saver.close()
    saver.close()


def test_a_stacked_value_is_a_row(tmp_path):
    """As the document's second example: (N//G, G*W, …), and whose it is beside it."""
    saver = H5PYSaverCallback(tmp_path / "r.h5")
    for gathering in range(3):
        iterations = [2 * gathering + 1, 2 * gathering + 2] * 2
        save(saver, [torch.full((4, 5, 6), float(gathering))], iterations, [0, 0, 1, 1])
    values, iterations, ranks = content(tmp_path / "r.h5")
    assert np.array(values).shape == (3, 4, 5, 6)
    assert iterations == [[1, 2, 1, 2], [3, 4, 3, 4], [5, 6, 5, 6]] and ranks == [[0, 0, 1, 1]] * 3
    saver.close()


def test_growing_shapes_are_padded(tmp_path):
    saver = H5PYSaverCallback(tmp_path / "r.h5")
    save(saver, [torch.ones(2, 1)], [1])
    save(saver, [torch.ones(1, 3), torch.ones(3, 1)], [2, 2])
    save(saver, [torch.ones(1)], [3])
    values = np.array(content(tmp_path / "r.h5")[0])
    expected = np.zeros((4, 3, 3))
    expected[0, :2, :1] = expected[1, :1, :3] = expected[2, :3, :1] = expected[3, 0, 0] = 1
    assert np.array_equal(values, expected)


def test_more_axes_than_before(tmp_path):
    saver = H5PYSaverCallback(tmp_path / "r.h5")
    save(saver, [torch.tensor(5.0)] * 3)
    save(saver, [torch.ones(2, 2)], [4, 5])
    values, iterations, ranks = content(tmp_path / "r.h5")
    assert (
        np.array(values).shape == (4, 2, 2)
        and values[2] == [[5, 0], [0, 0]]
        and values[3] == [[1, 1]] * 2
    )
    assert iterations == [[1, 0], [2, 0], [3, 0], [4, 5]] and ranks == [[0, -1]] * 3 + [[0, 0]]


DTYPES = [
    (torch.tensor([1.5], dtype=torch.float64), {}, "float32"),
    (torch.tensor([1.5], dtype=torch.bfloat16), {"float_dtype": "float16"}, "float16"),
    (torch.tensor([1.5], dtype=torch.float16), {"float_dtype": torch.float64}, "float64"),
    (torch.tensor([1.5]).to(torch.float8_e5m2), {}, "float32"),
    (torch.tensor([1 + 2j]), {}, "complex64"),
    (torch.tensor([1 + 2j]).conj(), {"float_dtype": np.float64}, "complex128"),
    (torch.tensor([3]), {}, "int32"),
    (torch.tensor([3], dtype=torch.uint8), {"int_dtype": np.int64}, "int64"),
    (torch.tensor([True]), {}, "bool"),
    (torch.tensor([0.0, 2.0]).to_sparse(), {}, "float32"),
    (torch.nn.Parameter(torch.ones(2)), {}, "float32"),
    (7, {}, "int32"),
    (2.5, {}, "float32"),
    (np.arange(3.0), {"float_dtype": "float64"}, "float64"),
    ([1, 2], {}, "int32"),
    ([torch.ones(2), torch.zeros(2)], {}, "float32"),
]


@pytest.mark.parametrize(
    "value, options, expected", DTYPES, ids=lambda v: v if isinstance(v, str) else type(v).__name__
)
def test_dtypes(tmp_path, value, options, expected):
    saver = H5PYSaverCallback(tmp_path / "r.h5", iteration_dtype=np.int16, **options)
    save(saver, [value, value])
    found = saver.datasets["x"]
    dense = value.to_dense() if isinstance(value, torch.Tensor) else value
    if isinstance(dense, list) and isinstance(dense[0], torch.Tensor):
        dense = torch.stack(dense)
    if isinstance(dense, torch.Tensor):
        dense = (dense if dense.is_complex() else dense.detach().double()).resolve_conj().numpy()
    assert found.dtype == expected and np.array_equal(found[1], dense)
    assert saver.datasets["x_iterations"].dtype == np.int16


def test_dtypes_that_grow(tmp_path):
    """An int that becomes a float is stored as one from then on, earlier ones too."""
    saver = H5PYSaverCallback(tmp_path / "r.h5")
    save(saver, [True, False])
    save(saver, [7])
    save(saver, [2.5, 1])
    assert saver.datasets["x"].dtype == np.float32
    assert saver.datasets["x"][...].tolist() == [1, 0, 7, 2.5, 1]


def test_large_integers_are_clipped(tmp_path, caplog):
    saver = H5PYSaverCallback(tmp_path / "r.h5")
    save(saver, [torch.tensor([2**40, -(2**40), 5])])
    assert saver.datasets["x"][0].tolist() == [2**31 - 1, -(2**31), 5]
    assert "set int_dtype" in caplog.text


def test_texts(tmp_path):
    saver = H5PYSaverCallback(tmp_path / "r.h5")
    save(saver, ["one", "\N{SNOWMAN}"])
    save(saver, ["a longer one"])
    assert saver.datasets["x"].asstr()[...].tolist() == ["one", "\N{SNOWMAN}", "a longer one"]


@pytest.mark.parametrize(
    "value", [None, {"a": 1}, object(), torch.ones(2, device="meta"), [[1], [2, 3]]]
)
def test_what_is_not_stored_stays(tmp_path, caplog, value):
    saver = H5PYSaverCallback(tmp_path / "r.h5")
    for _ in range(2):
        assert save(saver, [value, 1.0]) == ([value, 1.0], [1, 2], [0, 0])
    assert len(caplog.records) == 1 and not os.path.exists(tmp_path / "r.h5")


def test_texts_and_numbers(tmp_path, caplog):
    saver = H5PYSaverCallback(tmp_path / "r.h5")
    save(saver, [1.0])
    save(saver, ["text"])
    assert content(tmp_path / "r.h5")[0] == [1.0] and "both strings and numbers" in caplog.text


def test_empty_tensors(tmp_path):
    saver = H5PYSaverCallback(tmp_path / "r.h5")
    save(saver, [torch.ones(0, 2)])
    save(saver, [torch.ones(1, 2)])
    assert content(tmp_path / "r.h5")[0] == [[[0, 0]], [[1, 1]]]


@pytest.mark.parametrize(
    "name", ["a/b", "/", "", ".", "..", "a%2Fb", "x['k/l']", "\N{SNOWMAN}", "a\0b"]
)
def test_names(tmp_path, name):
    saver = H5PYSaverCallback(tmp_path / "r.h5")
    save(saver, [1.0], name=name)
    save(saver, [2.0], name="other")
    assert saver.datasets[name][...].tolist() == [1.0] and sorted(saver.datasets) == sorted(
        [name, "other"]
    )


def test_names_that_meet(tmp_path, caplog):
    saver = H5PYSaverCallback(tmp_path / "r.h5")
    save(saver, [1.0])
    save(saver, [2.0], name="x_iterations")
    assert (
        content(tmp_path / "r.h5") == [[1.0], [1], [0]]
        and "x_iterations was not saved" in caplog.text
    )


@pytest.mark.parametrize("compression, level", [("gzip", 4), ("lzf", None)])
def test_compression(tmp_path, compression, level):
    options = {"compression": compression, "compression_opts": level, "shuffle": True}
    saver = H5PYSaverCallback(tmp_path / "r.h5", **options)
    for _ in range(4):
        save(saver, [torch.zeros(50_000)] * 4)
    dataset = saver.datasets["x"]
    assert (
        dataset.compression == compression and dataset.shuffle and dataset.compression_opts == level
    )
    assert dataset.shape == (16, 50_000) and os.path.getsize(tmp_path / "r.h5") < 1 << 19


def test_existing_files(tmp_path):
    path = tmp_path / "r.h5"
    first = H5PYSaverCallback(path, existing_ok=False)
    save(first, [1.0])
    save(first, [2.0])
    first.close()
    with pytest.raises(ValueError, match=r"r\.h5.*existing_ok is False"):
        H5PYSaverCallback(path, existing_ok=False)
    second = H5PYSaverCallback(path)
    save(second, [3.0])
    assert content(path)[0] == [1, 2, 3]
    (tmp_path / "other").write_text("something else")
    with pytest.raises(ValueError, match="not an HDF5 file"):
        H5PYSaverCallback(tmp_path / "other")
    assert (tmp_path / "other").read_text() == "something else"


def test_a_file_of_somebody_else(tmp_path, caplog):
    with h5py.File(tmp_path / "r.h5", "w") as file:
        file["x"] = np.ones(3)
    saver = H5PYSaverCallback(tmp_path / "r.h5")
    save(saver, [5.0])
    save(saver, [6.0], name="y")
    with h5py.File(tmp_path / "r.h5", "r") as file:
        assert file["x"][...].tolist() == [1, 1, 1] and file["y"][...].tolist() == [6]
    assert "x was not saved" in caplog.text


@pytest.mark.parametrize(
    "options, word",
    [
        ({"float_dtype": "int32"}, "float_dtype"),
        ({"int_dtype": "float32"}, "int_dtype"),
        ({"float_dtype": torch.bfloat16}, "float_dtype"),
        ({"iteration_dtype": "text"}, "iteration_dtype"),
    ],
)
def test_wrong_dtypes(tmp_path, options, word):
    with pytest.raises(ValueError, match=f"^{word}: "):
        H5PYSaverCallback(tmp_path / "r.h5", **options)


def test_a_gathering_is_written_at_once(tmp_path):
    saver = H5PYSaverCallback(tmp_path / "r.h5")
    saver.begin_gathering()
    save(saver, [1.0])
    save(saver, [2.0], name="y")
    assert not os.path.exists(tmp_path / "r.h5")
    saver.end_gathering()
    assert content(tmp_path / "r.h5")[0] == [1] and content(tmp_path / "r.h5", "y")[0] == [2]


def test_what_cannot_be_written_is_written_later(tmp_path, caplog):
    """A reader of this process that is in the way, and rows of two shapes that wait together."""
    saver = H5PYSaverCallback(tmp_path / "r.h5")
    save(saver, [1.0])
    with h5py.File(tmp_path / "r.h5", "r"):
        assert save(saver, [2.0]) == ([], [], [])
        save(saver, [torch.ones(2)])
        assert "kept until the next gathering" in caplog.text
    save(saver, [4.0])
    assert content(tmp_path / "r.h5")[0] == [[1, 0], [2, 0], [1, 1], [4, 0]]


def test_a_folder_that_is_not_there(tmp_path):
    saver = H5PYSaverCallback(tmp_path / "no" / "r.h5")
    save(saver, [1.0])
    with pytest.raises(OSError):
        saver.close()


WRITER = """
    import os, sys, torch
    from monitorch.tracer import H5PYSaverCallback

    saver = H5PYSaverCallback(sys.argv[1])
    for i in range(100_000):
        if i >= 150 and os.path.exists(sys.argv[2]):
            break
        saver.begin_gathering()
        saver("x", [torch.full((100, 3), float(i))] * 2, [i, i], [0, 1])
        if i % 20 == 0:
            saver(f"new{i}", [float(i)], [i], [0])
        saver.end_gathering()
        print(i, flush=True)
"""


def start_writer(path, enough):
    """It goes on until the file `enough` is there."""
    environment = dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH))
    words = [sys.executable, "-c", textwrap.dedent(WRITER), str(path), str(enough)]
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)


def test_a_reader_follows_a_live_run(tmp_path):
    """It keeps the file open, in SWMR mode, while rows and new datasets come."""
    path = tmp_path / "r.h5"
    enough = tmp_path / "enough"
    writer = start_writer(path, enough)
    assert writer.stdout.readline() == "0\n"
    seen = set()
    with h5py.File(path, "r", swmr=True) as file:
        dataset, iterations = file["x"], file["x_iterations"]
        while writer.poll() is None:
            dataset.refresh()
            iterations.refresh()
            count = dataset.shape[0]
            seen.add(count)
            if len(seen) > 5:
                enough.touch()
            assert iterations.shape[0] >= count
            last = dataset[count - 1]
            assert (last == last[0, 0]).all() and iterations[count - 1] == last[0, 0] == (
                count - 1
            ) // 2
    last = int(writer.stdout.read().split()[-1])
    writer.stdout.close()
    assert writer.returncode == 0 and last >= 149
    assert np.array(content(path)[0]).shape == (2 * (last + 1), 100, 3)


def open_killed(path):
    """Without more where it was closed; while rows were written, as a reader of SWMR does."""
    try:
        return h5py.File(path, "r")
    except OSError:
        return h5py.File(path, "r", swmr=True)


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_writer_leaves_a_readable_file(tmp_path, seed):
    path = tmp_path / "r.h5"
    writer = start_writer(path, tmp_path / "never")
    for _ in range(5 + seed):
        last = int(writer.stdout.readline())
    time.sleep(random.Random(seed).random() * 0.02)
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    last = int([str(last), *writer.stdout.read().split()][-1])
    writer.stdout.close()
    with open_killed(path) as file:
        count = file["x"].shape[0]
        assert count >= 2 * (last + 1)
        assert [v[0, 0] for v in file["x"][: count - count % 2 : 2]] == list(range(count // 2))
    saver = H5PYSaverCallback(path)
    save(saver, [torch.full((100, 3), -1.0)], [7], [0])
    values, iterations, _ = content(path)
    assert len(values) == count + 1 and values[-1][0][0] == -1 and iterations[-1] == 7


def test_the_mark_of_a_killed_writer(tmp_path):
    path = tmp_path / "r.h5"
    with h5py.File(path, "w", libver="latest") as file:
        file["x"] = np.arange(3)
    good = path.read_bytes()
    stored = int.from_bytes(good[44:48], "little")
    assert _names_and_marks.checksum(good[:44]) == stored
    marked = bytearray(good)
    marked[11] = 5
    marked[44:48] = _names_and_marks.checksum(bytes(marked[:44])).to_bytes(4, "little")
    path.write_bytes(bytes(marked))
    with pytest.raises(OSError, match="already open"):
        h5py.File(path, "r")
    assert _names_and_marks.clear_mark(str(path)) and path.read_bytes() == good
    for damaged in (b"", good[:20], b"x" * 100, bytes(marked[:44]) + b"1234" + good[48:]):
        path.write_bytes(damaged)
        assert not _names_and_marks.clear_mark(str(path)) and path.read_bytes() == damaged


def test_a_full_disk(tmp_path):
    """The run goes on, one line says so, and what could be written is whole."""
    program = """
        import resource, sys, torch
        from monitorch.tracer import H5PYSaverCallback
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        saver = H5PYSaverCallback(sys.argv[1])
        saver("x", [torch.ones(1000)], [1], [0])
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, resource.RLIM_INFINITY))
        saver("x", [torch.randn(1_000_000)], [2], [0])
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        saver("x", [torch.ones(3)], [3], [0])
        saver.close()
    """
    environment = dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH))
    words = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "r.h5")]
    run = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "cannot be written" in run.stderr
    with open_killed(tmp_path / "r.h5") as file:
        assert file["x_iterations"][...].tolist() == [1, 2, 3] and file["x"].shape == (3, 1_000_000)
        assert file["x"][0, :1000].tolist() == [1] * 1000 and file["x"][2, :4].tolist() == [
            1,
            1,
            1,
            0,
        ]
