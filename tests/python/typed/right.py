"""A training script, with a part of each package: a type checker finds nothing wrong in it."""

from pathlib import Path

import monitorch
import torch
from monitorch.monitor import ModuleMonitor, MonitorAlert, RefinedCoordinateCheck
from monitorch.spy import CallTracer, DebugContext, SavedTensors, TensorSaver, spy_load, spy_save
from monitorch.tracer import ModelTracer
from monitorch.tracker import auto_diff, var_tracker
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = self.layer(x)
        spy_save("hidden", hidden, module=self)
        return hidden.relu()


@monitorch.watch(show=False, theme="dark")
def step(model: Net, x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    loss: torch.Tensor = model(x).sum() * scale
    return loss


model = Net()
loss: torch.Tensor = step(model, torch.randn(2, 4), scale=2.0)

with monitorch.record("run.mtrace", include="transformers.models.llama", values=["q"]) as recording:
    step(model, torch.randn(2, 4))
summary = recording.summary
if summary is not None:
    places: list[tuple[str, int, int]] = summary.left_out_places
    print(summary.events, summary.path)
monitorch.record(Path("run.mtrace"), include=["model.py", "timm"], compile="skip", stop="nan")

monitorch.on(include=("timm.*",), fold="all")
picture = monitorch.off(filename=Path("flow.svg"))
if picture is not None:
    print(picture.saved_path, picture.node_count)

saver = TensorSaver("saved", format="safetensors", names=["q", "attn*"])
with DebugContext(saver, prefix="step0"):
    step(model, torch.randn(2, 4))
saved: SavedTensors = spy_load("saved")
counts: int = saver.call_counts["hidden"]

calls = CallTracer("traces", remove=True)
calls.register_hooks(model, target_classes=nn.Linear)
paths: list[str] = calls.get_trace()


def report(alert: MonitorAlert) -> None:
    print(alert)


monitor = monitorch.monitor.ModuleMonitor(monitor_step_fn=lambda number: number % 10 == 0)
monitor.set_module(model)
monitor.add_activation_metric("std", "std", metric_regex="layer")
monitor.add_gradient_metric("norm", lambda gradient: gradient.norm())
monitor.alert("activation/*/std > 10", action="raise")
monitor.alert("activation/*/std > 5", action=report)
if monitor.begin_step(0):
    torch.autograd.backward(loss)
    monitor.end_step()
metrics: dict[str, float] = monitor.get_step_metrics()
check = RefinedCoordinateCheck(monitor)
also: ModuleMonitor = monitor

with ModelTracer(model, ["layer.weight", "forward.hidden"], trace_interval=10) as tracer:
    step(model, torch.randn(2, 4))
iterations: int = tracer.iteration


@auto_diff
def update(x: torch.Tensor) -> torch.Tensor:
    x = x + 1
    return x


@var_tracker("y")
def double(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    return y


result: torch.Tensor = double(update(torch.ones(2)))
try:
    pass
except monitorch.NonFinite as error:
    where: str = f"{error.file}:{error.line}: {error.trace}"
