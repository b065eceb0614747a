"""`monitorch why` on whole programs, each recorded as `python -m monitorch run` does: the first line of the
answer, and what it may not say."""

import re
import subprocess
import textwrap

import pytest

from tests.commands import hostile
from tests.support import pages, warm

pytest.importorskip("torch")

# Name, program, words of `why` behind the trace, the first line's end as a pattern, what it may not say.
# The line that is right ends in `# HERE`.
PROGRAMS = [
    (
        "an attribute is that of this instance",
        """
        import torch
        from torch import nn

        class Norm(nn.Module):
            def __init__(self, eps):
                super().__init__()
                self.eps = eps

            def forward(self, x):
                variance = x.pow(2).mean(-1, keepdim=True)
                x = x * torch.rsqrt(variance + self.eps)  # HERE
                return x

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = Norm(0.0)
                self.b = Norm(1e-5)

            def forward(self, x):
                return self.a(self.b(x))

        x = torch.randn(4, 8)
        x[2] = 0
        Net()(x)
        """,
        [],
        "NaN made here: x: rsqrt of 0 gives Inf: .variance.*",
        "negative",
    ),
    (
        "an attribute that was written through another name",
        """
        import torch

        class Norm:
            def __init__(self, eps):
                self.eps = eps

            def __call__(self, x):
                y = x / (x.abs().sum() + self.eps)  # HERE
                return y

        class Holder:
            def __init__(self):
                self.norm = Norm(1e-5)

            def set(self, eps):
                self.norm.eps = eps

        def other():
            return Norm(1e-5)

        holder = Holder()
        kept = other()
        holder.set(0.0)
        holder.norm(torch.zeros(3))
        """,
        [],
        "NaN made here: y: 0/0: .x.abs.*",
        "not recorded",
    ),
]

PROGRAMS += [
    (
        "a dtype was read of what is NaN",
        """
        import torch

        def cast(x, w):
            kind = x.dtype
            v = w.to(kind).log()  # HERE
            return v

        bad = torch.tensor([float("nan"), 1.0])
        y = cast(bad, -torch.ones(2))
        """,
        ["y"],
        "NaN made here: v: log of a negative number: .*",
        "bad",
    ),
    (
        "a kind was read of what is NaN",
        """
        import torch

        def spread(x, n):
            share = x.new_zeros(3) / n  # HERE
            return share

        bad = torch.tensor([float("nan"), 1.0])
        y = spread(bad, torch.zeros(3))
        """,
        ["y"],
        "NaN made here: share: 0/0: .*",
        "bad",
    ),
    (
        "elements are read beside the form",
        """
        import torch

        def spread(x, w):
            zeros = torch.zeros_like(w)
            size = x.shape[0] * x.size(0)
            y = w.to(x) * size + x.sum() / x.numel() + zeros
            return y

        bad = torch.tensor([1.0, 1.0]) * float("nan")  # HERE
        y = spread(bad, torch.zeros(2))
        """,
        ["y"],
        "NaN made here: bad: .*",
        None,
    ),
    (
        "sizes of what is NaN go into a loop's count",
        """
        import torch

        def run(x, w):
            batch, width = x.shape
            total = w.expand_as(x[0]).clone()
            for i in range(batch):
                total = total - 1
            scaled = torch.full_like(x, 2.0)[0] * total.sqrt() / width  # HERE
            return scaled

        bad = torch.full((3, 2), float("nan"))
        y = run(bad, torch.ones(2))
        """,
        ["y"],
        "NaN made here: scaled: sqrt of a negative number: .*",
        None,
    ),
]

