"""Gradients of models of transformers: those that plain hooks get, bit for bit, and a training that ends as without."""

import collections
import json
import os
import subprocess
import sys
import textwrap

import pytest

from tests.support import recording
from tests.verdicts import broken_models, test_real_models
from tests.verdicts.healthy_models import MODELS

NAMES = ("bert", "gpt2", "llama", "mixtral", "t5", "vit_images")
CHOSEN = [model for model in MODELS if model.name in NAMES]

pytestmark = [pytest.mark.slow, pytest.mark.torch, *test_real_models.pytestmark[2:]]

PROGRAM = """\
import hashlib, json, sys
import model_setup
import torch
{make}
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model.train()
found = {{"outputs": [], "parameters": []}}
if sys.argv[1] == "hooks":
    from monitorch import _recorder

    def measure(tensor):
        return f"{{_recorder.measure(tensor)['hash']:016x}}"

    def watch(module, inputs, output):
        if isinstance(output, torch.Tensor) and output.requires_grad:
            output.register_hook(lambda gradient: found["outputs"].append(measure(gradient)))

    for module in model.modules():
        if type(module).__module__ in {modules!r}:
            module.register_forward_hook(watch)
for step in range(2):
    optimizer.zero_grad()
    {finish}
    loss.backward()
    if sys.argv[1] == "hooks":
        found["parameters"] += [measure(p.grad) for p in model.parameters() if p.grad is not None]
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
digest = hashlib.sha256()
kept = [t for state in optimizer.state.values() for t in state.values() if torch.is_tensor(t)]
for tensor in (*model.state_dict().values(), *kept, torch.get_rng_state()):
    digest.update(tensor.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
found["end"] = digest.hexdigest()
json.dump(found, open(sys.argv[2], "w"))
"""


def run(folder, model, *words):
    """What the program found, run by these words of Python's."""
    text = PROGRAM.format(make=textwrap.dedent(model.make).strip(), finish=model.finish, modules=model.modules)
    (folder / "program.py").write_text(text)
    environment = recording.environment("off")
    environment["PYTHONPATH"] += os.pathsep + os.pathsep.join(
        [str(broken_models.folder_of_packages()), str(test_real_models.HERE)]
    )
    mode = "trace" if len(words) > 0 else "hooks"
    done = subprocess.run(
        [sys.executable, *words, "program.py", mode, f"{mode}.json"],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads((folder / f"{mode}.json").read_text())


@pytest.mark.parametrize("model", CHOSEN, ids=lambda model: model.name)
def test_gradients_are_those_of_plain_hooks(model, tmp_path):
    selected = broken_models.selection(["__main__", *model.modules])
    plain = run(tmp_path, model)
    traced = run(tmp_path, model, "-m", "monitorch", "run", "-q", "--backward", *selected)
    assert traced["end"] == plain["end"]
    gradients = recording.read(tmp_path / "run.mtrace", "--backward").gradients
    arrived = {g.hash for g in gradients if not g.accumulated}
    assert len(plain["outputs"]) >= 8 and set(plain["outputs"]) <= arrived
    accumulated = collections.Counter(g.hash for g in gradients if g.accumulated)
    assert accumulated == collections.Counter(plain["parameters"])


def test_there_are_six():
    assert len(CHOSEN) == 6
