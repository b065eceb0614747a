"""What the golden texts show: each function makes one trace; golden/NAME.txt is its tree."""

from tests.trace import made
from tests.trace.made import Trace, container, instance, scalar, tensor

ATTENTION_SOURCE = """\
import torch


class Attention(torch.nn.Module):
    def forward(self, x, mask=None):
        q = self.q(x)
        scores = q @ q.transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(mask, -torch.inf)
        weights = scores.softmax(-1)
        return weights @ q


class Block(torch.nn.Module):
    def forward(self, x):
        for i in range(2):
            x = x + self.attn(x)
        x[0] = 0
        return x
"""


def attention(trace):
    """The sites of ATTENTION_SOURCE; gives the number of the first."""
    return trace.module(
        "model.py",
        [("<module>", 1), ("Attention.forward", 5), ("Block.forward", 15)],
        [
            ("enter", 5, 1, "x", "mask"),
            ("assign", 6, 1, "q"),
            ("assign", 7, 1, "scores"),
            ("branch", 8, 1, 0),
            ("assign", 9, 1, "scores"),
            ("assign", 10, 1, "weights"),
            ("return", 11, 1, "return"),
            ("enter", 15, 2, "x"),
            ("loop", 16, 2, "i"),
            ("assign", 17, 2, "x"),
            ("mutate", 18, 2, "x"),
            ("return", 19, 2, "return"),
        ],
        source=ATTENTION_SOURCE,
    )


def figures(low, high, mean, std, **fields):
    return dict(min=low, max=high, mean=mean, std=std, **fields)


def attend(trace, parent, turn, is_bad, thread=0):
    """One call of Attention.forward."""
    call = trace.call(
        1, parent, line=17, path="layers.0.attn", thread=thread, **{"class": "model.Attention"}
    )
    at = dict(thread=thread)
    trace.event(0, call, tensor((2, 8, 16), **figures(-3.1421, 2.9, 0.0123, 0.98765, hash=1)), **at)
    trace.event(0, call, instance("Mask") if turn else scalar(None), write=1, **at)
    q = tensor((2, 8, 16), form_flags=made.GRAD, **figures(-1, 1, 0, 0.5, hash=2))
    trace.event(1, call, q, **at)
    trace.event(
        2,
        call,
        tensor((2, 8, 8), strides=(64, 1, 8), **figures(-20.5, 123456.7, 1e-7, 3.3e8, zeros=3)),
        **at,
    )
    if is_bad:
        trace.event(3, call, change="none", **at)
        trace.event(
            4,
            call,
            tensor((2, 8, 8), **figures(-20.5, 9, 1, 2, neginf=56, hash=4)),
            change="rebound",
            difference=made.STRIDES | made.VALUES,
            **at,
        )
        trace.event(
            5,
            call,
            tensor((2, 8, 8), **figures("nan", "nan", "nan", "nan"), nan=120, posinf=8, hash=5),
            **at,
        )
        trace.ended(call, made.LEFT)
        return
    trace.event(5, call, tensor((2, 8, 8), **figures(0, 1, 0.125, 0.1, zeros=12)), **at)
    trace.event(6, call, tensor((2, 8, 16), **figures(0.5, 0.5, 0.5, 0)), **at)
    trace.ended(call)


def nested_calls():
    """Two modules, a loop, a branch, a write in place; NaN and Inf; a call left by an exception."""
    trace = Trace()
    attention(trace)
    trace.thread(0, "MainThread")
    call = trace.call(2, path="layers.0", **{"class": "__main__.FancyBlock"})
    trace.event(7, call, tensor((2, 8, 16), **figures(-1, 1, 0, 0.5)))
    for turn in range(2):
        trace.event(8, call, scalar(turn), change="new" if turn == 0 else "rebound")
        attend(trace, call, turn, is_bad=turn == 1)
        trace.event(
            9,
            call,
            tensor((2, 8, 16), object=7, data=8, version=turn, **figures(-2, 3, 0.25, 1.5)),
            change="rebound",
            difference=made.VALUES,
        )
    written = tensor((2, 8, 16), **figures(0, 3, 0.2, 1.25, zeros=128))
    trace.event(10, call, written, change="mutated", difference=made.VALUES)
    trace.event(
        11, call, written, change="aliased", alias=10, difference=made.VALUES | made.REQUIRES_GRAD
    )
    trace.ended(call)
    return trace


