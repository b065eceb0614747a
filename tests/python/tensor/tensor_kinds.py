"""The table of every kind of tensor and array that can reach a forward: how to make one, and what
the recorder must say of it. Used by test_tensors.py and by its child processes."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import Any, Callable

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.nn.parameter import UninitializedParameter

try:
    import numpy
except ImportError:
    numpy = None

warnings.filterwarnings("ignore", category=UserWarning)
warnings.filterwarnings("ignore", category=FutureWarning)

PARAMETER, CONJUGATED, NEGATED, NUMPY = 2, 4, 8, 16


@dataclass
class Kind:
    """`facts`: what measure() must answer; `values`: the tensor whose statistics must be told, None
    where there must be none; `getters`: facts that differ where torch is asked by getters alone."""

    name: str
    make: Callable[[], Any]
    facts: dict = field(default_factory=dict)
    values: Callable[[Any], Any] | None = None
    getters: dict = field(default_factory=dict)


class CalledByRecorder(BaseException):
    """Raised by code that the recorder must never run."""


class Plain(torch.Tensor):
    """A subclass with data of its own."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        raise CalledByRecorder(function)

    shape = dtype = property(lambda self: (_ for _ in ()).throw(CalledByRecorder()))


class Wrapper(torch.Tensor):
    """A subclass whose every answer is computed by its own code."""

    @staticmethod
    def __new__(cls, policy):
        return torch.Tensor._make_wrapper_subclass(
            cls,
            (2, 3),
            dtype=torch.float16,
            requires_grad=True,
            dispatch_sizes_strides_policy=policy,
            dispatch_device=policy is not None,
            dispatch_layout=policy is not None,
        )

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise CalledByRecorder(function)

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        raise CalledByRecorder(function)


def same(tensor):
    return tensor


def ramp(*shape, dtype=torch.float32):
    return torch.arange(math.prod(shape)).reshape(shape).to(dtype)


def strided(name, make, values=same, **facts):
    return Kind(name, make, {"layout": "strided", "note": "", "type": "", **facts}, values)


def described(name, make, getters=None, **facts):
    return Kind(name, make, facts, None, getters or {})


def written(tensor, count):
    for _ in range(count):
        tensor.add_(1)
    return tensor


def resized_away():
    tensor = torch.ones(10)
    tensor.untyped_storage().resize_(0)
    return tensor


def half_resized():
    tensor = torch.ones(10)[3:]
    tensor.untyped_storage().resize_(36)
    return tensor


def in_inference_mode():
    with torch.inference_mode():
        return torch.ones(3)


def symbolic():
    mode = FakeTensorMode(shape_env=ShapeEnv())
    with mode:
        return torch.empty(mode.shape_env.create_unbacked_symint(), 4)


def fake(device):
    with FakeTensorMode():
        return torch.empty(3, 4, device=device)


def retained():
    tensor = ramp(3).requires_grad_() * 2
    tensor.retain_grad()
    return tensor


def block_sparse(layout):
    return torch.eye(4).to_sparse(layout=layout, blocksize=(2, 2))


def quantised():
    return torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)


def jagged():
    return torch.nested.nested_tensor([torch.ones(3), torch.ones(4)], layout=torch.jagged)


MEASURED_DTYPES = """bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float32 float64
    complex32 complex64 complex128 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz
    float8_e8m0fnu""".split()
BYTE_DTYPES = "uint1 uint2 uint4 int4 bits8 bits16 bits1x8".split()


def of_dtype(dtype):
    return torch.tensor([0, 1, 1, 0, 1, 0]).reshape(2, 3).to(dtype)


def torch_dtypes():
    for name in MEASURED_DTYPES:
        dtype = getattr(torch, name, None)
        if dtype is not None:
            yield strided(
                f"dtype {name}", lambda dtype=dtype: of_dtype(dtype), shape=(2, 3), dtype=name
            )
    for name in BYTE_DTYPES:
        dtype = getattr(torch, name, None)
        if dtype is not None:
            yield described(
                f"dtype {name}",
                lambda dtype=dtype: torch.empty(3, dtype=dtype),
                shape=(3,),
                dtype=name,
                note="dtype not read",
            )
    if hasattr(torch, "float4_e2m1fn_x2"):
        yield Kind(
            "dtype float4_e2m1fn_x2",
            lambda: torch.zeros(3, dtype=torch.uint8).view(torch.float4_e2m1fn_x2),
            {"dtype": "float4_e2m1fn_x2", "shape": (3,), "is_readable": True},
        )


