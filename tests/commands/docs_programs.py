"""What the pages in docs/ speak of: programs and traces by the names that they have there."""

from tests.support import pages, paths

MODEL = """\
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project_in = nn.Linear(width, 3 * width)

    def forward(self, x, padding=None):
        q, k, v = self.project_in(x).chunk(3, dim=-1)
        scores = q @ k.transpose(-2, -1)
        weights = scores.softmax(dim=-1)
        return weights @ v


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention(8)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        x = x + self.attention(x)
        return self.head(x).mean(dim=1)
"""
TRAIN = """\
import torch
from model import Model


def train():
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(2):
        loss = model(torch.randn(2, 4, 8)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return loss


if __name__ == "__main__":
    train()
"""
TEST = """\
import torch
from model import Model


def test_model():
    assert Model()(torch.randn(2, 4, 8)).shape == (2, 2)
"""
# What a page's Python may use without saying where it comes from.
NAMES = """\
import sys
sys.path.insert(0, "")
import torch
from torch import nn
import numpy, pandas
import monitorch
from monitorch.spy import CallTracer, DebugContext, TensorSaver, spy_load, spy_save
from model import Attention, Model
from train import train


class MyModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj_q = nn.Linear(8, 8)

    def forward(self, x):
        q = self.proj_q(x)
        spy_save("q", q, self)
        return q


model = Model()
x = inputs = tokens = torch.randn(2, 4, 8)
"""
# Of the command line, in a folder that holds the above.
TRACES = """\
cp -r "$SAMPLES" samples
python -m monitorch run -q -o run.mtrace --record sources=yes samples/transformer_block.py --empty-row --steps 1
python -m monitorch run -q -o rank0.mtrace train.py
cp rank0.mtrace rank1.mtrace
mkdir runs && cp rank0.mtrace runs
python -m monitorch run -q -o good.mtrace samples/bugs/good/gru_pooling.py
python -m monitorch run -q -o bad.mtrace samples/bugs/bad/gru_pooling.py
printf 'encoder.layer.0.linear1\\nencoder.layer.0.linear2\\n' > call_trace.txt
python -m monitorch run -q --no-record --spy 'weights,mixed' --spy-to saved samples/transformer_block.py --steps 1
"""
SAVED = """\
import torch
from torch import nn
from monitorch.spy import DebugContext, TensorSaver, spy_save


class Attention(nn.Module):
    def forward(self, x):
        spy_save("q", x, self)
        spy_save("attn0", x + 1, self)
        return x


model = nn.Module()
model.encoder = nn.Module()
model.encoder.attn = Attention()
saver = TensorSaver("debug_tensors")
saver.register_modules(model, target_classes=(Attention,))
for step in range(2):
    with DebugContext(saver, prefix=f"step{step}"):
        model.encoder.attn(torch.ones(2, 3))
"""


def make(folder):
    (folder / "tests").mkdir()
    files = {"model.py": MODEL, "train.py": TRAIN, "tests/test_model.py": TEST, "saves.py": SAVED}
    files["conftest.py"] = ""  # so that pytest finds the model
    for name, text in files.items():
        (folder / name).write_text(text)
    script = f"set -e\nSAMPLES='{paths.ROOT}/samples'\n{TRACES}"
    done = pages.run(script, folder)
    assert done.returncode == 0, done.stdout
    done = pages.run("python saves.py", folder)
    assert done.returncode == 0, done.stdout
