"""A step of a diffusion U-Net: one module with packed q, k, v over pixels; blocks with three projections over tokens. Held back."""

from tests.verdicts.ports.bugs import Bug

WEIGHTS = """
import torch

g = torch.Generator().manual_seed(7)


def draw(*shape, scale=0.2):
    return torch.randn(*shape, generator=g) * scale


def norm(w, name, size):
    w[name + ".weight"], w[name + ".bias"] = 1 + draw(size), draw(size)


def layer(w, name, *shape):
    w[name + ".weight"], w[name + ".bias"] = draw(*shape), draw(shape[0])


def residual(w, name, a, b):
    norm(w, name + ".in_layers.0", a)
    layer(w, name + ".in_layers.2", b, a, 3, 3)
    layer(w, name + ".emb_layers.1", 2 * b, 32)
    norm(w, name + ".out_layers.0", b)
    layer(w, name + ".out_layers.3", b, b, 3, 3)
    if a != b:
        layer(w, name + ".skip_connection", b, a, 1, 1)


def weights():
    w = {}
    layer(w, "time_embed.0", 32, 8)
    layer(w, "time_embed.2", 32, 32)
    layer(w, "stem", 8, 3, 3, 3)
    residual(w, "down", 8, 16)
    layer(w, "reduce", 16, 16, 3, 3)
    norm(w, "attention.norm", 16)
    layer(w, "attention.qkv", 48, 16, 1)
    layer(w, "attention.proj_out", 16, 16, 1)
    layer(w, "grow", 16, 16, 3, 3)
    residual(w, "up", 32, 8)
    norm(w, "out.0", 8)
    layer(w, "out.2", 3, 8, 3, 3)
    images = torch.randn(2, 3, 8, 8, generator=g)
    return w, (images, torch.tensor([17.0, 420.0]))
"""

REFERENCE = """
import math
import torch as th
import torch.nn as nn
import torch.nn.functional as F


def timestep_embedding(timesteps, dim, max_period=10000):
    half = dim // 2
    freqs = th.exp(-math.log(max_period) * th.arange(0, half, dtype=th.float32) / half)
    args = timesteps[:, None] * freqs[None]
    return th.cat([th.cos(args), th.sin(args)], dim=-1)


class ResBlock(nn.Module):
    def __init__(self, channels, emb_channels, out_channels):
        super().__init__()
        self.in_layers = nn.Sequential(
            nn.GroupNorm(4, channels), nn.SiLU(), nn.Conv2d(channels, out_channels, 3, padding=1)
        )
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(emb_channels, 2 * out_channels))
        self.out_layers = nn.Sequential(
            nn.GroupNorm(4, out_channels),
            nn.SiLU(),
            nn.Dropout(0.1),
            nn.Conv2d(out_channels, out_channels, 3, padding=1),
        )
        self.skip_connection = nn.Conv2d(channels, out_channels, 1)

    def forward(self, x, emb):
        h = self.in_layers(x)
        emb_out = self.emb_layers(emb)[:, :, None, None]
        scale, shift = th.chunk(emb_out, 2, dim=1)
        h = self.out_layers[0](h)
        h = h * (1 + scale) + shift
        h = self.out_layers[1:](h)
        return self.skip_connection(x) + h


class QKVAttention(nn.Module):
    def __init__(self, n_heads):
        super().__init__()
        self.n_heads = n_heads

    def forward(self, qkv):
        bs, width, length = qkv.shape
        ch = width // (3 * self.n_heads)
        q, k, v = qkv.chunk(3, dim=1)
        scale = 1 / math.sqrt(math.sqrt(ch))
        q = (q * scale).view(bs * self.n_heads, ch, length)
        k = (k * scale).view(bs * self.n_heads, ch, length)
        weight = th.einsum("bct,bcs->bts", q, k)
        weight = th.softmax(weight, dim=-1)
        a = th.einsum("bts,bcs->bct", weight, v.reshape(bs * self.n_heads, ch, length))
        return a.reshape(bs, -1, length)


class AttentionBlock(nn.Module):
    def __init__(self, channels, heads):
        super().__init__()
        self.norm = nn.GroupNorm(4, channels)
        self.qkv = nn.Conv1d(channels, channels * 3, 1)
        self.attention = QKVAttention(heads)
        self.proj_out = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        b, c, *spatial = x.shape
        x = x.reshape(b, c, -1)
        qkv = self.qkv(self.norm(x))
        h = self.attention(qkv)
        h = self.proj_out(h)
        return (x + h).reshape(b, c, *spatial)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.time_embed = nn.Sequential(nn.Linear(8, 32), nn.SiLU(), nn.Linear(32, 32))
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.down = ResBlock(8, 32, 16)
        self.reduce = nn.Conv2d(16, 16, 3, stride=2, padding=1)
        self.attention = AttentionBlock(16, 2)
        self.grow = nn.Conv2d(16, 16, 3, padding=1)
        self.up = ResBlock(32, 32, 8)
        self.out = nn.Sequential(nn.GroupNorm(4, 8), nn.SiLU(), nn.Conv2d(8, 3, 3, padding=1))

    def forward(self, x, timesteps):
        emb = self.time_embed(timestep_embedding(timesteps, 8))
        h = self.stem(x)
        first = self.down(h, emb)
        h = self.reduce(first)
        h = self.attention(h)
        h = F.interpolate(h, scale_factor=2, mode="nearest")
        h = self.grow(h)
        h = th.cat([h, first], dim=1)
        h = self.up(h, emb)
        return self.out(h)


state, (images, steps) = th.load("checkpoint.pt")
unet = UNet()
unet.load_state_dict(state)
unet.eval()
weights = unet.state_dict()
with th.no_grad():
    noise = unet(images, steps)
"""

