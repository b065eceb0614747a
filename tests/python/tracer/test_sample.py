"""samples/traced.py tells a value of each layer and step, and under torchrun those of both processes."""

from __future__ import annotations

import os
import pathlib
import subprocess

import pytest

from tests.support import paths, warm

pytestmark = pytest.mark.torch
TORCHRUN = ("-m", "torch.distributed.run", "--nproc-per-node", "2")


@pytest.mark.parametrize("words, ranks", [((), 1), (TORCHRUN, 2)], ids=["alone", "torchrun"])
def test_the_sample(words: tuple[str, ...], ranks: int, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("torch")
    done = subprocess.run(
        [warm.python(), *words, str(paths.ROOT / "samples" / "traced.py")],
        env=dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH), OMP_NUM_THREADS="1"),
        cwd=tmp_path, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = [line.split(":")[0] for line in done.stdout.splitlines() if line.endswith("% shut")]
    wanted = [
        f"layers.{layer}.forward.shut, step {step}, rank {rank}"
        for layer in range(2)
        for rank in range(ranks)
        for step in range(1, 21)
    ]
    assert sorted(told) == sorted(wanted)
