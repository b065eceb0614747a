"""python -m monitorch run with torch's own ways of starting and compiling code."""


import pytest

from tests.python.run.test_run import functions_in, good
from tests.python.run.test_run_equality import make_files
from tests.support import compiler, recording

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)"),
]

RANKS = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
x = torch.ones(2) * dist.get_rank()
dist.all_reduce(x)
y = x + 1
print("sum", y.tolist(), flush=True)
dist.destroy_process_group()
"""
TRAINING = """
import sys, torch
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        row = torch.full((3,), float(i))
        return row
class Net(torch.nn.Module):
    def forward(self, x):
        y = x * 2
        return y.sum()
if __name__ == "__main__":
    net = Net()
    if "compile" in sys.argv:
        net = torch.compile(net, backend="eager")
    kind = sys.argv[1] if sys.argv[1] != "compile" else None
    loader = DataLoader(Rows(), 4, num_workers=bool(kind), multiprocessing_context=kind)
    for batch in loader:
        print(float(net(batch)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("program", [["ranks.py"], ["-m", "ranks"]], ids=["script", "module"])
def test_torchrun(program, tmp_path):
    """`run -m torch.distributed.run train.py` is `torchrun -m monitorch run train.py`."""
    make_files(tmp_path, {"ranks.py": RANKS})
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    words = ["-o", "r.mtrace", "--record", "sample=4", *launcher, *program]
    done = good(tmp_path, *words, OMP_NUM_THREADS="1")
    assert done.stdout.count("[2.0, 2.0]") == 2  # two ranks print at once
    assert {path.name for path in tmp_path.glob("*.mtrace")} == {"r.rank0.mtrace", "r.rank1.mtrace"}
    for rank in (0, 1):
        events = recording.read(tmp_path / f"r.rank{rank}.mtrace").events
        assert {"x", "y"} <= {event.name for event in events}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fork", "spawn", "forkserver"])
def test_workers_of_a_data_loader(kind, tmp_path):
    make_files(tmp_path, {"train.py": TRAINING})
    assert good(tmp_path, "train.py", kind).stdout == "36.0\n"
    (worker,) = tmp_path.glob("run.*.mtrace")
    assert ("train.py", "Rows.__getitem__") in functions_in(worker)
    assert ("train.py", "Net.forward") in functions_in(tmp_path / "run.mtrace")


@pytest.mark.parametrize("mode", ["break", "skip"])
def test_torch_compile(mode, tmp_path):
    make_files(tmp_path, {"train.py": TRAINING})
    done = good(tmp_path, "--record", f"compile={mode}", "train.py", "compile")
    assert done.stdout == "36.0\n"
    is_recorded = ("train.py", "Net.forward") in functions_in(tmp_path / "run.mtrace")
    assert is_recorded == (mode == "break")
