"""What a type checker must refuse: each line that ends in `# wrong`, and no other."""

import monitorch
import torch
from monitorch.monitor import ModuleMonitor
from monitorch.spy import CallTracer, TensorSaver
from monitorch.tracer import ModelTracer
from monitorch.tracker import var_tracker

monitor = ModuleMonitor()
model = torch.nn.Linear(2, 2)


@monitorch.watch()
def step(x: int) -> str:
    return str(x)


monitorch.record("run.mtrace", sampel=3)  # wrong
monitorch.record("run.mtrace", stop="explode")  # wrong
monitorch.record("run.mtrace", include=3)  # wrong
monitorch.record("run.mtrace", compile="maybe")  # wrong
monitorch.on(theme="blue")  # wrong
monitorch.watch(fold="some")  # wrong
monitorch.watch(max_node=3)  # wrong
monitorch.recrod("run.mtrace")  # wrong
step("text")  # wrong
step(1, 2)  # wrong
number: int = step(1)  # wrong
monitor.alert("activation/*/nan > 0", action="explode")  # wrong
monitor.alert("activation/*/nan > 0", action=3)  # wrong
monitor.begin_step("one")  # wrong
monitor.add_activation_metric("std", 3)  # wrong
monitor.get_step_metric()  # wrong
TensorSaver("out", format="npz")  # wrong
TensorSaver(names=["q"])  # wrong
CallTracer("out").register_hooks(model, target_names=3)  # wrong
ModelTracer(model, 3)  # wrong
ModelTracer(model, ["weight"], trace_interval="often")  # wrong
var_tracker(3)  # wrong
monitorch.off().saved_path  # wrong
