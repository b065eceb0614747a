"""Another implementation of one function, chosen by a text: only rounding differs."""

GOOD = r'''
import torch


def plain(q, k, v):
    w = (q @ k.T * 2**-1).softmax(-1)
    return w @ v


def fused(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


def layer(x, how):
    attend = {"plain": plain, "fused": fused}[how]
    y = attend(x, x, x)
    return y * 2


torch.manual_seed(0)
out = layer(torch.randn(3, 4), "plain")
'''
BAD = r'''
import torch


def plain(q, k, v):
    w = (q @ k.T * 2**-1).softmax(-1)
    return w @ v


def fused(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


def layer(x, how):
    attend = {"plain": plain, "fused": fused}[how]
    y = attend(x, x, x)
    return y * 2


torch.manual_seed(0)
out = layer(torch.randn(3, 4), "fused")
'''
