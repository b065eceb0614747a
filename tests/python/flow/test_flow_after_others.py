"""`on()` and `off()` draw the same picture whatever else has compiled the functions before."""

import pathlib
import re
import subprocess
import textwrap

import pytest

from tests.support import dot, recording, warm

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

PROGRAM = """
    import os, sys
    import torch, torch.nn as nn, monitorch

    def double(x):
        d = x * 2
        return d

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.l1 = nn.Linear(6, 6)
        def forward(self, x):
            h = self.l1(x).relu()
            k = self.helper(h)
            return k
        def helper(self, h):
            inner = [part * 1 for part in h]
            s = sum(inner)
            return double(s)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()
        def forward(self, x):
            y = self.block(x)
            return y

    def picture(name):
        monitorch.on(max_nodes=100)
        out = net(x)
        twice = double(out)
        return monitorch.off(filename=os.path.abspath(name))

    net = Net()
    x = torch.randn(2, 6)
    assert picture("before.dot") is not None
"""

TRACER = """
    from monitorch.tracer import ModelTracer
    with ModelTracer(net, {paths!r}):
        net(x)
"""
MONITOR = """
    from monitorch.monitor import ModuleMonitor
    monitor = ModuleMonitor(monitor_step_fn=lambda step: True)
    monitor.set_module(net)
    monitor.add_activation_metric("rms", "rms", r".*forward:h")
    monitor.begin_step(0)
    net(x)
"""
DONE = """
    picture("after.dot")
"""
CASES = {
    "tracer": TRACER.format(paths=["block.forward.h"]) + DONE,
    "tracer_module": TRACER.format(paths=["block.l1"]) + DONE,
    "tracer_of_all": TRACER.format(paths=["forward.y", "*.forward.k", "block.helper.s"]) + DONE,
    "within_a_tracer": TRACER.format(paths=["block.forward.h"]) + "        picture('after.dot')\n",
    "tracker": """
    from monitorch.tracker import var_tracker
    @var_tracker("h")
    def f(x):
        h = x * 2
        return h
    f(x)
    """ + DONE,
    "tracker_of_the_function": """
    from monitorch.tracker import auto_diff, configure
    configure(folder=None, stdout=False)
    double = auto_diff(double)
    double(x)
    """ + DONE,
    "tracker_of_a_method": """
    from monitorch.tracker import configure, var_tracker
    configure(folder=None, stdout=False)
    Block.forward = var_tracker("h")(Block.forward)
    net(x)
    """ + DONE,
    "monitor": MONITOR + "    monitor.end_step()\n" + DONE,
    "within_a_monitored_step": MONITOR + DONE,
    "record": """
    with monitorch.record("x.mtrace"):
        net(x)
    """ + DONE,
    "debug": """
    from monitorch.spy import DebugContext, TensorSaver
    saver = TensorSaver("saved", names="h,k,d")
    with DebugContext(saver, prefix="a"):
        net(x)
    """ + DONE,
}


def read_picture(path):
    """The names of its nodes, and the arrows between them."""
    graph = dot.read(path.read_text())
    names = {
        node: re.search("<b>(.*?)</b>", attributes["label"])[1]
        for node, (_, attributes) in graph.nodes.items()
    }
    arrows = [(names[source], names[target]) for source, target, *_ in graph.edges]
    return sorted(names.values()), sorted(arrows)


@pytest.mark.parametrize("case", CASES)
def test_the_picture_is_the_same_before_and_after(case, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM) + textwrap.dedent(CASES[case]))
    done = subprocess.run(
        [warm.python(), "program.py"], cwd=tmp_path, env=recording.environment("off"),
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    before = read_picture(tmp_path / "before.dot")
    assert "h" in before[0] and "twice" in before[0] and ("h", "k") not in before[1]
    assert read_picture(pathlib.Path(tmp_path, "after.dot")) == before
