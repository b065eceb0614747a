"""_recorder.save_pt: torch.load reads of each kind of tensor the very bytes that it shows."""

from __future__ import annotations

import os
import re
from typing import Any, Callable

import pytest

numpy = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
_recorder = pytest.importorskip("monitorch._recorder", reason="not built (make)")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning"),
]

DTYPES = sorted({d for d in vars(torch).values() if isinstance(d, torch.dtype)}, key=str)
# Of less than a byte, or bytes that mean nothing without their scales.
NOT_SAVED = re.compile(r"torch\.(bits\w+|u?int[1-7]|qu?int\w+)")


def save(path: Any, tensor: Any) -> str:
    return _recorder.save_pt(path, tensor, ("step0", "encoder.attn", "q", 3), may_replace=True)


def raw(tensor: Any) -> bytes:
    """The bytes of the values that a tensor shows, in their order."""
    plain = tensor.detach().resolve_conj().resolve_neg().contiguous()
    return plain.reshape(-1).view(torch.uint8).numpy().tobytes()


def check(path: Any, tensor: Any, shown: Any) -> None:
    assert save(path, tensor) == "written"
    loaded = torch.load(path, weights_only=True)
    assert type(loaded) is torch.Tensor
    assert loaded.dtype == shown.dtype
    assert loaded.shape == shown.shape
    assert loaded.is_contiguous() and not loaded.requires_grad
    assert not loaded.is_conj() and not loaded.is_neg()
    assert raw(loaded) == raw(shown)


# ---- dtypes ----


def is_saved(dtype: Any) -> bool:
    return NOT_SAVED.fullmatch(str(dtype)) is None


def random_bytes(dtype: Any) -> Any:
    numbers = torch.randint(0, 256, (48,), dtype=torch.uint8)
    return numbers < 128 if dtype == torch.bool else numbers.view(dtype)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if is_saved(d)], ids=str)
def test_dtypes(tmp_path: Any, dtype: Any) -> None:
    tensor = random_bytes(dtype)
    check(tmp_path / "flat.pt", tensor, tensor)
    check(tmp_path / "strided.pt", tensor[::2], tensor[::2])
    check(tmp_path / "number.pt", tensor[1], tensor[1])
    empty = torch.empty(0, 3, dtype=dtype)
    check(tmp_path / "empty.pt", empty, empty)


def test_which_dtypes_there_are() -> None:
    saved = {str(d).removeprefix("torch.") for d in DTYPES if is_saved(d)}
    assert saved >= {"bool", "uint8", "int8", "int16", "int32", "int64"}
    assert saved >= {"float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"}
    assert saved >= {"complex32", "complex64", "complex128"}


@pytest.mark.parametrize("dtype", [d for d in DTYPES if not is_saved(d)], ids=str)
def test_dtypes_that_are_refused(tmp_path: Any, dtype: Any) -> None:
    try:
        tensor = torch.empty(16, dtype=dtype)
    except (RuntimeError, NotImplementedError, TypeError):
        pytest.skip("torch makes none")
    with pytest.raises((TypeError, RuntimeError)):
        save(tmp_path / "a.pt", tensor)
    assert not os.listdir(tmp_path)


# ---- kinds of tensors ----


class Subclass(torch.Tensor):
    """With data of its own, and no idea of its own."""


def quantised_by_channel() -> Any:
    scales = torch.tensor([0.1, 0.5, 1.0])
    values = torch.arange(12.0).reshape(3, 4)
    return torch.quantize_per_channel(values, scales, torch.zeros(3), 0, torch.qint8)


def with_a_graph() -> Any:
    return torch.randn(3, 3, requires_grad=True) * 2


