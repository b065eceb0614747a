"""Pairs of trainings whose forward values are equal until a gradient or a step differs: name -> (good, edits,
line). `edits` are replacements that make the bad program; the right line has the mark of `line`, in the bad
program; None: the two are equal."""

BASE = r'''
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 8)
        self.b = nn.Linear(8, 8)
        self.c = nn.Linear(8, 3)

    def forward(self, x):
        h = torch.tanh(self.a(x))
        g = torch.sigmoid(self.b(h))
        m = h * g
        y = self.c(m)
        return y


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(16, 6)
t = torch.randint(0, 3, (16,))
for step in range(3):
    y = net(x)
    loss = F.cross_entropy(y, t)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    optimizer.step()
'''

FUNCTION = r'''
import torch
from torch import nn

torch.manual_seed(0)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


net = nn.Linear(4, 4)
x = torch.randn(8, 4)
h = net(x)
s = Square.apply(h)
z = torch.relu(s)
loss = z.mean()
loss.backward()
'''

ACCUMULATED = r'''
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(8, 4)
for step in range(2):
    y = net(x)
    loss = y.pow(2).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
'''

CHECKPOINTED = r'''
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
a = nn.Linear(4, 8)
b = nn.Linear(8, 2)


def part(x):
    h = a(x)
    d = nn.functional.dropout(h, 0.5)
    return d


x = torch.randn(8, 4)
d = checkpoint(part, x, use_reentrant=False)
y = b(d)
loss = y.pow(2).mean()
loss.backward()
'''

HALF = r'''
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 4)
x = torch.randn(8, 4)
with torch.autocast("cpu", dtype=torch.bfloat16):
    h = net(x)
    s = torch.tanh(h)
loss = s.float().mean()
loss.backward()
'''

GAN = r'''
import torch
from torch import nn

torch.manual_seed(0)
gen, dis = nn.Linear(4, 4), nn.Linear(4, 1)
opt_g = torch.optim.Adam(gen.parameters(), lr=1e-2)
opt_d = torch.optim.Adam(dis.parameters(), lr=1e-2)
z = torch.randn(8, 4)
real = torch.randn(8, 4)
for step in range(2):
    fake = gen(z)
    d_loss = dis(fake.detach()).mean() - dis(real).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = -dis(fake).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
'''

PAIRS = {
    "function_wrong_backward": (FUNCTION, [("return 2 * x * grad", "return x * grad")], "return x * grad"),
    "detach_too_many": (BASE, [("m = h * g", "m = h * g.detach()")], "m = h * g.detach()"),
    "detach_missing": (
        BASE.replace("m = h * g", "m = h.detach() * g"),
        [("m = h.detach() * g", "m = h * g")],
        "m = h * g",
    ),
    "stopped_through_data": (BASE, [("m = h * g", "m = h * g.data")], "m = h * g.data"),
    "hook_that_scales": (
        BASE,
        [("        m = h * g", "        h.register_hook(lambda x: x * 2) if h.requires_grad else 0; m = h * g")],
        "h.register_hook",
    ),
    "checkpoint_other_random_numbers": (
        CHECKPOINTED,
        [("use_reentrant=False)", "use_reentrant=False, preserve_rng_state=False)")],
        ("preserve_rng_state=False", "d = nn.functional.dropout", "h = a(x)"),
    ),
    "loss_scaled": (BASE, [("loss.backward()", "(loss / 4).backward()")], "(loss / 4).backward()"),
    "clip_changed": (BASE, [("net.parameters(), 5.0)", "net.parameters(), 0.05)")], "0.05"),
    "weight_decay_changed": (BASE, [("lr=0.1)", "lr=0.1, weight_decay=0.1)")], "weight_decay=0.1"),
    "frozen_parameter": (
        BASE,
        [("net = Net()", "net = Net(); net.b.weight.requires_grad_(False)")],
        "requires_grad_(False)",
    ),
    "backward_twice": (
        ACCUMULATED,
        [("loss.backward(retain_graph=True)", "loss.backward(retain_graph=True); loss.backward()")],
        "loss.backward(retain_graph=True); loss.backward()",
    ),
    "benign_same": (BASE, [], None),
    "benign_other_order": (
        BASE,
        [
            (
                "        h = torch.tanh(self.a(x))\n        g = torch.sigmoid(self.b(h))\n        m = h * g\n",
                "        h = torch.tanh(self.a(x))\n        g = torch.sigmoid(self.b(h))\n        m = g * h\n",
            )
        ],
        None,
    ),
    "benign_threads": (BASE, [("torch.manual_seed(0)", "torch.manual_seed(0); torch.set_num_threads(2)")], None),
    "benign_softmax_by_hand": (
        BASE.replace("return y", "return torch.softmax(y, -1)"),
        [("return torch.softmax(y, -1)", "e = torch.exp(y - y.amax(-1, keepdim=True)); return e / e.sum(-1, keepdim=True)")],
        None,
    ),
    "gan_detach_missing": (GAN, [("dis(fake.detach())", "dis(fake)"), ("d_loss.backward()", "d_loss.backward(retain_graph=True)")], "d_loss = dis(fake)"),
}
