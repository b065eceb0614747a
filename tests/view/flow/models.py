"""Seven programs whose whole picture is large: six models and a training. The words are the name of one, and
what else it wants.

    monitorch run tests/view/flow/models.py llama
"""

import pathlib
import runpy
import sys

import torch
from torch import nn
from torch.nn import functional as F

# ---- a language model as Llama is built ----


class RMSNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        variance = x.pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + 1e-6)
        return self.weight * x


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    return x * cos + turned * sin


class LlamaAttention(nn.Module):
    def __init__(self, size, heads, key_heads):
        super().__init__()
        self.heads, self.key_heads, self.width = heads, key_heads, size // heads
        self.q_proj = nn.Linear(size, size, bias=False)
        self.k_proj = nn.Linear(size, key_heads * self.width, bias=False)
        self.v_proj = nn.Linear(size, key_heads * self.width, bias=False)
        self.o_proj = nn.Linear(size, size, bias=False)

    def forward(self, x, cos, sin, mask):
        batch, length, size = x.shape
        q = self.q_proj(x).view(batch, length, self.heads, self.width).transpose(1, 2)
        k = self.k_proj(x).view(batch, length, self.key_heads, self.width).transpose(1, 2)
        v = self.v_proj(x).view(batch, length, self.key_heads, self.width).transpose(1, 2)
        q = rotate(q, cos, sin)
        k = rotate(k, cos, sin)
        k = k.repeat_interleave(self.heads // self.key_heads, dim=1)
        v = v.repeat_interleave(self.heads // self.key_heads, dim=1)
        scores = q @ k.transpose(-2, -1) / self.width**0.5 + mask
        weights = F.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(batch, length, size)
        return self.o_proj(out)


class LlamaMLP(nn.Module):
    def __init__(self, size, hidden):
        super().__init__()
        self.gate_proj = nn.Linear(size, hidden, bias=False)
        self.up_proj = nn.Linear(size, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, size, bias=False)

    def forward(self, x):
        gate = F.silu(self.gate_proj(x))
        up = self.up_proj(x)
        return self.down_proj(gate * up)


class LlamaLayer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.input_norm = RMSNorm(size)
        self.attention = LlamaAttention(size, 4, 2)
        self.post_norm = RMSNorm(size)
        self.mlp = LlamaMLP(size, 2 * size)

    def forward(self, x, cos, sin, mask):
        residual = x
        x = self.input_norm(x)
        x = self.attention(x, cos, sin, mask)
        x = residual + x
        residual = x
        x = self.post_norm(x)
        x = self.mlp(x)
        return residual + x


class Llama(nn.Module):
    def __init__(self, size=32, layers=6, words=50):
        super().__init__()
        self.embed = nn.Embedding(words, size)
        self.layers = nn.ModuleList(LlamaLayer(size) for _ in range(layers))
        self.norm = RMSNorm(size)
        self.head = nn.Linear(size, words, bias=False)
        self.width = size // 4

    def forward(self, ids):
        length = ids.shape[1]
        x = self.embed(ids)
        steps = torch.arange(length).float()
        speeds = 1.0 / 10000 ** (torch.arange(0, self.width, 2).float() / self.width)
        angles = torch.outer(steps, speeds).repeat(1, 2)
        cos, sin = angles.cos(), angles.sin()
        mask = torch.full((length, length), float("-inf")).triu(1)
        for layer in self.layers:
            x = layer(x, cos, sin, mask)
        x = self.norm(x)
        return self.head(x)


def llama():
    return Llama(), (torch.randint(0, 50, (2, 9)),)


# ---- ResNet ----


class ResidualBlock(nn.Module):
    def __init__(self, width, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(width, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.down = nn.Conv2d(width, out, 1, stride, bias=False) if stride > 1 else None

    def forward(self, x):
        identity = x if self.down is None else self.down(x)
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out = out + identity
        return F.relu(out)


class ResNet(nn.Module):
    def __init__(self, widths=(8, 16, 32, 64), blocks=2):
        super().__init__()
        self.stem = nn.Conv2d(3, widths[0], 3, 1, 1)
        rows, width = [], widths[0]
        for i, out in enumerate(widths):
            for k in range(blocks):
                rows.append(ResidualBlock(width, out, 2 if i > 0 and k == 0 else 1))
                width = out
        self.blocks = nn.Sequential(*rows)
        self.fc = nn.Linear(width, 10)

    def forward(self, x):
        x = F.relu(self.stem(x))
        x = self.blocks(x)
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.fc(x)


def resnet():
    return ResNet(), (torch.randn(2, 3, 16, 16),)


# ---- U-Net ----


class Double(nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.first = nn.Conv2d(width, out, 3, padding=1)
        self.second = nn.Conv2d(out, out, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.first(x))
        return F.relu(self.second(x))


class UNet(nn.Module):
    def __init__(self, widths=(4, 8, 16, 32)):
        super().__init__()
        self.down = nn.ModuleList(Double(a, b) for a, b in zip((1, *widths), widths))
        self.middle = Double(widths[-1], 2 * widths[-1])
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, 2) for w in reversed(widths))
        self.join = nn.ModuleList(Double(2 * w, w) for w in reversed(widths))
        self.out = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x):
        skips = []
        for down in self.down:
            x = down(x)
            skips.append(x)
            x = F.max_pool2d(x, 2)
        x = self.middle(x)
        for up, join in zip(self.up, self.join):
            x = up(x)
            x = torch.cat([x, skips.pop()], dim=1)
            x = join(x)
        return self.out(x)


def unet():
    return UNet(), (torch.randn(1, 1, 32, 32),)


# ---- an LSTM of 50 steps ----


class LSTM(nn.Module):
    def __init__(self, size=8, hidden=16):
        super().__init__()
        self.hidden = hidden
        self.cell = nn.Linear(size + hidden, 4 * hidden)
        self.head = nn.Linear(hidden, 3)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], self.hidden)
        c = x.new_zeros(x.shape[0], self.hidden)
        outs = []
        for t in range(x.shape[1]):
            gates = self.cell(torch.cat([x[:, t], h], dim=1))
            i, f, g, o = gates.chunk(4, dim=1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            outs.append(h)
        out = torch.stack(outs, dim=1)
        return self.head(out.mean(1))


def lstm():
    return LSTM(), (torch.randn(2, 50, 8),)


# ---- a mixture of experts ----


class Expert(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.up = nn.Linear(size, 2 * size)
        self.down = nn.Linear(2 * size, size)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class Mixture(nn.Module):
    def __init__(self, size, experts, chosen):
        super().__init__()
        self.chosen = chosen
        self.router = nn.Linear(size, experts)
        self.experts = nn.ModuleList(Expert(size) for _ in range(experts))

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        weights = F.softmax(self.router(flat), dim=-1)
        best, index = weights.topk(self.chosen, dim=-1)
        best = best / best.sum(-1, keepdim=True)
        out = torch.zeros_like(flat)
        for number, expert in enumerate(self.experts):
            row, place = torch.where(index == number)
            if row.numel() == 0:
                continue
            given = flat[row]
            made = expert(given) * best[row, place, None]
            out.index_add_(0, row, made)
        return out.view_as(x)


class MoE(nn.Module):
    def __init__(self, size=16, layers=4, words=40):
        super().__init__()
        self.embed = nn.Embedding(words, size)
        self.layers = nn.ModuleList(Mixture(size, 4, 2) for _ in range(layers))
        self.head = nn.Linear(size, words)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x)


def moe():
    return MoE(), (torch.randint(0, 40, (2, 8)),)


# ---- one step of a GAN ----


class Generator(nn.Module):
    def __init__(self, size=8, out=20):
        super().__init__()
        self.first = nn.Linear(size, 32)
        self.norm = nn.BatchNorm1d(32)
        self.second = nn.Linear(32, out)

    def forward(self, z):
        z = F.relu(self.norm(self.first(z)))
        return torch.tanh(self.second(z))


class Discriminator(nn.Module):
    def __init__(self, size=20):
        super().__init__()
        self.first = nn.Linear(size, 32)
        self.second = nn.Linear(32, 1)

    def forward(self, x):
        x = F.leaky_relu(self.first(x), 0.2)
        return self.second(x)


class GAN(nn.Module):
    """The forward of one step: both losses."""

    def __init__(self):
        super().__init__()
        self.generator = Generator()
        self.discriminator = Discriminator()

    def forward(self, real, noise):
        fake = self.generator(noise)
        on_real = self.discriminator(real)
        on_fake = self.discriminator(fake.detach())
        loss_d = F.softplus(-on_real).mean() + F.softplus(on_fake).mean()
        loss_g = F.softplus(-self.discriminator(fake)).mean()
        return loss_d, loss_g


def gan():
    return GAN(), (torch.randn(6, 20), torch.randn(6, 8))


def gan_step(steps=3):
    """A training: what `monitorch` records of a GAN is its step."""
    model = GAN()
    d = torch.optim.Adam(model.discriminator.parameters(), lr=1e-3)
    g = torch.optim.Adam(model.generator.parameters(), lr=1e-3)
    for _ in range(steps):
        real = torch.randn(6, 20)
        noise = torch.randn(6, 8)
        fake = model.generator(noise)
        loss_d = F.softplus(-model.discriminator(real)).mean()
        loss_d = loss_d + F.softplus(model.discriminator(fake.detach())).mean()
        d.zero_grad()
        loss_d.backward()
        d.step()
        loss_g = F.softplus(-model.discriminator(fake)).mean()
        g.zero_grad()
        loss_g.backward()
        g.step()


MODELS = {"llama": llama, "resnet": resnet, "unet": unet, "lstm": lstm, "moe": moe, "gan": gan}


def main(name, *words):
    torch.manual_seed(0)
    if name == "gan":
        gan_step(*map(int, words))
    elif name == "nanogpt":
        program = str(pathlib.Path(__file__).with_name("gpt_training.py"))
        sys.argv = [program, *(words or ["3"])]
        runpy.run_path(program, run_name="__main__")
    else:
        model, inputs = MODELS[name]()
        model(*inputs)


if __name__ == "__main__":
    main(*sys.argv[1:])