# How each is made, and what it shows where that is not itself.
KINDS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "quantised": (
        lambda: torch.quantize_per_tensor(torch.randn(6), 0.1, 3, torch.quint8),
        lambda t: t.dequantize(),
    ),
    "quantised by channel": (quantised_by_channel, lambda t: t.dequantize()),
    "sparse coo": (lambda: torch.eye(4).to_sparse(), lambda t: t.to_dense()),
    "sparse csr": (lambda: torch.eye(4).to_sparse_csr(), lambda t: t.to_dense()),
    "sparse bsr": (lambda: torch.eye(4).to_sparse_bsr((2, 2)), lambda t: t.to_dense()),
    "sparse, a graph": (lambda: with_a_graph().to_sparse(), lambda t: t.detach().to_dense()),
    "mkldnn": (lambda: torch.randn(3, 4).to_mkldnn(), lambda t: t.to_dense()),
    "subclass": (
        lambda: torch.randn(3).as_subclass(Subclass),
        lambda t: t.as_subclass(torch.Tensor),
    ),
}
PLAIN_KINDS: dict[str, Callable[[], Any]] = {
    "0-D": lambda: torch.tensor(1.5),
    "empty": lambda: torch.empty(3, 0, 2),
    "many dimensions": lambda: torch.arange(2.0**10).reshape([2] * 10),
    "64 dimensions": lambda: torch.ones([1] * 64),
    "sizes of one": lambda: torch.ones(4, 1, 3).transpose(0, 1),
    "transposed": lambda: torch.arange(12.0).reshape(3, 4).t(),
    "channels last": lambda: torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "stepped": lambda: torch.arange(100.0).reshape(10, 10)[1::3, ::2],
    "expanded": lambda: torch.randn(3, 1).expand(3, 1000),
    "an expanded number": lambda: torch.tensor(2.0).expand(7, 5),
    "overlapping": lambda: torch.arange(10.0).as_strided((4, 3), (2, 1)),
    "large and strided": lambda: torch.randn(700, 900).t(),
    "large": lambda: torch.randn(700, 900),
    "offset": lambda: torch.arange(10)[3:],
    "requires_grad": lambda: torch.randn(3, requires_grad=True),
    "result with a graph": with_a_graph,
    "Parameter": lambda: torch.nn.Parameter(torch.randn(3, 4)),
    "Buffer": lambda: torch.nn.Buffer(torch.randn(3)),
    "inference": lambda: torch.inference_mode()(torch.ones)(3),
    "conj": lambda: torch.randn(5, 3, dtype=torch.complex64).conj(),
    "conj, strided": lambda: torch.randn(5, 3, dtype=torch.complex128).conj().t(),
    "conj, half": lambda: torch.randn(5, dtype=torch.complex64).to(torch.complex32).conj(),
    "neg": lambda: torch.randn(5, dtype=torch.complex64).conj().imag,
    "conj of neg": lambda: torch._neg_view(torch.randn(4, dtype=torch.complex64)).conj(),
    "shared memory": lambda: torch.ones(5).share_memory_(),
    "of numpy": lambda: torch.from_numpy(numpy.arange(6.0)[::2]),
}


@pytest.mark.parametrize("kind", PLAIN_KINDS)
def test_plain_kinds(tmp_path: Any, kind: str) -> None:
    tensor = PLAIN_KINDS[kind]()
    check(tmp_path / "a.pt", tensor, tensor)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(tmp_path: Any, kind: str) -> None:
    make, show = KINDS[kind]
    tensor = make()
    check(tmp_path / "a.pt", tensor, show(tensor))


def test_the_tensor_is_as_before(tmp_path: Any) -> None:
    tensor = with_a_graph().conj()
    version, graph, data = tensor._version, tensor.grad_fn, tensor.data_ptr()
    save(tmp_path / "a.pt", tensor)
    assert (tensor._version, tensor.grad_fn, tensor.data_ptr()) == (version, graph, data)


def test_a_view_is_saved_as_what_it_shows(tmp_path: Any) -> None:
    view = torch.randn(1000, 1000)[:, :2]
    check(tmp_path / "ours.pt", view, view)
    torch.save(view, tmp_path / "torch.pt")
    assert os.path.getsize(tmp_path / "ours.pt") < 8000 + 1500
    assert os.path.getsize(tmp_path / "torch.pt") > 4_000_000


