"""Seeds for fuzz_saved and fuzz_saved_names: python tests/fuzz/make_saved_seeds.py [FOLDER]

Files of saved tensors in the short forms that fuzz_saved.c tells, written after docs/internals/saved.md
without the project's own writers, and without torch. They are kept in tests/fuzz/inputs, where
`make fuzz` finds them."""

import io
import json
import pathlib
import struct
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import make_trace_seeds as traces  # noqa: E402

LINE = (
    b'{"prefix": "step0", "module": "encoder.attn", "name": "cache[0][\'k\']", "call": 3, '
    b'"order": 12, "file": "/tmp/a.py", "line": 7, "function": "A.forward"}'
)
NAMES = [
    LINE,
    b'{"name": "q"}',
    b'{"name": "\\u00e9\\ud83d\\ude00\\ud800\\n\\"", "more": [1, -2.5e+3, {"a": null}, true]}',
    b"step0.encoder.attn.q.call12.pt",
    b"a.cache[0]['k.l'].call0.pt",
    b"%2Ehidden%2Fname%C3%A9.call1.pt",
    b"weights.pt",
]


def text(words):
    return b"X" + struct.pack("<I", len(words)) + words


def named(module, name):
    return b"c" + module + b"\n" + name + b"\n"


def number(value):
    return b"K" + bytes([value]) if value < 256 else b"J" + struct.pack("<i", value)


def numbers(values):
    return b"(" + b"".join(map(number, values)) + b"t"


def storage(kind, count):
    facts = text(b"storage") + named(*kind) + text(b"0") + text(b"cpu") + number(count)
    return b"(" + facts + b"tQ"


def call(function, arguments):
    return named(*function) + b"(" + arguments + b"tR"


HOOKS = named(b"collections", b"OrderedDict") + b")R"
FLOAT = (b"torch", b"FloatStorage")
V2 = (b"torch._utils", b"_rebuild_tensor_v2")


def tensor(shape=(2, 3), strides=(3, 1), offset=0, count=6, kind=FLOAT, more=b""):
    arguments = storage(kind, count) + number(offset) + numbers(shape) + numbers(strides)
    return call(V2, arguments + b"\x89" + HOOKS + more)


def pickles():
    yield "plain", tensor()
    yield "scalar", tensor((), (), count=1)
    yield "view", tensor((2,), (3,), offset=1)
    yield "expanded", tensor((1000000, 3), (0, 1))
    yield "beyond", tensor((3, 3), (3, 1))
    kind = (b"torch", b"ComplexFloatStorage")
    yield "conjugate", tensor((3,), (1,), count=3, kind=kind, more=b"}" + text(b"conj") + b"\x88s")
    untyped = storage((b"torch.storage", b"UntypedStorage"), 24) + number(0) + numbers((24,))
    dtype = named(b"torch", b"float8_e4m3fn")
    version3 = (b"torch._utils", b"_rebuild_tensor_v3")
    yield "float8", call(version3, untyped + numbers((1,)) + b"\x89" + HOOKS + dtype)
    parameter = (b"torch._utils", b"_rebuild_parameter")
    yield "parameter", call(parameter, tensor() + b"\x88" + HOOKS)
    subclass = (b"torch._tensor", b"_rebuild_from_type_v2")
    of_type = named(*V2) + named(b"torch", b"Tensor") + b"("
    inner = storage(FLOAT, 6) + number(0) + numbers((6,)) + numbers((1,)) + b"\x89" + HOOKS
    state = b"}(" + text(b"a") + b"\x88" + text(b"b") + b"G" + bytes(8) + b"u"
    yield "subclass", call(subclass, of_type + inner + b"t" + state)
    yield "dictionary", b"}" + text(b"a") + tensor() + b"s"
    yield "system", call((b"os", b"system"), text(b"true"))
    yield "itself", b"}q\x00" + text(b"a") + b"h\x00s"


def archive(pickle, values=bytes(range(24)), framed=True):
    whole = (b"\x80\x02" if framed else b"") + pickle + b"."
    return b"\1" + struct.pack("<H", len(whole)) + whole + values


def stored(pickle, more=()):
    """A whole file, written by another hand."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as members:
        for name, content in [("data.pkl", pickle), ("byteorder", b"little"), *more]:
            members.writestr(zipfile.ZipInfo("a/" + name), content)
    return b"\0" + file.getvalue()


def files():
    for name, pickle in pickles():
        yield "pt_" + name, archive(pickle)
    yield "pt_protocol_4", archive(
        b"\x80\x04\x95" + bytes(8) + b"\x8c\x02os\x94\x8c\x06system\x94\x93\x94)R", framed=False
    )
    whole = b"\x80\x02" + tensor() + b"."
    yield "pt_file", stored(whole, [("data/0", bytes(24)), ("monitorch.json", LINE)])
    yield "pt_file_without_values", stored(whole)
    header = {"__metadata__": {"format": "pt", "a.q.call0": LINE.decode()}}
    header["a.q.call0"] = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
    header["b"] = {"dtype": "BF16", "shape": [], "data_offsets": [24, 26]}
    header["empty"] = {"dtype": "I64", "shape": [0, 4], "data_offsets": [26, 26]}
    yield "safetensors", b"\2" + json.dumps(header).encode()
    header["b"]["data_offsets"] = [250, 400]
    yield "safetensors_beyond", b"\2" + json.dumps(header).encode()
    kept = traces.event(
        traces.TENSOR, traces.tensor(0), site=1, type=1
    ) + traces.record(traces.DATA, struct.pack("<IIQ", 0, 0, 0) + bytes(range(24)))
    note = struct.pack("<QII", 2, 1, 0) + LINE
    saved = kept + traces.record(traces.NOTE, note, tag=4)
    records = traces.stream(1) + kept + saved + kept
    yield "trace", b"\3" + traces.trace(
        (traces.DEFINITIONS, traces.definitions()), (traces.STREAM, records), flags=1
    )


if __name__ == "__main__":
    traces.write_inputs("fuzz_saved", files())
    traces.write_inputs("fuzz_saved_names", ((f"name_{i}", name) for i, name in enumerate(NAMES)))
