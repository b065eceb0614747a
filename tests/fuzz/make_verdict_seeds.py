"""Writes pairs of small traces for fuzz_verdicts: two, or one and what to change in it.

    python -m tests.fuzz.make_verdict_seeds [FOLDER]      # FOLDER/fuzz_verdicts, of tests/fuzz/inputs
"""

import struct

from tests.fuzz import make_trace_seeds

TWO, EXACT, ACROSS = 1, 2, 4


def pair(first, second, flags=0):
    return bytes([TWO | flags]) + struct.pack("<H", len(first)) + first + second


def changed(trace, *changes, flags=0):
    patches = b"".join(struct.pack("<HB", at % len(trace), byte) for at, byte in changes)
    return bytes([flags]) + struct.pack("<H", len(trace)) + trace + patches


def seeds():
    traces = dict(make_trace_seeds.seeds())
    whole = traces["whole"]
    for name, trace in traces.items():
        yield f"whole_{name}", pair(whole, trace)
    yield "same", changed(whole)
    yield "exact", changed(whole, (len(whole) - 200, 1), flags=EXACT)
    for at in range(len(whole) // 2, len(whole), 97):
        yield f"changed_{at}", changed(whole, (at, 3), flags=ACROSS)


if __name__ == "__main__":
    make_trace_seeds.write_inputs("fuzz_verdicts", seeds())