STRIDED = [
    strided(
        "contiguous", lambda: ramp(2, 3), shape=(2, 3), strides=(3, 1), device="cpu", version=0
    ),
    strided("transposed", lambda: ramp(2, 3).t(), shape=(3, 2), strides=(1, 3)),
    strided("view with an offset", lambda: ramp(10)[4:], shape=(6,), offset=4),
    strided("stepped view", lambda: ramp(4, 10)[:, 1::3], shape=(4, 3), strides=(10, 3), offset=1),
    strided("expanded", lambda: ramp(3, 1).expand(3, 5), shape=(3, 5), strides=(1, 0)),
    strided(
        "channels last",
        lambda: ramp(2, 3, 4, 5).to(memory_format=torch.channels_last),
        strides=(60, 1, 15, 3),
    ),
    strided("seven dimensions", lambda: ramp(1, 2, 1, 3, 1, 2, 2), shape=(1, 2, 1, 3, 1, 2, 2)),
    strided("64 dimensions", lambda: torch.ones([1] * 64), shape=(1,) * 64),
    strided("no dimensions", lambda: torch.tensor(3.5), shape=(), strides=(), count=1),
    strided("no elements", lambda: torch.ones(0, 3), shape=(0, 3), count=0, is_readable=True),
    strided("no elements, of a view", lambda: ramp(5)[5:], shape=(0,), offset=5, count=0),
    strided("written three times", lambda: written(ramp(3), 3), version=3),
    strided("view of a written one", lambda: written(ramp(5), 2)[1:3], version=2, offset=1),
    strided("requires grad", lambda: ramp(3).requires_grad_(), requires_grad=True),
    strided(
        "of a graph",
        lambda: ramp(3).requires_grad_() * 2,
        requires_grad=True,
        values=torch.Tensor.detach,
    ),
    strided(
        "view of what requires grad",
        lambda: ramp(3).requires_grad_()[1:],
        requires_grad=True,
        offset=1,
        values=torch.Tensor.detach,
    ),
    strided(
        "no longer requires grad",
        lambda: ramp(3).requires_grad_().requires_grad_(False),
        requires_grad=False,
    ),
    strided(
        "of a graph, its gradient retained",
        retained,
        requires_grad=True,
        values=torch.Tensor.detach,
    ),
    strided(
        "taken out of a graph",
        lambda: (ramp(3).requires_grad_() * 2).detach(),
        requires_grad=False,
    ),
    strided(
        "parameter", lambda: torch.nn.Parameter(ramp(3)), requires_grad=True, flags=PARAMETER + 1
    ),
    strided(
        "frozen parameter",
        lambda: torch.nn.Parameter(ramp(3), False),
        requires_grad=False,
        flags=PARAMETER,
    ),
    strided("buffer", lambda: torch.nn.Buffer(ramp(3)), requires_grad=False, flags=0),
    strided("of inference mode", in_inference_mode, version=0, shape=(3,)),
    strided(
        "conjugated",
        lambda: torch.tensor([1 + 2j, 3 - 4j]).conj(),
        flags=CONJUGATED,
        dtype="complex64",
    ),
    strided("negated", lambda: torch._neg_view(ramp(3) + 1), flags=NEGATED, min=-3.0, max=-1.0),
    strided(
        "imaginary part of a conjugate",
        lambda: torch.tensor([1 + 2j, 3 - 4j]).conj().imag,
        flags=NEGATED,
        dtype="float32",
        strides=(2,),
        offset=1,
    ),
    strided("of shared memory", lambda: ramp(3).share_memory_()),
    Kind(
        "subclass",
        lambda: torch.Tensor._make_subclass(Plain, ramp(3)),
        {"type": "Plain", "shape": (3,), "note": "", "dtype": "float32", "max": 2.0},
        lambda tensor: ramp(3),
    ),
]

