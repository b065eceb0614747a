"""Four programs whose pages are photographed (tools/page_pictures.py) and tested in a browser: a training
whose loss becomes NaN, two runs of a Llama that differ by one line, a training of a GAN, and a job of several
processes of which one makes a NaN.

    html = four_pages.write("ranks", folder)

Programs and traces have names without folders, so the pages say nothing of the machine.
"""

import os
import pathlib
import shutil
import subprocess
import sys

FLOW = pathlib.Path(__file__).resolve().parents[1] / "flow"

JOB = '''\
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 16)
        self.down = nn.Linear(16, 8)

    def forward(self, x):
        h = F.gelu(self.up(x))
        return x + self.down(h)


def average(net):
    for parameter in net.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()


def main():
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", init_method=os.environ["MEETING"], rank=rank, world_size=size)
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    torch.manual_seed(rank)
    for step in range(6):
        x = torch.randn(4, 8)
        if rank == size // 2 and step == 3:
            x[0] = 0
        unit = x / x.norm(dim=-1, keepdim=True)
        loss = net(unit).square().mean()
        optimizer.zero_grad()
        loss.backward()
        average(net)
        optimizer.step()
    dist.destroy_process_group()


main()
'''


def run(folder, *words, exit_codes=(0,), python=sys.executable, **variables):
    environment = {**os.environ, **variables}
    words = [python, "-m", "monitorch", *words[1:]] if words[:2] == ("monitorch", "run") else words
    done = subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    if done.returncode not in exit_codes:
        raise subprocess.CalledProcessError(done.returncode, words)


def record(folder, *words, trace="run.mtrace", python=sys.executable):
    run(folder, "monitorch", "run", "-q", *words[:-1], "-o", trace, *words[-1].split(), python=python)
    return trace


def nan(folder, python, count):
    shutil.copy(FLOW / "gpt_training.py", folder)
    return [record(folder, "--backward", "gpt_training.py 6 3", python=python)]


def diff(folder, python, count):
    source = (FLOW / "models.py").read_text()
    (folder / "models.py").write_text(source)
    a = record(folder, "models.py llama", trace="reference.mtrace", python=python)
    (folder / "models.py").write_text(source.replace("k = rotate(k, cos, sin)", "k = rotate(k, sin, cos)"))
    return [a, record(folder, "models.py llama", trace="ported.mtrace", python=python)]


def training(folder, python, count):
    shutil.copy(FLOW / "models.py", folder)
    return [record(folder, "--backward", f"models.py gan {count or 500}", python=python)]


def ranks(folder, python, count):
    count = count or 4
    (folder / "job.py").write_text(JOB)
    variables = {
        **os.environ, "WORLD_SIZE": str(count), "OMP_NUM_THREADS": "1", "MEETING": f"file://{folder}/meeting",
    }  # fmt: skip
    words = [python, "-m", "monitorch", "run", "-q", "--backward", "-o", "job.mtrace", "job.py"]
    jobs = [
        subprocess.Popen(words, cwd=folder, env={**variables, "RANK": str(rank)}) for rank in range(count)
    ]
    if any([job.wait() for job in jobs]):
        raise RuntimeError("a process failed")
    return ["job.mtrace"]


PROGRAMS = {"nan": nan, "diff": diff, "training": training, "ranks": ranks}


def write(name, folder, python=sys.executable, count=0):
    """The page of that name, in a folder that is empty. `count`: of steps or processes, where there is a choice."""
    folder = pathlib.Path(folder)
    traces = PROGRAMS[name](folder, python, count)
    run(folder, "monitorch", "page", "-q", *traces, "-o", "page.html", exit_codes=(0, 1))
    return folder / "page.html"
