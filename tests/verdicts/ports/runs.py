"""Records the programs of a pair, and reads the verdicts of `monitorch diff` on them."""

import dataclasses
import importlib
import pathlib
import re

from tests.support import viewer
from tests.verdicts import forked_runs

PAIRS = (
    "convnet",
    "crossing",
    "decoder",
    "dual",
    "encoder",
    "experts",
    "lstm",
    "separator",
    "squeeze",
    "statespace",
    "unet",
    "vision",
)

SAVE = """
import torch
torch.save(weights(), "checkpoint.pt")
"""

FIRST = re.compile(r"(?P<file>\S+):(?P<line>\d+): first divergence: (?P<words>.*)")


def load(name):
    return importlib.import_module(f"tests.verdicts.ports.{name}")


def record_program(folder, name, text, trace):
    script = folder / name / "model.py"
    script.parent.mkdir(parents=True, exist_ok=True)
    checkpoint = script.parent / "checkpoint.pt"
    if not checkpoint.exists():
        checkpoint.symlink_to(folder / "checkpoint.pt")
    script.write_text(text.lstrip("\n"))
    done = forked_runs.run(
        script.parent, ["monitorch", "run", "-q", "--seed", "0", "-o", trace, script]
    )
    assert done.code == 0, (name, done.output)
    return trace


def record_pair(folder, name, bugs=None):
    """The traces of the pair: {"reference": …, "port": …, name of a bug: …}."""
    pair = load(name)
    folder = pathlib.Path(folder, name)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "make.py").write_text(pair.WEIGHTS + SAVE)
    script = folder / "make.py"
    done = forked_runs.run(folder, ["monitorch", "run", "-q", "--no-record", script])
    assert done.code == 0, done.output
    texts = {"reference": pair.REFERENCE, "port": pair.PORT}
    texts.update({bug.name: bug.text(pair.PORT) for bug in pair.BUGS})
    texts = {key: text for key, text in texts.items() if bugs is None or key in bugs}
    return {
        key: record_program(folder, key, text, folder / f"{key}.mtrace")
        for key, text in texts.items()
    }


@dataclasses.dataclass
class Verdict:
    """`kind` is exact, unsure (it says so, and may name the line among others) or wrong."""

    kind: str
    first: str


def judge(pair, bug, text):
    first = text.splitlines()[0] if text else ""
    unsure = "not certain" in text
    found = FIRST.match(first)
    is_exact = False
    if found:
        is_exact = int(found["line"]) in bug.lines(pair.PORT)
        if bug.weight and bug.weight in first:
            is_exact = True
    kind = "exact" if is_exact else "unsure" if unsure else "wrong"
    return Verdict(kind, first)


def diff(traces, key):
    return viewer.run("diff", "--by-values", traces["reference"], traces[key])