DESCRIBED = [
    described(
        "meta",
        lambda: torch.empty(3, 4, device="meta"),
        note="meta",
        device="meta",
        shape=(3, 4),
        strides=(4, 1),
    ),
    described("storage resized to nothing", resized_away, note="storage too small", shape=(10,)),
    described("storage cut off", half_resized, note="storage too small", shape=(7,), offset=3),
    described(
        "sparse coo",
        lambda: torch.eye(4).to_sparse(),
        layout="sparse_coo",
        note="sparse, 4 stored",
        shape=(4, 4),
        dtype="float32",
    ),
    described(
        "sparse csr",
        lambda: torch.eye(4).to_sparse_csr(),
        layout="sparse_csr",
        note="sparse, 4 stored",
        shape=(4, 4),
    ),
    described(
        "sparse csc",
        lambda: torch.eye(4).to_sparse_csc(),
        layout="sparse_csc",
        note="sparse, 4 stored",
    ),
    described(
        "sparse bsr",
        lambda: block_sparse(torch.sparse_bsr),
        layout="sparse_bsr",
        note="sparse, 2 stored",
    ),
    described(
        "sparse bsc",
        lambda: block_sparse(torch.sparse_bsc),
        layout="sparse_bsc",
        note="sparse, 2 stored",
    ),
    described("quantised", quantised, dtype="qint8", note="quantised", shape=(3,)),
    described(
        "nested",
        lambda: torch.nested.nested_tensor([torch.ones(3), torch.ones(4)]),
        shape=(),
        note="nested, shape not known",
    ),
    described(
        "jagged",
        jagged,
        shape=(),
        layout="jagged",
        note="nested, shape not known",
        type="NestedTensor",
    ),
    described("mkldnn", lambda: ramp(3).to_mkldnn(), layout="_mkldnn", note="mkldnn", shape=(3,)),
    described("zero tensor", lambda: torch._efficientzerotensor(3), note="zero tensor", shape=(3,)),
    described(
        "fake",
        lambda: fake("cpu"),
        note="fake",
        shape=(3, 4),
        strides=(4, 1),
        device="cpu",
        type="FakeTensor",
    ),
    described(
        "fake, another device", lambda: fake("cuda:1"), note="fake", shape=(3, 4), device="cuda:1"
    ),
    described("symbolic", symbolic, note="fake, shape not known", shape=()),
    described(
        "uninitialised parameter",
        UninitializedParameter,
        note="uninitialised",
        flags=PARAMETER + 1,
        type="UninitializedParameter",
    ),
    described(
        "wrapper",
        lambda: Wrapper(None),
        note="wrapper",
        shape=(2, 3),
        dtype="float16",
        type="Wrapper",
        requires_grad=True,
        getters={"note": "wrapper, shape not known", "shape": ()},
    ),
    described(
        "wrapper that answers itself",
        lambda: Wrapper("sizes"),
        note="wrapper",
        shape=(2, 3),
        dtype="float16",
        getters={"note": "wrapper, shape not known", "shape": ()},
    ),
]


def numpy_kinds():
    if numpy is None:
        return
    for dtype in "? u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8 c8 c16".split():
        kind = numpy.dtype(dtype)
        yield Kind(
            f"numpy {kind.name}",
            lambda kind=kind: numpy.array([[0, 1, 1], [0, 1, 0]]).astype(kind),
            {
                "dtype": kind.name,
                "shape": (2, 3),
                "strides": (3, 1),
                "flags": NUMPY,
                "note": "",
                "type": "",
            },
            torch.from_numpy,
        )

    def arrays(name, make, **facts):
        return Kind(
            name, make, facts, lambda array: torch.from_numpy(numpy.ascontiguousarray(array))
        )

    yield arrays("numpy reversed", lambda: numpy.arange(6.0)[::-2], strides=(-2,), shape=(3,))
    yield arrays("numpy Fortran order", lambda: numpy.asfortranarray(numpy.eye(3)), strides=(1, 3))
    yield arrays(
        "numpy broadcast", lambda: numpy.broadcast_to(numpy.ones(1), (4, 5)), strides=(0, 0)
    )
    yield arrays("numpy no elements", lambda: numpy.zeros((0, 3)), shape=(0, 3), count=0)
    yield arrays("numpy no dimensions", lambda: numpy.array(2.5), shape=(), count=1)
    yield arrays("numpy read only", lambda: numpy.frombuffer(b"abcd", "u1"), dtype="uint8", max=100)
    yield arrays("numpy matrix", lambda: numpy.matrix([[1.0, 2.0]]), type="matrix", shape=(1, 2))
    yield arrays(
        "numpy misaligned", lambda: numpy.frombuffer(b"\0" * 9, "u1")[1:].view("f8"), count=1
    )
    yield Kind(
        "numpy scalar",
        lambda: numpy.float32(2.5),
        {"shape": (), "dtype": "float32", "type": "float32", "min": 2.5, "count": 1},
        torch.tensor,
    )
    for name, make, text in [
        ("big-endian", lambda: numpy.ones(3, ">f4"), ">f4"),
        ("object", lambda: numpy.array([1, "a"], object), "object"),
        ("str", lambda: numpy.array(["abc"]), "<U3"),
        ("bytes", lambda: numpy.array([b"abc"]), "|S3"),
        ("structured", lambda: numpy.zeros(2, [("a", "i4"), ("b", "f8")]), "|V12"),
        ("datetime", lambda: numpy.zeros(2, "M8[s]"), "<M8"),
        ("timedelta", lambda: numpy.zeros(2, "m8[s]"), "<m8"),
        ("str scalar", lambda: numpy.str_("abc"), "<U3"),
    ]:
        yield described(f"numpy {name}", make, dtype=text, note="dtype not read")
    if numpy.dtype(numpy.longdouble).itemsize != 8:
        size = numpy.dtype(numpy.longdouble).itemsize
        yield described(
            "numpy longdouble", lambda: numpy.zeros(2, numpy.longdouble), dtype=f"<f{size}"
        )
    yield described(
        "numpy masked",
        lambda: numpy.ma.array([1, 2], mask=[0, 1]),
        note="masked",
        dtype="int64",
        type="MaskedArray",
    )


