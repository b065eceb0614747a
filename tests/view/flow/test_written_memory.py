"""Values that change through another name of their memory: a callee's argument, a view, an item, an attribute of the
same module. The newest write counts, whichever name made it: `why` names its line."""

import pytest

from tests.commands import hostile
from tests.view.flow import container_trace

pytest.importorskip("torch")

# NAME, BODY, what stands on the line that made `r` NaN; "": `r` is finite.
WAYS = [
    ("callee_writes", "def f(t):\n    t.copy_(bad.log())\nx = good.clone()\nf(x)\nr = x * 2", "t.copy_"),
    ("callee_writes_mul", "def f(t, s):\n    t.mul_(s)\ns = bad.log()\nx = good.clone()\nf(x, s)\nr = x * 2", "s = bad"),
    ("view_written", "x = good.clone()\nv = x[1:]\nv.copy_(bad.log()[1:])\nr = x * 2", "v.copy_"),
    ("views_written", "x = torch.ones(4)\nu = x[0]\nv = x[1]\nu.copy_(bad.log()[1])\nv.fill_(3.0)\nr = x * 2", "u.copy_"),
    ("view_read", "x = good.clone()\nv = x[1:]\nx.copy_(bad.log())\nr = v * 2", "x.copy_"),
    ("overwritten", "x = bad.log()\nv = x[:]\nv.fill_(1.0)\nr = x * 2", ""),
    ("data", "x = good.clone()\nx.data.copy_(bad.log())\nr = x * 2", "x.data"),
    ("detach", "x = good.clone()\nd = x.detach()\nd.copy_(bad.log())\nr = x * 2", "d.copy_"),
    ("index", "x = good.clone()\nx[1] = bad.log()[1]\nr = x * 2", "x[1] ="),
    ("index_callee", "def f(t):\n    t[1] = bad.log()[1]\nx = good.clone()\nf(x)\nr = x * 2", "t[1] ="),
    ("out", "x = good.clone()\ntorch.log(bad, out=x)\nr = x * 2", "out=x"),
    ("list_item", "l = [good.clone()]\nl[0].copy_(bad.log())\nr = l[0] * 2", "l[0].copy_"),
    ("list_name", "x = good.clone()\nl = [x]\nl[0].copy_(bad.log())\nr = x * 2", "l[0].copy_"),
    ("name_list", "x = good.clone()\nl = [x]\nx.copy_(bad.log())\nr = l[0] * 2", "x.copy_"),
    ("loop_items", "l = [good.clone(), good.clone()]\nfor p in l:\n    p.copy_(bad.log())\nr = l[1] * 2", "p.copy_"),
    ("dict_name", "x = good.clone()\nd = {'k': x}\nd['k'].copy_(bad.log())\nr = x * 2", "d['k'].copy_"),
    ("reshape", "x = torch.ones(2, 2)\nv = x.view(4)\nv[3] = bad.log()[1]\nr = x * 2", "v[3] ="),
    ("transposed", "x = torch.ones(2, 2)\nv = x.t()\nv[0].copy_(bad.log())\nr = x * 2", "v[0].copy_"),
    ("attribute", "m = M()\nm.s.data.copy_(bad.log())\nr = m(good)", "m.s.data"),
    ("attribute_item", "m = M()\nm.s.data[1] = bad.log()[1]\nr = m(good)", "m.s.data[1]"),
    ("attribute_view", "m = M()\nv = m.s.data[1:]\nv.copy_(bad.log()[1:])\nr = m(good)", "v.copy_"),
    ("attribute_restored", "m = M()\nm.s.data.copy_(bad.log())\nm.s.data.copy_(good)\nr = m(good)", ""),
    ("buffer_data", "m = M()\nm.b.data.copy_(bad.log())\nr = m.c(good)", "m.b.data"),
    ("attribute_other", "m, n = M(), M()\nm.s.data.copy_(bad.log())\nr = n(good)", ""),
    ("parameter_fill", "m = M()\nwith torch.no_grad():\n    m.s.fill_(float('nan'))\nr = m(good)", 'm.s.fill_'),
    ("parameters_loop", "m = M()\nwith torch.no_grad():\n    for p in m.parameters():\n        p.copy_(bad.log())\nr = m(good)", "p.copy_"),
    ("buffer", "m = M()\nm.b.copy_(bad.log())\nr = m.c(good)", "m.b.copy_"),
    ("method_writes", "m = M()\nm.set(bad.log())\nr = m.c(good)", "bad.log()"),
    ("two_modules", "m, n = M(), M()\nwith torch.no_grad():\n    m.s.copy_(bad.log())\nr = n(good)", ""),
    ("two_modules_other", "m, n = M(), M()\nwith torch.no_grad():\n    m.s.copy_(bad.log())\nr = m(good)", "m.s.copy_"),
    ("restored", "x = bad.log()\nx.copy_(good)\nr = x * 2", ""),
    ("swapped", "x, y = good.clone(), bad.log()\nx, y = y, x\nr = x * 2", "bad.log()"),
    ("swapped_other", "x, y = good.clone(), bad.log()\nx, y = y, x\nr = y * 2", ""),
]

PRELUDE = """
import torch
from torch import nn
good, bad = torch.tensor([2.0, 3.0]), torch.tensor([2.0, -3.0])
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.s = nn.Parameter(torch.tensor([1.0, 1.0]))
        self.register_buffer("b", torch.ones(2))
    def forward(self, x):
        y = x * self.s
        return y
    def c(self, x):
        y = x * self.b
        return y
    def set(self, v):
        self.b.copy_(v)
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    return container_trace.record(tmp_path_factory.mktemp("memory"), PRELUDE, [way[:2] for way in WAYS])



@pytest.mark.parametrize("name, body, wanted", WAYS, ids=[way[0] for way in WAYS])
def test_the_newest_write_counts(trace, name, body, wanted):
    result = trace.named(f"way_{name}", "r")[-1]
    run = hostile.run("why", trace.path, f"#{result['seq']}")
    first = run.stdout.split("\n", 1)[0]
    if wanted:
        assert ": NaN made here: " in first, run.stdout
        line = int(first.split(":")[1])
        assert wanted in trace.lines[line - 1], run.stdout
    else:
        assert ": fine: r" in first, run.stdout
