"""Screenshots of pages: python tools/page_pictures.py FOLDER, which needs torch and Chromium.

Records four programs, writes their pages, and photographs them at three widths, light and dark. Programs
and traces have names without folders, so the pictures say nothing of the machine.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
PROGRAMS = ROOT / "tests/view/flow"
RANKS = 4

JOB = """\
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
        if rank == 2 and step == 3:
            x[0] = 0
        unit = x / x.norm(dim=-1, keepdim=True)
        loss = net(unit).square().mean()
        optimizer.zero_grad()
        loss.backward()
        average(net)
        optimizer.step()
    dist.destroy_process_group()


main()
"""


def run(folder, *words, exit_codes=(0,), **variables):
    environment = {**os.environ, **variables}
    done = subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    if done.returncode not in exit_codes:
        raise subprocess.CalledProcessError(done.returncode, words)


def record(folder, *words, trace="run.mtrace"):
    run(folder, "monitorch", "run", "-q", *words[:-1], "-o", trace, *words[-1].split())
    return trace


def page_of_nan(folder):
    shutil.copy(PROGRAMS / "gpt_training.py", folder)
    return ["page", record(folder, "--backward", "gpt_training.py 6 3")]


def page_of_diff(folder):
    source = (PROGRAMS / "models.py").read_text()
    (folder / "models.py").write_text(source)
    a = record(folder, "models.py llama", trace="reference.mtrace")
    (folder / "models.py").write_text(source.replace("k = rotate(k, cos, sin)", "k = rotate(k, sin, cos)"))
    return ["page", a, record(folder, "models.py llama", trace="ported.mtrace")]


def page_of_training(folder):
    shutil.copy(PROGRAMS / "models.py", folder)
    return ["page", record(folder, "--backward", "models.py gan 500")]


def page_of_ranks(folder):
    (folder / "job.py").write_text(JOB)
    meeting = f"file://{folder}/meeting"
    variables = {**os.environ, "WORLD_SIZE": str(RANKS), "MEETING": meeting, "OMP_NUM_THREADS": "1"}
    ranks = [
        subprocess.Popen(
            ["monitorch", "run", "-q", "--backward", "-o", "job.mtrace", "job.py"],
            cwd=folder, env={**variables, "RANK": str(rank)},
        )
        for rank in range(RANKS)
    ]  # fmt: skip
    if any([rank.wait() for rank in ranks]):
        raise RuntimeError("a rank failed")
    return ["page", "job.mtrace"]


#: The page, and what is photographed: width, height, dark, the link, and keys.
SHOTS = {
    "nan": (page_of_nan, [(1280, 1000, False, "", ""), (400, 1000, True, "", "n"), (2560, 1300, True, "", "n")]),
    "diff": (page_of_diff, [(1280, 1300, True, "", "n"), (400, 1000, False, "", ""), (2560, 1300, False, "", "n")]),
    "training": (
        page_of_training,
        [(1280, 1300, False, "#models.py:341", ""), (400, 1000, True, "", ""), (2560, 1300, True, "#models.py:341", "")],
    ),
    "ranks": (page_of_ranks, [(1280, 1000, True, "", "n"), (400, 1000, False, "", ""), (2560, 1300, False, "", "n")]),
}


def main():
    from tests.support import browser

    output = pathlib.Path(sys.argv[1]).absolute()
    window = browser.Browser()
    try:
        for name in sys.argv[2:] or SHOTS:
            make, shots = SHOTS[name]
            folder = pathlib.Path(tempfile.gettempdir(), "work")  # is in the pictures
            folder.mkdir()
            try:
                words = make(pathlib.Path(folder))
                run(folder, "monitorch", *words, "-o", "page.html", exit_codes=(0, 1))
                for width, height, dark, link, keys in shots:
                    window.open(pathlib.Path(folder, "page.html"), width, height, dark, link)
                    for key in keys:
                        window.press(key)
                    window.do("new Promise((done) => setTimeout(done, 200))")
                    path = output / f"page_{name}_{width}.png"
                    window.picture(path)
                    print(path, window.errors, flush=True)
            finally:
                shutil.rmtree(folder)
    finally:
        window.close()


if __name__ == "__main__":
    main()
