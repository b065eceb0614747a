"""A convolutional net: modules with batch norms; functions over convolutions that the norms are folded into."""

from tests.verdicts.ports.bugs import Bug

WEIGHTS = """
import torch

g = torch.Generator().manual_seed(3)


def draw(*shape, scale=0.2):
    return torch.randn(*shape, generator=g) * scale


def norm(w, name, size):
    w[name + ".weight"], w[name + ".bias"] = 1 + draw(size), draw(size)
    w[name + ".running_mean"], w[name + ".running_var"] = draw(size), 0.1 + draw(size).abs()
    w[name + ".num_batches_tracked"] = torch.tensor(100)


def weights():
    w = {"conv1.weight": draw(8, 3, 3, 3)}
    norm(w, "bn1", 8)
    sizes = [(8, 8), (8, 12)]
    for i, (a, b) in enumerate(sizes):
        w[f"blocks.{i}.conv1.weight"] = draw(b, a, 3, 3)
        norm(w, f"blocks.{i}.bn1", b)
        w[f"blocks.{i}.conv2.weight"] = draw(b, b, 3, 3)
        norm(w, f"blocks.{i}.bn2", b)
    w["blocks.1.downsample.0.weight"] = draw(12, 8, 1, 1)
    norm(w, "blocks.1.downsample.1", 12)
    w["fc.weight"], w["fc.bias"] = draw(5, 12 * 16), draw(5)
    return w, torch.randn(2, 3, 16, 16, generator=g)
"""

REFERENCE = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, inplanes, planes, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = None
        if stride != 1:
            self.downsample = nn.Sequential(
                nn.Conv2d(inplanes, planes, 1, stride=stride, bias=False),
                nn.BatchNorm2d(planes),
            )

    def forward(self, x):
        identity = x
        out = self.conv1(x)
        out = self.bn1(out)
        out = self.relu(out)
        out = self.conv2(out)
        out = self.bn2(out)
        if self.downsample is not None:
            identity = self.downsample(x)
        out = out + identity
        return self.relu(out)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.blocks = nn.Sequential(Block(8, 8, 1), Block(8, 12, 2))
        self.avgpool = nn.AdaptiveAvgPool2d(4)
        self.fc = nn.Linear(12 * 16, 5)

    def forward(self, x):
        x = self.conv1(x)
        x = self.bn1(x)
        x = self.relu(x)
        x = self.maxpool(x)
        x = self.blocks(x)
        x = self.avgpool(x)
        x = torch.flatten(x, 1)
        return self.fc(x)


state, images = torch.load("checkpoint.pt")
net = Net()
net.load_state_dict(state)
net.eval()
weights = net.state_dict()
with torch.no_grad():
    output = net(images)
"""

PORT = """
import torch
import torch.nn.functional as F


def fold(kernel, gamma, beta, mean, var, eps=1e-5):
    factor = gamma / torch.sqrt(var + eps)
    weight = kernel * factor[:, None, None, None]
    bias = beta - mean * factor
    return weight, bias


def folded(checkpoint, conv, bn):
    kernel = checkpoint[conv + ".weight"]
    gamma, beta = checkpoint[bn + ".weight"], checkpoint[bn + ".bias"]
    mean, var = checkpoint[bn + ".running_mean"], checkpoint[bn + ".running_var"]
    return fold(kernel, gamma, beta, mean, var)


def convert(checkpoint):
    params = {"stem": folded(checkpoint, "conv1", "bn1")}
    for i in range(2):
        at = f"blocks.{i}."
        params[f"{i}a"] = folded(checkpoint, at + "conv1", at + "bn1")
        params[f"{i}b"] = folded(checkpoint, at + "conv2", at + "bn2")
    params["1s"] = folded(checkpoint, "blocks.1.downsample.0", "blocks.1.downsample.1")
    params["head"] = (checkpoint["fc.weight"], checkpoint["fc.bias"])
    return params


def conv(x, param, stride=1):
    weight, bias = param
    size = weight.shape[-1]
    return F.conv2d(x, weight, bias, stride=stride, padding=size // 2)


def residual(x, params, name, stride):
    y = F.relu(conv(x, params[name + "a"], stride))
    y = conv(y, params[name + "b"])
    shortcut = conv(x, params[name + "s"], stride) if name + "s" in params else x
    return F.relu(y + shortcut)


def predict(params, images):
    x = conv(images, params["stem"])
    x = F.relu(x)
    x = F.max_pool2d(x, 3, stride=2, padding=1)
    x = residual(x, params, "0", 1)
    x = residual(x, params, "1", 2)
    x = F.avg_pool2d(x, x.shape[-1] // 4)
    features = x.reshape(len(x), -1)
    weight, bias = params["head"]
    return features @ weight.T + bias


checkpoint, batch = torch.load("checkpoint.pt")
params = convert(checkpoint)
prediction = predict(params, batch)
"""

BUGS = [
    Bug("eps_of_the_fold", "eps=1e-5", "eps=1e-2"),
    Bug(
        "eps_outside_the_root", "gamma / torch.sqrt(var + eps)", "gamma / (torch.sqrt(var) + 0.01)"
    ),
    Bug("var_not_rooted", "torch.sqrt(var + eps)", "(var + eps)"),
    Bug("mean_added", "bias = beta - mean * factor", "bias = beta + mean * factor"),
    Bug("mean_not_scaled", "bias = beta - mean * factor", "bias = beta - mean"),
    Bug(
        "folded_over_inputs",
        'checkpoint[conv + ".weight"]',
        'checkpoint[conv + ".weight"].flip(-1)',
        weight="kernel",
    ),
    Bug(
        "gamma_and_beta_swapped",
        'gamma, beta = checkpoint[bn + ".weight"], checkpoint[bn + ".bias"]',
        'beta, gamma = checkpoint[bn + ".weight"], checkpoint[bn + ".bias"]',
    ),
    Bug(
        "convolutions_swapped",
        'params[f"{i}b"] = folded(checkpoint, at + "conv2", at + "bn2")',
        'params[f"{i}b"] = folded(checkpoint, at + "conv2", at + "bn1")',
    ),
    Bug(
        "relu_missing",
        'y = F.relu(conv(x, params[name + "a"], stride))',
        'y = conv(x, params[name + "a"], stride)',
    ),
    Bug("relu_before_the_sum", "F.relu(y + shortcut)", "F.relu(y) + shortcut"),
    Bug("shortcut_left_out", "return F.relu(y + shortcut)", "return F.relu(y)"),
    Bug(
        "pooled_by_mean",
        "F.max_pool2d(x, 3, stride=2, padding=1)",
        "F.avg_pool2d(x, 3, stride=2, padding=1)",
    ),
    Bug(
        "pool_padding",
        "x = F.max_pool2d(x, 3, stride=2, padding=1)",
        "x = F.max_pool2d(x, 2, stride=2)",
    ),
    Bug("channels_last", "x.reshape(len(x), -1)", "x.permute(0, 2, 3, 1).reshape(len(x), -1)"),
    Bug("bias_dropped", "features @ weight.T + bias", "features @ weight.T"),
    Bug("relu_leaky", "    x = F.relu(x)", "    x = F.leaky_relu(x)"),
]
