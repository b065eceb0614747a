"""spy_load on files of others: of torch.save and the package safetensors, whole and damaged."""

from __future__ import annotations

import math
import pickle
import warnings
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import DebugContext, TensorSaver, spy_load, spy_save  # noqa: E402

pytestmark = pytest.mark.torch

FORMATS = ["pt", "safetensors", "mtrace"]
# What torch.save writes and torch.load reads; of quantised ones the scales would be missing.
DTYPES = [
    getattr(torch, name)
    for name in """bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float32
    float64 complex32 complex64 complex128 float8_e4m3fn float8_e5m2 float8_e4m3fnuz
    float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2""".split()
    if hasattr(torch, name)
]


def any_bits(dtype, *shape):
    """A tensor of random bits: NaN, infinities and subnormals too."""
    count = math.prod(shape) * dtype.itemsize
    values = torch.randint(0, 2 if dtype == torch.bool else 256, (count,), dtype=torch.uint8)
    return values.view(dtype).reshape(shape)


def bits(tensor):
    plain = tensor.detach().resolve_conj().resolve_neg()
    return plain.clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8)


def same(one, other):
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return torch.equal(bits(one), bits(other))


def load_quietly(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return spy_load(path)


def load_one(tensor, path, **options):
    torch.save(tensor, path, **options)
    (entry,) = spy_load(path).entries()
    return entry.load()


# Files of torch.save


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("form", ["whole", "turned", "scalar", "empty", "steps", "expanded"])
def test_every_dtype_of_torch(tmp_path, dtype, form):
    x = any_bits(dtype, 6, 4)
    x = {
        "whole": x,
        "turned": x.t(),
        "scalar": x[3, 2],
        "empty": x[:0],
        "steps": x[1::2, ::3],
        "expanded": x[0].expand(3, 4),
    }[form]
    found = load_one(x, tmp_path / "x.pt")
    assert same(found, x) and found.stride() == x.stride()


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize(
    "make",
    [
        lambda x: torch.nn.Parameter(x),
        lambda x: x.requires_grad_(),
        lambda x: torch.nn.Buffer(x),
        lambda x: torch.complex(x, x).conj(),
        lambda x: torch.complex(x, x).conj().imag,
        lambda x: torch.complex(x, x).conj().t()[1:],
        lambda x: x.as_strided((2, 2, 2), (1, 0, 3), 1),
        lambda x: torch.zeros(2, 0, 3),
    ],
    ids=["parameter", "grad", "buffer", "conj", "neg", "conj_view", "as_strided", "no_elements"],
)
def test_kinds_of_tensors(tmp_path, make, protocol):
    x = make(torch.randn(4, 3))
    found = load_one(x, tmp_path / "x.pt", pickle_protocol=protocol)
    assert same(found, x) and type(found) is torch.Tensor and not found.requires_grad


@pytest.mark.parametrize("protocol", [2, 4])
def test_attributes_are_passed_over(tmp_path, protocol):
    x = torch.nn.Parameter(torch.randn(3))
    x.more = {"a": [1, 2.5, (None, True), b"bytes", "text"], "b": {1, 2}, "c": 10**40, "d": -7}
    assert same(load_one(x, tmp_path / "x.pt", pickle_protocol=protocol), x)


@st.composite
def views(draw):
    """A tensor after some steps that leave its values where they are."""
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    x = any_bits(draw(st.sampled_from(DTYPES)), *shape)
    for _ in range(draw(st.integers(0, 4))):
        step = draw(st.sampled_from(["turn", "cut", "pick", "widen", "add"]))
        if step == "add":
            x = x.unsqueeze(draw(st.integers(0, x.dim())))
        elif x.dim() == 0:
            continue
        elif step == "turn":
            x = x.transpose(draw(st.integers(0, x.dim() - 1)), draw(st.integers(0, x.dim() - 1)))
        elif step == "cut":
            x = x[draw(st.integers(0, 3)) :: draw(st.integers(1, 3))]
        elif step == "pick" and x.shape[0] > 0:
            x = x[draw(st.integers(0, x.shape[0] - 1))]
        elif step == "widen":
            x = x.unsqueeze(0).expand(draw(st.integers(0, 3)), *x.shape)
    return x


@settings(max_examples=150, deadline=None)
@given(x=views(), protocol=st.integers(2, 5), name=st.text(max_size=8))
def test_any_view(tmp_path_factory, x, protocol, name):
    folder = tmp_path_factory.mktemp("saved")
    torch.save(x, folder / "x.pt", pickle_protocol=protocol)
    (found,) = spy_load(folder).tensors()
    assert same(found, x) and found.stride() == x.stride()
    saver = TensorSaver(folder / "ours")
    with DebugContext(saver):
        spy_save(name, x)
    assert same(spy_load(folder / "ours")["", "manual", name, 0], x)


def test_a_view_reads_its_own_bytes_alone(tmp_path):
    x = torch.arange(1_000_000.0).reshape(1000, 1000)[10:12, 5:7]
    found = load_one(x, tmp_path / "x.pt")
    assert same(found, x) and found.untyped_storage().nbytes() == 4 * (1000 + 2)


def test_what_is_no_plain_tensor(tmp_path):
    x = torch.randn(3, 3)
    others = {
        "dict": {"a": x},
        "list": [x],
        "tuple": (x, x),
        "int": 3,
        "_rebuild_sparse_tensor": torch.nn.Parameter(x.to_sparse()),
        "_rebuild_meta_tensor_no_storage": torch.empty(3, device="meta"),
        "_rebuild_qtensor": torch.quantize_per_tensor(x, 0.1, 0, torch.qint8),
        "_rebuild_nested_tensor": torch.nested.nested_tensor([x, x]),
        "Linear": torch.nn.Linear(2, 2),
    }
    for name, other in others.items():
        torch.save(other, tmp_path / f"{name}.pt")
        with pytest.raises(OSError, match=f"{name}.*expected one plain tensor"):
            spy_load(tmp_path / f"{name}.pt")
    found = load_quietly(tmp_path)
    assert len(found) == 0 and len(found.damage) == len(others)


def test_the_old_format_of_torch_is_told(tmp_path):
    torch.save(torch.ones(2), tmp_path / "x.pt", _use_new_zipfile_serialization=False)
    with pytest.raises(OSError, match="x.pt: no zip archive, expected a file of torch.save"):
        spy_load(tmp_path / "x.pt")


class Touch:
    """Unpickled, it makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.mark.parametrize("protocol", range(6))
def test_no_pickle_is_run(tmp_path, protocol):
    mark = tmp_path / "mark"
    folder = tmp_path / "saved"
    folder.mkdir()
    with zipfile.ZipFile(folder / "x.pt", "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Touch(str(mark)), protocol))
    found = load_quietly(folder)
    assert len(found) == 0 and len(found.damage) == 1 and not mark.exists()
    pickle.loads(pickle.dumps(Touch(str(mark)), protocol)).close()
    assert mark.exists()  # it would have been made


def test_compressed_archives_are_told(tmp_path):
    torch.save(torch.ones(100), tmp_path / "x.pt")
    with zipfile.ZipFile(tmp_path / "x.pt") as old:
        members = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(tmp_path / "y.pt", "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in members.items():
            new.writestr(name, content)
    with pytest.raises(OSError, match="compressed"):
        spy_load(tmp_path / "y.pt")


def test_values_without_checksums(tmp_path):
    from torch.serialization import get_crc32_options, set_crc32_options

    before = get_crc32_options()
    set_crc32_options(False)
    try:
        x = torch.randn(20)
        assert same(load_one(x, tmp_path / "x.pt"), x)
    finally:
        set_crc32_options(before)


def test_archives_of_others(tmp_path):
    """Written by Python's zipfile: another folder, no padding, a comment."""
    x = torch.randn(5)
    torch.save(x, tmp_path / "x.pt")
    with zipfile.ZipFile(tmp_path / "x.pt") as old, zipfile.ZipFile(tmp_path / "y.pt", "w") as new:
        for name in old.namelist():
            new.writestr(name.replace("archive/", "some where/"), old.read(name))
        new.comment = b"PK\x05\x06" * 2000
    assert same(spy_load(tmp_path / "y.pt").tensors()[0], x)


def test_archives_with_numbers_of_64_bits(tmp_path, monkeypatch):
    """As they are for more than 4 GiB; here of a small one."""
    x = torch.randn(5)
    torch.save(x, tmp_path / "x.pt")
    with zipfile.ZipFile(tmp_path / "x.pt") as old:
        members = {name: old.read(name) for name in old.namelist()}
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1)
    with zipfile.ZipFile(tmp_path / "y.pt", "w", allowZip64=True) as new:
        for name, content in members.items():
            new.writestr(name, content)
    whole = (tmp_path / "y.pt").read_bytes()
    assert whole.count(b"PK\x06\x06") == 1 and whole.count(b"\xff\xff\xff\xff") > len(members)
    assert same(spy_load(tmp_path / "y.pt").tensors()[0], x)


