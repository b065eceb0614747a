"""A convolutional block with squeeze and excitation: weights in a dict and folded norms; modules with batch norm. Held back."""

from tests.verdicts.ports.bugs import Bug

WEIGHTS = """
import torch

g = torch.Generator().manual_seed(13)


def draw(*shape, scale=0.3):
    return torch.randn(*shape, generator=g) * scale


def weights():
    w = {"stem.kernel": draw(12, 3, 3, 3), "stem.bias": draw(12)}
    w["depth.kernel"], w["depth.bias"] = draw(12, 1, 5, 5), draw(12)
    w["bn.gain"], w["bn.shift"] = 1 + draw(12), draw(12)
    w["bn.mean"], w["bn.var"] = draw(12), draw(12).abs() + 0.5
    w["down.w"], w["down.b"] = draw(12, 4), draw(4)
    w["up.w"], w["up.b"] = draw(4, 12), draw(12)
    w["point.kernel"] = draw(12, 12, 1, 1)
    w["fc.w"], w["fc.b"] = draw(12, 6), draw(6)
    return w, torch.randn(2, 3, 10, 10, generator=g)
"""

REFERENCE = """
import torch
import torch.nn.functional as F


def batch_norm(x, w):
    scale = w["bn.gain"] / torch.sqrt(w["bn.var"] + 1e-3)
    shift = w["bn.shift"] - w["bn.mean"] * scale
    return x * scale[:, None, None] + shift[:, None, None]


def excite(x, w):
    s = x.mean((2, 3))
    s = torch.relu(s @ w["down.w"] + w["down.b"])
    s = torch.sigmoid(s @ w["up.w"] + w["up.b"])
    return x * s[:, :, None, None]


def net(w, x):
    x = F.conv2d(x, w["stem.kernel"], w["stem.bias"], stride=2, padding=1)
    y = F.conv2d(x, w["depth.kernel"], w["depth.bias"], padding=2, groups=12)
    y = batch_norm(y, w)
    y = y * torch.sigmoid(y)
    y = excite(y, w)
    y = F.conv2d(y, w["point.kernel"])
    x = x + y
    pooled = x.mean((2, 3))
    return pooled @ w["fc.w"] + w["fc.b"]


w, x = torch.load("checkpoint.pt")
weights = dict(w)
answer = net(w, x)
"""

PORT = """
import torch
from torch import nn


class Squeeze(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.reduce = nn.Conv2d(12, 4, 1)
        self.expand = nn.Conv2d(4, 12, 1)

    def forward(self, image):
        pooled = self.pool(image)
        pooled = self.reduce(pooled)
        pooled = torch.relu(pooled)
        pooled = self.expand(pooled)
        return image * pooled.sigmoid()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 12, 3, stride=2, padding=1)
        self.depth = nn.Conv2d(12, 12, 5, padding=2, groups=12)
        self.norm = nn.BatchNorm2d(12, eps=1e-3)
        self.act = nn.SiLU()
        self.squeeze = Squeeze()
        self.point = nn.Conv2d(12, 12, 1, bias=False)
        self.classify = nn.Linear(12, 6)

    def forward(self, image):
        image = self.stem(image)
        inner = self.depth(image)
        inner = self.norm(inner)
        inner = self.act(inner)
        inner = self.squeeze(inner)
        inner = self.point(inner)
        image = image + inner
        flat = image.flatten(2).mean(-1)
        return self.classify(flat)


def convert(old):
    return {
        "stem.weight": old["stem.kernel"],
        "stem.bias": old["stem.bias"],
        "depth.weight": old["depth.kernel"],
        "depth.bias": old["depth.bias"],
        "norm.weight": old["bn.gain"],
        "norm.bias": old["bn.shift"],
        "norm.running_mean": old["bn.mean"],
        "norm.running_var": old["bn.var"],
        "squeeze.reduce.weight": old["down.w"].T[:, :, None, None],
        "squeeze.reduce.bias": old["down.b"],
        "squeeze.expand.weight": old["up.w"].T[:, :, None, None],
        "squeeze.expand.bias": old["up.b"],
        "point.weight": old["point.kernel"],
        "classify.weight": old["fc.w"].T,
        "classify.bias": old["fc.b"],
    }


block = Block().eval()
old, pixels = torch.load("checkpoint.pt")
block.load_state_dict(convert(old), strict=False)
loaded = block.state_dict()
with torch.no_grad():
    scores = block(pixels)
"""

BUGS = [
    Bug("eps", "eps=1e-3", "eps=1e-1"),
    Bug(
        "mean_and_shift_swapped",
        '"norm.running_mean": old["bn.mean"]',
        '"norm.running_mean": old["bn.shift"]',
        weight="norm.running_mean",
    ),
    Bug(
        "kernel_turned",
        'old["depth.kernel"]',
        'old["depth.kernel"].flip(-1)',
        weight="depth.weight",
    ),
    Bug(
        "point_transposed",
        'old["point.kernel"]',
        'old["point.kernel"].transpose(0, 1)',
        weight="point.weight",
    ),
    Bug("stem_bias_not_loaded", 'old["stem.bias"]', "torch.zeros(12)", weight="stem.bias"),
    Bug(
        "relu_for_silu",
        "self.act = nn.SiLU()",
        "self.act = nn.ReLU()",
        also="inner = self.act(inner)",
    ),
    Bug(
        "squeeze_by_maximum",
        "nn.AdaptiveAvgPool2d(1)",
        "nn.AdaptiveMaxPool2d(1)",
        also="pooled = self.pool(image)",
    ),
    Bug(
        "relu_missing",
        "        pooled = torch.relu(pooled)\n",
        "",
        at="pooled = self.expand(pooled)",
        also="pooled = self.reduce(pooled)",
    ),
    Bug("tanh_for_sigmoid", "pooled.sigmoid()", "pooled.tanh()"),
    Bug("residual_missing", "image = image + inner", "image = inner"),
    Bug(
        "squeeze_before_the_activation",
        "        inner = self.act(inner)\n        inner = self.squeeze(inner)",
        "        inner = self.squeeze(inner)\n        inner = self.act(inner)",
        at="inner = self.squeeze(inner)",
        also="inner = self.act(inner)",
    ),
    Bug("pooled_by_sum", "flat = image.flatten(2).mean(-1)", "flat = image.flatten(2).sum(-1)"),
    Bug("classes_permuted", 'old["fc.w"].T', 'old["fc.w"].T.roll(1, 0)', weight="classify.weight"),
]