VALUES_SOURCE = "def f():\n" + "".join(f"    v{i} = {i}\n" for i in range(40))


def values():
    """Each kind of value, and tensors of every description."""
    trace = Trace()
    things = [
        None,
        dict(kind=12),
        scalar(None),
        scalar(True),
        scalar(False),
        scalar(0),
        scalar(-(2**63)),
        dict(kind=4, text="0x1f...ff"),
        scalar(0.1),
        scalar(1e-5),
        scalar(0.30000000000000004),
        scalar(float("nan")),
        scalar(float("-inf")),
        scalar(1.5 - 2j),
        scalar("text"),
        scalar("it's\n\tlong: " + "x" * 200),
        scalar("cut short", length=1000),
        dict(kind=8, integer=12),
        container("tuple", 2),
        container("dict", 5000, flags=made.MORE),
        instance("Tokenizer"),
        tensor((4, 8, 16, 12), **figures(-2.3141, 2.4412, 0.012, 0.98)),
        tensor((), **figures(2.31415, 2.31415, 2.31415, "nan")),
        tensor((), min="nan", max="nan", mean="nan", nan=1),
        tensor((0, 3), **figures("nan", "nan", "nan", "nan")),
        tensor((3,), "int64", **figures(-(2**63), 2**62, 1.5, 2, zeros=1)),
        tensor((3,), "uint8", **figures(7, 255, 1.5, 2)),
        tensor((16,), "bool", **figures(0, 1, 0.25, 0.4, zeros=12)),
        tensor((5,), "complex64", **figures(0.5, 2, 1, 0.1)),
        tensor((5,), "qint8", flags=made.STATISTICS),
        tensor((5,), "bfloat16", device="cuda:0", form_flags=made.GRAD | made.PARAMETER),
        tensor((5, 2), "float64", strides=(16, 24), form_flags=made.NUMPY | made.BYTE_STRIDES),
        tensor((5, 2), device="meta", note="meta"),
        tensor((5, 2), layout="sparse_coo", note="sparse"),
        tensor((5, 2), type="DTensor", form_flags=made.CONJUGATED | made.NEGATED),
        tensor((2,), "other", dtype_text="float6_e3m2"),
        tensor((1,) * 30, **figures(1, 1, 1, "nan")),
        tensor((2,)),
        tensor((6,), **figures(1, 2, 1.5, 0.5, nan=1, posinf=2, neginf=1)),
    ]
    trace.module(
        "values.py",
        [("<module>", 1), ("f", 1)],
        [("assign", i + 2, 1, f"v{i}") for i in range(len(things))],
        source=VALUES_SOURCE,
    )
    trace.thread(0, "MainThread")
    call = trace.call(1)
    for i, thing in enumerate(things):
        trace.event(i, call, thing, change="none" if thing is None else "new")
    trace.ended(call)
    return trace


PARTS_SOURCE = """\
def f(xs):
    out = g()
    for i, x in enumerate(xs):
        a = b
    while a:
        a = 0
    return out
"""


