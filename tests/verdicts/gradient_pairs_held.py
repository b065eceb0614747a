"""As gradient_pairs: pairs that were written before the first run, and held back."""

from tests.verdicts.gradient_pairs import BASE

ROUNDED = r'''
import torch
from torch import nn

torch.manual_seed(0)


class Quantised(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(4, 6)
        self.down = nn.Linear(6, 2)

    def forward(self, x):
        u = self.up(x)
        q = u + (u.round() - u).detach()
        return self.down(q)


net = Quantised()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(2):
    x = torch.randn(8, 4)
    y = net(x)
    loss = (y - 1).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''

TIED = r'''
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.mix = nn.GRU(6, 6, batch_first=True)

    def forward(self, ids):
        e = self.embedding(ids)
        h, _ = self.mix(e)
        logits = F.linear(h, self.embedding.weight)
        return logits


net = Language()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
ids = torch.randint(0, 11, (3, 7))
for step in range(4):
    logits = net(ids[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, 11), ids[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
'''

MASKED = r'''
import torch
from torch import nn

torch.manual_seed(0)
a = nn.Linear(5, 5)
x = torch.randn(6, 5)
h = a(x)
keep = h > 0
w = torch.where(keep, h, h * 1.0)
loss = w.square().sum()
loss.backward()
'''

PAIRS = {
    "straight_through_lost": (ROUNDED, [("(u.round() - u).detach()", "(u.round() - u)")], "(u.round() - u)"),
    "tied_weight_detached": (TIED, [("self.embedding.weight)", "self.embedding.weight.detach())")], "detach()"),
    "betas_changed": (TIED, [("lr=1e-2)", "lr=1e-2, betas=(0.9, 0.95))")], "betas="),
    "schedule_changed": (TIED, [("StepLR(optimizer, 2, 0.5)", "StepLR(optimizer, 2, 0.25)")], ("StepLR", "scheduler.step()")),
    "zero_grad_lost": (BASE, [("    optimizer.zero_grad()\n", "    optimizer.zero_grad() if step == 0 else None\n")], ("zero_grad() if", "loss.backward()")),
    "where_keeps_one_arm": (MASKED, [("torch.where(keep, h, h * 1.0)", "torch.where(keep, h, h.detach() * 1.0)")], "h.detach()"),
    "benign_function_inlined": (
        TIED,
        [("logits = F.linear(h, self.embedding.weight)", "logits = h @ self.embedding.weight.t()")],
        None,
    ),
    "decay_of_one_group": (
        BASE,
        [
            (
                "SGD(net.parameters(), lr=0.1)",
                "SGD([{'params': net.a.parameters()}, {'params': [*net.b.parameters(), *net.c.parameters()],"
                " 'weight_decay': 0.1}], lr=0.1)",
            )
        ],
        "'weight_decay': 0.1",
    ),
}
