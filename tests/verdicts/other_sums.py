"""torch's sums in another order: products by blocks, convolutions without oneDNN, norms by hand."""

import contextlib
from unittest import mock

import torch
from torch.nn import functional

BLOCK = 7


def linear(x, weight, bias=None):
    """From the last column to the first, a block at a time."""
    total = None
    for end in range(weight.shape[1], 0, -BLOCK):
        columns = slice(max(end - BLOCK, 0), end)
        part = x[..., columns] @ weight[:, columns].t()
        total = part if total is None else total + part
    return total if bias is None else total + bias


def layer_norm(x, shape, weight=None, bias=None, eps=1e-5):
    centered = x - x.flip(-1).mean(dim=-1, keepdim=True)
    scale = (centered.pow(2).flip(-1).mean(dim=-1, keepdim=True) + eps).rsqrt()
    return centered * scale * weight + bias


def group_norm(x, groups, weight=None, bias=None, eps=1e-5):
    parts = x.unflatten(1, (groups, -1))
    mean = parts.mean(dim=(2, 3, 4), keepdim=True)
    scale = ((parts - mean).pow(2).mean(dim=(2, 3, 4), keepdim=True) + eps).rsqrt()
    normed = ((parts - mean) * scale).flatten(1, 2)
    return normed * weight[:, None, None] + bias[:, None, None]


def gru_cell(x, state, weight_x, weight_state, bias_x, bias_state):
    given = linear(x, weight_x, bias_x).chunk(3, dim=-1)
    kept = linear(state, weight_state, bias_state).chunk(3, dim=-1)
    reset = (given[0] + kept[0]).sigmoid()
    update = (given[1] + kept[1]).sigmoid()
    new = (given[2] + reset * kept[2]).tanh()
    return (1 - update) * new + update * state


@contextlib.contextmanager
def active():
    with contextlib.ExitStack() as stack:
        for function in (linear, layer_norm, group_norm):
            stack.enter_context(mock.patch.object(functional, function.__name__, function))
        stack.enter_context(mock.patch.object(torch._VF, "gru_cell", gru_cell))
        stack.enter_context(torch.backends.mkldnn.flags(enabled=False))
        is_fast = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        yield
        torch.backends.mha.set_fastpath_enabled(is_fast)