def can_be_made(kind):
    """Older torches lack some; this one, which the tests are written for, lacks none."""
    if torch.__version__ >= (2, 13):
        return True
    try:
        if kind.values is not None:
            expected_statistics(kind.values(kind.make()))
        return kind.make() is not None
    except (AttributeError, NotImplementedError, RuntimeError, TypeError):
        return False


def expected_statistics(values):
    """By torch, in double: count, NaN, infinities, zeros, and of the finite ones min, max and mean."""
    values = values.detach().resolve_conj().resolve_neg().clone()
    if values.dtype == torch.complex32:
        values = values.to(torch.complex64)
    if values.is_complex():
        zeros = (values == 0).sum().item()
        values = values.to(torch.complex128).abs()
    else:
        values = values.to(torch.float64)
        zeros = (values == 0).sum().item()
    finite = values[torch.isfinite(values)]
    facts = {
        "count": values.numel(),
        "nan": values.isnan().sum().item(),
        "posinf": values.isposinf().sum().item(),
        "neginf": values.isneginf().sum().item(),
        "zeros": zeros,
    }
    if finite.numel():
        facts |= {
            "min": finite.min().item(),
            "max": finite.max().item(),
            "mean": finite.mean().item(),
        }
    return facts


def differences(kind, tensor, measured, uses_getters=False, values=None, is_on_device=False):
    """What measure() said of `tensor` and should not have said: texts, none where all is well.
    `values` are statistics computed before, where torch cannot be asked just now. Where plain tensors
    are treated as another device's, their values are measured but not read."""
    if measured is None:
        return [f"{kind.name}: no tensor"]
    facts = dict(kind.facts)
    if uses_getters:
        facts |= kind.getters
    if kind.values is not None:
        facts |= {"is_readable": True, **(values or expected_statistics(kind.values(tensor)))}
    elif "is_readable" not in facts:
        facts |= {"is_readable": False}
    if is_on_device and isinstance(tensor, torch.Tensor):
        facts["is_readable"] = False
    wrong = [
        f"{kind.name}: {name} is {measured.get(name)!r}, should be {wanted!r}"
        for name, wanted in facts.items()
        if not equal(measured.get(name), wanted)
    ]
    if (
        kind.values is None
        and not facts["is_readable"]
        and ("mean" in measured or "hash" in measured)
    ):
        wrong.append(f"{kind.name}: values were told that cannot be known")
    return wrong


def equal(got, wanted):
    if isinstance(wanted, float) and isinstance(got, (int, float)):
        return math.isclose(got, wanted, rel_tol=1e-6)
    return got == wanted


KINDS = [
    kind for kind in [*torch_dtypes(), *STRIDED, *DESCRIBED, *numpy_kinds()] if can_be_made(kind)
]
