"""The samples of call graphs: what they draw, and that a recording of them tells the same."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.support import paths, png, recording, viewer, warm

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

SAMPLES = paths.ROOT / "samples" / "calls"


def find(node, *names):
    for name in names:
        node = next(child for child in node["children"] if child["name"] == name)
    return node


def names(node):
    return [child["name"] for child in node["children"]]


def check_transformer(tree):
    assert names(tree) == ["letters", "places", "blocks", "norm", "head", "root"]
    blocks = find(tree, "blocks")
    assert blocks["indices"] == [0, 1, 2, 3]
    assert names(blocks) == ["norm1", "attn", "norm2", "mlp"]
    assert names(find(blocks, "attn")) == ["query", "key", "value", "out"]
    assert find(blocks, "attn", "query")["count"] == 4


def check_residual(tree):
    stages = ["layer1", "layer2", "layer3", "layer4"]
    assert names(tree) == ["stem", *stages, "pool", "head", "root"]
    assert [len(find(tree, stage)["indices"]) for stage in stages] == [2, 3, 4, 2]
    assert "shortcut" not in names(find(tree, "layer1"))
    assert find(tree, "layer2", "shortcut")["count"] == 3  # itself, and its two modules
    assert find(tree, "layer3", "relu")["count"] == 8


def check_encoder_decoder(tree):
    assert names(tree) == ["encoder", "decoder", "root"]
    assert find(tree, "encoder", "layers", "self_attn")["count"] == 3
    assert find(tree, "decoder", "layers", "self_attn")["count"] == 24
    assert "multihead_attn" in names(find(tree, "decoder", "layers"))


CHECKS = {
    "transformer": check_transformer,
    "residual": check_residual,
    "encoder_decoder": check_encoder_decoder,
}


def run(folder, *words):
    done = subprocess.run(
        [*map(str, words)],
        cwd=folder,
        env=recording.environment("off"),
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.fixture(scope="module", params=CHECKS)
def sample(request, tmp_path_factory):
    """A sample's name, and the folder that it was recorded in."""
    folder = tmp_path_factory.mktemp(request.param)
    words = ["-m", "monitorch", "run", "-o", "run.mtrace", SAMPLES / f"{request.param}.py"]
    told = run(folder, warm.python(), *words)
    assert told.decode().strip() == f"monitorch_outputs/{request.param}.png"
    return request.param, folder


def test_every_sample_is_here():
    assert {path.stem for path in SAMPLES.glob("*.py")} == set(CHECKS)


def test_picture(sample):
    name, folder = sample
    pixels = png.read((folder / "monitorch_outputs" / f"{name}.png").read_bytes())
    assert pixels.shape[1] > 800 and len(set(pixels[::5, ::5, :3].reshape(-1, 3)[:, 0])) > 4


def test_calls(sample):
    name, folder = sample
    words = [f"monitorch_outputs/{name}.txt", "-o", "-", "--format", "json"]
    listed = run(folder, viewer.PATH, "calls", *words)
    CHECKS[name](json.loads(listed))


def test_the_recording_tells_the_same(sample):
    name, folder = sample
    listed = run(folder, viewer.PATH, "calls", f"monitorch_outputs/{name}.txt")
    assert run(folder, viewer.PATH, "calls", "run.mtrace") == listed


@pytest.mark.skipif(not shutil.which("dot"), reason="there is no graphviz")
def test_graphviz_draws_it(sample):
    name, folder = sample
    for words in ([], ["--no-prune-leaves"], ["--no-prune-leaves", "--squash-name"]):
        listed = f"monitorch_outputs/{name}.txt"
        run(folder, viewer.PATH, "calls", listed, "-o", "calls.dot", *words)
        drawn = run(folder, "dot", "-Tsvg", "calls.dot")
        edges = (folder / "calls.dot").read_text().count(" -> n")
        assert drawn.count(b'class="edge"') == edges > 1
