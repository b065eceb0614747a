"""What is saved with nothing written by hand: instrumented code, watched names, whole programs."""

from __future__ import annotations

import subprocess

import pytest

from tests.python.spy.signatures import names_in
from tests.support import paths, recording, warm

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import spy_load  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

MODEL = """\
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 12)

    def forward(self, x):
        q, k, v = self.project(x).chunk(3, dim=-1)
        attn_scores = q @ k.transpose(-2, -1)
        attn_weights = attn_scores.softmax(dim=-1)
        out = attn_weights @ v
        return out


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(Attention(), Attention())
        self.decoder = Attention()

    def forward(self, x):
        for turn in range(2):
            x = self.encoder(x)
        bad = (x * 0 + 1).log() / 0
        return self.decoder(x)
"""

PROGRAM = """
torch.manual_seed(0)
model = Model()
x = torch.randn(2, 3, 4)
"""

SAVING = """
from monitorch.spy import DebugContext, TensorSaver
saver = TensorSaver("saved"{options})
saver.register_modules(model)
with DebugContext(saver, prefix="p"):
    out = model(x)
"""


def run(folder, *words):
    done = recording.run_python(*words, python=warm.python(), folder=folder)
    assert done.returncode == 0, done.stderr
    return done


def instrumented(folder, *words, options=""):
    """The program's model instrumented with `words`, run in a context; what was saved."""
    (folder / "model.py").write_text(MODEL)
    subprocess.run(
        [paths.COMMAND, *words, "model.py", "-o", "traced.py"], cwd=folder, check=True
    )
    program = "import torch\nfrom traced import Model\n" + PROGRAM
    (folder / "program.py").write_text(program + SAVING.format(options=options))
    run(folder, "program.py")
    return spy_load(folder / "saved")["p"]


def by_name(found):
    """{module path: names}"""
    return {path: sorted(found[path]) for path in found}


ATTENTIONS = ["decoder", "encoder.0", "encoder.1"]


def test_calls_put_in_by_the_compiler(tmp_path):
    found = instrumented(tmp_path, "--spy", "q,k,v")
    assert by_name(found) == {path: ["k", "q", "v"] for path in ATTENTIONS}
    assert list(found["encoder.0"]["q"]) == [0, 1] and list(found["decoder"]["q"]) == [0]
    assert found["encoder.1"]["v"][1].shape == (2, 3, 4)


def test_watched_by_name(tmp_path):
    found = instrumented(tmp_path, options=', names=["q", "attn*"]')
    assert by_name(found) == {path: ["attn_scores", "attn_weights", "q"] for path in ATTENTIONS}
    weights = found["encoder.0"]["attn_weights"][0]
    assert torch.allclose(weights.sum(-1), torch.ones(2, 3))


def test_watched_by_module_path(tmp_path):
    found = instrumented(tmp_path, options=', names=["q", "attn*"], modules="encoder.*"')
    assert sorted(found) == ["encoder.0", "encoder.1"]


def test_watched_by_line(tmp_path):
    found = instrumented(tmp_path, options=', lines="12-13"')
    assert by_name(found) == {path: ["attn_scores", "attn_weights"] for path in ATTENTIONS}


def test_watched_by_line_of_a_file(tmp_path):
    found = instrumented(tmp_path, options=', lines="model.py:14"')
    assert by_name(found) == {path: ["out"] for path in ATTENTIONS}


def test_watched_by_call(tmp_path):
    found = instrumented(tmp_path, options=', names=["q"], calls=1')
    assert {path: list(found[path]["q"]) for path in found} == {"encoder.0": [1], "encoder.1": [1]}


@pytest.mark.parametrize("when", ["'nan'", "'nonfinite'", "lambda t: bool(t.isnan().any())"])
def test_watched_by_condition(tmp_path, when):
    found = instrumented(tmp_path, options=f', when={when}')
    assert by_name(found) == {"root": ["bad"]}
    assert bool(found["root"]["bad"][0].isnan().all())


def test_condition_that_nothing_meets(tmp_path):
    (tmp_path / "saved").mkdir()
    with pytest.raises(KeyError):
        instrumented(tmp_path, options=', names=["q"], when="inf"')
    assert names_in(tmp_path / "saved") == []


def test_nothing_is_saved_outside_the_context(tmp_path):
    instrumented(tmp_path, options=', names=["q"]')
    before = names_in(tmp_path / "saved")
    program = (tmp_path / "program.py").read_text().replace("    out = model(x)", "    pass")
    (tmp_path / "program.py").write_text(program + "model(x)\n")
    for path in (tmp_path / "saved").iterdir():
        path.unlink()
    run(tmp_path, "program.py")
    assert len(before) == 5 and names_in(tmp_path / "saved") == []


def test_whole_program(tmp_path):
    """Nothing of it is changed, and it knows nothing of saving."""
    (tmp_path / "train.py").write_text(MODEL + PROGRAM + "model(x)\n")
    run(tmp_path, "-m", "monitorch", "run", "--spy", "q,attn*", "--spy-to", "here", "train.py")
    found = spy_load(tmp_path / "here")
    saved = {(entry.module, entry.name) for entry in found.entries()}
    assert saved == {(p, n) for p in ATTENTIONS for n in ("q", "attn_scores", "attn_weights")}
    assert (tmp_path / "train.py").read_text() == MODEL + PROGRAM + "model(x)\n"


def test_whole_program_saves_into_spy(tmp_path):
    (tmp_path / "train.py").write_text(MODEL + PROGRAM + "model(x)\n")
    run(tmp_path, "-m", "monitorch", "run", "--spy", "out", "train.py")
    assert len(names_in(tmp_path / "spy")) == 5
