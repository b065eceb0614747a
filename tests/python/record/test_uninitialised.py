"""Memory that torch.empty and its like give holds no values until something is written to it."""

import json
import re

import pytest

from tests.support import viewer
from tests.verdicts import forked_runs

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

# With deterministic algorithms torch fills such memory with NaN, so that each value that is taken for
# one holds NaN. NumPy gets memory that holds NaN by chance: here of an array that is gone.
BEGIN = """\
import copy
import numpy as np
import torch
from torch import nn
torch.use_deterministic_algorithms(True)
"""

# Behind each line, what is recorded of the value: W: uninitialised, P: in part, V: values.
PROGRAM = """\
a = torch.empty(4, 8)                                        # W
b = a.t()                                                    # W
c = a[1:3]                                                   # W
d = torch.empty_like(a)                                      # W
e = torch.zeros(2).new_empty(5)                              # W
f = torch.empty_strided((2, 3), (3, 1))                      # W
g = torch.Tensor(3, 4)                                       # W
h = torch.Tensor([1.0, 2.0])                                 # V
i = torch.FloatTensor(6)                                     # W
j = torch.zeros(2).new(2, 3)                                 # W
k = torch.empty(3).double()                                  # W
l = torch.empty(3, dtype=torch.float16).clone()              # W
m = nn.Parameter(torch.empty(2, 3))                          # W
n = m.data                                                   # W
nn.init.normal_(m)                                           # V
o = torch.empty(4, 4)                                        # W
o[:, :2] = 1                                                 # P
o[:, 2:] = 2                                                 # V
p = [torch.empty(2) for _ in range(2)]                       # W
q = torch.zeros(2).resize_(7)                                # P
r = nn.Linear(3, 3).weight                                   # V
s = nn.utils.skip_init(nn.Linear, 3, 3).weight               # W
t = nn.Parameter(torch.empty(2, 3)); t.data.normal_(); u = t # V
v = torch.empty(8); v[::2] = torch.log(torch.zeros(4))       # V
w = torch.empty(4); torch.zeros(4, out=w); x = w             # V
y = torch.empty(0)                                           # V
z = torch.empty(4).mul_(2)                                   # P
aa = torch.empty(4, out=torch.ones(4))                       # V
bb = np.full(50, np.nan); del bb; cc = np.empty(50)          # W
dd = np.empty_like(cc)                                       # W
ee = torch.from_numpy(cc)                                    # W
cc[:] = 3; ff = ee                                           # V
gg = torch.empty(3, 3); hh = gg.numpy()                      # W
ii = torch.empty(2000); ii[7:] = 1                           # P
jj = ii[1000:]                                               # V
kk = torch.empty(3); kk = torch.ones(3)                      # V
ll = copy.deepcopy(nn.Linear(2, 2)).weight                   # V
mm = torch.empty(5, dtype=torch.int32)                       # W
oo = np.ones(40); del oo; pp = np.ones(40)                   # V
qq = np.full(50, 2.0); del qq; rr = np.full(50, 2.0)         # V
ss = np.ones_like(rr); del ss; tt = np.ones_like(rr)         # V
"""


def show(folder, text, *options):
    """The events of the program's recording."""
    script, trace = folder / "program.py", folder / "run.mtrace"
    script.write_text(text)
    words = ["monitorch", "run", "-q", "-o", trace, *options, script]
    done = forked_runs.run(folder, words)
    assert done.code == 0, done.output
    lines = viewer.run("show", "--json", trace).stdout.splitlines()
    return [json.loads(line) for line in lines]


def kind_of(event):
    note = event.get("note", "")
    if note == "uninitialised":
        assert "nan" not in event and "hash" not in event and "sample" not in event, event
        return "W"
    return "P" if note == "perhaps uninitialised in part" else "V"


def test_what_is_known_of_each_way(tmp_path):
    first = BEGIN.count("\n") + 1
    wanted = {
        number: re.search("# (.)$", line)[1]
        for number, line in enumerate(PROGRAM.splitlines(), first)
    }
    events = show(tmp_path, BEGIN + PROGRAM)
    found = {e["line"]: kind_of(e) for e in events if e.get("value_kind") == "tensor"}
    lines = (BEGIN + PROGRAM).splitlines()
    assert {lines[n - 1]: found[n] for n in wanted} == {lines[n - 1]: wanted[n] for n in wanted}


