"""`monitorch graph` of models that only call another one: the picture shows what is inside, as far as
it fits on a screen and a half."""

import re

import pytest

from tests.support import compiler, png, recording, svg, viewer, warm

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)"),
]

#: In pixels: one and a half screens of 1,280 x 800.
WIDTH, HEIGHT = 1280, 1200

#: A language model as libraries write them: a head around a decoder, tuples and dicts between.
MODEL = """
import torch
from torch import nn


def init_weights(module):
    with torch.no_grad():
        for parameter in module.parameters(recurse=False):
            parameter.mul_(0.5)


class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        variance = x.pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + 1e-6)
        return self.weight * x


class Rotary(nn.Module):
    def forward(self, x, places):
        angles = places[:, None] * torch.arange(8)
        return angles.cos(), angles.sin()


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first_norm = Norm(8)
        self.second_norm = Norm(8)
        self.mix = nn.Linear(8, 8)
        self.up = nn.Linear(8, 8)

    def forward(self, hidden, rotary):
        cos, sin = rotary
        kept = hidden
        hidden = self.first_norm(hidden)
        hidden = kept + self.mix(hidden * cos + hidden * sin)
        kept = hidden
        hidden = self.second_norm(hidden)
        up = self.up(hidden)
        gate = torch.sigmoid(up)
        down = up * gate
        return kept + down


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.rotary = Rotary()
        self.layers = nn.ModuleList(Layer() for _ in range(4))
        self.norm = Norm(8)
        self.apply(init_weights)

    def forward(self, ids):
        embedded = self.embed(ids)
        places = torch.arange(ids.shape[1])
        rotary = self.rotary(embedded, places)
        hidden = embedded
        for layer in self.layers:
            hidden = layer(hidden, rotary)
        hidden = self.norm(hidden)
        return {"hidden": hidden}


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.decoder = Decoder()
        self.head = nn.Linear(8, 20)

    def forward(self, ids):
        outputs = self.decoder(ids)
        hidden = outputs["hidden"]
        logits = self.head(hidden)
        return {"logits": logits}


def make():
    return Language(), {"ids": torch.randint(0, 20, (2, 5))}


model, inputs = make()
output = model(**inputs)
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("wrapper")
    (folder / "model.py").write_text(MODEL)
    trace = folder / "run.mtrace"
    done = recording.run_python(
        "-m", "monitorch", "run", "-q", "-o", trace, "model.py", python=warm.python(), folder=folder
    )
    assert done.returncode == 0, done.stderr
    return trace


def draw(trace, path, *words):
    done = viewer.run("graph", trace, "-o", path, *words)
    assert done.returncode == 0, done.stderr
    return done


def titles(path):
    return re.findall(r'<g class="node[^"]*"><title>(\S+)', path.read_text())


def edges(trace):
    """(name, line) of a value's source and of the value, for each edge of the trace's graph."""
    done = viewer.run(
        "sql", trace, "select s.name, s.line, t.name, t.line from edges e join events s on s.seq = "
        "e.source join events t on t.seq = e.target", "--csv", "--no-header",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [line.split(",") for line in done.stdout.splitlines()]
    return [((row[0], int(row[1])), (row[2], int(row[3]))) for row in rows]


def line_of(text):
    return 1 + MODEL.splitlines().index(text)


def test_the_inside_of_a_wrapper_is_drawn(trace, tmp_path):
    path = tmp_path / "a.svg"
    done = draw(trace, path)
    shown = titles(path)
    assert "Decoder" not in shown and "logits" in shown, shown
    assert {"Layer", "down"} & set(shown) and "Norm" in shown, shown
    assert "calls are one box each" in done.stderr
    picture = tmp_path / "a.png"
    draw(trace, picture)
    height, width = png.read(picture.read_bytes()).shape[:2]
    assert width <= WIDTH and height <= HEIGHT


def test_a_depth_that_is_asked_for_is_kept(trace, tmp_path):
    path = tmp_path / "a.svg"
    draw(trace, path, "--step", 1, "--depth", 0)
    assert "Decoder" in titles(path) and "Norm" not in titles(path)


def test_no_step_is_in_a_constructor(trace, tmp_path):
    path = tmp_path / "a.svg"
    draw(trace, path)
    assert "a call of Language" in " ".join(
        text.value for text in svg.read(path.read_bytes()).all_texts()
    )


def test_layers_that_share_a_tuple_fold(trace, tmp_path):
    """Each layer's argument is its caller's item, and not what the layer before called it."""
    path = tmp_path / "a.svg"
    draw(trace, path, "--step", 1, "--depth", 2)
    texts = [text.value for text in svg.read(path.read_bytes()).all_texts()]
    assert "decoder.layers.0-3" in texts, texts
    argument = ("rotary", line_of("    def forward(self, hidden, rotary):"))
    made = ("rotary", line_of("        rotary = self.rotary(embedded, places)"))
    assert {source for source, target in edges(trace) if target == argument} == {made}


def test_two_layers_of_a_class_are_two_boxes(trace, tmp_path):
    path = tmp_path / "a.svg"
    draw(trace, path, "--step", 1, "--depth", 2)
    assert titles(path).count("Norm") >= 2
    assert "× 8" not in path.read_text()


def test_a_model_is_not_made_from_the_inputs_beside_it(trace, tmp_path):
    """`make()` returns both: what the model holds is none of the other item."""
    returned = ("return", line_of('    return Language(), {"ids": torch.randint(0, 20, (2, 5))}'))
    assert {target[0] for source, target in edges(trace) if source == returned} == {"inputs"}