def parts():
    """Values inside values, unpacking, a loop over pairs, and every change."""
    trace = Trace()
    trace.module(
        "parts.py",
        [("<module>", 1), ("f", 1)],
        [
            ("assign", 2, 1, "out"),
            ("loop", 3, 1, "i", "x"),
            ("assign", 4, 1, "a"),
            ("loop", 5, 1),
            ("return", 7, 1, "return"),
            ("spy", 4, 1, "a"),
        ],
        source=PARTS_SOURCE,
    )
    trace.thread(0, "MainThread")
    call = trace.call(1)
    trace.event(0, call, container("dict", 2))
    trace.event(0, call, tensor((2,), **figures(1, 2, 1.5, 0.5)), path="['logits']")
    trace.event(0, call, tensor((3,)), path="['hidden'][0]")
    for turn in range(2):
        trace.event(1, call, scalar(turn), change="new" if turn == 0 else "rebound")
        change = "new" if turn == 0 else "rebound"
        trace.event(1, call, tensor((2,)), write=1, change=change, difference=turn * 127)
        trace.event(2, call, tensor((2,)), change=("new", "same")[turn])
        trace.event(5, call, tensor((2,)), change="same")
    for turn in range(2):
        trace.event(3, call, change="none")
    trace.event(4, call, container("dict", 2))
    trace.event(4, call, tensor((2,)), path="['logits']", change="same")
    trace.ended(call)
    return trace


BRANCHES_SOURCE = """\
def f(x):
    if x > 1:
        x = 1
    elif x > 2:
        x = 2
    else:
        x = 3
    for i in x:
        pass
    else:
        x = 4
    try:
        x = 5
    except ValueError as error:
        x = 6
    else:
        x = 7
    match x:
        case 1:
            x = 8
"""


def branches():
    """Which way conditions went; what an `else` belongs to."""
    trace = Trace()
    trace.module(
        "branches.py",
        [("<module>", 1), ("f", 1)],
        [
            ("branch", 2, 1, 0),
            ("assign", 3, 1, "x", (9,)),
            ("branch", 4, 1, 1),
            ("assign", 5, 1, "x", (9,)),
            ("branch", 6, 1, 2),
            ("assign", 7, 1, "x", (9,)),
            ("loop", 8, 1, "i"),
            ("branch", 10, 1, 1),
            ("assign", 11, 1, "x", (9,)),
            ("branch", 14, 1, "error", 0),
            ("branch", 16, 1, 1),
            ("branch", 19, 1, 0),
        ],
        source=BRANCHES_SOURCE,
    )
    trace.thread(0, "MainThread")
    call = trace.call(1)
    for site in range(12):
        value = {6: scalar(1), 9: instance("ValueError")}.get(site)
        value = scalar(site) if site in (1, 3, 5, 8) else value
        trace.event(site, call, value, change="new" if value else "none")
    trace.ended(call)
    return trace


def threads():
    """Two threads whose calls interleave, and a generator that is left and entered again."""
    trace = Trace()
    trace.module(
        "work.py",
        [("<module>", 1), ("run", 1), ("step", 5), ("numbers", 9)],
        [("assign", 2, 1, "a"), ("assign", 6, 2, "b"), ("assign", 10, 3, "n")],
    )
    trace.thread(0, "MainThread")
    trace.thread(1, "worker \x1b[31m1")
    trace.thread(2, "")
    first = trace.call(1)
    trace.event(0, first, scalar(1))
    second = trace.call(1, thread=1)
    trace.event(0, second, scalar(1), thread=1)
    third = trace.call(2, first, line=3)
    trace.event(1, third, scalar(2))
    fourth = trace.call(2, second, line=3, thread=1)
    trace.event(1, third, scalar(3), change="rebound")
    trace.event(1, fourth, scalar(3), thread=1)
    trace.event(0, second, scalar(4), thread=1, change="rebound")
    trace.event(0, first, scalar(4), change="rebound")
    generator = trace.call(3, first, line=2, flags=made.GENERATOR)
    for turn in range(3):
        trace.event(2, generator, scalar(turn))
        trace.event(0, first, scalar(10 + turn), change="rebound")
    fifth = trace.call(1, thread=2, flags=made.JOINED)
    trace.event(0, fifth, scalar(1), thread=2)
    for call in (third, first, fourth, second):
        trace.ended(call)
    return trace


def deep_recursion():
    """Sixty calls, each in the one before."""
    trace = Trace()
    trace.module(
        "deep.py",
        [("<module>", 1), ("down", 1)],
        [("enter", 1, 1, "n"), ("return", 2, 1, "return")],
    )
    trace.thread(0, "MainThread")
    for n in range(60):
        call = trace.call(1, n, line=2 if n else 0)
        trace.event(0, call, scalar(n))
    for n in range(60, 0, -1):
        trace.event(1, n, scalar(n))
        trace.ended(n)
    return trace


