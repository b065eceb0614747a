"""A separator of sources: modules over channels and time with a transposed convolution; functions over frames that add overlaps by hand. Held back."""

from tests.verdicts.ports.bugs import Bug

WEIGHTS = """
import torch

g = torch.Generator().manual_seed(22)


def draw(*shape, scale=0.3):
    return torch.randn(*shape, generator=g) * scale


def weights():
    w = {"encoder.weight": draw(14, 1, 8), "norm.weight": 1 + draw(14), "norm.bias": draw(14)}
    w["bottleneck.weight"], w["bottleneck.bias"] = draw(10, 14, 1), draw(10)
    for i in range(2):
        p = f"blocks.{i}."
        w[p + "expand.weight"], w[p + "expand.bias"] = draw(18, 10, 1), draw(18)
        w[p + "act1.weight"], w[p + "act2.weight"] = torch.tensor([0.25]), torch.tensor([0.1])
        w[p + "norm1.weight"], w[p + "norm1.bias"] = 1 + draw(18), draw(18)
        w[p + "depth.weight"], w[p + "depth.bias"] = draw(18, 1, 3), draw(18)
        w[p + "norm2.weight"], w[p + "norm2.bias"] = 1 + draw(18), draw(18)
        w[p + "shrink.weight"], w[p + "shrink.bias"] = draw(10, 18, 1), draw(10)
    w["mask.weight"], w["mask.bias"] = draw(28, 10, 1), draw(28)
    w["decoder.weight"] = draw(14, 1, 8)
    return w, torch.randn(2, 1, 64, generator=g)
"""

REFERENCE = """
import torch
from torch import nn


class GlobalNorm(nn.Module):
    def __init__(self, channels, eps=1e-8):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(dim=(1, 2), keepdim=True)
        var = ((x - mean) ** 2).mean(dim=(1, 2), keepdim=True)
        y = (x - mean) / torch.sqrt(var + self.eps)
        return self.weight[:, None] * y + self.bias[:, None]


class Block(nn.Module):
    def __init__(self, channels, inner, dilation):
        super().__init__()
        self.expand = nn.Conv1d(channels, inner, 1)
        self.act1 = nn.PReLU()
        self.norm1 = GlobalNorm(inner)
        self.depth = nn.Conv1d(inner, inner, 3, dilation=dilation, padding=dilation, groups=inner)
        self.act2 = nn.PReLU()
        self.norm2 = GlobalNorm(inner)
        self.shrink = nn.Conv1d(inner, channels, 1)

    def forward(self, x):
        y = self.expand(x)
        y = self.act1(y)
        y = self.norm1(y)
        y = self.depth(y)
        y = self.act2(y)
        y = self.norm2(y)
        y = self.shrink(y)
        return x + y


class TasNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Conv1d(1, 14, 8, stride=4, bias=False)
        self.norm = GlobalNorm(14)
        self.bottleneck = nn.Conv1d(14, 10, 1)
        self.blocks = nn.ModuleList(Block(10, 18, 2**i) for i in range(2))
        self.mask = nn.Conv1d(10, 28, 1)
        self.decoder = nn.ConvTranspose1d(14, 1, 8, stride=4, bias=False)

    def forward(self, mixture):
        w = torch.relu(self.encoder(mixture))
        y = self.norm(w)
        y = self.bottleneck(y)
        for block in self.blocks:
            y = block(y)
        scores = self.mask(y)
        scores = scores.view(scores.shape[0], 2, 14, -1)
        masks = torch.sigmoid(scores)
        sources = w.unsqueeze(1) * masks
        sources = sources.flatten(0, 1)
        out = self.decoder(sources)
        return out.view(-1, 2, out.shape[-1])


net = TasNet().eval()
state, mixture = torch.load("checkpoint.pt")
net.load_state_dict(state)
weights = net.state_dict()
with torch.no_grad():
    separated = net(mixture)
"""

