"""`monitorch why TRACE NAME --step N`: the line that made a finite value jump."""

import subprocess
import sys
import textwrap

import pytest

from tests.support import paths, recording, viewer

pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(
        not list(paths.PACKAGE.glob("_recorder*.so")), reason="the recorder is not built (make)"
    ),
]

PROGRAM = """
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(8, 16)
            self.last = torch.nn.Linear(16, 1)

        def forward(self, x, scale):
            h = self.first(x).tanh()
            weight = h * scale
            y = self.last(weight)
            return y

    def train(steps):
        torch.manual_seed(0)
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for step in range(steps):
            x = torch.randn(16, 8)
            {change}
            y = net(x, 1.0)
            loss = (y - x.sum(1, keepdim=True)).square().mean(){more}
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    train(20)
"""
NOTHING = "kept = 0"
# What happens in a step: (a statement, more of the loss's, the step that jumps, the line that is named)
CASES = {
    "an input": ("x = x * (50.0 if step == 12 else 1.0)", "", 12, "x = x *"),
    "a learning rate": (
        "optimizer.param_groups[0]['lr'] = 30.0 if step == 11 else 0.01", "", 12, "optimizer.step()",
    ),
    "a loss": (NOTHING, " * (1000.0 if step == 12 else 1.0)", 12, "loss ="),
    "a gradient": (NOTHING, " + (y * (1e3 * (step == 11))).sum() * 0 + (y - y.detach()).sum() * "
                   "(500.0 if step == 11 else 0.0)", 12, "y = net(x, 1.0)"),
}  # fmt: skip


def record(folder, change, more, *options):
    program = folder / "train.py"
    program.write_text(textwrap.dedent(PROGRAM).format(change=change, more=more))
    subprocess.run(
        [sys.executable, "-m", "monitorch", "run", "-q", "--backward", *options, program],
        env=recording.environment("off"), cwd=folder, check=True,
    )  # fmt: skip
    return folder / "run.mtrace", program.read_text().splitlines()


def ask(trace, step, name="loss"):
    return viewer.run("why", trace, name, "--step", str(step))


@pytest.mark.parametrize("name", CASES)
def test_the_first_line_that_left_its_range(tmp_path, name):
    change, more, step, wanted = CASES[name]
    trace, lines = record(tmp_path, change, more)
    done = ask(trace, step)
    line = int(done.stdout.split(":")[1])
    named = lines[line - 1]
    if name == "a gradient":  # it comes with the backward, before the parameters that it changes
        assert "gradient of" in done.stdout.splitlines()[0]
    else:
        assert wanted in named, done.stdout
    assert done.returncode == 1 and "jumped here" in done.stdout.splitlines()[0]
    assert "asked for:" in done.stdout or wanted == "loss ="


def test_what_is_within_its_range_and_what_cannot_be_compared(tmp_path):
    trace, _ = record(tmp_path, NOTHING, "", "--record", "steps=last:12")
    done = ask(trace, 18)
    assert done.returncode == 0 and done.stdout.startswith("ok: ")
    assert "too few turns" in ask(trace, 9).stderr and ask(trace, 9).returncode == 1
    assert "no number or float tensor" in ask(trace, 15, "los").stderr


@pytest.mark.parametrize("words", [("--json",), ("-o", "a.svg")])
def test_it_is_text(tmp_path, words):
    done = viewer.run("why", tmp_path / "a.mtrace", "loss", "--step", "3", *words)
    assert done.returncode == 2
    assert viewer.run("why", tmp_path / "a.mtrace", "--step", "3").returncode == 2
