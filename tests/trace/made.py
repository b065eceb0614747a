"""Traces made of nothing but what a test says: a script for the program make_trace."""

import math
import pathlib
import subprocess

import pytest

from tests.support import paths, viewer

MAKER = paths.unit_program("make_trace")

RETURNED, LEFT = 1, 2
JOINED, GENERATOR, AGAIN = 1, 2, 4
REMARK, WARNING = 1, 2
STATISTICS, HASH, NONFINITE, SAMPLE, MORE = 1, 2, 4, 8, 16
SHAPE, DTYPE, DEVICE, STRIDES, REQUIRES_GRAD, VALUES, TYPE = 1, 2, 4, 8, 16, 32, 64
GRAD, PARAMETER, CONJUGATED, NEGATED, NUMPY, BYTE_STRIDES = 1, 2, 4, 8, 16, 64

KINDS = (
    "nothing none bool int big_int float complex text bytes tensor container object missing"
).split()
CHANGES = "none new rebound mutated aliased same".split()


def _word(value):
    if isinstance(value, (list, tuple)):
        value = ",".join(map(str, value))
    if isinstance(value, bool):
        value = int(value)
    data = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")
    return "".join(chr(b) if 32 < b < 127 and b != 37 else f"%{b:02X}" for b in data)


def line(command, **fields):
    return " ".join([command, *(f"{key}={_word(value)}" for key, value in fields.items())])


def row_major(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return strides[::-1]


def tensor(shape=(), dtype="float32", strides=None, **fields):
    """The fields of an event whose value is a tensor; with `min`, it was measured."""
    flags = fields.pop("flags", 0)
    if "min" in fields or "nan" in fields:
        flags |= STATISTICS
    if "hash" in fields:
        flags |= HASH
    if any(fields.get(key) for key in ("nan", "posinf", "neginf")):
        flags |= NONFINITE
    if "sample" in fields:
        flags |= SAMPLE
    if flags & STATISTICS and math.prod(shape) < 2:
        fields.setdefault("std", "nan")
    return dict(
        kind=9,
        dtype=dtype,
        shape=tuple(shape),
        strides=row_major(shape) if strides is None else strides,
        flags=flags,
        **fields,
    )


def scalar(value, **fields):
    """The fields of an event whose value is a plain Python value."""
    if value is None:
        return dict(kind=1, **fields)
    if isinstance(value, bool):
        return dict(kind=2, integer=int(value), **fields)
    if isinstance(value, int):
        return dict(kind=3, integer=value, **fields)
    if isinstance(value, float):
        return dict(kind=5, real=repr(value), **fields)
    if isinstance(value, complex):
        return dict(kind=6, real=repr(value.real), imaginary=repr(value.imag), **fields)
    if isinstance(value, str):
        return dict(kind=7, integer=fields.pop("length", len(value)), text=value, **fields)
    raise TypeError(value)


def container(type, count, **fields):
    return dict(kind=10, type=type, integer=count, **fields)


def instance(type, **fields):
    return dict(kind=11, type=type, **fields)


class Trace:
    """Collects the lines of a script; `events` are as they were given, in order."""

    def __init__(self, **options):
        self.lines = [line("options", sample=64, **options)]
        self.events = []
        self.tables = 0
        self.sites = 0
        self.calls = 0
        self.visits = {}
        self.raw = []

    def module(self, path, functions, sites, source="", tag=1, name="m", file=None):
        """`functions` are (name, line), the module's own first; `sites` (kind, line, function,
        names…, with the arm and then a
        tuple of the column behind them where they matter). Gives the number of the first site."""
        self.lines.append(
            line(
                "module",
                path=path,
                name=name,
                file=file or path,
                source=source,
                tag=tag if source else 0,
            )
        )
        self.lines += [line("function", name=n, line=at) for n, at in functions]
        for kind, at, function, *names in sites:
            column = names.pop()[0] if names and isinstance(names[-1], tuple) else 5
            arm = names.pop() if names and isinstance(names[-1], int) else 0
            self.lines.append(
                line(
                    "site",
                    kind=kind,
                    line=at,
                    column=column,
                    function=function,
                    writes=names,
                    arm=arm,
                )
            )
        self.lines.append("end")
        first = self.sites
        self.sites += len(sites)
        self.tables += 1
        return first

    def thread(self, number, name):
        self.lines.append(line("thread", number=number, name=name, native=1000 + number))

    def call(self, function, parent=0, table=0, **fields):
        self.calls += 1
        number = fields.pop("call", self.calls)
        self.lines.append(
            line("call", call=number, parent=parent, table=table, function=function, **fields)
        )
        return number

    def event(self, site, call, value=None, change="new", **fields):
        key = (site, call)
        if fields.get("write", 0) == 0 and not fields.get("path"):
            self.visits[key] = self.visits.get(key, -1) + 1
        fields.setdefault("visit", self.visits.get(key, 0))
        value = dict(kind=0) if value is None else value
        fields = dict(fields, site=site, call=call, change=CHANGES.index(change), **value)
        self.events.append(fields)
        self.lines.append(line("event", **fields))

    def ended(self, call, how=RETURNED, error=""):
        self.lines.append(line("return", call=call, how=how, error=error))

    def tracked(self, call, wish="", callers=""):
        self.lines.append(line("tracked", call=call, wish=wish, callers=callers))

    def note(self, text, tag=REMARK, site=0xFFFFFFFF):
        self.lines.append(line("note", text=text, tag=tag, site=site))

    def repeat(self, count):
        self.lines.append(line("repeat", count=count))

    def again(self):
        self.lines.append("again")

    def kill(self):
        self.lines.append("kill")

    def write(self, path):
        if not MAKER.exists():
            pytest.fail(f"{MAKER} is missing: run `make unit-programs`")
        environment = viewer.environment(ASAN_OPTIONS="detect_leaks=0")
        script = "\n".join(self.lines) + "\n"
        run = subprocess.run(
            [MAKER, path], input=script.encode(), env=environment, stderr=subprocess.PIPE
        )
        killed = self.lines[-1] == "kill"
        assert run.returncode == (-9 if killed else 0), run.stderr.decode()
        return pathlib.Path(path)


def show(*words, **options):
    """The finished process of `monitorch show`."""
    return viewer.run("show", *words, **options)


def numbered(count, **options):
    """`count` events of one line."""
    trace = Trace(**options)
    trace.module("m.py", [("<module>", 1), ("f", 1)], [("assign", 1, 1, "a")])
    trace.thread(0, "MainThread")
    call = trace.call(1)
    trace.repeat(count)
    trace.event(0, call, tensor((2,), min=1, max=2, mean=1.5, std=0.5))
    trace.again()
    return trace
