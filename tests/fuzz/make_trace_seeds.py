"""Seeds for fuzz_trace: python tests/fuzz/make_trace_seeds.py [FOLDER]

Short forms of traces (tests/fuzz/short_trace.h says how they are put together), written after
docs/internals/trace.md and without the project's own writer. They are kept in tests/fuzz/inputs/fuzz_trace,
where `make fuzz` finds them."""

import pathlib
import struct
import sys

TABLE, SOURCE, FORM, TEXT, THREAD, SETTING = 1, 2, 3, 4, 5, 6
CALL, END, EVENT, DATA, NOTE, TRACKED = 32, 33, 34, 35, 36, 37
DEFINITIONS, STREAM, SEALED, WRONG_NUMBER = 1, 2, 4, 8
FLOAT32, INT64 = 12, 9
NOTHING, NONE, BOOL, INT, BIG_INT, FLOAT, COMPLEX = range(7)
STR, BYTES, TENSOR, CONTAINER, OBJECT, MISSING = range(7, 13)
STATISTICS, HASH, NONFINITE, SAMPLE = 1, 2, 4, 8

SITES = (
    b"monitorch1 0123456789abcdef0123456789abcdef _mt a.py --all 2,3 "
    b"1,0,<module> 2,0,f e3:1/1=x a1:5=x,x a1=x=self.y,x . "
).replace(b" . ", b" .")


def record(kind, body, tag=0, mark=0, flags=0):
    size = 8 + len(body)
    head = struct.pack("<IBBBB", size, kind, tag, mark, flags)
    return head + body + bytes(-size % 8)


def text(number, words):
    return record(TEXT, struct.pack("<II", number, 0) + words)


def form(number, dtype, shape, strides, flags=0, **texts):
    words = [texts.get(name, 0) for name in ("type", "dtype_text", "device", "layout", "note")]
    body = struct.pack("<IBBBB", number, dtype, len(shape), flags, 0)
    body += struct.pack("<5II", *words, 0)
    body += struct.pack(f"<{len(shape) + len(strides)}q", *shape, *strides)
    return record(FORM, body)


def wish():
    return text(7, b"--lines --stack --depth=2 --labels=input:in%20it") + text(
        8, b"g:3 (a.py:3 <- b.py:4)"
    )


def definitions():
    return b"".join(
        [
            text(1, b"model"),
            text(2, b"/tmp/a.py"),
            text(3, b"['k']"),
            text(4, b"cuda:0"),
            text(5, b"MainThread"),
            record(TABLE, struct.pack("<6I", 0, 0, 3, 1, 2, 0) + SITES),
            record(SOURCE, struct.pack("<II", 0, 0) + b"def f(x):\n    return x\n", tag=1),
            text(6, b"seed"),
            record(SETTING, struct.pack("<II", 6, 0)),
            record(SETTING, struct.pack("<II", 5, 6)),
            record(SETTING, struct.pack("<II", 6, 5)),
            record(THREAD, struct.pack("<IIQ", 0, 5, 1234)),
            form(1, FLOAT32, [2, 3], [3, 1]),
            form(2, INT64, [4], [], flags=32),
            form(3, FLOAT32, [], [], device=4, note=3),
        ]
    )


def event(kind, rest=b"", site=1, write=0, change=1, flags=0, type=0, path=0):
    body = struct.pack("<QIIIHBBII", 5, site, 1, 0, 0, write, 0, path, type)
    return record(EVENT, body + rest, tag=kind, mark=change, flags=flags)


def scalar(integer=0, imaginary=0.0, words=b""):
    return struct.pack("<qd", integer, imaginary) + words


def tensor(flags, count=6, size=4):
    rest = struct.pack("<QQqQII", 1, 2, 0, 0, 0, 0xFFFFFFFF)
    if flags & (STATISTICS | HASH):
        rest += struct.pack("<QQddQQ", 0, 1, 0.5, 0.25, 1, 99)
    if flags & NONFINITE:
        rest += struct.pack("<QQQ", 1, 1, 0)
    if flags & SAMPLE:
        rest += bytes(range(count * size))
    return rest


def stream(first, wish=0):
    call = struct.pack("<QIIIIIHHII", 1, first, 0, 0, 1, 7, 0, 0, 1, 2)
    records = [record(CALL, call)]
    if wish:
        records.append(record(TRACKED, struct.pack("<QIIII", 1, first, wish, 8, 0)))
    for flags in (0, STATISTICS, HASH, STATISTICS | HASH | NONFINITE | SAMPLE):
        records.append(event(TENSOR, tensor(flags), type=1, flags=flags))
    records.append(event(TENSOR, tensor(SAMPLE, 4, 8), type=2, flags=SAMPLE))
    records.append(event(TENSOR, tensor(0), type=3))
    records.append(record(DATA, struct.pack("<IIQ", 0, 0, 0) + b"\1\2\3\4"))
    for kind in (NOTHING, NONE, MISSING):
        records.append(event(kind, site=0))
    for kind in (BOOL, INT, FLOAT, COMPLEX, BYTES):
        records.append(event(kind, scalar(1, 2.0), site=2, write=1))
    for kind in (STR, BIG_INT):
        records.append(event(kind, scalar(3, 0.0, b"abc"), path=3))
    records.append(event(CONTAINER, scalar(2), type=1))
    records.append(event(OBJECT, type=2))
    records.append(record(NOTE, struct.pack("<QII", 2, 1, 0) + b"a note", tag=1))
    records.append(record(NOTE, struct.pack("<QII", 2, 0xFFFFFFFF, 0) + b"more", tag=2))
    records.append(record(END, struct.pack("<QII", 9, first, 0), tag=1))
    return b"".join(records)


def trace(*chunks, last=0, sample=8, flags=0):
    whole = bytes([0, last, sample, flags])
    for kind, records in chunks:
        whole += bytes([kind]) + struct.pack("<H", len(records)) + records
    return whole


def seeds():
    define, one, two = definitions(), stream(1), stream(2)
    yield "whole", trace((DEFINITIONS | SEALED, define), (STREAM | SEALED, one), flags=1)
    yield "killed", trace((DEFINITIONS, define), (STREAM | SEALED, one), (STREAM, two))
    yield "ring", trace(
        (DEFINITIONS, define), (STREAM | SEALED, one), (STREAM | SEALED, two), last=3
    )
    yield "tracked", trace((DEFINITIONS, define + wish()), (STREAM, stream(1, 7)))
    yield "gap", trace((DEFINITIONS, define), (STREAM | WRONG_NUMBER, one), (STREAM, two))
    yield "defined_late", trace((STREAM | SEALED, one), (DEFINITIONS, define))
    yield "empty_chunks", trace((DEFINITIONS, b""), (STREAM, b""), flags=1)
    yield "raw", b"\1mtrace\r\n" + struct.pack("<II", 1, 4096) + bytes(64)
    yield "newer", b"\1mtrace\r\n" + struct.pack("<II", 2, 4096) + bytes(64)


def write_inputs(target, made):
    """Into tests/fuzz/inputs, or the folder that the command line names instead."""
    default = pathlib.Path(__file__).resolve().parent / "inputs"
    folder = (pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default) / target
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in made:
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    write_inputs("fuzz_trace", seeds())
