"""Traces with tracked calls; golden/tree_NAME.txt is what `show --style tree` prints of each."""

import struct

from tests.trace import made, scenarios
from tests.trace.made import Trace, container, instance, scalar, tensor
from tests.trace.scenarios import figures

SOURCE = "\n".join(f"line_{number}()" for number in range(1, 41)) + "\n"
NEW_OR_REBOUND = ("new", "rebound")
CALLERS = "step:57 (train.py:57 <- run.py:3 <- app.py:9 <- app.py:80)"


def floats(*numbers, form="f"):
    return struct.pack(f"<{len(numbers)}{form}", *numbers)


def whole(shape, numbers, dtype="float32", form="f", **fields):
    """A tensor whose elements are all in the sample."""
    fields.setdefault("min", 0)
    fields.setdefault("max", 0)
    fields.setdefault("mean", 0)
    fields.setdefault("std", 0)
    return tensor(shape, dtype=dtype, sample=floats(*numbers, form=form), **fields)


def module(trace):
    """Two functions, each with three names, and sites of all kinds."""
    trace.module(
        "/home/someone/project/model.py",
        [("<module>", 1), ("Net.forward", 12), ("Net.inner", 30)],
        [
            ("enter", 12, 1, "self", "x"),  # 0
            ("assign", 14, 1, "h"),
            ("assign", 15, 1, "state"),
            ("mutate", 16, 1, "h"),
            ("loop", 17, 1, "i"),
            ("branch", 18, 1, 0),
            ("line", 19, 1),
            ("return", 20, 1),
            ("enter", 30, 2, "v"),  # 8
            ("assign", 31, 2, "v"),
            ("return", 33, 2),
        ],
        source=SOURCE,
    )
    trace.thread(0, "MainThread")


def forward(trace, wish="", callers=CALLERS, **fields):
    call = trace.call(1, **fields)
    trace.tracked(call, wish, callers)
    at = dict(thread=fields.get("thread", 0))
    trace.event(0, call, instance("__main__.Net"), **at)
    trace.event(0, call, tensor((4, 80), **figures(-1, 2, 0.5, 0.1)), write=1, **at)
    return call


def inner(trace, parent, value=3, line=15, wish=None, error="", result="text"):
    call = trace.call(2, parent=parent, line=line)
    if wish is not None:
        trace.tracked(call, wish, f"forward:{line} (model.py:{line} <- train.py:57)")
    trace.event(8, call, scalar(value))
    trace.event(9, call, scalar(value * 2.5), change="rebound", difference=made.TYPE)
    if not error:
        trace.event(10, call, scalar(result), change="none")
    trace.ended(call, made.LEFT if error else made.RETURNED, error=error)
    return call


def changes():
    """What becomes of a name: every kind of change, and what is no change."""
    trace = Trace()
    module(trace)
    call = forward(trace)
    base = figures(-1, 2, 0.5, 0.1, hash=5, object=7)
    V, S, D = made.VALUES, made.SHAPE, made.DTYPE
    for value, change, fields in [
        (tensor((4, 80), **base), "new", {}),
        (tensor((4, 80), **base), "same", {}),
        (tensor((4, 80), **base), "rebound", {}),
        (tensor((4, 80), **{**base, "hash": 6}), "mutated", dict(difference=V)),
        (tensor((4, 80), **{**base, "hash": 7}), "aliased", dict(difference=V, alias=3)),
        (tensor((8, 40), **{**base, "hash": 8}), "rebound", dict(difference=V | S)),
        (tensor((8, 40), "float16", **{**base, "hash": 9}), "rebound", dict(difference=V | D)),
        (
            tensor((8, 40), "float16", form_flags=made.NUMPY, **{**base, "hash": 9}),
            "rebound",
            {},
        ),
        (
            tensor((8, 40), "float32", device="cuda:0", note="cuda:0"),
            "rebound",
            dict(difference=D | made.DEVICE | made.STRIDES | made.REQUIRES_GRAD),
        ),
        (tensor((8, 40), "float32", device="meta", note="meta"), "rebound", {}),
        (scalar(5), "rebound", dict(difference=made.TYPE)),
        (scalar(5), "rebound", {}),
        (scalar(6), "mutated", dict(difference=V)),
        (scalar("one"), "rebound", dict(difference=made.TYPE)),
        (scalar("one"), "rebound", {}),
        (scalar("two"), "rebound", {}),
        (instance("__main__.Thing"), "rebound", dict(difference=made.TYPE)),
        (instance("__main__.Thing"), "none", {}),
        (instance("__main__.Thing"), "same", {}),
        (None, "none", {}),
        (dict(kind=12), "none", {}),
    ]:
        site = 3 if change in ("mutated", "none") else 1
        trace.event(site, call, value, change=change, **fields)
    trace.ended(call)
    return trace