PROGRAMS += [
    (
        "a call whose return was recorded made nothing inside",
        """
        import torch
        def _norm(tensor):
            square = torch.pow(tensor, 2)
            total = torch.sum(square, dim=-1, keepdim=True)
            normed = torch.pow(total, 0.5)
            return normed
        def f(e):
            e = e / _norm(e)  # HERE
            return e
        print(f(torch.zeros(2, 3)))
        """,
        [],
        "NaN made here: e: 0/0: `_norm\\(e\\)` has 2 zeros, `e` has 6 zeros",
        None,
    ),
    (
        "every target is ignored",
        """
        import torch
        import torch.nn.functional as F
        def step(logits, labels, **kwargs):
            loss = F.cross_entropy(logits, labels, **kwargs)  # HERE
            return loss
        print(step(torch.randn(4, 5), torch.full((4,), -100)))
        """,
        [],
        "NaN made here: loss: cross_entropy of nothing: every target in `labels` is -100, .*",
        "kwargs",
    ),
    (
        "a padded sequence of torch's own attention",
        """
        import torch
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
            def forward(self, x, pad):
                y, weights = self.attention(x, x, x, key_padding_mask=pad)  # HERE
                return y
        pad = torch.tensor([[False, False, True], [True, True, True]])
        print(Net()(torch.randn(2, 3, 8), pad))
        """,
        [],
        "NaN made here: y: MultiheadAttention of a query all of whose keys are masked: `pad` is "
        "True at 4 of 6 places; or inside `self.attention\\(.*",
        None,
    ),
    (
        "a default that is infinite is meant",
        """
        import torch
        class Solver:
            def __init__(self, func, y0, rtol, step=0, max_step=float('inf'), **unused):
                self.max_step = max_step
                self.rtol = rtol
            def run(self, x):
                h = torch.minimum(x, torch.tensor(self.max_step))
                y = h - x
                z = y / y  # HERE
                return z
        def odeint(func, y0, rtol=1e-7, options=None):
            if options is None:
                options = {}
            solver = Solver(func=func, y0=y0, rtol=rtol, **options)
            return solver.run(y0)
        odeint(lambda x: x, torch.ones(3))
        """,
        [],
        "NaN made here: z: 0/0: `y` has 3 zeros",
        None,
    ),
    (
        "the default itself, when it is asked for",
        """
        import torch
        class Solver:
            def __init__(self, func, y0, rtol, step=0, max_step=float('inf'), **unused):  # HERE
                self.max_step = max_step
                self.rtol = rtol
            def run(self, x):
                h = torch.minimum(x, torch.tensor(self.max_step))
                y = h - x
                z = y / y
                return z
        def odeint(func, y0, rtol=1e-7, options=None):
            if options is None:
                options = {}
            solver = Solver(func=func, y0=y0, rtol=rtol, **options)
            return solver.run(y0)
        odeint(lambda x: x, torch.ones(3))
        """,
        ["max_step"],
        "Inf written here: max_step: the default of `max_step` names it: `float\\('inf'\\)`",
        "options",
    ),
    (
        "what getattr gives was there",
        """
        import torch
        class P: pass
        def walk(value, names):
            for name in names:
                attr = getattr(value, name)  # HERE
                out = attr + 1
            return out
        p = P(); setattr(p, "w", torch.tensor([float("nan"), 1.0]))
        walk(p, ["w"])
        """,
        ["attr"],
        "NaN entered here: attr: it was already in `getattr\\(value, name\\)`, .*",
        "made",
    ),
    (
        "a comprehension's item",
        """
        import torch
        def main():
            xs = [torch.tensor(1.), torch.tensor(0.)]
            logs = [torch.log(x) for x in xs]  # HERE
            return logs
        main()
        """,
        [],
        "-Inf made here: logs\\[1\\]: log of 0 gives -Inf: `x` was 0",
        None,
    ),
    (
        "a power of 0 is finite",
        """
        import torch
        def main(base, dim):
            inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2, dtype=torch.float) / dim))  # HERE
            return inv_freq
        main(0.0, 8)
        """,
        [],
        "Inf made here: inv_freq: division by zero: `base \\*\\* .*` was 0",
        "inside",
    ),
    (
        "a default is no argument that was given",
        """
        import torch
        def g(x, mask=float("-inf")):
            y = x + mask
            z = y - y  # HERE
            return z
        g(torch.ones(3))
        """,
        [],
        "NaN made here: z: Inf - Inf: .*",
        None,
    ),
    (
        "an item by a key that is not constant",
        """
        import torch
        def main():
            state = {str(i): torch.full((3,), 10.0 ** i) for i in range(7)}
            for name in state:
                stored = state[name].half()  # HERE
            return stored
        main()
        """,
        [],
        "Inf made here: stored: overflow of float16: `state\\[name\\].half\\(\\)` (is|can reach) (1e6|100000), above 65504",
        None,
    ),
    (
        "a parameter that another name wrote",
        """
        import torch
        class M(torch.nn.Module):
            def __init__(self): super().__init__(); self.s = torch.nn.Parameter(torch.tensor(2.0))
            def forward(self, x):
                y = x * self.s.exp().to(x.device)  # HERE
                return y
        m = M()
        with torch.no_grad(): m.s.fill_(100.0)
        out = m(torch.ones(3))
        """,
        [],
        "Inf made here: y: exp overflows above 88.72 in float32: `self.s` has max 100",
        None,
    ),
    (
        "normalize of zero",
        """
        import torch
        import torch.nn.functional as F
        def main():
            x = torch.zeros(2, 4)
            n = F.normalize(x, eps=0.0)  # HERE
            p = torch.ones(3, requires_grad=True)
            p.grad = torch.tensor([float("inf"), 1., 1.])
            total = torch.nn.utils.clip_grad_norm_([p], 1.0)
            c = torch.tensor([1.0000001, 0.5])
            a = torch.acos(c)
        main()
        """,
        [],
        "NaN made here: n: normalize of 0 is 0/0: `x` has 8 zeros, eps is 0",
        None,
    ),
    (
        "gradient clipping",
        """
        import torch
        import torch.nn.functional as F
        def main():
            x = torch.zeros(2, 4)
            n = F.normalize(x, eps=0.0)
            p = torch.ones(3, requires_grad=True)
            p.grad = torch.tensor([float("inf"), 1., 1.])
            total = torch.nn.utils.clip_grad_norm_([p], 1.0)  # HERE
            c = torch.tensor([1.0000001, 0.5])
            a = torch.acos(c)
        main()
        """,
        ["total"],
        "Inf entered here: total: clip_grad_norm gives the norm of gradients: .*; or .* their sum overflows",
        "made here",
    ),
    (
        "a figure just beyond an edge",
        """
        import torch
        import torch.nn.functional as F
        def main():
            x = torch.zeros(2, 4)
            n = F.normalize(x, eps=0.0)
            p = torch.ones(3, requires_grad=True)
            p.grad = torch.tensor([float("inf"), 1., 1.])
            total = torch.nn.utils.clip_grad_norm_([p], 1.0)
            c = torch.tensor([1.0000001, 0.5])
            a = torch.acos(c)  # HERE
        main()
        """,
        ["a"],
        "NaN made here: a: acos above 1: max of `c` is 1.00000012",
        None,
    ),
    (
        "an argument's own text",
        """
        import torch
        def norm(x): return x.sum()
        def scale(x, by=2.0, *, add=None):
            y = x * by
            return y
        def main(x):
            a = scale(x / norm(x), by=3.0)
            b = scale(norm(x) / x, add=norm(x))
            c = scale(by=x.log(), x=x)  # HERE
            d = norm(x) if x.sum() > 5 else norm(x).log()
            return a, b, c, d
        main(torch.zeros(3))
        """,
        ["program.py:9"],
        "-Inf made here: by: log of 0 gives -Inf: `x` has 3 zeros",
        None,
    ),
    (
        "a condition's two ways",
        """
        import torch
        def norm(x): return x.sum()
        def scale(x, by=2.0, *, add=None):
            y = x * by
            return y
        def main(x):
            a = scale(x / norm(x), by=3.0)
            b = scale(norm(x) / x, add=norm(x))
            c = scale(by=x.log(), x=x)
            d = norm(x) if x.sum() > 5 else norm(x).log()  # HERE
            return a, b, c, d
        main(torch.zeros(3))
        """,
        ["d"],
        "-Inf made here: d: log of 0 gives -Inf: `norm\\(x\\)` was 0",
        None,
    ),
]