PORT = """
import torch
import torch.nn.functional as F


def normalise(x, gain, shift, floor=1e-8):
    center = x - x.mean((1, 2), keepdim=True)
    power = center.pow(2).mean((1, 2), keepdim=True)
    return center * torch.rsqrt(power + floor) * gain + shift


def leak(x, slope):
    return torch.where(x > 0, x, x * slope)


def filter_frames(x, kernel, bias, step):
    padded = F.pad(x, (0, 0, step, step))
    length = x.shape[1]
    left = padded[:, :length] * kernel[:, 0]
    middle = padded[:, step : step + length] * kernel[:, 1]
    right = padded[:, 2 * step :] * kernel[:, 2]
    return left + middle + right + bias


def residual(x, p, step):
    inner = x @ p["wide"] + p["wide_bias"]
    inner = leak(inner, p["slope_a"])
    inner = normalise(inner, p["gain_a"], p["shift_a"])
    inner = filter_frames(inner, p["filter"], p["filter_bias"], step)
    inner = leak(inner, p["slope_b"])
    inner = normalise(inner, p["gain_b"], p["shift_b"])
    inner = inner @ p["narrow"] + p["narrow_bias"]
    return x + inner


def overlap(frames, hop=4):
    count, size = frames.shape[1:]
    wave = torch.zeros(len(frames), hop * (count - 1) + size)
    for i in range(count):
        wave[:, i * hop : i * hop + size] += frames[:, i]
    return wave


def separate(p, wave):
    frames = wave[:, 0].unfold(1, 8, 4)
    code = frames @ p["analysis"]
    code = torch.relu(code)
    x = normalise(code, p["gain"], p["shift"])
    x = x @ p["squeeze"] + p["squeeze_bias"]
    x = residual(x, p["layers"][0], 1)
    x = residual(x, p["layers"][1], 2)
    waves = []
    for source in range(2):
        mask = x @ p["masks"][source] + p["mask_biases"][source]
        mask = mask.sigmoid()
        kept = code * mask
        waves.append(overlap(kept @ p["synthesis"]))
    return torch.stack(waves, 1)


def convert(old):
    p = {"analysis": old["encoder.weight"][:, 0].T, "synthesis": old["decoder.weight"][:, 0]}
    p["gain"], p["shift"] = old["norm.weight"], old["norm.bias"]
    p["squeeze"], p["squeeze_bias"] = old["bottleneck.weight"][:, :, 0].T, old["bottleneck.bias"]
    p["masks"] = [m.T for m in old["mask.weight"][:, :, 0].chunk(2)]
    p["mask_biases"] = list(old["mask.bias"].chunk(2))
    p["layers"] = []
    for i in range(2):
        b = {k.removeprefix(f"blocks.{i}."): v for k, v in old.items()}
        layer = {"wide": b["expand.weight"][:, :, 0].T, "wide_bias": b["expand.bias"]}
        layer["slope_a"], layer["slope_b"] = b["act1.weight"], b["act2.weight"]
        layer["gain_a"], layer["shift_a"] = b["norm1.weight"], b["norm1.bias"]
        layer["filter"], layer["filter_bias"] = b["depth.weight"][:, 0], b["depth.bias"]
        layer["gain_b"], layer["shift_b"] = b["norm2.weight"], b["norm2.bias"]
        layer["narrow"], layer["narrow_bias"] = b["shrink.weight"][:, :, 0].T, b["shrink.bias"]
        p["layers"].append(layer)
    return p


old, wave = torch.load("checkpoint.pt")
params = convert(old)
with torch.no_grad():
    voices = separate(params, wave)
"""

BUGS = [
    Bug("floor", "floor=1e-8", "floor=1e-2"),
    Bug("hop", "wave[:, 0].unfold(1, 8, 4)", "wave[:, 0].roll(1, -1).unfold(1, 8, 4)"),
    Bug(
        "relu_left_out",
        "    code = torch.relu(code)\n",
        "",
        at="x = normalise(code",
        also='code = frames @ p["analysis"]',
    ),
    Bug(
        "norm_per_frame",
        "center = x - x.mean((1, 2), keepdim=True)",
        "center = x - x.mean(2, keepdim=True)",
    ),
    Bug("dilation", 'residual(x, p["layers"][1], 2)', 'residual(x, p["layers"][1], 1)'),
    Bug(
        "filter_turned",
        'b["depth.weight"][:, 0]',
        'b["depth.weight"][:, 0].flip(-1)',
        weight="filter",
    ),
    Bug(
        "slopes_swapped",
        'b["act1.weight"], b["act2.weight"]',
        'b["act2.weight"], b["act1.weight"]',
        weight="slope_a",
    ),
    Bug(
        "gains_swapped",
        'layer["gain_b"], layer["shift_b"] = b["norm2.weight"]',
        'layer["gain_b"], layer["shift_b"] = b["norm1.weight"]',
        weight="gain_b",
    ),
    Bug("residual_left_out", "    return x + inner\n", "    return inner\n"),
    Bug("masks_by_softplus", "mask = mask.sigmoid()", "mask = F.softplus(mask)"),
    Bug("mask_of_the_bottleneck", "kept = code * mask", "kept = code * (1 - mask)"),
    Bug(
        "masks_swapped",
        'old["mask.weight"][:, :, 0].chunk(2)]',
        'reversed(old["mask.weight"][:, :, 0].chunk(2))]',
        weight="masks",
    ),
    Bug("narrow_bias_left_out", 'inner @ p["narrow"] + p["narrow_bias"]', 'inner @ p["narrow"]'),
    Bug("slope_of_both", "x * slope)", "x.abs() * slope)"),
]