def values():
    """Each kind of value, as it is told."""
    trace = Trace()
    module(trace)
    call = forward(trace, path="layers.0", **{"class": "__main__.Net"})
    numpy = dict(form_flags=made.NUMPY)
    inf, nan = float("inf"), float("nan")
    for value in [
        scalar(None),
        scalar(True),
        scalar(-(2**63)),
        dict(kind=4, text="0x8000000000000000"),
        scalar(0.1),
        scalar(2.0),
        scalar(1e-9),
        scalar(nan),
        scalar(-inf),
        scalar(complex(1, -2.5)),
        scalar("it's"),
        scalar("x" * 100),
        dict(kind=8, integer=20),
        container("tuple", 2),
        container("list", 70, flags=made.MORE),
        instance("__main__.Thing"),
        whole((), [2]),
        whole((), [2], type="float32", **numpy),
        whole((3,), [0.1, -0.0, 1e-9]),
        whole((2, 2), [nan, inf, -inf, 1], nan=1, posinf=1, neginf=1),
        whole((2, 1, 3), range(6), "int64", "q"),
        whole((2,), [1, 0], "bool", "B"),
        whole((1,), [1, -2.5], "complex64"),
        whole((5, 5), range(25)),
        tensor((26,), "int64", **figures(0, 25, 12.5, 7.6)),
        tensor((3000000, 3), "int64", **figures(-(2**62), 2**62, 1e12, 7.6)),
        tensor((1000,), "uint8", **figures(0, 255, 127.4, 7.6)),
        tensor((100,), "bool", **figures(0, 1, 0.96, 0.2, zeros=4)),
        tensor((100,), "complex64", **figures(1, 1, 1, 0)),
        tensor((100,), "float64", **figures(-1e300, 1e300, 1e295, 1)),
        tensor((100,), **figures(0, 1, 0.5, 0.1, nan=3, posinf=2, neginf=1)),
        tensor((100,), **figures("nan", "nan", "nan", "nan", nan=100)),
        tensor((0, 3), **figures("nan", "nan", "nan", "nan")),
        tensor((73, 640, 960, 3), "uint8", **numpy, **figures(0, 255, 127, 7.6)),
        tensor((3,), "float32", **numpy),
        tensor((), "float64", **numpy),
        tensor((7, 8), device="meta", note="meta"),
        tensor((10, 10), layout="sparse_coo", note="sparse, 10 stored"),
        tensor((10,), type="__main__.Own", **figures(0, 1, 0.5, 0.1)),
        tensor((2,), dtype="other", dtype_text="datetime64[D]", note="dates", **numpy),
        tensor((2,), dtype="qint8", note="quantised"),
    ]:
        trace.event(1, call, value)
    trace.event(7, call, container("tuple", 2), change="none")
    trace.event(7, call, tensor((4, 80), **figures(-1, 2, 0.5, 0.1)), change="none", path="[0]")
    trace.event(7, call, scalar(3), change="none", path="[1]")
    trace.ended(call)
    return trace


def wishes():
    """What a wish leaves out and adds: names, lines, the stack, nothing but the call, labels."""
    trace = Trace()
    module(trace)
    for wish in [
        "--calls",
        "--calls --names=st*,self.cache",
        "--lines --calls",
        "--stack --bare",
        "--labels=zh",
        "--labels=input:in%20it,output:out%2C,called:by,nonsense:x --unknown",
    ]:
        call = forward(trace, wish)
        trace.event(1, call, scalar(1))
        trace.event(2, call, container("dict", 1))
        trace.event(2, call, scalar(1), path="['n']")
        inner(trace, call, line=16, wish="--calls")
        for turn in range(2):
            trace.event(4, call, scalar(turn), change=NEW_OR_REBOUND[turn > 0], difference=32)
            trace.event(5, call, change="none")
        trace.event(6, call, change="none")
        trace.event(7, call, scalar(None), change="none")
        trace.ended(call)
    return trace


def conditions():
    """Calls that are told only where a name has changed, or where a NaN was met; with callees."""
    trace = Trace()
    module(trace)
    bad = tensor((100,), **figures(0, 1, 0.5, 0.1, nan=3))
    for wish in ("--when=changed", "--when=nan"):
        for has_change in (False, True):
            call = forward(trace, wish)
            trace.event(1, call, scalar(1))
            if has_change:
                trace.event(1, call, scalar(2), change="rebound", difference=made.VALUES)
            trace.event(7, call, scalar(wish), change="none")
            trace.ended(call)
    call = forward(trace, "--when=nan --depth=1")
    inner(trace, call)
    deep = trace.call(2, parent=call, line=15)
    trace.event(8, deep, bad)
    trace.ended(deep)
    inner(trace, call)
    trace.ended(call)
    call = forward(trace, "--when=nan")
    inner(trace, call, wish="")
    for turn in range(2000):
        trace.event(4, call, scalar(turn), change=NEW_OR_REBOUND[turn > 0], difference=32)
    trace.event(7, call, bad, change="none")
    trace.ended(call)
    return trace


