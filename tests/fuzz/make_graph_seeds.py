"""Seeds for fuzz_flow_graph: python tests/fuzz/make_graph_seeds.py [FOLDER]

Short forms of traces (see make_trace_seeds.py) whose site table has functions, loops, reads and
attributes: turns and calls that fold, a recursion, writes in place and through another name."""

import struct

from make_trace_seeds import (
    CALL, CONTAINER, DEFINITIONS, END, EVENT, FLOAT32, HASH, INT, NOTE, NOTHING, OBJECT, SEALED,
    STATISTICS, STREAM, TABLE, TENSOR, THREAD, form, record, scalar, text, trace,
    write_inputs,
)

# monitorch-instrument --all of
#
#     w = 1
#     class Net:
#         def forward(self, x):
#             y = x + w
#             for r in y:
#                 self.h = r + y
#                 y += self.h
#                 z = self.forward(y)
#             x[0] = z
#             return x, z
#     n = Net()
#     out = n.forward(w)
SITES = (
    b"monitorch1 0123456789abcdef0123456789abcdef _mt a.py --all 2,11 1,0,<module> "
    b"2,0,Net.forward a1:1=w e2:5/1=self=x a1:9=y,-1.1(w l1=r,-1 a1:13=self.h,-1,y,-3 "
    b"a1.1=y,y,1 a1=z,-5,-1 m1:9=x,z,-6.1 r1=return,-7.1,z a1:1/0=n(Net a1=out(-1(-10 "
    b"."
)
W, ENTER, Y, LOOP, H, WRITE, Z, STORE, RETURN, N, OUT = range(11)
NEW, REBOUND, MUTATED, ALIASED, SAME = range(1, 6)
READ = 64


def definitions():
    return b"".join(
        [
            text(1, b"blocks.0"),
            text(2, b"Net"),
            text(3, b"[0]"),
            text(4, b"blocks.1"),
            record(TABLE, struct.pack("<6I", 0, 0, 11, 1, 2, 0) + SITES),
            record(THREAD, struct.pack("<IIQ", 0, 2, 1234)),
            form(1, FLOAT32, [2], [1]),
            form(2, FLOAT32, [3], [1]),
        ]
    )


class Stream:
    """Records in their order; events are numbered."""

    def __init__(self):
        self.records = []
        self.events = 0

    def call(self, number, parent, function, line, path=0):
        body = struct.pack("<QIIIIIHHII", 1, number, parent, 0, function, line, 0, 0, path, 2)
        self.records.append(record(CALL, body))

    def end(self, number):
        self.records.append(record(END, struct.pack("<QII", 9, number, 0), tag=1))

    def event(self, site, call, visit=0, kind=TENSOR, rest=b"", **more):
        values = {"write": 0, "path": 0, "type": 1, "flags": 0, "change": NEW} | more
        body = struct.pack(
            "<QIIIHBBII", 5, site, call, visit, 0, values["write"], 0, values["path"],
            values["type"],
        )
        self.records.append(
            record(EVENT, body + rest, tag=kind, mark=values["change"], flags=values["flags"])
        )
        self.events += 1
        return self.events

    def tensor(self, site, call, visit=0, address=1, origin=0, version=0, alias=0xFFFFFFFF, **more):
        rest = struct.pack("<QQqQII", address, address, 0, origin, version, alias)
        flags = more.pop("flags", 0) | STATISTICS | HASH
        rest += struct.pack("<QQddQQ", 0, 1, 0.5, 0.25, 1, address + version)
        return self.event(site, call, visit, rest=rest, flags=flags, **more)


def forward(stream, call, parent, line, depth, path=0):
    """One call of the method, with calls of itself."""
    stream.call(call, parent, 1, line, path)
    stream.event(ENTER, call, kind=OBJECT, type=2)
    x = stream.tensor(ENTER, call, write=1, address=64, origin=1)
    stream.tensor(Y, call, address=128)
    for turn in range(4):
        stream.tensor(LOOP, call, turn, address=256 + 64 * turn, type=1 + turn % 2)
        stream.tensor(H, call, turn, address=512)
        stream.tensor(WRITE, call, turn, address=128, version=turn + 1, change=MUTATED)
        if depth > 0:
            result = forward(stream, 2 * call + turn % 2 + 4, call, 8, depth - 1)
            stream.tensor(Z, call, turn, address=640, origin=result)
    stream.tensor(STORE, call, address=64, version=1, origin=x, change=ALIASED, alias=WRITE)
    stream.event(RETURN, call, kind=CONTAINER, rest=scalar(2), type=2)
    result = stream.tensor(RETURN, call, path=3, address=64, version=1)
    stream.end(call)
    return result


def whole(depth):
    stream = Stream()
    stream.call(1, 0, 0, 0)
    stream.event(W, 1, kind=INT, rest=scalar(3))
    stream.tensor(W, 1, 1, address=64, change=REBOUND)
    note = struct.pack("<QII", 2, 0xFFFFFFFF, 0) + b"Net.forward\tx\trandn(8, 8)"
    stream.records.append(record(NOTE, note, tag=3))
    stream.event(N, 1, kind=OBJECT, type=2)
    stream.tensor(OUT, 1, write=1, address=64, origin=2, flags=READ)
    result = 0
    for number in range(2, 5):
        result = forward(stream, number, 1, 12, depth, 1 if number % 2 else 4)
    stream.tensor(OUT, 1, path=3, address=64, version=1, origin=result, change=SAME)
    stream.event(STORE, 1, kind=NOTHING)
    return b"".join(stream.records)


def seeds():
    define = definitions()
    yield "turns", trace((DEFINITIONS, define), (STREAM | SEALED, whole(0)), flags=1)
    yield "recursion", trace((DEFINITIONS, define), (STREAM, whole(1)), flags=1)
    yield "ring", trace(
        (DEFINITIONS, define), (STREAM | SEALED, whole(0)), (STREAM, whole(0)), last=9
    )


if __name__ == "__main__":
    write_inputs("fuzz_flow_graph", seeds())
