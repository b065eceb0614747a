"""The document's three examples, on 1, 2 and 4 gloo processes: shapes as its comments say, and every
value as plain arithmetic gives it. Started by torchrun and by torch.multiprocessing.spawn."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402

from tests.python.tracer import ranks  # noqa: E402
from tests.support import paths, recording  # noqa: E402

recording.package()

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(not dist.is_available() or not dist.is_gloo_available(), reason="no gloo"),
]

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "document_examples.py")
EXAMPLES = ("first", "second", "third")


def launch(kind, world, folder, examples):
    pytest.importorskip("h5py")
    environment = dict(os.environ, OMP_NUM_THREADS="1", MONITORCH="")
    environment["PYTHONPATH"] = os.pathsep.join([str(paths.PYTHON_PATH), str(paths.ROOT)])
    program = [PROGRAM, kind, str(world), str(folder), *examples]
    words = [sys.executable, *program]
    if kind == "torchrun":
        launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={world}"]
        words = [sys.executable, *launcher, *program]
    run = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    told = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    assert {(item["example"], item["rank"]) for item in told} == {
        (example, rank) for example in examples for rank in range(world)
    }, run.stdout
    return {item["example"]: item for item in told if item["rank"] == 0}


def check(found, world, examples):
    from tests.python.tracer.document_examples import BATCH, CLASSES, EPOCHS, FEATURES, STEPS

    count = EPOCHS * STEPS
    if "first" in examples:
        assert found["first"]["shape"] == [count // 4, world, 4, BATCH, FEATURES]
        assert found["first"]["output_shape"] == [count // 4, world, 4, BATCH, CLASSES]
    if "second" in examples:
        assert found["second"]["shape"] == [count // 2, 2 * world, BATCH, FEATURES]
    if "third" in examples:
        assert found["third"]["shape"] == [count // 4, FEATURES]


@pytest.mark.parametrize("world", [1, 2, 4])
def test_examples(world, tmp_path):
    """In processes that are quickly made."""
    pytest.importorskip("h5py")
    found = ranks.results(in_a_rank, world, str(tmp_path), seconds=240)[0]
    check(found, world, EXAMPLES)


def in_a_rank(rank, world, folder):
    from tests.python.tracer import document_examples

    return {name: getattr(document_examples, name)(rank, world, folder) for name in EXAMPLES}


WORLDS = [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(4, marks=pytest.mark.slow)]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("kind", ["spawn", "torchrun"])
def test_examples_as_programs(kind, world, tmp_path):
    check(launch(kind, world, tmp_path, EXAMPLES), world, EXAMPLES)