def depth():
    """Calls that are made within tracked ones, so many levels deep, and others that are not told."""
    trace = Trace()
    module(trace)
    outside = trace.call(1)
    trace.event(1, outside, scalar(0))
    call = trace.call(1, parent=outside, line=15)
    trace.tracked(call, "--depth=2")
    inner(trace, call, value=1)
    second = trace.call(2, parent=call, line=16)
    third = trace.call(2, parent=second, line=31)
    inner(trace, third, value=4, line=31)
    inner(trace, third, value=5, line=32, wish="--calls")
    trace.ended(third)
    trace.event(10, second, scalar(2), change="none")
    trace.ended(second)
    trace.ended(call)
    trace.ended(outside)
    return trace


def exceptions():
    """The tree closes where exceptions pass."""
    trace = Trace()
    module(trace)
    call = forward(trace)
    inner(trace, call, wish="", error="builtins.KeyError")
    trace.event(1, call, scalar(1))
    inner(trace, call, wish="--calls", error="__main__.OwnError")
    trace.ended(call, made.LEFT, error="package.errors.OwnError")
    call = forward(trace)
    trace.ended(call, made.LEFT)
    return trace


def turns():
    """Two generators at a time, in a call that goes on between; one that ends late."""
    trace = Trace()
    module(trace)
    call = forward(trace)
    one, two = (trace.call(2, parent=call, line=15, flags=made.GENERATOR) for _ in range(2))
    for number, generator in enumerate((one, two)):
        trace.tracked(generator, "", "forward:15 (model.py:15)")
        trace.event(8, generator, scalar(number))
    for turn in range(2):
        for generator in (one, two):
            trace.event(9, generator, scalar(turn + 0.5), change="rebound", difference=32)
        trace.event(1, call, scalar(turn), change=NEW_OR_REBOUND[turn > 0], difference=32)
    trace.ended(one)
    trace.ended(call)
    trace.ended(two, made.LEFT, error="builtins.GeneratorExit")
    return trace


def two_threads():
    """Calls of two threads at a time, and a generator that goes from one to the other."""
    trace = Trace()
    module(trace)
    trace.thread(1, "worker")
    first, second = forward(trace), forward(trace, thread=1)
    passed = trace.call(2, parent=first, line=15, flags=made.GENERATOR)
    trace.tracked(passed, "", "forward:15 (model.py:15)")
    for turn in range(2):
        for thread, call in ((0, first), (1, second)):
            change = NEW_OR_REBOUND[turn > 0]
            trace.event(1, call, scalar(turn), thread=thread, change=change, difference=32)
    trace.event(8, passed, scalar(1))
    trace.event(9, passed, scalar(2), thread=1, change="rebound", difference=32)
    for call in (first, second, passed):
        trace.ended(call)
    return trace


def hostile():
    """Names, wishes and callers that would like to be obeyed."""
    bad = "\x1b[2J\x07\r\nx\u202e\u0085"
    trace = scenarios.hostile()
    call = trace.call(1, thread=0)
    trace.tracked(
        call, f"--labels=input:{bad.replace(' ', '')} --names=*", f"{bad} ({bad} <- {bad}"
    )
    trace.event(0, call, scalar(bad))
    trace.event(2, call, tensor((2,), type=bad, dtype="other", dtype_text=bad))
    trace.ended(call, made.LEFT, error=bad)
    return trace


def deep_recursion():
    """Sixty tracked calls, each in the one before."""
    trace = Trace()
    module(trace)
    for n in range(60):
        call = trace.call(2, n, line=31 if n else 0)
        trace.tracked(call, "--calls", "down:2 (deep.py:2)")
        trace.event(8, call, scalar(n))
    for n in range(60, 0, -1):
        trace.event(10, n, scalar(n), change="none")
        trace.ended(n)
    return trace


TREE = ["--style=tree", "--labels=en", "--canonical"]
GOLDEN = {
    "tree_changes": (changes, TREE),
    "tree_changes_zh": (changes, ["--style=tree", "--labels=zh", "--canonical"]),
    "tree_changes_color": (changes, [*TREE, "--color=always"]),
    "tree_values": (values, TREE),
    "tree_values_nan": (values, [*TREE, "--nan"]),
    "tree_wishes": (wishes, TREE),
    "tree_wishes_source": (wishes, [*TREE, "--source", "--function=*.inner"]),
    "tree_conditions": (conditions, TREE),
    "tree_depth": (depth, TREE),
    "tree_exceptions": (exceptions, TREE),
    "tree_exceptions_zh": (exceptions, ["--style=tree", "--labels=zh", "--canonical"]),
    "tree_turns": (turns, TREE),
    "tree_two_threads": (two_threads, TREE),
    "tree_hostile": (hostile, TREE),
    "tree_deep_recursion": (deep_recursion, TREE),
    "tree_of_untracked": (scenarios.nested_calls, TREE),
    "tree_of_untracked_threads": (scenarios.threads, TREE),
    "tree_of_parts": (scenarios.parts, TREE),
    "tree_without_beginning": (scenarios.no_beginning, TREE),
}