def test_random_views(tmp_path: Any) -> None:
    torch.manual_seed(0)
    for i in range(200):
        sizes = torch.randint(0, 6, (4,)).tolist()
        tensor = torch.randn([2 * size + 1 for size in sizes]).to(torch.float64)
        for dimension, size in enumerate(sizes):
            start, step = torch.randint(0, 2, (1,)).item(), torch.randint(1, 4, (1,)).item()
            tensor = tensor.narrow(dimension, start, 2 * size)[(slice(None),) * dimension]
            tensor = tensor[(slice(None),) * dimension + (slice(None, None, step),)]
        tensor = tensor.permute(torch.randperm(4).tolist())
        check(tmp_path / f"{i}.pt", tensor, tensor)


# ---- NumPy's arrays ----

ARRAYS: dict[str, Callable[[], Any]] = {
    "reversed": lambda: numpy.arange(12.0).reshape(3, 4)[:, ::-2],
    "Fortran's order": lambda: numpy.asfortranarray(numpy.arange(12).reshape(3, 4)),
    "scalar": lambda: numpy.float32(2.5),
    "0-D": lambda: numpy.array(True),
    "empty": lambda: numpy.zeros((2, 0), dtype=numpy.complex64),
    "big-endian": lambda: numpy.arange(5, dtype=">i4"),
    "masked": lambda: numpy.ma.masked_array([1.0, 2.0], mask=[True, False], fill_value=9.0),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays(tmp_path: Any, kind: str) -> None:
    array = ARRAYS[kind]()
    save(tmp_path / "a.pt", array)
    loaded = torch.load(tmp_path / "a.pt", weights_only=True).numpy()
    shown = array.filled() if kind == "masked" else numpy.asarray(array)
    assert loaded.dtype == shown.dtype.newbyteorder("=")
    assert loaded.shape == shown.shape
    assert (loaded == shown).all()


# ---- what has no values ----

REFUSED: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "float": lambda: 3.0,
    "text": lambda: "text",
    "list": lambda: [1, 2],
    "meta": lambda: torch.empty(3, device="meta"),
    "meta parameter": lambda: torch.nn.Parameter(torch.empty(3, device="meta")),
    "uninitialised": lambda: torch.nn.UninitializedParameter(),
    "nested": lambda: torch.nested.nested_tensor(
        [torch.ones(2), torch.ones(3)], layout=torch.jagged
    ),
    "nested, strided": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
    "texts": lambda: numpy.array(["a"]),
    "objects": lambda: numpy.array([object()]),
    "a resized storage": lambda: resized(),
}


def resized() -> Any:
    tensor = torch.ones(9)
    tensor.untyped_storage().resize_(0)
    return tensor


@pytest.mark.parametrize("kind", REFUSED)
def test_what_has_no_values(tmp_path: Any, kind: str) -> None:
    with pytest.raises(TypeError):
        save(tmp_path / "a.pt", REFUSED[kind]())
    assert not os.listdir(tmp_path)


def test_fake_tensors(tmp_path: Any) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(3)
    with pytest.raises(TypeError, match="fake"):
        save(tmp_path / "a.pt", fake)
    assert not os.listdir(tmp_path)


def test_the_local_part_of_a_dtensor(tmp_path: Any) -> None:
    distributed = pytest.importorskip("torch.distributed")
    tensor_module = pytest.importorskip("torch.distributed.tensor")
    if not distributed.is_available() or distributed.is_initialized():
        pytest.skip("no process group can be made")
    store = distributed.HashStore()
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        mesh = distributed.init_device_mesh("cpu", (1,))
        plain = torch.arange(12.0).reshape(3, 4)
        whole = tensor_module.distribute_tensor(plain, mesh, [tensor_module.Shard(0)])
        check(tmp_path / "a.pt", whole, plain)
    finally:
        distributed.destroy_process_group()


def test_within_vmap(tmp_path: Any) -> None:
    def inner(x: Any) -> Any:
        with pytest.raises(TypeError, match="batched"):
            save(tmp_path / "a.pt", x)
        return x

    torch.vmap(inner)(torch.ones(3))
    assert not os.listdir(tmp_path)


def test_within_grad(tmp_path: Any) -> None:
    def inner(x: Any) -> Any:
        save(tmp_path / "a.pt", x * 2)
        return x.sum()

    torch.func.grad(inner)(torch.ones(3))
    loaded = torch.load(tmp_path / "a.pt", weights_only=True)
    assert torch.equal(loaded, torch.full((3,), 2.0))
