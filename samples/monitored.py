"""A small classifier whose training blows up, watched: which layer's activations grow, and the step at
which the first of them is no number any more.

    python samples/monitored.py
"""

import torch
from monitorch.monitor import ModuleMonitor
from torch import nn


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, width)

    def forward(self, x):
        gate = self.up(x).exp()  # nothing bounds it
        return x + gate * x


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), Residual(16), Residual(16), nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

    monitor = ModuleMonitor(monitor_step_fn=lambda step: True)
    monitor.set_module(model)
    monitor.add_activation_metric("absmax", "absmax")
    monitor.add_activation_metric("nan", "nan")
    monitor.add_activation_metric("max", "max", r"\d\.forward:gate")  # a local of that forward
    monitor.add_gradient_metric("norm", "norm")
    monitor.alert("activation/*/nan > 0", action="stop")

    inputs, targets = torch.randn(64, 8), torch.randint(0, 2, (64,))
    for step in range(100):
        monitor.begin_step(step)
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        monitor.monitor_gradients()
        optimizer.step()
        optimizer.zero_grad()
        monitor.end_step()
        metrics = monitor.get_step_metrics()
        print(f"step {step}: second block up to {metrics['activation/2/absmax']:.3g}")
        if monitor.is_stopped:
            break
    bad = [key for key, value in metrics.items() if key.endswith("/nan") and value]
    culprit = next(key for key in bad if "[root module]" not in key)
    print(f"stopped: {culprit} = {metrics[culprit]:.0f}")


if __name__ == "__main__":
    main()
