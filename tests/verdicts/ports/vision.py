"""A vision transformer: packed q, k and v and a convolution; three matrices and patches that are cut out."""

from tests.verdicts.ports.bugs import Bug

WEIGHTS = """
import torch

g = torch.Generator().manual_seed(4)


def draw(*shape, scale=0.2):
    return torch.randn(*shape, generator=g) * scale


def weights():
    w = {"cls_token": draw(1, 1, 24), "pos_embed": draw(1, 17, 24)}
    w["patch_embed.proj.weight"], w["patch_embed.proj.bias"] = draw(24, 3, 4, 4), draw(24)
    for i in range(2):
        p = f"blocks.{i}."
        w[p + "norm1.weight"], w[p + "norm1.bias"] = 1 + draw(24), draw(24)
        w[p + "attn.qkv.weight"], w[p + "attn.qkv.bias"] = draw(72, 24), draw(72)
        w[p + "attn.proj.weight"], w[p + "attn.proj.bias"] = draw(24, 24), draw(24)
        w[p + "norm2.weight"], w[p + "norm2.bias"] = 1 + draw(24), draw(24)
        w[p + "mlp.fc1.weight"], w[p + "mlp.fc1.bias"] = draw(64, 24), draw(64)
        w[p + "mlp.fc2.weight"], w[p + "mlp.fc2.bias"] = draw(24, 64), draw(24)
    w["norm.weight"], w["norm.bias"] = 1 + draw(24), draw(24)
    w["head.weight"], w["head.bias"] = draw(6, 24), draw(6)
    return w, torch.randn(2, 3, 16, 16, generator=g)
"""

REFERENCE = """
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim, num_heads=3):
        super().__init__()
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        q = q * self.scale
        attn = q @ k.transpose(-2, -1)
        attn = attn.softmax(dim=-1)
        x = attn @ v
        x = x.transpose(1, 2).reshape(B, N, C)
        x = self.proj(x)
        return x


class Mlp(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.fc1 = nn.Linear(dim, hidden)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(hidden, dim)

    def forward(self, x):
        x = self.fc1(x)
        x = self.act(x)
        return self.fc2(x)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim, eps=1e-6)
        self.attn = Attention(dim)
        self.norm2 = nn.LayerNorm(dim, eps=1e-6)
        self.mlp = Mlp(dim, 64)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return x


class PatchEmbed(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Conv2d(3, 24, kernel_size=4, stride=4)

    def forward(self, x):
        x = self.proj(x)
        return x.flatten(2).transpose(1, 2)


class VisionTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch_embed = PatchEmbed()
        self.cls_token = nn.Parameter(torch.zeros(1, 1, 24))
        self.pos_embed = nn.Parameter(torch.zeros(1, 17, 24))
        self.blocks = nn.Sequential(*[Block(24) for _ in range(2)])
        self.norm = nn.LayerNorm(24, eps=1e-6)
        self.head = nn.Linear(24, 6)

    def forward(self, x):
        x = self.patch_embed(x)
        x = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1)
        x = x + self.pos_embed
        x = self.blocks(x)
        x = self.norm(x)
        return self.head(x[:, 0])


vit = VisionTransformer()
state, images = torch.load("checkpoint.pt")
vit.load_state_dict(state)
vit.eval()
weights = vit.state_dict()
with torch.no_grad():
    logits = vit(images)
"""

