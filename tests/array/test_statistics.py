"""Statistics and hash of tensors of any dtype, layout and content, against torch on the same data.

torch computes on the data converted to double and made contiguous. Where squares of it would leave
the range of a double it is multiplied by a power of two first, and the result divided by it again.
"""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")
recorder = pytest.importorskip("monitorch._recorder")

pytestmark = pytest.mark.torch

COMMON = dict(
    deadline=None, database=None, suppress_health_check=list(HealthCheck), derandomize=True
)

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
FLOAT8S = [
    getattr(torch, name)
    for name in (
        "float8_e4m3fn",
        "float8_e5m2",
        "float8_e4m3fnuz",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
    )
    if hasattr(torch, name)
]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
UNSIGNED = [torch.uint16, torch.uint32, torch.uint64]
COMPLEX = [torch.complex32, torch.complex64, torch.complex128]
DTYPES = [torch.bool, *FLOATS, *FLOAT8S, *INTEGERS, *UNSIGNED, *COMPLEX]

CONTENTS = [
    "normal",
    "far",
    "constant",
    "zeros",
    "denormal",
    "huge",
    "tiny",
    "outlier",
    "not finite",
    "bits",
]


def numbers(content, count, generator):
    """Doubles of a kind; converting them to a narrow dtype may well make infinities."""
    x = torch.randn(count, generator=generator, dtype=torch.float64)
    if content == "far":
        return x + 1e6
    if content == "constant":
        return x[:1].expand(count).clone()
    if content == "zeros":
        return torch.where(x > 0.5, x, torch.where(x > 0, 0.0, -0.0))
    if content == "denormal":
        return x * 1e-310
    if content == "huge":
        return torch.where(x > 0, 1.0, -0.9) * 1e308 * torch.rand(count, generator=generator)
    if content == "tiny":
        return x * 1e-40
    if content == "outlier":
        x[:1] = 1e15
        return x
    if content == "not finite":
        x[x > 0.8] = math.inf
        x[x < -1] = -math.inf
        x[(x > 0) & (x < 0.2)] = math.nan
    return x


def flat(dtype, content, count, generator):
    """`count` elements of the dtype, one after the other."""
    if content == "bits":
        size = torch.empty(0, dtype=dtype).element_size()
        top = 2 if dtype == torch.bool else 256
        octets = torch.randint(top, (count * size,), generator=generator, dtype=torch.uint8)
        return octets.view(dtype)
    x = numbers(content, count, generator)
    if dtype in COMPLEX:
        y = torch.complex(x, numbers(content, count, generator))
        return y.to(dtype)
    if dtype in INTEGERS + UNSIGNED:
        limits = torch.iinfo(dtype)
        whole = torch.nan_to_num(x * 50, nan=0.0)
        # As doubles the limits of 64 bits are not exact: keep well inside of them.
        clamped = whole.clamp(limits.min * 0.999, limits.max * 0.999)
        if dtype == torch.uint64:
            return clamped.abs().to(torch.int64).view(torch.uint64)
        return clamped.to(torch.int64).to(dtype)
    if dtype == torch.bool:
        return x > 0
    if dtype in FLOAT8S:
        return x.to(torch.float32).to(dtype)
    return x.to(dtype)