def test_a_healthy_program_is_not_stopped(tmp_path):
    show(
        tmp_path,
        BEGIN
        + """\
class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Parameter(torch.empty(4, 8))
        self.down = nn.ParameterList([nn.Parameter(torch.empty(8, 4)) for _ in range(2)])
        self.register_buffer("scale", torch.empty(8))
        for weight in self.down:
            pair = weight, self.scale
        moved = self.up.to(torch.float64)
        self.apply(self._init_weights)
        self.scale.fill_(2)

    def _init_weights(self, module):
        for weight in module.parameters(recurse=False):
            weight.data.normal_()

    def forward(self, x):
        table = torch.empty(600, 8)
        for row in range(600):
            table[row] = row
        return (x @ self.up.T @ self.down[0].T * self.scale + table[:1]) @ self.down[1]

model = Experts()
other = Experts()
other.load_state_dict(model.state_dict())
result = other(torch.ones(2, 8))
assert bool(result.isfinite().all())
""",
        "--record",
        "stop=nan",
    )


def test_use_before_writing_is_said(tmp_path):
    show(tmp_path, BEGIN + "x = torch.empty(3)\ny = x * 2\nz = y + 1\n")
    trace = tmp_path / "run.mtrace"
    since = "and no recorded line wrote to it since"
    checked = viewer.run("check", "--no-nan", trace)
    assert checked.returncode == 1
    assert checked.stdout.splitlines()[0].endswith(
        f"program.py:7: y: holds 3 NaN of 3; `x` was uninitialised memory on line 6, {since}"
    )
    why = viewer.run("why", trace)
    assert why.returncode == 1
    first = why.stdout.splitlines()[0]
    assert re.search(
        rf"program\.py:7: NaN made here: y: `x` was uninitialised memory on line 6 \(#\d+\), {since}$",
        first,
    ), first


def test_what_a_line_writes_over_is_not_read(tmp_path):
    show(
        tmp_path,
        BEGIN
        + """\
a = torch.empty(4)
a.copy_(torch.log(torch.tensor([0.0, 1, 1, 1])))
b = a + 1
c = torch.empty(3, 2)
c[0] = 1.0
z = c.sum(0)
""",
    )
    trace = tmp_path / "run.mtrace"
    checked = viewer.run("check", "--no-nan", "--no-inf", trace).stdout
    assert "7: a: holds 1 -Inf of 4\n" in checked
    assert "z: holds 2 NaN of 2; `c` was perhaps uninitialised in part on line 10, and" in checked
    first = viewer.run("why", trace, "a").stdout.splitlines()[0]
    assert "uninitialised" not in first and "log of 0" in first, first


def test_nothing_of_it_stays(tmp_path):
    """The functions are the same objects, before, while and after; and calls work on."""
    text = """\
import torch, numpy as np
import monitorch
before = torch.empty, torch.Tensor.to, np.empty, torch.Tensor
with monitorch.record("inner.mtrace"):
    assert before == (torch.empty, torch.Tensor.to, np.empty, torch.Tensor)
    assert torch.empty(2, 3, dtype=torch.float64).shape == (2, 3)
    assert torch.Tensor(2, 3).shape == (2, 3)
    try:
        torch.empty("no")
    except TypeError as error:
        assert "empty()" in str(error)
    try:
        torch.Tensor(2, "no")
    except TypeError:
        pass
class Mine(torch.Tensor):
    pass
assert type(Mine(2)) is Mine and torch.Tensor(2).shape == (2,) and np.empty(3).shape == (3,)
print(torch.empty(3).shape, torch.zeros(3).to(torch.int8).tolist())
"""
    script = tmp_path / "program.py"
    script.write_text(text)
    done = forked_runs.run(tmp_path, ["monitorch", "run", "--no-record", script])
    assert (done.code, done.output) == (0, "torch.Size([3]) [0, 0, 0]\n"), done.output
