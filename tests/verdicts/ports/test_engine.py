"""A model as it is trained against the engine that serves it, written in another style: one token a step, with a cache."""

import pathlib

import pytest

from tests.support import viewer
from tests.verdicts import forked_runs

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

ENGINE = pathlib.Path("samples/engine/engine.py").read_text()
TRAINER = pathlib.Path("samples/engine/trainer.py").read_text()

# What is wrong in the engine: old text, new text.
WRONG = {
    "scale": ("/ math.sqrt(8)", "/ 8"),
    "place": (
        "params, prompt[:, place], place, caches",
        "params, prompt[:, place], place + 1, caches",
    ),
    "eps": ("spread + 1e-5", "spread + 1e-2"),
    "activation": ("gelu(inner)", "torch.relu(inner)"),
    "one cache for both": ("for _ in range(2)]\nsteps", "for _ in range(1)] * 2\nsteps"),
    "key and value": ('("query", "key", "value")', '("query", "value", "key")'),
    "out transposed": ('w["c_proj.weight"].T', 'w["c_proj.weight"]'),
    "last norm": ('norm(x, params["gain"], params["shift"]) @', "x @"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("engine")
    record(folder, "trainer", TRAINER)
    return folder


def record(folder, name, text):
    script, trace = folder / f"{name}.py", folder / f"{name}.mtrace"
    script.write_text(text)
    done = forked_runs.run(folder, ["monitorch", "run", "-q", "-o", trace, script])
    assert done.code == 0, done.output
    return trace


def compare(folder, name, text):
    return viewer.run("diff", "--by-values", folder / "trainer.mtrace", record(folder, name, text))


def test_the_engine_agrees_with_the_trainer(folder):
    done = compare(folder, "engine", ENGINE)
    assert done.returncode == 0 and done.stdout.startswith("equal by values"), done.stdout


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_engine_differs(folder, name):
    old, new = WRONG[name]
    assert ENGINE.count(old) == 1
    text = ENGINE.replace(old, new)
    done = compare(folder, name.replace(" ", "_"), text)
    assert done.returncode == 1 and ": first divergence: " in done.stdout, done.stdout
    first = ENGINE[: ENGINE.index(old)].count("\n") + 1
    place = f".py:{first}: "
    assert place in done.stdout.splitlines()[0] or "not certain" in done.stdout, done.stdout