MASKS = """
import torch

def both(keep):
    one = torch.where(keep, 0.0, torch.finfo(torch.float16).min).half()
    two = (1.0 - keep.half()) * torch.finfo(torch.float16).min
    both = one + two
    return (torch.zeros(4, 4).half() + both).softmax(-1)

def added(keep):
    scores = torch.ones(4, 4).half() * 8
    scores += torch.where(keep, 0.0, -1e10)
    return scores.softmax(-1)

def cast(keep):
    bias = torch.zeros(4, 4)
    bias[~keep] = -1e9
    late = bias.to(torch.float16)
    return late

keep = torch.ones(4, 4, dtype=torch.bool).tril()
both(keep), added(keep), cast(keep)
weights = torch.ones(4, 4).half() * 60000
h = weights * 3
x = torch.tensor([0.0, -70000.0])
y = x.half()
"""

PROGRAMS += [
    (
        f"masks in half precision: {name}",
        MASKS.replace(line, line + "  # HERE", 1),
        words,
        wanted,
        None,
    )
    for name, line, words, wanted in [
        ("none is an alarm", "h = weights * 3", [], "Inf made here: h: overflow of float16: .*"),
        (
            "two are added",
            "both = one + two",
            ["both"],
            "-Inf written here: both: the minimum of a mask, -131008, is -Inf in float16",
        ),
        (
            "scores are not",
            "scores += torch.where(keep, 0.0, -1e10)",
            ["scores"],
            "-Inf written here: scores: the minimum of a mask, -1e10, is -Inf in float16",
        ),
        (
            "a cast, of what an item was given",
            "late = bias.to(torch.float16)",
            ["late"],
            "-Inf written here: late: the minimum of a mask, -1e9, is -Inf in float16",
        ),
        (
            "values that look like one",
            "y = x.half()",
            ["y"],
            r"-Inf made here: y: overflow of float16: `x.half\(\)` is -70000, below -65504",
        ),
    ]
]

