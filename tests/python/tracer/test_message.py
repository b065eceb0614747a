"""What ranks send to each other: tensors and plain values as they were, nothing run that came."""

from __future__ import annotations

import collections
import dataclasses
import json
import math
import pickle
import types

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from tests.support import recording  # noqa: E402

recording.package()

from monitorch.tracer import _message  # noqa: E402

pytestmark = pytest.mark.torch

Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Config:
    width: int
    weight: object


class Opaque:
    pass


def there_and_back(value, **options):
    message = _message.pack({"x": ([value], [7])}, **options)
    assert message.dtype == torch.uint8 and message.dim() == 1
    found = _message.unpack(message, 3, **options)
    assert list(found) == ["x"] and found["x"][1] == [7]
    (value,) = found["x"][0]
    return value


DTYPES = [
    getattr(torch, name)
    for name in (
        "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
        "complex64 complex128 float8_e4m3fn float8_e5m2"
    ).split()
    if hasattr(torch, name)
]


def same_bytes(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and bytes_of(a) == bytes_of(b)


def bytes_of(tensor):
    whole = tensor.new_empty(tensor.shape).copy_(tensor).reshape(-1)
    return whole.view(torch.uint8).tolist() if whole.numel() else []


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (3,), (5, 1, 7), (0,), (2, 0, 3)], ids=str)
def test_tensors(dtype, shape):
    count = math.prod(shape) * torch.empty((), dtype=dtype).element_size()
    given = torch.randint(0, 2, (count,), dtype=torch.uint8)
    tensor = given.view(dtype).reshape(shape) if count else torch.empty(shape, dtype=dtype)
    assert same_bytes(there_and_back(tensor), tensor)


def test_tensors_of_all_dtypes_together():
    """Each begins where its dtype may, whatever stands before it."""
    tensors = [torch.ones(n, dtype=dtype) for n in (1, 3, 7) for dtype in DTYPES[:13]]
    found = there_and_back(tensors)
    assert all(same_bytes(a, b) for a, b in zip(found, tensors)) and len(found) == len(tensors)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(12.0).reshape(3, 4).t(),
        torch.arange(12.0)[::2],
        torch.ones(3, 1).expand(3, 5),
        torch.tensor([1 + 2j]).conj(),
        torch.tensor([1 + 2j]).conj().imag,
        torch.nn.Parameter(torch.ones(3)),
        torch.ones(3, requires_grad=True) * 2,
        torch.tensor(float("nan")),
    ],
    ids=["transposed", "strided", "expanded", "conj", "neg", "parameter", "grad", "nan"],
)
def test_tensors_of_any_kind(tensor):
    found = there_and_back(tensor)
    expected = tensor.detach().clone().resolve_conj().resolve_neg()
    assert same_bytes(found, expected) and not found.requires_grad
    assert type(found) is torch.Tensor


def test_sparse_tensors():
    dense = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    for sparse in (dense.to_sparse(), dense.to_sparse_csr(), dense.to_sparse_csc()):
        assert torch.equal(there_and_back(sparse).to_dense(), dense)
    assert there_and_back(dense.to_sparse()).layout == torch.sparse_coo


def test_memory_is_its_own():
    tensor = torch.ones(4)
    message = _message.pack({"x": ([tensor], [1])})
    tensor.zero_()
    assert _message.unpack(message, 0)["x"][0][0].tolist() == [1.0] * 4


PLAIN = [
    None,
    True,
    -1,
    10**400,
    -(10**5000),
    2.5,
    float("inf"),
    1e-320,
    "text \ud800 \N{SNOWMAN}",
    b"\x00\xff",
    1 - 2j,
    [],
    (1, (2, [3])),
    {"a": {1: (2,)}, (1, 2): None},
    {1, 2},
    frozenset({"x"}),
    slice(1, None, 2),
    torch.Size([2, 3]),
    torch.float16,
    torch.device("cuda:1"),
    Pair(1, "x"),
    types.SimpleNamespace(a=1, b=[2]),
]


@pytest.mark.parametrize("value", PLAIN, ids=lambda v: type(v).__name__)
def test_plain_values(value):
    found = there_and_back(value)
    assert type(found) is type(value) and found == value


def test_containers_of_tensors():
    value = {
        "k": [torch.ones(2), (torch.zeros(1, dtype=torch.int8), None)],
        "p": Pair(torch.ones(3), 1),
    }
    found = there_and_back(value)
    assert found["k"][0].tolist() == [1, 1] and found["k"][1][0].dtype == torch.int8
    assert type(found["p"]) is Pair and found["p"].left.shape == (3,)
    found = there_and_back(Config(3, torch.ones(2)))
    assert found.width == 3 and found.weight.tolist() == [1, 1]


def test_named_tuples_of_unknown_classes():
    """No module is imported because another rank names it."""
    local = collections.namedtuple("Local", "a b")
    local.__module__ = "antigravity"
    found = there_and_back(local(1, 2))
    assert found._fields == ("a", "b") and tuple(found) == (1, 2)
    local.__module__, local.__qualname__ = "os", "_exit"
    assert tuple(there_and_back(local(1, 2))) == (1, 2)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3)[:, ::-1],
        np.float32(2.5),
        np.array(3),
        np.array([True]),
        np.zeros((0, 2)),
    ],
    ids=["flipped", "scalar", "no axes", "bool", "empty"],
)
def test_arrays(array):
    found = there_and_back(array)
    assert type(found) is type(array) and found.dtype == array.dtype
    assert np.array_equal(found, array)


