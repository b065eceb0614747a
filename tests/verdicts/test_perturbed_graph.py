"""The graph against a change: one element of one recorded value differs, and so, by hash, may only what the graph says
was made from it.

perturb_driver.py runs a model again and again, each time with another value changed. The quick run has two models,
`--slow` others of transformers, timm and torch.nn.
"""

import collections
import json
import os
import subprocess
import sys

import pytest

from tests.support import recording, warm
from tests.verdicts import broken_models
from tests.verdicts.autograd_edges import HERE, ask
from tests.verdicts.test_autograd_graph import FOLDER, installed, own, torch_own

QUICK = ("Decoder", "Generators")
OWN = ("Recurrent", "DiffusionUNet", "Pyramid", "TopExperts", "EncoderDecoder")
TORCH = ("Attention", "ConvNet", "GruSteps", "UNet")
INSTALLED = ("llama", "gpt2", "t5", "mamba", "qwen3_moe", "vit_images", "timm_convnextv2_atto", "wav2vec2")

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]


def run(folder, models, modules, count, python=None):
    """The changes that were made, and where the traces are."""
    (folder / "model.json").write_text(json.dumps(models[0]))
    environment = recording.environment("off")
    paths = [environment["PYTHONPATH"], str(HERE), *([str(FOLDER)] if FOLDER else [])]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    words = ["-m", "monitorch", "run", "--no-record", "-q", *broken_models.selection(modules)]
    program = [HERE / "perturb_driver.py", folder / "model.json", str(count), folder]
    done = subprocess.run(
        [python or sys.executable, *words, *program],
        env=environment, capture_output=True, text=True, timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "changes.json").read_text())


def events_of(trace):
    return ask(
        trace,
        "select seq, file, line, name, path, kind, change, origin, object, value_kind, value, shape, length, hash"
        " from events",
    )


def edges_of(trace, events):
    """The events that each event's value went into."""
    targets, made = collections.defaultdict(list), set()
    for edge in ask(trace, "select source, target from edges where kind <> 'shape'"):
        targets[edge["source"]].append(edge["target"])
        made.add(edge["target"])
    for event in events:
        # A line that may have written to a value and did not: its event is no node of the graph.
        if event["change"] == "same" and event["kind"] == "mutate" and event["seq"] not in made:
            targets[event["origin"]].append(event["seq"])
    return targets


def place(event):
    return [event[key] for key in ("file", "line", "name", "path", "kind")]


def content(event):
    return [event[key] for key in ("value_kind", "value", "shape", "length", "hash")]


def same_way(before, after):
    """Pairs of events, as long as both runs take the same way."""
    for one, other in zip(before, after, strict=False):
        if place(one) != place(other):
            return
        yield one, other


def made_from(targets, start):
    """All that the graph says was made from these events."""
    found, stack = set(start), list(start)
    while stack:
        for target in targets[stack.pop()]:
            if target not in found:
                found.add(target)
                stack.append(target)
    return found


class Result:
    def __init__(self):
        self.changed, self.reached, self.missed, self.changes = 0, 0, [], 0

    def add(self, before, after, targets, address):
        start = {e["seq"] for e in before if e["object"] == address}
        reached = made_from(targets, start)
        pairs = list(same_way(before, after))
        changed = [one for one, other in pairs if content(one) != content(other)]
        self.changes += bool(changed)
        self.changed += len(changed)
        self.reached += len(reached & {one["seq"] for one, _ in pairs})
        self.missed += [event for event in changed if event["seq"] not in reached]

    def describe(self):
        places = collections.Counter(
            f"{os.path.basename(e['file'])}:{e['line']} {e['name']}{e['path'] or ''} (first #{e['seq']})"
            for e in self.missed
        )
        head = f"{self.changes} changes: {self.changed} values changed, {self.reached} reached"
        return "\n".join([head, *(f"    missed: {p} {n} times" for p, n in places.items())])


def compare(folder, models, modules, count, python=None):
    changes = run(folder, models, modules, count, python)
    before = events_of(folder / "0.mtrace")
    targets = edges_of(folder / "0.mtrace", before)
    result = Result()
    for item in changes:
        result.add(before, events_of(folder / item["trace"]), targets, item["object"])
    return result


def test_a_change_goes_where_the_graph_says(tmp_path):
    for name in QUICK:
        folder = tmp_path / name
        folder.mkdir()
        found = compare(folder, own([name]), ["entangled_models"], 4, warm.python())
        assert found.changes >= 4
        assert not found.missed, f"{name}: {found.describe()}"
        assert found.changed > 0.75 * found.reached, f"{name}: {found.describe()}"


@pytest.mark.slow
@pytest.mark.skipif(FOLDER is None, reason="transformers and timm are not there (make test-all)")
def test_models_of_every_kind(tmp_path):
    runs = {name: (own([name]), ["entangled_models"]) for name in OWN}
    runs.update({name: torch_own(name) for name in TORCH})
    runs.update({name: installed(name) for name in INSTALLED})
    rows, missed, changed, reached = [], 0, 0, 0
    for name, (models, modules) in runs.items():
        folder = tmp_path / name
        folder.mkdir()
        found = compare(folder, models, modules, 8)
        rows.append(f"{name}: {found.describe()}")
        missed, changed = missed + len(found.missed), changed + found.changed
        reached += found.reached
    text = "\n".join([*rows, f"{changed} changed, {missed} missed, {reached} reached"])
    print(text)
    assert missed == 0, text
    assert changed > 0.75 * reached, text
