"""What saving does beyond the old package: each promise by a test of its own."""

from __future__ import annotations

import collections
import concurrent.futures
import dataclasses
import threading

import pytest

from tests.python.spy.signatures import names_in, run_program
from tests.support import recording, threads

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import DebugContext, TensorSaver, spy_load, spy_save  # noqa: E402

from tests.python.spy.facts import Model, X, load  # noqa: E402

nn = torch.nn
pytestmark = pytest.mark.torch

FORMATS = ["pt", "safetensors", "mtrace"]
DTYPES = sorted(
    (d for d in vars(torch).values() if isinstance(d, torch.dtype)), key=lambda d: str(d)
)
PLAIN = [
    d for d in DTYPES if not any(w in str(d) for w in ("quint", "qint", "bits", "int1", "x2"))
]
PLAIN = [d for d in PLAIN if not any(str(d).endswith(f"int{n}") for n in range(1, 8))]


def same_bits(a, b):
    """Equal as bytes: NaNs and signs of zeros too."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    as_bytes = [t.detach().resolve_conj().resolve_neg().contiguous().flatten() for t in (a, b)]
    return torch.equal(*(t.view(torch.uint8) if t.numel() else t.int() for t in as_bytes))


def of_dtype(dtype):
    bits = torch.arange(4 * 16, dtype=torch.uint8)
    return (bits % 2 == 1) if dtype == torch.bool else bits.view(dtype).view(4, -1)


# Files that torch reads


@pytest.mark.parametrize("dtype", PLAIN, ids=str)
def test_every_dtype(tmp_path, dtype):
    x = of_dtype(dtype)
    TensorSaver(tmp_path).save("x", x)
    assert same_bits(load(tmp_path, "x.call0.pt"), x)


def test_dtypes_are_many():
    assert len(PLAIN) >= 18


KINDS = {
    "0-D": lambda: torch.tensor(3.5),
    "empty": lambda: torch.empty(0),
    "empty of 3": lambda: torch.empty(2, 0, 3),
    "column": lambda: torch.randn(5, 7)[:, 2],
    "every other": lambda: torch.randn(10, 8)[::2, 1::3],
    "transposed": lambda: torch.randn(3, 4, 5).permute(2, 0, 1),
    "expanded": lambda: torch.randn(3, 1).expand(3, 100),
    "overlapping": lambda: torch.randn(10).as_strided((4, 5), (1, 1)),
    "with an offset": lambda: torch.randn(10)[3:],
    "requires grad": lambda: torch.randn(3, requires_grad=True),
    "of a graph": lambda: torch.randn(3, requires_grad=True).exp(),
    "Parameter": lambda: nn.Parameter(torch.randn(2, 2)),
    "conj": lambda: torch.randn(3, dtype=torch.complex64).conj(),
    "neg": lambda: torch.randn(3, dtype=torch.complex64).conj().imag,
    "not finite": lambda: torch.tensor([float("nan"), float("-inf"), -0.0]),
    "channels last": lambda: torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "buffer": lambda: nn.BatchNorm1d(4).running_var,
    "sparse": lambda: torch.eye(4).to_sparse(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(tmp_path, kind):
    x = KINDS[kind]()
    TensorSaver(tmp_path).save("x", x)
    found = load(tmp_path, "x.call0.pt")
    assert not found.requires_grad and found.is_contiguous()
    assert same_bits(found, x.detach().to_dense() if x.is_sparse else x)


def test_inference_tensor(tmp_path):
    with torch.inference_mode():
        x = torch.ones(3) * 2
        TensorSaver(tmp_path).save("x", x)
    assert torch.equal(load(tmp_path, "x.call0.pt"), torch.full((3,), 2.0))


def test_view_is_saved_as_what_it_shows(tmp_path):
    x = torch.randn(1000, 1000)
    TensorSaver(tmp_path).save("x", x[:, :2])
    torch.save(x[:, :2], tmp_path / "torch.pt")
    size = (tmp_path / "x.call0.pt").stat().st_size
    assert 8000 < size < 10000 < 4_000_000 < (tmp_path / "torch.pt").stat().st_size
    assert torch.equal(load(tmp_path, "x.call0.pt"), x[:, :2])


def test_loads_mapped(tmp_path):
    """torch maps such a file, as it maps its own."""
    x = torch.randn(100, 100)
    TensorSaver(tmp_path).save("x", x)
    found = torch.load(tmp_path / "x.call0.pt", weights_only=True, mmap=True)
    assert torch.equal(found, x)


FULL = """
import resource, signal, sys
import torch
from monitorch.spy import DebugContext, TensorSaver, spy_save
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def forward():
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
    spy_save("large", torch.zeros(1_000_000))
    print("not reached")
with DebugContext(TensorSaver("saved", format=FORMAT), prefix="p"):
    spy_save("small", torch.ones(3))
    forward()
