"""The graph against autograd's own: which recorded value was made directly of which other ones.

autograd_driver.py runs models and writes autograd's graph; autograd_edges.py compares. The quick run has three
models, `--slow` those of transformers, timm and torch.nn too.
"""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from tests.support import recording, warm
from tests.verdicts import autograd_edges, broken_models, healthy_models
from tests.verdicts.autograd_edges import HERE

FOLDER = broken_models.folder_of_packages()
QUICK = ("Generators", "Decoder", "Recurrent")
OWN = (*QUICK, "DiffusionUNet", "Pyramid", "TopExperts", "EncoderDecoder")
TORCH = ("Attention", "Autoencoder", "ConvNet", "Experts", "GruSteps", "LayerNormed", "UNet")
INSTALLED = (
    "llama",  # decoders
    "gpt2",
    "deepseek_v3",
    "t5",  # encoder and decoder
    "bart",
    "qwen3_moe",  # experts
    "mamba",  # state space
    "rwkv",
    "vit_images",  # vision
    "segformer_images",
    "timm_convnextv2_atto",
    "timm_levit_128s",
    "wav2vec2",  # audio
    "clip",
    "deberta_v2",
)

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]


def run(folder, models, modules, python=None):
    """The comparison of a run of those models, while the lines of the modules are recorded."""
    trace, out = folder / "run.mtrace", folder / "autograd.json"
    (folder / "models.json").write_text(json.dumps(models))
    environment = recording.environment("off")
    paths = [environment["PYTHONPATH"], str(HERE), *([str(FOLDER)] if FOLDER else [])]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    words = ["-m", "monitorch", "run", "-q", "-o", trace, *broken_models.selection(modules)]
    program = [HERE / "autograd_driver.py", folder / "models.json", out]
    done = subprocess.run(
        [python or sys.executable, *words, *program],
        env=environment, capture_output=True, text=True, timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return autograd_edges.compare(trace, out)


def own(names):
    return [
        {
            "make": f"import entangled_models as e\nmodel, x = e.make(e.{name})",
            "run": "out = model(x)",
        }
        for name in names
    ]


def test_values_that_go_through_containers_objects_and_closures(tmp_path):
    found = run(tmp_path, own(QUICK), ["entangled_models"], warm.python())
    assert len(found.right) > 130
    assert not found.missed, found.describe(found.missed)
    assert not found.false, found.describe(found.false)
    assert found.precision_of_all > 0.97, found.describe(found.unsure)


def installed(name):
    model = next(model for model in healthy_models.MODELS if model.name == name)
    make = textwrap.dedent(model.make) + "\nmodel.eval()"
    return [{"make": make, "run": model.finish}], model.modules


def torch_own(name):
    make = f"import models\nmodel, x = models.make(models.{name})"
    return [{"make": make, "run": "out = model(x)"}], ["models"]


@pytest.mark.slow
@pytest.mark.skipif(FOLDER is None, reason="transformers and timm are not there (make test-all)")
def test_models_of_every_kind(tmp_path):
    runs = {name: (own([name]), ["entangled_models"]) for name in OWN}
    runs.update({name: torch_own(name) for name in TORCH})
    runs.update({name: installed(name) for name in INSTALLED})
    right = missed = false = unsure = 0
    rows = []
    for name, (models, modules) in runs.items():
        folder = tmp_path / name
        folder.mkdir()
        found = run(folder, models, modules)
        right, missed = right + len(found.right), missed + len(found.missed)
        false, unsure = false + len(found.false), unsure + len(found.unsure)
        rows += [f"{name}: missed", found.describe(found.missed)] if found.missed else []
        rows += [f"{name}: false", found.describe(found.false)] if found.false else []
    text = "\n".join([*rows, f"{right} right, {missed} missed, {false} false, {unsure} unsure"])
    print(text)
    assert right / (right + missed) >= 0.995, text
    assert right / (right + false) >= 0.99, text
    assert right / (right + false + unsure) >= 0.93, text
