"""An argument that the call's expression lays otherwise: the line that calls is named, not the first line that uses it."""

import pytest

from tests.support import recording, viewer

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

REFERENCE = """
import torch
import torch.nn.functional as F


def model(kernel, bias, image):
    mixed = F.conv2d(image, kernel, bias, padding=1)
    kept = mixed.clamp(min=0)
    return kept.mean((2, 3))


torch.manual_seed(0)
kernel = torch.randn(4, 2, 3, 3)
bias = torch.randn(4)
image = torch.randn(3, 2, 8, 8)
answer = model(kernel, bias, image)
"""

PORT = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, kernel, bias):
        super().__init__()
        self.stem = nn.Conv2d(2, 4, 3, padding=1)
        self.stem.load_state_dict({"weight": kernel, "bias": bias})

    def forward(self, pixels):
        out = self.stem(pixels)
        out = torch.relu(out)
        return out.flatten(2).mean(-1)


torch.manual_seed(0)
first = torch.randn(4, 2, 3, 3)
second = torch.randn(4)
pixels = torch.randn(3, 2, 8, 8)
net = Net(first, second)
result = net(pixels)
"""


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calls")

    def of(source, name):
        recording.trace_of(source, folder / name)
        return folder / name

    return of


@pytest.mark.parametrize(
    "argument", ["pixels", "pixels.transpose(2, 3)", "pixels.flip(-1)", "pixels.mT.contiguous()"]
)
def test_an_argument_that_the_call_lays_otherwise_is_named(record, argument):
    text = PORT.replace("net(pixels)", f"net({argument})")
    a, b = record(REFERENCE, "a.mtrace"), record(text, "b.mtrace")
    done = viewer.run("diff", "--by-values", a, b)
    if argument == "pixels":
        assert done.returncode == 0, done.stdout
        return
    line = text.strip().split("\n").index(f"result = net({argument})") + 1
    assert done.returncode == 1
    assert f":{line}: first divergence: " in done.stdout.splitlines()[0], done.stdout


def test_the_graph_joins_such_an_argument_with_what_it_was_made_from(record):
    trace = record(PORT.replace("net(pixels)", "net(pixels.transpose(2, 3))"), "c.mtrace")
    edges = viewer.run(
        "sql",
        "--csv",
        trace,
        "select s.name from edges e join events s on s.seq = e.source "
        "join events t on t.seq = e.target where t.name = 'pixels' and t.kind = 'enter'",
    )
    assert edges.stdout.split() == ["name", "pixels"], edges.stdout + edges.stderr