PORT = """
import torch
from torch import nn
from torch.nn import functional as F


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.dense = nn.Linear(width, width)

    def split(self, t):
        batch, length, width = t.shape
        return t.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, hidden):
        query = self.split(self.query(hidden))
        key = self.split(self.key(hidden))
        value = self.split(self.value(hidden))
        context = F.scaled_dot_product_attention(query, key, value)
        context = context.transpose(1, 2).flatten(2)
        return self.dense(context)


class EncoderLayer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.layernorm_before = nn.LayerNorm(width, eps=1e-6)
        self.attention = SelfAttention(width, heads)
        self.layernorm_after = nn.LayerNorm(width, eps=1e-6)
        self.intermediate = nn.Linear(width, inner)
        self.output = nn.Linear(inner, width)

    def forward(self, hidden):
        normed = self.layernorm_before(hidden)
        hidden = hidden + self.attention(normed)
        inner = self.layernorm_after(hidden)
        inner = self.intermediate(inner)
        inner = F.gelu(inner)
        hidden = hidden + self.output(inner)
        return hidden


class ViT(nn.Module):
    def __init__(self, size=24, patch=4):
        super().__init__()
        self.patch = patch
        self.projection = nn.Linear(3 * patch * patch, size)
        self.register_parameter("cls", nn.Parameter(torch.zeros(size)))
        self.register_parameter("positions", nn.Parameter(torch.zeros(17, size)))
        self.layers = nn.ModuleList([EncoderLayer(size, 3, 64) for _ in range(2)])
        self.layernorm = nn.LayerNorm(size, eps=1e-6)
        self.classifier = nn.Linear(size, 6)

    def patches(self, pixels):
        cut = pixels.unfold(2, self.patch, self.patch).unfold(3, self.patch, self.patch)
        cut = cut.permute(0, 2, 3, 1, 4, 5)
        return cut.flatten(3).flatten(1, 2)

    def forward(self, pixels):
        tokens = self.projection(self.patches(pixels))
        first = self.cls.expand(len(tokens), 1, -1)
        hidden = torch.cat([first, tokens], 1)
        hidden = hidden + self.positions
        for layer in self.layers:
            hidden = layer(hidden)
        hidden = self.layernorm(hidden)
        pooled = hidden[:, 0]
        return self.classifier(pooled)


def convert(timm):
    out = {}
    out["cls"] = timm["cls_token"].flatten()
    out["positions"] = timm["pos_embed"][0]
    out["projection.weight"] = timm["patch_embed.proj.weight"].flatten(1)
    out["projection.bias"] = timm["patch_embed.proj.bias"]
    for n in range(2):
        src, dst = f"blocks.{n}.", f"layers.{n}."
        q, k, v = timm[src + "attn.qkv.weight"].chunk(3)
        out[dst + "attention.query.weight"] = q
        out[dst + "attention.key.weight"] = k
        out[dst + "attention.value.weight"] = v
        q, k, v = timm[src + "attn.qkv.bias"].chunk(3)
        out[dst + "attention.query.bias"] = q
        out[dst + "attention.key.bias"] = k
        out[dst + "attention.value.bias"] = v
        out[dst + "attention.dense.weight"] = timm[src + "attn.proj.weight"]
        out[dst + "attention.dense.bias"] = timm[src + "attn.proj.bias"]
        out[dst + "layernorm_before.weight"] = timm[src + "norm1.weight"]
        out[dst + "layernorm_before.bias"] = timm[src + "norm1.bias"]
        out[dst + "layernorm_after.weight"] = timm[src + "norm2.weight"]
        out[dst + "layernorm_after.bias"] = timm[src + "norm2.bias"]
        out[dst + "intermediate.weight"] = timm[src + "mlp.fc1.weight"]
        out[dst + "intermediate.bias"] = timm[src + "mlp.fc1.bias"]
        out[dst + "output.weight"] = timm[src + "mlp.fc2.weight"]
        out[dst + "output.bias"] = timm[src + "mlp.fc2.bias"]
    out["layernorm.weight"] = timm["norm.weight"]
    out["layernorm.bias"] = timm["norm.bias"]
    out["classifier.weight"] = timm["head.weight"]
    out["classifier.bias"] = timm["head.bias"]
    return out


network = ViT().eval()
timm, pixels = torch.load("checkpoint.pt")
network.load_state_dict(convert(timm), strict=False)
loaded = network.state_dict()
with torch.no_grad():
    classes = network(pixels)
"""

BUGS = [
    Bug(
        "eps",
        "self.layernorm_after = nn.LayerNorm(width, eps=1e-6)",
        "self.layernorm_after = nn.LayerNorm(width, eps=1e-1)",
    ),
    Bug("heads", "EncoderLayer(size, 3, 64)", "EncoderLayer(size, 4, 64)"),
    Bug(
        "scale",
        "F.scaled_dot_product_attention(query, key, value)",
        "F.scaled_dot_product_attention(query, key, value, scale=1.0)",
    ),
    Bug(
        "causal",
        "F.scaled_dot_product_attention(query, key, value)",
        "F.scaled_dot_product_attention(query, key, value, is_causal=True)",
    ),
    Bug(
        "key_and_value_swapped",
        'q, k, v = timm[src + "attn.qkv.weight"].chunk(3)',
        'q, v, k = timm[src + "attn.qkv.weight"].chunk(3)',
        weight="attention.key.weight",
    ),
    Bug(
        "biases_in_another_order",
        'q, k, v = timm[src + "attn.qkv.bias"].chunk(3)',
        'k, q, v = timm[src + "attn.qkv.bias"].chunk(3)',
        weight="attention.query.bias",
    ),
    Bug("patches_by_channel", "cut.permute(0, 2, 3, 1, 4, 5)", "cut.permute(0, 2, 3, 4, 5, 1)"),
    Bug("patches_across", "cut.permute(0, 2, 3, 1, 4, 5)", "cut.permute(0, 3, 2, 1, 4, 5)"),
    Bug(
        "dense_transposed",
        'timm[src + "attn.proj.weight"]',
        'timm[src + "attn.proj.weight"].T',
        weight="attention.dense.weight",
    ),
    Bug(
        "heads_not_transposed_back",
        "context.transpose(1, 2).flatten(2)",
        "context.reshape(len(context), -1, 24)",
    ),
    Bug("activation", "inner = F.gelu(inner)", "inner = F.relu(inner)"),
    Bug(
        "norm_of_the_wrong_value",
        "inner = self.layernorm_after(hidden)",
        "inner = self.layernorm_after(normed)",
    ),
    Bug(
        "norms_swapped",
        'out[dst + "layernorm_after.weight"] = timm[src + "norm2.weight"]',
        'out[dst + "layernorm_after.weight"] = timm[src + "norm1.weight"]',
        weight="layernorm_after.weight",
    ),
    Bug(
        "last_norm_missing",
        "        hidden = self.layernorm(hidden)\n        pooled",
        "        pooled",
        at="pooled = hidden[:, 0]",
        also="hidden = layer(hidden)",
    ),
    Bug(
        "positions_left_out",
        "        hidden = hidden + self.positions\n",
        "",
        at="hidden = torch.cat([first, tokens], 1)",
        weight="positions",
    ),
    Bug("pooled_by_mean", "pooled = hidden[:, 0]", "pooled = hidden.mean(1)"),
    Bug("residual_missing", "hidden = hidden + self.output(inner)", "hidden = self.output(inner)"),
    Bug("token_behind", "torch.cat([first, tokens], 1)", "torch.cat([tokens, first], 1)"),
    Bug(
        "layers_in_another_order",
        "for layer in self.layers:",
        "for layer in reversed(self.layers):",
        also="hidden = layer(hidden)",
    ),
]