PROGRAMS += [
    (
        "weights of a module that a step made infinite",
        """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(4, 4)
                self.lin = nn.Linear(4, 4)

            def forward(self, x):
                x = x + 1
                h = self.lin(x)  # HERE
                return h.pow(2).sum()

        net = Net()
        opt = torch.optim.SGD(net.parameters(), lr=1e38)
        for i in range(2):
            loss = net(torch.full((2, 4), 2.0)) * 1e20
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        [],
        r"(NaN|-?Inf) entered here: self\.lin\.(weight|bias): it was already in `self\.lin\.\w+`, a parameter of "
        r"the model; backward\(\) and the step\(\) on line 21 .*",
        "made here",
    ),
    (
        "the same of an embedding, under a local name",
        """
        import torch

        def train(emb):
            opt = torch.optim.SGD(emb.parameters(), lr=3e38)
            for step in range(2):
                out = emb(torch.arange(4))  # HERE
                loss = out.sum() * 1e6
                opt.zero_grad()
                loss.backward()
                opt.step()

        train(torch.nn.Embedding(4, 3))
        """,
        [],
        r"-Inf entered here: emb\.weight: .* on line 10 .*",
        "made here",
    ),
    (
        "weights that were loaded so",
        """
        import torch

        def load(): # monitorch: off
            model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
            model.load_state_dict({"0.weight": torch.eye(2), "0.bias": torch.full((2,), torch.nan)})
            return model

        model = load()
        x = torch.ones(3, 2)
        y = model(x)  # HERE
        """,
        [],
        r"NaN entered here: model\.0\.bias: .*, a parameter of the model; no step\(\) of an optimizer is "
        r"recorded before it",
        None,
    ),
    (
        "a number that a dictionary is given by its name",
        """
        import torch

        state = {"weight": torch.eye(2), "bias": torch.full((2,), float("nan"))}  # HERE
        y = state["bias"] + 1
        """,
        [],
        r"NaN made here: state\['bias'\]: the statement names it: `float\(\"nan\"\)`",
        None,
    ),
    (
        "weights that are finite are no cause",
        """
        import torch

        lin = torch.nn.Linear(2, 2)
        x = torch.full((3, 2), 3e38)
        with torch.no_grad():
            lin.weight.fill_(2.0)
        y = lin(x)  # HERE
        """,
        ["y"],
        r"Inf made here: y: overflow of float32: Linear sums products with `x`, which reaches .*",
        "weight",
    ),
]


def line_of(program):
    return 1 + next(n for n, line in enumerate(program.split("\n")) if line.endswith("# HERE"))


def record(folder, program, *words):
    (folder / "program.py").write_text(program)
    done = subprocess.run(
        [warm.python(), "-m", "monitorch", "run", "-q", "-o", "run.mtrace", *words, "program.py"],
        cwd=folder,
        env=pages.environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder / "run.mtrace"


@pytest.mark.parametrize(
    "program, words, wanted, unwanted",
    [case[1:] for case in PROGRAMS],
    ids=[c[0] for c in PROGRAMS],
)
def test_first_line(tmp_path, program, words, wanted, unwanted):
    program = textwrap.dedent(program).lstrip("\n")
    run = hostile.run("why", record(tmp_path, program), *words)
    first = re.sub(r"^\S*/", "", run.stdout.split("\n", 1)[0])
    assert re.fullmatch(rf"program\.py:{line_of(program)}: {wanted}", first), (
        run.stdout + run.stderr
    )
    assert unwanted is None or unwanted not in first


ALTERNATIVES = """\
import torch

combine = lambda left, right: left + right

def main():
    x = torch.tensor([0.0, 1.0, 2.0])
    a = x / x
    b = (x - 1) / (x - 1)
    c = combine(a, b)
    d = torch.add(a, b)

main()
"""


def test_one_of_two_values_may_be_the_one(tmp_path):
    """Of what code that is not recorded was given, either may have made the NaN; torch.add uses both."""
    trace = record(tmp_path, ALTERNATIVES)
    assert "\nor, and on the way:\n" in hostile.run("why", trace, "c").stdout
    assert "\nand on the way:\n" in hostile.run("why", trace, "d").stdout