PORT = """
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention, silu


class Timesteps(nn.Module):
    def __init__(self, channels, period=10000.0):
        super().__init__()
        self.channels, self.period = channels, period

    def forward(self, t):
        count = self.channels // 2
        exponent = torch.arange(count).float() / count
        rates = self.period**-exponent
        phase = torch.outer(t, rates)
        return torch.cat((phase.cos(), phase.sin()), 1)


class TimestepEmbedding(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.linear_1 = nn.Linear(channels, width)
        self.linear_2 = nn.Linear(width, width)

    def forward(self, sample):
        sample = self.linear_1(sample)
        sample = silu(sample)
        return self.linear_2(sample)


class ResnetBlock(nn.Module):
    def __init__(self, inside, outside, width, groups=4, eps=1e-5):
        super().__init__()
        self.norm1 = nn.GroupNorm(groups, inside, eps=eps)
        self.conv1 = nn.Conv2d(inside, outside, 3, padding=1)
        self.to_scale = nn.Linear(width, outside)
        self.to_shift = nn.Linear(width, outside)
        self.norm2 = nn.GroupNorm(groups, outside, eps=eps)
        self.conv2 = nn.Conv2d(outside, outside, 3, padding=1)
        self.shortcut = nn.Conv2d(inside, outside, 1)

    def forward(self, features, time):
        residual = self.shortcut(features)
        features = self.norm1(features)
        features = silu(features)
        features = self.conv1(features)
        time = silu(time)
        scale = self.to_scale(time)[..., None, None]
        shift = self.to_shift(time)[..., None, None]
        features = self.norm2(features)
        features = torch.addcmul(features, features, scale) + shift
        features = silu(features)
        features = self.conv2(features)
        return features + residual


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.group_norm = nn.GroupNorm(4, width)
        self.to_q = nn.Linear(width, width)
        self.to_k = nn.Linear(width, width)
        self.to_v = nn.Linear(width, width)
        self.to_out = nn.Linear(width, width)

    def forward(self, image):
        height = image.shape[2]
        normed = self.group_norm(image)
        tokens = normed.flatten(2).mT
        query = self.to_q(tokens).unflatten(2, (self.heads, -1)).transpose(1, 2)
        key = self.to_k(tokens).unflatten(2, (self.heads, -1)).transpose(1, 2)
        value = self.to_v(tokens).unflatten(2, (self.heads, -1)).transpose(1, 2)
        mixed = scaled_dot_product_attention(query, key, value)
        mixed = mixed.transpose(1, 2).flatten(2)
        mixed = self.to_out(mixed)
        mixed = mixed.mT.unflatten(2, (height, -1))
        return image + mixed


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time_proj = Timesteps(8)
        self.time_embedding = TimestepEmbedding(8, 32)
        self.conv_in = nn.Conv2d(3, 8, 3, padding=1)
        self.encode = ResnetBlock(8, 16, 32)
        self.downsample = nn.Conv2d(16, 16, 3, stride=2, padding=1)
        self.middle = Attention(16, 2)
        self.upsample = nn.Conv2d(16, 16, 3, padding=1)
        self.decode = ResnetBlock(32, 8, 32)
        self.norm_out = nn.GroupNorm(4, 8)
        self.conv_out = nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, sample, timestep):
        projected = self.time_proj(timestep)
        time = self.time_embedding(projected)
        stem = self.conv_in(sample)
        skip = self.encode(stem, time)
        sample = self.downsample(skip)
        sample = self.middle(sample)
        sample = sample.repeat_interleave(2, dim=2).repeat_interleave(2, dim=3)
        sample = self.upsample(sample)
        sample = torch.cat([sample, skip], dim=1)
        sample = self.decode(sample, time)
        sample = self.norm_out(sample)
        sample = silu(sample)
        return self.conv_out(sample)


def copy(new, old, to, at, change=lambda value: value):
    new[to + ".weight"] = change(old[at + ".weight"])
    new[to + ".bias"] = old[at + ".bias"]


def convert_residual(new, old, to, at, has_skip=True):
    copy(new, old, to + ".norm1", at + ".in_layers.0")
    copy(new, old, to + ".conv1", at + ".in_layers.2")
    scale, shift = old[at + ".emb_layers.1.weight"].chunk(2)
    new[to + ".to_scale.weight"], new[to + ".to_shift.weight"] = scale, shift
    scale, shift = old[at + ".emb_layers.1.bias"].chunk(2)
    new[to + ".to_scale.bias"], new[to + ".to_shift.bias"] = scale, shift
    copy(new, old, to + ".norm2", at + ".out_layers.0")
    copy(new, old, to + ".conv2", at + ".out_layers.3")
    copy(new, old, to + ".shortcut", at + ".skip_connection")


def convert(old):
    new = {}
    copy(new, old, "time_embedding.linear_1", "time_embed.0")
    copy(new, old, "time_embedding.linear_2", "time_embed.2")
    copy(new, old, "conv_in", "stem")
    convert_residual(new, old, "encode", "down")
    copy(new, old, "downsample", "reduce")
    copy(new, old, "middle.group_norm", "attention.norm")
    q, k, v = old["attention.qkv.weight"][:, :, 0].chunk(3)
    new["middle.to_q.weight"], new["middle.to_k.weight"], new["middle.to_v.weight"] = q, k, v
    q, k, v = old["attention.qkv.bias"].chunk(3)
    new["middle.to_q.bias"], new["middle.to_k.bias"], new["middle.to_v.bias"] = q, k, v
    copy(new, old, "middle.to_out", "attention.proj_out", lambda value: value[:, :, 0])
    copy(new, old, "upsample", "grow")
    convert_residual(new, old, "decode", "up")
    copy(new, old, "norm_out", "out.0")
    copy(new, old, "conv_out", "out.2")
    return new


denoiser = Denoiser().eval()
old, (pixels, timestep) = torch.load("checkpoint.pt")
denoiser.load_state_dict(convert(old))
loaded = denoiser.state_dict()
with torch.no_grad():
    predicted = denoiser(pixels, timestep)
"""