"""


@pytest.mark.parametrize("name", FORMATS)
def test_full_disk_raises_at_the_callers_line_and_leaves_no_half_file(tmp_path, name):
    """A limit on the size of files stands for a disk that is full."""
    done = run_program(tmp_path, f"FORMAT = {name!r}\n" + FULL)
    assert done.returncode == 1 and "not reached" not in done.stdout
    assert 'in forward\n    spy_save("large"' in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("OSError") and "large" in last
    assert len(names_in(tmp_path / "saved")) == 1
    (entry,) = spy_load(tmp_path / "saved").entries()
    assert entry.name == "small" and torch.equal(entry.load(), torch.ones(3))


def test_file_appears_whole(tmp_path):
    """While a name is saved over and over, who reads it sees no half file."""
    saver = TensorSaver(tmp_path)
    saver.save("x", torch.zeros(50_000), call_idx=0)
    done = threading.Event()

    def write():
        for i in range(150):
            saver.save("x", torch.full((50_000,), float(i)), call_idx=0)
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    count = 0
    while not done.is_set():
        found = load(tmp_path, "x.call0.pt")
        assert bool((found == found[0]).all())
        count += 1
    thread.join()
    assert count > 0 and names_in(tmp_path) == ["x.call0.pt"]


# Formats


@pytest.mark.parametrize("name", FORMATS)
def test_format_is_read_back(tmp_path, name):
    saver = TensorSaver(tmp_path, format=name)
    model = Model()
    saver.register_modules(model)
    with DebugContext(saver, prefix="step0"):
        y = model(X)
        model(X)
        spy_save("half", X.half())
    found = spy_load(tmp_path)
    assert torch.equal(found["step0"]["decoder"]["y"][0], y)
    assert torch.equal(found["step0", "decoder", "y", 1], y)
    assert found["step0"]["manual"]["half"][0].dtype == torch.float16
    assert list(found) == ["step0"]
    assert sorted(found["step0"]) == ["decoder", "encoder.0", "encoder.2", "manual"]


def test_safetensors_is_one_file_a_context(tmp_path):
    saver = TensorSaver(tmp_path, format="safetensors")
    for prefix in ("a", "b"):
        with DebugContext(saver, prefix):
            for _ in range(3):
                spy_save("x", X)
    assert len([n for n in names_in(tmp_path) if n.endswith(".safetensors")]) == 2


def test_safetensors_is_read_by_its_own_library(tmp_path):
    library = pytest.importorskip("safetensors.torch")
    saver = TensorSaver(tmp_path, format="safetensors")
    with DebugContext(saver, "p"):
        spy_save("x", X.t())
        spy_save("empty", torch.empty(0, 3))
        spy_save("bytes", torch.arange(3, dtype=torch.uint8))
        spy_save("brain", X.bfloat16())
    (path,) = tmp_path.glob("*.safetensors")
    found = library.load_file(path)
    assert len(found) == 4
    (x,) = (t for name, t in found.items() if ".x." in name)
    assert torch.equal(x, X.t())


def test_mtrace_is_shown(tmp_path):
    saver = TensorSaver(tmp_path, format="mtrace")
    model = Model()
    saver.register_modules(model)
    with DebugContext(saver, "p"):
        model(X)
    (path,) = tmp_path.glob("*.mtrace")
    done = recording.show(path)
    assert done.returncode == 0 and b'"y"' in done.stdout and b"decoder" in done.stdout


def test_unknown_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match="npz"):
        TensorSaver(tmp_path, format="npz")


# Threads


def saved_by(start, tmp_path, threads):
    saver = TensorSaver(tmp_path)
    with DebugContext(saver, "p", threads=threads):
        start()
    return names_in(tmp_path)


def in_thread():
    threads.run(lambda: spy_save("x", X))


def in_pool():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        pool.submit(spy_save, "x", X).result()


@pytest.mark.parametrize("start", [in_thread, in_pool])
def test_threads_are_given_the_context(tmp_path, start):
    assert saved_by(start, tmp_path, threads=True) == ["p.manual.x.call0.pt"]


@pytest.mark.parametrize("start", [in_thread, in_pool])
def test_threads_are_without_it_otherwise(tmp_path, start):
    assert saved_by(start, tmp_path, threads=False) == []


def test_threads_started_after_it_are_without_it(tmp_path):
    saved_by(lambda: None, tmp_path, threads=True)
    in_thread()
    assert names_in(tmp_path) == []


# Leaves

Pair = collections.namedtuple("Pair", "first second")


@dataclasses.dataclass
class Output:
    logits: torch.Tensor
    cache: object = None


LEAVES = {
    "tuple": ((X, X + 1), ["x[0]", "x[1]"]),
    "list": ([X, [X]], ["x[0]", "x[1][0]"]),
    "dict": ({"k": X, "v": X}, ["x['k']", "x['v']"]),
    "deep": ([{"k": X, 3: (X, None)}], ["x[0]['k']", "x[0][3][0]"]),
    "namedtuple": (Pair(X, [X]), ["x.first", "x.second[0]"]),
    "dataclass": (Output(X, {"a": X}), ["x.cache['a']", "x.logits"]),
}


@pytest.mark.parametrize("kind", LEAVES)
def test_containers_are_saved_leaf_by_leaf(tmp_path, kind):
    value, wanted = LEAVES[kind]
    saver = TensorSaver(tmp_path)
    with DebugContext(saver, "p"):
        spy_save("x", value)
    found = spy_load(tmp_path)["p"]["manual"]
    assert sorted(found) == sorted(wanted)
    assert all(found[name][0].shape == X.shape for name in wanted)


def test_container_that_holds_itself(tmp_path):
    value = [X]
    value.append(value)
    with DebugContext(TensorSaver(tmp_path)):
        spy_save("x", value)
    assert len(names_in(tmp_path)) == 1
