"""Twenty models of different kinds, as people write them, each with an input of four samples."""

import math

import torch
from torch import nn
from torch.nn import functional


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(40, 96)
        self.second = nn.Linear(96, 96)
        self.head = nn.Linear(96, 10)

    def forward(self, x):
        x = self.first(x).relu()
        x = self.second(x).tanh()
        return self.head(x)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.second = nn.Conv2d(16, 32, 3, padding=1, stride=2)
        self.head = nn.Linear(32 * 16, 10)

    def forward(self, images):
        x = functional.max_pool2d(self.first(images).relu(), 2)
        x = self.second(x).relu()
        return self.head(x.flatten(1))


class BatchNormed(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 12, 3)
        self.norm = nn.BatchNorm2d(12)
        self.norm.running_mean.normal_()
        self.norm.running_var.uniform_(0.5, 2)

    def forward(self, images):
        x = self.conv(images)
        x = self.norm(x)
        return functional.leaky_relu(x)


class LayerNormed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(48, 48) for _ in range(6))
        self.norms = nn.ModuleList(nn.LayerNorm(48) for _ in range(6))

    def forward(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = norm(x + layer(x).relu())
        return x


class GroupNormed(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.norm = nn.GroupNorm(4, 16)
        self.last = nn.Conv2d(16, 4, 1)

    def forward(self, images):
        x = functional.silu(self.norm(self.conv(images)))
        return self.last(x)


class RMSNormed(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(32, 64, bias=False)
        self.up = nn.Linear(32, 64, bias=False)
        self.down = nn.Linear(64, 32, bias=False)

    def forward(self, x):
        power = x.pow(2).mean(dim=-1, keepdim=True)
        normed = x * torch.rsqrt(power + 1e-6)
        hidden = functional.silu(self.gate(normed)) * self.up(normed)
        return x + self.down(hidden)


class Attention(nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.project(x).view(batch, length, 3, self.heads, -1).unbind(2)
        q, k, v = (part.transpose(1, 2) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = scores.softmax(dim=-1)
        mixed = (weights @ v).transpose(1, 2).reshape(batch, length, width)
        return self.out(mixed)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, x):
        encoded = self.layers(x)
        return encoded.mean(dim=1)


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(24, 32, num_layers=2, batch_first=True)
        self.head = nn.Linear(32, 5)

    def forward(self, x):
        outputs, _ = self.lstm(x)
        return self.head(outputs[:, -1])


class GruSteps(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(24, 32)

    def forward(self, x):
        state = x.new_zeros(len(x), 32)
        for moment in x.unbind(1):
            state = self.cell(moment, state)
        return state


class Bags(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.EmbeddingBag(60, 32, mode="mean")
        self.head = nn.Linear(32, 4)

    def forward(self, bags):
        x = self.words(bags)
        return self.head(x.tanh())


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.Linear(64, 48)
        self.code = nn.Linear(48, 16)
        self.write = nn.Linear(8, 64)

    def forward(self, x):
        hidden = self.read(x).relu()
        mean, log_variance = self.code(hidden).chunk(2, dim=-1)
        image = self.write(mean).sigmoid()
        divergence = mean.pow(2) + log_variance.exp() - 1 - log_variance
        return image, divergence.sum(dim=-1)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, padding=1)
        self.bottom = nn.Conv2d(8, 16, 3, padding=1)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.join = nn.Conv2d(16, 3, 3, padding=1)

    def forward(self, images):
        wide = self.down(images).relu()
        narrow = self.bottom(functional.avg_pool2d(wide, 2)).relu()
        raised = self.up(narrow)
        joined = torch.cat([wide, raised], dim=1)
        return self.join(joined)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 12, 3, padding=1)
        self.second = nn.Conv2d(12, 12, 3, padding=1)
        self.shortcut = nn.Conv2d(3, 12, 1)

    def forward(self, images):
        y = self.first(images).relu()
        y = self.second(y)
        return (y + self.shortcut(images)).relu()


class SqueezeExcite(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3)
        self.squeeze = nn.Linear(16, 4)
        self.excite = nn.Linear(4, 16)

    def forward(self, images):
        x = self.conv(images)
        pooled = x.mean(dim=(2, 3))
        scale = self.excite(self.squeeze(pooled).relu()).sigmoid()
        return x * scale[:, :, None, None]


class Depthwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.depth = nn.Conv2d(8, 8, 5, padding=2, groups=8)
        self.point = nn.Conv2d(8, 24, 1)

    def forward(self, x):
        x = functional.hardswish(self.depth(x))
        return self.point(x)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(20, 3)
        self.experts = nn.ModuleList(nn.Linear(20, 20) for _ in range(3))

    def forward(self, x):
        shares = self.gate(x).softmax(dim=-1)
        answers = torch.stack([expert(x) for expert in self.experts], dim=-1)
        return (answers * shares[:, None, :]).sum(dim=-1)


class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        rates = torch.exp(-math.log(10000.0) * torch.arange(0, 16, 2) / 16)
        angles = torch.arange(12)[:, None] * rates
        self.register_buffer("places", torch.cat([angles.sin(), angles.cos()], dim=-1))
        self.token = nn.Embedding(30, 16)
        self.mix = nn.Linear(16, 16)

    def forward(self, tokens):
        x = self.token(tokens) + self.places
        return self.mix(x).mean(dim=1)


class Cosine(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(28, 40)
        self.classes = nn.Parameter(torch.randn(6, 40))

    def forward(self, x):
        seen = functional.normalize(self.body(x), dim=-1)
        known = functional.normalize(self.classes, dim=-1)
        return functional.linear(seen, known) / 0.07


class LogLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(36, 50)
        self.head = nn.Linear(50, 12)

    def forward(self, x):
        scores = self.head(self.body(x).relu())
        logs = scores.log_softmax(dim=-1)
        return -logs.mean(dim=-1)


def _numbers(*shape):
    return lambda: torch.randn(4, *shape)


def _tokens(count, length):
    return lambda: torch.randint(0, count, (4, length))


MODELS = {
    Perceptron: _numbers(40),
    ConvNet: _numbers(3, 16, 16),
    BatchNormed: _numbers(3, 12, 12),
    LayerNormed: _numbers(48),
    GroupNormed: _numbers(3, 10, 10),
    RMSNormed: _numbers(9, 32),
    Attention: _numbers(11, 32),
    Encoder: _numbers(10, 32),
    Lstm: _numbers(12, 24),
    GruSteps: _numbers(12, 24),
    Bags: _tokens(60, 7),
    Autoencoder: _numbers(64),
    UNet: _numbers(3, 16, 16),
    Residual: _numbers(3, 12, 12),
    SqueezeExcite: _numbers(3, 12, 12),
    Depthwise: _numbers(8, 14, 14),
    Experts: _numbers(20),
    Positions: _tokens(30, 12),
    Cosine: _numbers(28),
    LogLoss: _numbers(36),
}


def make(kind, dtype=torch.float32):
    """The model in eval mode and its input; the same each time."""
    torch.manual_seed(0)
    model = kind().eval().to(dtype)
    x = MODELS[kind]()
    return model, x.to(dtype) if x.is_floating_point() else x