def test_objects_are_named_and_not_pickled(caplog):
    _message._warned.clear()
    for _ in range(2):
        found = there_and_back([Opaque(), np.array(["x"]), torch.ones(1, device="meta")])
        assert [item.type_name for item in found] == [
            f"{__name__}.Opaque",
            "numpy.ndarray",
            "torch.Tensor",
        ]
        assert found[0].rank == 3 and "Opaque of rank 3" in repr(found[0])
    told = [record.getMessage() for record in caplog.records if "Opaque" in record.getMessage()]
    assert len(told) == 1 and "allow_pickle=True" in told[0]


def test_objects_are_pickled_where_both_allow_it(caplog):
    assert there_and_back([Config], allow_pickle=True) == [Config]
    message = _message.pack({"x": ([Config], [1])}, allow_pickle=True)
    with pytest.raises(_message.MessageError, match="rank 2 sent a pickle: pass allow_pickle=True"):
        _message.unpack(message, 2)
    found = there_and_back([lambda: 0], allow_pickle=True)
    assert isinstance(found[0], _message.NotGathered)


def test_a_pickle_is_not_run():
    class Bomb:
        def __reduce__(self):
            return exec, ("raise SystemExit",)

    import base64

    written = [[["x", [{"pickle": base64.b64encode(pickle.dumps(Bomb())).decode()}], [1]]], []]
    with pytest.raises(_message.MessageError):
        _message.unpack(made_of(json.dumps(written).encode()), 0)


def test_what_contains_itself():
    loop = [1]
    loop.append(loop)
    found = there_and_back(loop)
    assert found[0] == 1 and isinstance(found[1], _message.NotGathered)
    deep = value = []
    for _ in range(5000):
        value.append([])
        value = value[0]
    there_and_back(deep)


def test_mappings_that_raise():
    class Broken(collections.UserDict):
        def items(self):
            raise RuntimeError("no")

    assert isinstance(there_and_back(Broken()), _message.NotGathered)


def test_the_programs_modes_see_nothing():
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Counting(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    tensor = torch.arange(6.0).reshape(2, 3).t()
    before = torch.get_rng_state()
    with Counting(), torch.inference_mode(), torch.device("meta"):
        found = there_and_back(tensor)
    assert not seen and torch.equal(found, tensor) and not found.is_inference()
    assert torch.equal(torch.get_rng_state(), before)


def made_of(text, rest=b"", size=None):
    head = (len(text) if size is None else size).to_bytes(8, "little") + text
    head += bytes(-len(head) % 64)
    return torch.frombuffer(bytearray(head + rest), dtype=torch.uint8)


@pytest.mark.parametrize(
    "message",
    [
        torch.empty(0, dtype=torch.uint8),
        torch.zeros(3, dtype=torch.uint8),
        torch.full((64,), 255, dtype=torch.uint8),
        made_of(b"[[],[]]", size=1 << 40),
        made_of(b"[[],[]]", rest=b"more"),
        made_of(b"nonsense"),
        made_of(b"[]"),
        made_of(b'[[["x",1,[]]],[]]'),
        made_of(b'[[["x",[{"tensor":0}],[1]]],[]]'),
        made_of(b'[[["x",[{"tensor":-1}],[1]]],[["uint8",[1]]]]', rest=b"x"),
        made_of(b'[[],[["uint8",[-1]]]]'),
        made_of(b'[[],[["load",[1]]]]', rest=b"x"),
        made_of(b'[[],[["float32",[1099511627776]]]]', rest=b"1234"),
        made_of(b'[[["x",[{"eval":"1"}],[]]],[]]'),
        made_of(b'[[["x",[{"int":"1","dict":[]}],[]]],[]]'),
        made_of(b'[[["x",[{"dtype":"load"}],[]]],[]]'),
        made_of(b"[" * 100000),
    ],
    ids=lambda m: (
        bytes(m[8:50].tolist()).decode("latin-1").strip("\0")[:30] if m.numel() else "empty"
    ),
)
def test_damaged_messages(message):
    with pytest.raises(_message.MessageError):
        _message.unpack(message, 1)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.complex_numbers(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.integers()), inner)
    ),
    max_leaves=30,
)


@settings(max_examples=200, deadline=None)
@given(values)
def test_values_at_random(value):
    assert repr(there_and_back(value)) == repr(value)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_bytes_at_random(data):
    """A message with some bytes changed is read, or refused; nothing else happens."""
    message = _message.pack({"x": ([torch.ones(3), {"a": 1, "b": (2.5, b"x")}], [1, 2])})
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, message.numel() - 1))
        message[at] = data.draw(st.integers(0, 255))
    try:
        _message.unpack(message[: data.draw(st.integers(0, message.numel()))], 0)
    except _message.MessageError:
        pass