def hostile():
    """Names, paths and texts that would like to be obeyed, and very long ones."""
    bad = "\x1b[2J\x07\r\nx\u202e\u0085"
    trace = Trace()
    trace.module(
        f"dir{bad}/" + "p" * 300 + "/end.py",
        [("<module>", 1), (f"f{bad}" + "n" * 300, 1)],
        [("assign", 1, 1, f"a{bad}"), ("branch", 2, 1, 7), ("assign", 3, 1, "n" * 300)],
        source=f"a = 1\nif x:  # {bad!r} \x1b[31m\nn = 1\n",
    )
    trace.thread(0, bad)
    call = trace.call(1, path=f"layers{bad}", thread=0, **{"class": f"C{bad}"})
    trace.event(0, call, scalar(bad))
    trace.event(0, call, scalar("\udcff\udcfe bytes"), change="same", path=f"[{bad!r}]")
    trace.event(1, call, change="none")
    trace.event(2, call, instance(f"T{bad}" + "t" * 200))
    texts = dict(note=bad, device=bad, layout=bad, type=bad, dtype="other", dtype_text=bad)
    trace.event(2, call, tensor((2,), **texts))
    trace.note(f"note {bad}")
    return trace


def wide_names():
    """Letters that are two columns wide, and others that are none."""
    trace = Trace()
    trace.module(
        "模型.py",
        [("<module>", 1), ("注意力.前向", 1)],
        [("assign", 1, 1, "权重"), ("assign", 2, 1, "é"), ("assign", 3, 1, "ｑ")],
        source="权重 = 1\né = '𝕏'\n",
    )
    trace.thread(0, "主线程")
    call = trace.call(1, path="层.0", **{"class": "注意力"})
    trace.event(0, call, tensor((2, 3), **figures(0, 1, 0.5, 0.1)))
    trace.event(1, call, scalar("𝕏" * 60))
    trace.event(2, call, scalar(1))
    return trace


def notes():
    """Remarks and warnings where they were written."""
    trace = Trace()
    trace.module("n.py", [("<module>", 1), ("f", 1)], [("assign", 2, 1, "a")])
    trace.thread(0, "MainThread")
    trace.note("before all calls")
    call = trace.call(1)
    trace.event(0, call, scalar(1))
    trace.note("a compiled region was left out", tag=made.WARNING, site=0)
    trace.event(0, call, scalar(2), change="rebound")
    trace.ended(call)
    return trace


def no_beginning():
    """Events of calls whose beginning is not in the trace."""
    trace = Trace()
    trace.module(
        "n.py",
        [("<module>", 1), ("f", 1), ("g", 4)],
        [("assign", 2, 1, "a"), ("assign", 5, 2, "b")],
    )
    trace.thread(0, "MainThread")
    trace.event(0, 12, scalar(1))
    call = trace.call(2, parent=99, call=100, line=2)
    trace.event(1, call, scalar(1))
    again = trace.call(2, parent=12, call=101, line=3, flags=made.AGAIN)
    trace.event(1, again, scalar(1))
    return trace


GOLDEN = {
    "nested_calls": (nested_calls, []),
    "nested_calls_source": (nested_calls, ["--source"]),
    "nested_calls_color": (nested_calls, ["--color=always"]),
    "nested_calls_nan": (nested_calls, ["--nan"]),
    "values": (values, []),
    "parts": (parts, []),
    "parts_source": (parts, ["--source"]),
    "branches": (branches, []),
    "branches_source": (branches, ["--source"]),
    "threads": (threads, []),
    "deep_recursion": (deep_recursion, []),
    "hostile": (hostile, ["--source"]),
    "wide_names": (wide_names, ["--source"]),
    "notes": (notes, []),
    "no_beginning": (no_beginning, []),
}
