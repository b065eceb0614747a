"""backward() computes the forward once more."""

GOOD = r'''
import torch
from torch.utils.checkpoint import checkpoint


def layer(x):
    h = x.sin()
    return h * 2


x = torch.ones(3, requires_grad=True)
y = layer(x)
loss = y.sum()
loss.backward()
grad = x.grad
'''
BAD = r'''
import torch
from torch.utils.checkpoint import checkpoint


def layer(x):
    h = x.sin()
    return h * 2


x = torch.ones(3, requires_grad=True)
y = checkpoint(layer, x, use_reentrant=False)
loss = y.sum()
loss.backward()
grad = x.grad
'''
