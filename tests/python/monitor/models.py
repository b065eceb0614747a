"""What the tests of the monitor train and how: small, and always the same."""

import torch
from monitorch.monitor import ModuleMonitor
from torch import nn


def make_mlp(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 2))


def make_batches(count, rows=8, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return [
        (torch.randn(rows, 10, generator=generator), torch.randint(0, 2, (rows,), generator=generator))
        for _ in range(count)
    ]


def make_monitor(model=None, steps=lambda step: True, **options):
    monitor = ModuleMonitor(monitor_step_fn=steps, **options)
    monitor.set_module(make_mlp() if model is None else model)
    return monitor


def run_step(monitor, step=0, inputs=None):
    """The metrics of a step of one forward."""
    monitor.begin_step(step)
    monitor.module(make_batches(1)[0][0] if inputs is None else inputs)
    monitor.end_step()
    return monitor.get_step_metrics()


class Attention(nn.Module):
    """With values inside that no module returns."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(8, 8)
        self.k = nn.Linear(8, 8)
        self.last = None

    def score(self, q, k):
        raw = q @ k.transpose(-1, -2)
        return raw / 2

    def forward(self, x):
        q = self.q(x)
        k = self.k(x)
        scores = self.score(q, k)
        weights = scores.softmax(-1) + 0
        weights.mul_(2.0)
        self.last = weights
        return weights @ x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = Attention()
        self.rnn = nn.LSTM(8, 4, batch_first=True)
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        h = self.attn(x)
        y, state = self.rnn(h)
        return {"logits": self.out(h), "y": y}


def outputs_of(model, *inputs):
    """{module: [what it returned, call by call]}, by hooks of the test's own."""
    seen = {}
    handles = [
        module.register_forward_hook(
            lambda module, args, output, name=name: seen.setdefault(name, []).append(
                output.detach().clone() if isinstance(output, torch.Tensor) else output
            )
        )
        for name, module in model.named_modules()
    ]
    result = model(*inputs)
    for handle in handles:
        handle.remove()
    return seen, result