@pytest.mark.parametrize("seed", range(4))
def test_any_byte_changed(tmp_path, seed):
    """A changed file is told, or the tensor comes of it: never another one."""
    torch.manual_seed(seed)
    path = tmp_path / "x.pt"
    x = torch.randn(3)
    torch.save(x, path)
    whole = path.read_bytes()
    for place in torch.randint(0, len(whole), (150,)).tolist():
        changed = bytearray(whole)
        changed[place] ^= 1 << (place % 8)
        path.write_bytes(changed)
        found = load_quietly(tmp_path)
        assert len(found.entries()) + len(found.damage) == 1
        try:
            tensors = found.tensors()
        except OSError as error:
            assert str(path) in str(error)
        else:
            assert all(same(tensor, x) for tensor in tensors)


@pytest.mark.parametrize("name", FORMATS)
def test_cut_files(tmp_path, name):
    saver = TensorSaver(tmp_path / "whole", format=name)
    with DebugContext(saver):
        spy_save("x", torch.arange(1000.0))
    (path,) = (tmp_path / "whole").iterdir()
    whole = path.read_bytes()
    (tmp_path / "cut").mkdir()
    cut = tmp_path / "cut" / path.name
    for size in [0, 1, 7, 8, 100, len(whole) // 2, len(whole) - 1]:
        cut.write_bytes(whole[:size])
        for tensor in load_quietly(tmp_path / "cut").tensors():
            assert torch.equal(tensor, torch.arange(1000.0))


# Files of the package safetensors


def test_files_of_safetensors(tmp_path):
    package = pytest.importorskip("safetensors.torch")
    # complex64 is not known to all versions of the package
    dtypes = [d for d in DTYPES if d in package._SIZE and d != torch.float4_e2m1fn_x2]
    given = {f"encoder.{str(d)[6:]}.call7": any_bits(d, 3, 5) for d in dtypes}
    given["scalar"] = torch.tensor(2.5)
    given["nothing"] = torch.zeros(0, 3)
    given['no "name\n'] = torch.ones(2)
    package.save_file(given, tmp_path / "x.safetensors", metadata={"format": "pt", "a": "b"})
    found = spy_load(tmp_path)
    for d in dtypes:
        name = str(d)[6:]
        assert same(found["", "encoder", name, 7], given[f"encoder.{name}.call7"])
    for name in ("scalar", "nothing", 'no "name\n'):
        assert same(found["", "", name, 0], given[name])
    assert len(found.entries()) == len(given)


def test_safetensors_that_lie(tmp_path):
    path = tmp_path / "x.safetensors"
    facts = '"dtype": "F32", "shape": [2], "data_offsets": [0, 8]'
    wrong = [
        "{}x",
        '{"a": {%s}' % facts,
        '{"a": {%s}}' % facts.replace("[2]", "[3]"),
        '{"a": {%s}}' % facts.replace("[0, 8]", "[8, 16]"),
        '{"a": {%s}}' % facts.replace("[0, 8]", "[8, 0]"),
        '{"a": {%s}}' % facts.replace("[2]", "[-2]"),
        '{"a": {%s}}' % facts.replace("[2]", "[4611686018427387904, 4]"),
        '{"a": {%s}}' % facts.replace("F32", "F33"),
        '{"a": {"dtype": "F32", "shape": [2]}}',
        '{"a": []}',
        "[]",
        "[" * 100,
    ]
    for header in wrong:
        path.write_bytes(len(header).to_bytes(8, "little") + header.encode() + bytes(8))
        with pytest.raises(OSError, match="x.safetensors: "):
            spy_load(path)
    header = '{"a": {%s}}' % facts
    path.write_bytes(len(header).to_bytes(8, "little") + header.encode() + bytes(8))
    assert spy_load(path).tensors()[0].tolist() == [0, 0]
