"""A value that entered was made by another process: `why` reads the traces that lie beside."""

import json
import shutil
import subprocess
import sys

import pytest

from tests.commands import hostile
from tests.support import pages, warm

pytest.importorskip("torch")

WORKER = """
import torch
from torch.utils.data import DataLoader, Dataset
class Sounds(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        power = torch.ones(8, 4)
        if index in BAD:
            power[:, 3:] = 0
        features = torch.log10(power)
        return features
def main():
    BODY
main()
"""
LOOPS = {
    "loop": "for got in DataLoader(Sounds(), batch_size=2, num_workers=1):\n        y = got * 2",
    "name": "loader = DataLoader(Sounds(), batch_size=2, num_workers=1)\n    for got in loader:\n        y = got * 2",
    "enumerate": "for i, got in enumerate(DataLoader(Sounds(), batch_size=2, num_workers=1)):\n        y = got * 2",
    "next": "batches = iter(DataLoader(Sounds(), batch_size=4, num_workers=1))\n    got = next(batches)\n    y = got * 2",
    "whole": "for got in DataLoader(Sounds(), batch_size=None, num_workers=1):\n        y = got * 2",
}
MADE = 11  # the line of log10


def record(folder, text, *options):
    (folder / "program.py").write_text(text)
    words = [warm.python(), "-m", "monitorch", "run", "-q", *options, "program.py"]
    done = subprocess.run(words, cwd=folder, env=pages.environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "run.mtrace"


def program(loop, bad=(2,)):
    return WORKER.replace("BODY", LOOPS[loop]).replace("BAD", repr(tuple(bad)))


@pytest.mark.parametrize("loop", LOOPS)
def test_a_worker_made_it(tmp_path, loop):
    trace = record(tmp_path, program(loop))
    said = hostile.run("why", trace)
    first, *rest = said.stdout.splitlines()
    assert said.returncode == 1 and first.endswith("program.py:11: -Inf made here: features: log10 of 0 gives -Inf: `power` has 8 zeros"), said.stdout
    assert any("-Inf entered here: got: it was " in line for line in rest), said.stdout
    found = json.loads(hostile.run("why", "--json", trace).stdout)
    assert found["producers"][0]["how"] == "came in"
    assert found["beside"]["certain"] and found["beside"]["producer"]["line"] == MADE


def test_without_the_worker_s_trace(tmp_path):
    trace = record(tmp_path, program("loop"))
    for path in tmp_path.glob("run.*.mtrace"):
        path.unlink()
    first = hostile.run("why", trace).stdout.splitlines()[0]
    assert "program.py:14: -Inf entered here: got: it was in an item of `DataLoader(" in first
    assert "no recorded line made; --include records" in first


def test_traces_of_other_runs_are_not_read(tmp_path):
    """Of the same names: a copy of another run's child."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    ours = record(tmp_path / "a", program("loop"))
    record(tmp_path / "b", program("loop"))
    for path in (tmp_path / "a").glob("run.*.mtrace"):
        path.unlink()
    for path in (tmp_path / "b").glob("run.*.mtrace"):
        shutil.copy(path, tmp_path / "a")
    assert "entered here" in hostile.run("why", ours).stdout.splitlines()[0]


def test_two_items_of_one_batch(tmp_path):
    """Neither item has all that is not finite in the batch: what is like it stands at the end."""
    said = hostile.run("why", record(tmp_path, program("loop", bad=(2, 3))))
    assert "entered here" in said.stdout.splitlines()[0]
    assert "another process of this run had such a value, in " in said.stdout
    assert said.stdout.splitlines()[-1].strip().split(":", 1)[1].startswith("11: -Inf made here: features")


def test_a_damaged_trace_beside_is_passed_over(tmp_path):
    trace = record(tmp_path, program("loop"))
    (child,) = tmp_path.glob("run.*.mtrace")
    for bad in hostile.damaged(child.read_bytes(), 12, seed=5):
        child.write_bytes(bad)
        assert hostile.run("why", trace).returncode == 1
    child.write_bytes(b"")
    assert "entered here" in hostile.run("why", trace).stdout.splitlines()[0]


RANKS = """
import os, sys, torch
import torch.distributed as dist
rank = int(os.environ["RANK"])
dist.init_process_group("gloo", init_method="file://" + os.path.abspath("meeting"), rank=rank, world_size=2)
x = torch.full((3,), float(rank + 1))
if rank == 1:
    x = (x - 3).log()
dist.broadcast(x, 1)
y = x * 2
"""


@pytest.mark.slow
def test_another_rank_made_it(tmp_path):
    (tmp_path / "program.py").write_text(RANKS)
    words = [sys.executable, "-m", "monitorch", "run", "-q", "program.py"]
    job = {**pages.environment(), "WORLD_SIZE": "2", "MASTER_PORT": "1", "MASTER_ADDR": "localhost"}
    both = [subprocess.Popen(words, cwd=tmp_path, env={**job, "RANK": str(rank)}) for rank in range(2)]
    assert [one.wait(120) for one in both] == [0, 0]
    said = hostile.run("why", tmp_path / "run.rank0.mtrace")
    assert "program.py:8: NaN made here: x: log of a negative number" in said.stdout.splitlines()[0], said.stdout
    assert "entered here: x: it was received by `dist.broadcast(x, 1)`" in said.stdout


def record_rank(folder, rank, text):
    """A rank of a job of its own: no processes, the names alone."""
    (folder / f"rank{rank}.py").write_text(text)
    words = [warm.python(), "-m", "monitorch", "run", "-q", "-o", f"job.rank{rank}.mtrace", f"rank{rank}.py"]
    subprocess.run(words, cwd=folder, env=pages.environment(), check=True)


def test_the_name_of_a_job_asks_all_its_ranks(tmp_path):
    good, bad = "x = 1.5\ny = x * 2\n", "import math\nx = 0.0\ny = math.nan * x\n"
    for rank, text in enumerate([good, bad, good]):
        record_rank(tmp_path, rank, text)
    said = hostile.run("why", tmp_path / "job.mtrace")
    assert said.returncode == 1 and "rank1.py:3: NaN made here: y: " in said.stdout.splitlines()[0]
    record_rank(tmp_path, 1, good)
    said = hostile.run("why", tmp_path / "job.mtrace")
    counts = [json.loads(hostile.run("why", "--json", path).stdout)["events"] for path in tmp_path.glob("*.mtrace")]
    assert said.returncode == 0 and said.stdout == f"ok: no NaN or Inf in {sum(counts)} events\n"
    said = hostile.run("why", tmp_path / "job.mtrace", "nothing")
    assert said.returncode == 1 and "nothing" in said.stderr
