"""`why --repro`: a script that makes a forward's NaN or infinity again, alone, of recorded values or of substitutes;
and what is said where there is none."""

import re
import textwrap

import pytest

from tests.support import viewer
from tests.verdicts import forked_runs, repro

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

PROGRAMS = {
    "a row that two masks hide": """
        scores = torch.randn(4, 4, 16, 16)
        future = torch.triu(torch.ones(16, 16, dtype=torch.bool), 1)
        scores = scores.masked_fill(future, -torch.inf)
        padding = torch.zeros(4, 16, dtype=torch.bool)
        padding[1] = True
        scores = scores.masked_fill(padding[:, None, None, :], -torch.inf)
        weights = scores.softmax(dim=-1)
    """,
    "a division whose zeros are at the same place": """
        above = torch.cat([torch.zeros(40), torch.randn(60)])
        below = torch.cat([torch.zeros(40), torch.rand(60) + 1])
        ratio = above / below
    """,
    "an attribute, a setting of the object and a global": """
        EPS = 0.0

        class Norm(torch.nn.Module):
            def __init__(self, width, power):
                super().__init__()
                self.gain = torch.nn.Parameter(torch.ones(width))
                self.power = power

            def forward(self, x):
                size = x.abs().pow(self.power).mean(-1, keepdim=True)
                return self.gain * x / (size + EPS)

        norm = Norm(300, 2)
        y = norm(torch.zeros(2, 300))
    """,
    "a layer under autocast, made in a constructor": """
        class Block(torch.nn.Module):
            def __init__(self, width):
                super().__init__()
                self.up = torch.nn.Linear(width, 4 * width)
                self.down = torch.nn.Linear(4 * width, width)

            def forward(self, x):
                h = self.up(x)
                with torch.autocast("cpu", dtype=torch.float16):
                    y = self.down(h * 1e6) * 3
                return y

        y = Block(8)(torch.randn(3, 8))
    """,
    "a function of the file that is not recorded": """
        from math import inf as endless

        def spread(x):  # monitorch: off
            return (x - x.amin()).clamp(max=endless)

        a = torch.full((200,), 3.0)
        b = a / spread(a)
    """,
    "a loop whose product overflows": """
        w = torch.full((2, 2), 1e10)
        h = torch.ones(2)
        for turn in range(6):
            h = w @ h
    """,
    "an infinity that two lines make a NaN of": """
        a = torch.full((50,), 200.0)
        big = a.exp()
        half = big / 2
        rest = big - half
    """,
    "NumPy": """
        import numpy as np

        a = np.linspace(-1, 1, 101)
        with np.errstate(all="ignore"):
            b = np.log(a)
    """,
}
"""Each makes its NaN or infinity in its forward."""

NO_SCRIPT = {
    "an argument of a call": (
        """
        def use(x):
            return x

        a = torch.zeros(3)
        b = use(a / a)
        """,
        "cannot run alone",
    ),
    "an object of a class that nothing recorded made": (
        """
        def make():  # monitorch: off
            return type("Held", (), {"zero": 0})()

        held = make()
        a = torch.ones(3)
        b = a / held.zero
        """,
        "`held.zero`",
    ),
    "no NaN": ("a = torch.ones(3)\nb = a + 1\n", "the value is finite"),
    "a value that entered": (
        """
        import io
        def give():  # monitorch: off
            return torch.full((3,), torch.nan)

        def use(x):
            y = x + 1
            return y

        use(give())
        """,
        "",
    ),
}


def record(folder, body):
    source = "import torch\ntorch.manual_seed(0)\n" + textwrap.dedent(body).lstrip("\n")
    (folder / "program.py").write_text(source)
    done = forked_runs.run(folder, ["monitorch", "run", "-q", "program.py"])
    assert (folder / "run.mtrace").exists(), done.output


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_forward_is_made_again(tmp_path, name):
    record(tmp_path, PROGRAMS[name])
    repro.check(tmp_path)


@pytest.mark.parametrize("name", NO_SCRIPT)
def test_there_is_no_broken_script(tmp_path, name):
    body, says = NO_SCRIPT[name]
    record(tmp_path, body)
    repro.check(tmp_path, says)


def test_the_script_says_what_its_values_are(tmp_path):
    record(tmp_path, PROGRAMS["a row that two masks hide"])
    text = repro.check(tmp_path)
    assert re.match(r"# \S+program.py:9: NaN made here: weights: softmax of a row ", text)
    assert "2 of the 3 tensors that it begins with are no recorded values" in text
    assert re.search(r"scores = substitute\(\[4, 4, 16, 16\], torch.float32, seed=\d+, .*"
                     r"# substitute of float32 \[4, 4, 16, 16\]  min .* \(line 3, #\d+\)", text)
    assert re.search(r"padding = torch.tensor\(\[False, .*# bool \[4, 16\] .*\(line 7, #\d+\)", text)


def test_values_that_are_kept_whole_are_the_recorded_ones(tmp_path):
    (tmp_path / "program.py").write_text("import torch\na = torch.arange(300.0) - 20\nb = a.sqrt()\n")
    forked_runs.run(tmp_path, ["monitorch", "run", "-q", "--record", "values=a", "program.py"])
    text = repro.check(tmp_path)
    assert "substitute" not in text and "-20.0, -19.0, " in text


def test_with_quiet_nothing_is_printed_of_the_script(tmp_path):
    record(tmp_path, "a = torch.zeros(3)\nb = a / a\n")
    said = viewer.run("why", "-q", tmp_path / "run.mtrace", "--repro", tmp_path / "nan.py")
    assert said.returncode == 0 and not said.stderr and (tmp_path / "nan.py").exists()