@st.composite
def tensors(draw):
    """A tensor whose elements lie in memory in one of many ways."""
    dtype = draw(st.sampled_from(DTYPES))
    content = draw(st.sampled_from(CONTENTS))
    long = draw(st.integers(0, 19)) == 0
    longest = 6000 if long else draw(st.sampled_from([1, 3, 8, 20]))
    dimensions = draw(st.integers(0, 1 if long else 4))
    shape = draw(st.lists(st.integers(0, longest), min_size=dimensions, max_size=dimensions))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    room = [n * draw(st.integers(1, 3)) + draw(st.integers(0, 2)) for n in shape]
    x = flat(dtype, content, math.prod(room), generator).view(room)
    for i, n in enumerate(shape):
        start = draw(st.integers(0, room[i] - n))
        step = draw(st.integers(1, max((room[i] - start) // max(n, 1), 1)))
        x = x.as_strided(
            [*x.shape[:i], n, *x.shape[i + 1 :]],
            [*x.stride()[:i], x.stride(i) * step, *x.stride()[i + 1 :]],
            x.storage_offset() + start * x.stride(i),
        )
    x = x.permute(draw(st.permutations(range(dimensions))))
    if draw(st.integers(0, 7)) == 0:
        x = x.unsqueeze(0).expand(draw(st.integers(1, 5)), *x.shape)
    if dtype in (torch.complex64, torch.complex128):
        x = x.conj() if draw(st.booleans()) else x
        if draw(st.integers(0, 3)) == 0:
            x = torch._neg_view(x)
    return x


def resolved(x):
    """The same values, one after the other, nothing left to be done to them."""
    return x.resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)


def as_doubles(x):
    x = resolved(x).flatten()
    if x.dtype == torch.complex32:
        x = x.to(torch.complex64)
    if x.is_complex():
        return x.to(torch.complex128).abs()
    if x.dtype in FLOAT8S:
        return x.to(torch.float32).double()
    return x.double()


def mean_and_std(finite):
    largest = finite.abs().max().item() if len(finite) else 0.0
    exponent = 0
    if largest and not 1e-100 < largest < 1e100:
        exponent = 1 - math.frexp(largest)[1]
    # In two steps: 2 to the power of 1074 is no double.
    half = 2.0 ** (exponent // 2)
    rest = 2.0 ** (exponent - exponent // 2)
    scaled = finite * half * rest
    mean = scaled.mean().item() / rest / half if len(finite) else math.nan
    std = scaled.std().item() / rest / half if len(finite) > 1 else math.nan
    return mean, std, largest


def bounds(x, finite):
    """Exact for integers, which torch itself cannot always compare."""
    if x.dtype in INTEGERS + UNSIGNED + [torch.bool]:
        values = resolved(x).flatten().tolist()
        return (int(min(values)), int(max(values))) if values else (0, 0)
    return (finite.min().item(), finite.max().item()) if len(finite) else (math.nan, math.nan)


def is_near(got, wanted, size):
    """To 1e-6; where parts of opposite sign cancel, to what a double still knows of them."""
    if math.isnan(wanted) or math.isinf(wanted):
        return got == wanted or (math.isnan(got) and math.isnan(wanted))
    return abs(got - wanted) <= 1e-6 * abs(wanted) + 1e-13 * size


def check(x, measured):
    doubles = as_doubles(x)
    finite = doubles[torch.isfinite(doubles)]
    mean, std, largest = mean_and_std(finite)
    assert measured["count"] == x.numel()
    assert measured["nan"] == doubles.isnan().sum().item()
    assert measured["posinf"] == (doubles == math.inf).sum().item()
    assert measured["neginf"] == (doubles == -math.inf).sum().item()
    assert measured["zeros"] == (doubles == 0).sum().item()
    for name, wanted in zip(("min", "max"), bounds(x, finite)):
        got = measured[name]
        if x.is_complex():
            assert got == pytest.approx(wanted, rel=1e-15, nan_ok=True)
        else:
            assert got == wanted or (math.isnan(got) and math.isnan(wanted)), name
    assert is_near(measured["mean"], mean, largest)
    assert is_near(measured["std"], std, largest)
    if len(finite) > 1 and finite.min() == finite.max():
        assert measured["std"] == 0


def check_statistics(x):
    check(x, recorder.measure(x, sample=0))


def check_hash(x, draw):
    """Equal for equal elements in the same order, however they lie; else not."""
    copied = resolved(x)
    found = recorder.measure(x, sample=0, stats=False)["hash"]
    assert recorder.measure(copied.flatten(), sample=0, stats=False)["hash"] == found
    octets = copied.flatten().view(torch.uint8)
    if len(octets):
        octets[draw(st.integers(0, len(octets) - 1))] ^= 1 << draw(st.integers(0, 7))
        if x.dtype != torch.bool:
            assert recorder.measure(copied, sample=0, stats=False)["hash"] != found


@settings(max_examples=400, **COMMON)
@given(tensors())
def test_statistics(x):
    check_statistics(x)


@settings(max_examples=100, **COMMON)
@given(tensors(), st.data())
def test_hash(x, data):
    check_hash(x, data.draw)


@pytest.mark.slow
@settings(max_examples=8000, **COMMON)
@given(tensors())
def test_statistics_long(x):
    check_statistics(x)


@pytest.mark.slow
@settings(max_examples=1000, **COMMON)
@given(tensors(), st.data())
def test_hash_long(x, data):
    check_hash(x, data.draw)


@st.composite
def arrays(draw):
    """NumPy arrays have what tensors have not: negative strides, and elements at odd addresses."""
    dtype = numpy.dtype(
        draw(
            st.sampled_from(
                "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64 "
                "complex64 complex128".split()
            )
        )
    )
    count = draw(st.integers(0, 200))
    offset = draw(st.integers(0, 15))
    seed = draw(st.integers(0, 2**31))
    octets = numpy.random.default_rng(seed).integers(0, 2, offset + count * dtype.itemsize, "u1")
    if dtype.kind != "b":
        octets *= numpy.random.default_rng(seed + 1).integers(0, 256, len(octets), "u1")
    array = numpy.frombuffer(octets.tobytes(), dtype, count, offset)
    if count % 2 == 0:
        array = array.reshape(2, -1)[:: draw(st.sampled_from([1, -1]))]
    array = array[..., :: draw(st.sampled_from([1, 2, -1, -3]))]
    return array.T if draw(st.booleans()) else array


def check_array(array):
    measured = recorder.measure(array, sample=0)
    copied = numpy.array(array, order="C")  # also where torch could not read it: aligned
    check(torch.from_numpy(copied), measured)
    assert measured["hash"] == recorder.measure(copied, sample=0)["hash"]


@settings(max_examples=100, **COMMON)
@given(arrays())
def test_arrays(array):
    check_array(array)


@pytest.mark.slow
@settings(max_examples=1000, **COMMON)
@given(arrays())
def test_arrays_long(array):
    check_array(array)


@pytest.mark.parametrize("count", [1_048_577, 5_000_003])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64, torch.int64])
def test_large(dtype, count):
    x = (torch.randn(count, generator=torch.Generator().manual_seed(7)) * 100 + 1000).to(dtype)
    one = recorder.measure(x, sample=0, threads=1)
    check(x, one)
    for threads in (0, 2, 3):
        several = recorder.measure(x, sample=0, threads=threads)
        assert [several[k] for k in ("hash", "mean", "std")] == [
            one[k] for k in ("hash", "mean", "std")
        ]
    turned = x[: count // 1000 * 1000].view(-1, 1000).t()
    check(turned, recorder.measure(turned, sample=0))


def test_hash_sees_order_and_signs():
    x = torch.tensor([1.0, 2.0, 0.0])
    found = {
        recorder.measure(y)["hash"]
        for y in (x, x.flip(0), -x, x * torch.tensor([1, 1, -1.0]), x[:2], x.double())
    }
    assert len(found) == 6
