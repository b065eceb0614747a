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
            def __init__(self):
                self.eps = 1e-5

            def __call__(self, x):
                y = x / (x.abs().sum() + self.eps)  # HERE
                return y

        class Holder:
            def __init__(self):
                self.norm = Norm()

            def set(self):
                self.norm.eps = 0.0

        def other():
            return Norm()

        holder = Holder()
        kept = other()
        holder.set()
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
    "program, words, wanted, unwanted", [case[1:] for case in PROGRAMS], ids=[c[0] for c in PROGRAMS]
)
def test_first_line(tmp_path, program, words, wanted, unwanted):
    program = textwrap.dedent(program).lstrip("\n")
    run = hostile.run("why", record(tmp_path, program), *words)
    first = re.sub(r"^\S*/", "", run.stdout.split("\n", 1)[0])
    assert re.fullmatch(rf"program\.py:{line_of(program)}: {wanted}", first), run.stdout + run.stderr
    assert unwanted is None or unwanted not in first