BUGS = [
    Bug("period", "period=10000.0", "period=1000.0"),
    Bug(
        "sine_first",
        "torch.cat((phase.cos(), phase.sin()), 1)",
        "torch.cat((phase.sin(), phase.cos()), 1)",
    ),
    Bug(
        "rates_to_the_end",
        "torch.arange(count).float() / count",
        "torch.arange(count).float() / (count - 1)",
    ),
    Bug("eps", "eps=1e-5", "eps=1e-1"),
    Bug("groups", "nn.GroupNorm(4, 8)", "nn.GroupNorm(2, 8)"),
    Bug(
        "activation_of_time_missing",
        "        time = silu(time)\n",
        "",
        at="scale = self.to_scale(time)",
        also="shift = self.to_shift(time)",
    ),
    Bug(
        "scale_without_one",
        "torch.addcmul(features, features, scale) + shift",
        "features * scale + shift",
    ),
    Bug(
        "scale_and_shift_swapped",
        'scale, shift = old[at + ".emb_layers.1.weight"].chunk(2)',
        'shift, scale = old[at + ".emb_layers.1.weight"].chunk(2)',
        weight="encode.to_scale.weight",
    ),
    Bug(
        "scale_twice",
        "scaled_dot_product_attention(query, key, value)",
        "scaled_dot_product_attention(query * 8**-0.5, key, value)",
    ),
    Bug(
        "heads_interleaved",
        "query = self.to_q(tokens).unflatten(2, (self.heads, -1)).transpose(1, 2)",
        "query = self.to_q(tokens).unflatten(2, (-1, self.heads)).transpose(2, 3).transpose(1, 2)",
    ),
    Bug(
        "to_out_transposed",
        "lambda value: value[:, :, 0])",
        "lambda value: value[:, :, 0].T)",
        weight="middle.to_out.weight",
    ),
    Bug("residual_of_normed", "return image + mixed", "return normed + mixed"),
    Bug("skip_first", "torch.cat([sample, skip], dim=1)", "torch.cat([skip, sample], dim=1)"),
    Bug(
        "skip_of_the_stem",
        "residual = self.shortcut(features)\n        features = self.norm1(features)",
        "features = self.norm1(features)\n        residual = self.shortcut(features)",
        at="residual = self.shortcut(features)",
        also="features = self.norm1(features)",
    ),
    Bug(
        "upsampled_by_tiles",
        "sample.repeat_interleave(2, dim=2).repeat_interleave(2, dim=3)",
        "sample.repeat(1, 1, 2, 2)",
    ),
    Bug(
        "bias_not_loaded",
        '    copy(new, old, "conv_out", "out.2")\n    return new',
        '    copy(new, old, "conv_out", "out.2")\n    new["conv_out.bias"] = torch.zeros(3)\n    return new',
        weight="conv_out.bias",
    ),
]
