"""`monitorch check` of gradients: their norm, those that are always zero, parameters that get none."""

import json
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

NET = """
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(3, 4)
            self.last = torch.nn.Linear(4, 1)
            self.unused = torch.nn.Linear(4, 1, bias=False)
            self.dead = torch.nn.Linear(3, 4, bias=False)
            self.cut = torch.nn.Linear(3, 4, bias=False)
            self.frozen = torch.nn.Linear(3, 4, bias=False).requires_grad_(False)

        def forward(self, x):
            h = self.first(x) + self.dead(x) * 0 + self.cut(x).detach() + self.frozen(x)
            return self.last(h)

    def train(steps, change=lambda loss: loss, **scaling):
        torch.manual_seed(0)
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu", **scaling)
        for step in range(steps):
            loss = change(net(torch.randn(4, 3)).square().mean())
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            print(float(torch.nn.utils.clip_grad_norm_(net.parameters(), 1e-3)))
            scaler.step(optimizer)
            scaler.update()

"""
CALLS = {
    "plain": "train(3, enabled=False)",
    "scaled": "train(3, init_scale=2.0**16)",
    "skipped": "train(30, lambda loss: loss * 1e4, init_scale=2.0**126)",
    "broken": "train(3, lambda loss: (loss * 0).sqrt() + loss, enabled=False)",
}


class Made:
    def __init__(self, folder, call):
        self.trace = folder / "run.mtrace"
        program = folder / "train.py"
        program.write_text(textwrap.dedent(NET) + call + "\n")
        self.lines = program.read_text().splitlines()
        done = subprocess.run(
            [sys.executable, "-m", "monitorch", "run", "-q", "--backward", "-o", self.trace, program],
            env=recording.environment("off"), cwd=folder, capture_output=True, text=True, check=True,
        )
        self.norms = [float(line) for line in done.stdout.split()]

    def line(self, text):
        return 1 + next(i for i, line in enumerate(self.lines) if text in line)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    found = {}

    def make(name):
        if name not in found:
            found[name] = Made(tmp_path_factory.mktemp(name), CALLS[name])
        return found[name]

    return make


def check(trace, *words):
    """The exit code, and the findings: (check, line, name, words, count)."""
    done = viewer.run("check", "--json", *words, trace)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, [
        (r["check"], r["line"], r["name"], r["words"], r["count"])
        for r in records if r["record"] == "finding"
    ]  # fmt: skip


def test_unused_and_cut_parameters(made):
    code, found = check(made("plain").trace, "--unused-parameters")
    assert code == 1
    assert sorted(name for _, _, name, _, _ in found) == ["cut.weight", "unused.weight"]


def test_dead_gradients(made):
    code, found = check(made("plain").trace, "--dead-gradients")
    assert code == 1 and [(name, n) for _, _, name, _, n in found] == [("gradient of dead.weight", 3)]


@pytest.mark.parametrize("name", ["plain", "scaled"])
def test_the_norm_is_that_of_clip_grad_norm(made, name):
    run = made(name)
    for limit in run.norms:
        code, found = check(run.trace, "--max-grad-norm", repr(limit * (1 + 1e-5)))
        above = [norm for norm in run.norms if norm > limit * (1 + 1e-5)]
        assert code == (1 if above else 0) and sum(f[4] for f in found) == len(above)
        if above:
            (_, line, what, words, _), = found
            assert (line, what) == (run.line(".backward()"), "gradients")
            assert float(words.split()[3].strip(",")) == pytest.approx(above[0], rel=1e-4)


def test_steps_that_a_scaler_skips_are_no_finding(made):
    run = made("skipped")
    assert check(run.trace) == (0, [])
    code, found = check(run.trace, "--no-nan", "--no-inf")
    assert code == 1 and all(name.startswith("gradient of ") for _, _, name, _, _ in found)


def test_a_gradient_that_is_not_finite_is_found_before_the_loss(made):
    run = made("broken")
    _, found = check(run.trace)
    kind, line, name, words, _ = found[0]
    assert kind == "no-nan" or kind == "no-inf"
    assert name.startswith("gradient of ") and "holds" in words and 0 < line <= len(run.lines)
    text = viewer.run("check", run.trace).stdout
    assert text.startswith(f"{run.trace.parent}/train.py:{line}: {name}: holds")


def test_all_formats_name_the_checks(made):
    words = "--max-grad-norm", "1e-9", "--dead-gradients", "--unused-parameters"
    for name in ("github", "junit", "sarif", "text"):
        text = viewer.run("check", "--format", name, *words, made("plain").trace).stdout
        assert "cut.weight" in text and "gradient of dead.weight" in text and "have the norm" in text


@pytest.mark.parametrize("option", [("--max-grad-norm", "1"), ("--dead-gradients",), ("--unused-parameters",)])
def test_a_trace_without_gradients_has_nothing_to_check(tmp_path, option):
    program = tmp_path / "a.py"
    program.write_text("def f():\n    x = 1.5\n    return x\nf()\n")
    subprocess.run(
        [sys.executable, "-m", "monitorch", "run", "-q", program],
        env=recording.environment("off"), cwd=tmp_path, check=True,
    )  # fmt: skip
    done = viewer.run("check", *option, tmp_path / "run.mtrace")
    assert done.returncode == 1 and "record with --backward" in done.stderr
