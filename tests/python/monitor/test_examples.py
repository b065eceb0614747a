"""The examples of torch-module-monitor's document, word for word apart from the import, each on a
small training run; what they log is compared with plain torch arithmetic."""

import copy
import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.monitor", reason="the package is not built (make)")

import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from monitorch.monitor import MonitorMixin  # noqa: E402

from tests.python.monitor.models import make_monitor  # noqa: E402

pytestmark = pytest.mark.torch

QUICK_START = """
import torch
import torch.nn as nn
from monitorch.monitor import ModuleMonitor

# Create your model
model = nn.Sequential(
    nn.Linear(10, 20),
    nn.ReLU(),
    nn.Linear(20, 2)
)

# Set up the monitor
monitor = ModuleMonitor(
    monitor_step_fn=lambda step: step % 10 == 0  # Monitor every 10 steps
)
monitor.set_module(model)

# Add metrics
monitor.add_activation_metric("mean", lambda x: x.mean())
monitor.add_activation_metric("std", lambda x: x.std())
monitor.add_parameter_metric("norm", lambda x: x.norm())
monitor.add_gradient_metric("norm", lambda x: x.norm())

# Training loop
optimizer = torch.optim.Adam(model.parameters())

for step, (inputs, targets) in enumerate(dataloader):
    # Begin monitoring step
    monitor.begin_step(step)

    # Forward pass (activations are automatically captured)
    outputs = model(inputs)
    loss = criterion(outputs, targets)

    # Backward pass
    loss.backward()

    # Monitor parameters and gradients
    monitor.monitor_parameters()
    monitor.monitor_gradients()

    # Optimizer step
    optimizer.step()
    optimizer.zero_grad()

    # Finalize step and get metrics
    monitor.end_step()

    if monitor.is_step_monitored(step):
        metrics = monitor.get_step_metrics()
        # Log to your preferred backend (wandb, tensorboard, etc.)
        wandb.log(metrics)
"""

ACTIVATIONS = """
# Monitor L2 norm of all layer activations
monitor.add_activation_metric("l2_norm", lambda x: x.norm(dim=-1).mean())

# Monitor only attention layers
monitor.add_activation_metric(
    "attention_mean",
    lambda x: x.mean(),
    metric_regex=r".*attention.*"  # Regex to match layer names
)
"""

REFERENCE = """
import copy

# Save reference at initialization
reference_model = copy.deepcopy(model)
monitor.set_reference_module(reference_model)

# Add difference metrics
monitor.add_activation_difference_metric(
    "l2_distance",
    lambda act, ref_act: (act - ref_act).norm(dim=-1).mean()
)

monitor.add_parameter_difference_metric(
    "l2_distance",
    lambda param, ref_param: (param - ref_param).norm()
)
"""

REFERENCE_FORWARD = """
# During training, run reference model first
with monitor.no_monitor():
    _ = reference_model(inputs)  # Not monitored, just stores activations
outputs = model(inputs)  # Monitored + compares with reference
"""

CHECK = """
from monitorch.monitor import RefinedCoordinateCheck

# Set up RCC (requires reference module)
rcc = RefinedCoordinateCheck(monitor)
"""

CHECK_STEP = """
# In your training loop
monitor.begin_step(step)

# Run both models
with monitor.no_monitor():
    _ = reference_model(inputs)
outputs = model(inputs)

# Perform RCC analysis
rcc.refined_coordinate_check()  # Logs (W_t-W_0)x_t and W_0(x_t-x_0)

monitor.end_step()
"""

MICRO_BATCHES = """
monitor.begin_step(step)

for micro_batch in batches:
    outputs = model(micro_batch)
    loss = criterion(outputs, targets)
    loss.backward()

    monitor.after_micro_batch()  # Clear reference activations

monitor.monitor_gradients()
optimizer.step()
monitor.end_step()  # Aggregates metrics across all micro-batches
"""

ATTENTION = """
from monitorch.monitor import monitor_scaled_dot_product_attention

class MyAttention(nn.Module, MonitorMixin):
    def forward(self, x):
        q, k, v = self.get_qkv(x)

        # Standard attention
        output = F.scaled_dot_product_attention(q, k, v)

        # Monitor attention internals
        if self.is_monitoring:
            monitor_scaled_dot_product_attention(
                self.get_module_monitor(),
                module=self,
                query=q, key=k, value=v,
                activation=output
            )

        return output
"""

CUSTOM = """
from monitorch.monitor import MonitorMixin

class CustomLayer(nn.Module, MonitorMixin):
    def forward(self, x):
        output = self.transform(x)

        if self.is_monitoring:
            # Log custom intermediate values
            self.get_module_monitor().log_tensor(
                "custom_metric/my_layer/intermediate",
                some_intermediate_value
            )

        return output
"""

EXPORT = """
# Get all metrics
all_metrics = monitor.get_all_metrics()

# Export via storage manager
monitor.storage.save_hdf5("training_metrics.h5")

# Load later for analysis
from monitorch.monitor import StorageManager
metrics = StorageManager.load_hdf5("training_metrics.h5")
"""


class Wandb:
    def __init__(self):
        self.logged = []

    def log(self, metrics):
        self.logged.append(dict(metrics))


def batches(count, *sizes):
    generator = torch.Generator().manual_seed(7)
    return [
        tuple(torch.randn(8, size, generator=generator) for size in sizes) for _ in range(count)
    ]


def monitored_names(model, **options):
    monitor = make_monitor(model, **options)
    return {"monitor": monitor, "model": model, "nn": nn, "F": F, "torch": torch}


def test_quick_start():
    data = batches(25, 10, 2)
    wandb = Wandb()
    criterion = nn.MSELoss()
    names = {"dataloader": data, "criterion": criterion, "wandb": wandb}
    torch.manual_seed(0)
    exec(QUICK_START, names)

    # The same training without a monitor, what it logs written out.
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 2))
    optimizer = torch.optim.Adam(model.parameters())
    expected = []
    for step, (inputs, targets) in enumerate(data):
        hidden = F.linear(inputs, model[0].weight, model[0].bias)
        positive = hidden.clamp(min=0)
        outputs = F.linear(positive, model[2].weight, model[2].bias)
        criterion(outputs, targets).backward()
        if step % 10 == 0:
            told = {}
            named = {"0": hidden, "1": positive, "2": outputs, "[root module]": outputs}
            for name, value in named.items():
                told[f"activation/{name}/mean"] = value.mean().item()
                told[f"activation/{name}/std"] = value.std().item()
            for name, parameter in model.named_parameters():
                told[f"parameter/{name}/norm"] = parameter.pow(2).sum().sqrt().item()
                told[f"gradient/{name}/norm"] = parameter.grad.pow(2).sum().sqrt().item()
            expected.append(told)
        optimizer.step()
        optimizer.zero_grad()
    assert len(wandb.logged) == 3
    for told, wanted in zip(wandb.logged, expected):
        assert told == pytest.approx(wanted, rel=1e-5, abs=1e-7)
    for ours, plain in zip(names["model"].parameters(), model.parameters()):
        assert torch.equal(ours, plain)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.Linear(4, 4)
        self.mlp = nn.Linear(4, 3)

    def forward(self, x):
        return self.mlp(self.attention(x))


def test_activation_monitoring():
    torch.manual_seed(0)
    names = monitored_names(nn.Sequential(Encoder(), nn.Linear(3, 1)))
    exec(ACTIVATIONS, names)
    monitor, model = names["monitor"], names["model"]
    inputs = torch.randn(5, 4)
    monitor.begin_step(0)
    model(inputs)
    monitor.end_step()
    attention = model[0].attention(inputs)
    mlp = model[0].mlp(attention)
    end = model[1](mlp)
    outputs = {"0.attention": attention, "0.mlp": mlp, "0": mlp, "1": end, "[root module]": end}
    expected = {
        f"activation/{name}/l2_norm": value.pow(2).sum(-1).sqrt().mean().item()
        for name, value in outputs.items()
    }
    expected["activation/0.attention/attention_mean"] = attention.mean().item()
    assert monitor.get_step_metrics() == pytest.approx(expected, rel=1e-5)


def test_reference_module():
    torch.manual_seed(0)
    names = monitored_names(nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1)))
    exec(REFERENCE, names)
    model, reference = names["model"], names["reference_model"]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    expected = []

    def note():
        """Before the optimizer's step, as monitor_parameters() sees them."""
        inputs = names["inputs"]
        told = {}
        now = then = inputs
        for index in range(3):
            now, then = model[index](now), reference[index](then)
            told[f"activation_difference/{index}/l2_distance"] = norm(now - then)
        told["activation_difference/[root module]/l2_distance"] = norm(now - then)
        assert torch.equal(names["outputs"], now)
        then = dict(reference.named_parameters())
        for name, parameter in model.named_parameters():
            difference = (parameter - then[name]).pow(2).sum().sqrt().item()
            told[f"parameter_difference/{name}/l2_distance"] = difference
        expected.append(told)

    def norm(value):
        return value.pow(2).sum(-1).sqrt().mean().item()

    body = "monitor.begin_step(step)\n" + REFERENCE_FORWARD
    for step, (inputs, targets) in enumerate(batches(4, 4, 1)):
        names.update(step=step, inputs=inputs)
        exec(body, names)
        names["monitor"].monitor_parameters()
        names["monitor"].end_step()
        note()
        F.mse_loss(names["outputs"], targets).backward()
        optimizer.step()
        optimizer.zero_grad()
    for step, wanted in enumerate(expected):
        told = names["monitor"].get_all_metrics()[step]
        assert told == pytest.approx(wanted, rel=1e-5, abs=1e-7)
    assert expected[3]["parameter_difference/0.weight/l2_distance"] > 0.01


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4))

    def forward(self, x):
        x = x.unsqueeze(1).expand(-1, 3, -1)
        n = self.norm(x)
        x = x + self.attention(n, n, n, need_weights=False)[0]
        return x + self.mlp(x)


@pytest.mark.parametrize(
    "make", [lambda: nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2)), Block]
)
def test_refined_coordinate_check(make):
    """Of each Linear the two parts are what the same sums give by hand; test_rcc.py checks all keys."""
    torch.manual_seed(0)
    names = monitored_names(make())
    model = names["model"]
    reference = names["reference_model"] = copy.deepcopy(model)
    names["monitor"].set_reference_module(reference)
    exec(CHECK, names)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    for step, (inputs, _) in enumerate(batches(3, 4, 1)):
        names.update(step=step, inputs=inputs)
        seen = {}

        # The check runs the reference once more: its first input counts.
        def see(layer, args, output, seen=seen):
            seen.setdefault(layer, args[0].detach().clone())

        layers = [n for n in (*model.modules(), *reference.modules()) if type(n) is nn.Linear]
        hooks = [layer.register_forward_hook(see) for layer in layers]
        exec(CHECK_STEP, names)
        for hook in hooks:
            hook.remove()
        told = names["monitor"].get_step_metrics()
        linears = [n for n, layer in model.named_modules() if type(layer) is nn.Linear]
        for name in linears:
            layer, layer_0 = model.get_submodule(name), reference.get_submodule(name)
            x_t, x_0 = seen[layer], seen[layer_0]
            own = x_t @ (layer.weight - layer_0.weight).T + layer.bias - layer_0.bias
            from_input = (x_t - x_0) @ layer_0.weight.T
            for key, value in (("(W_t-W_0)x_t", own), ("W_0(x_t-x_0)", from_input)):
                wanted = value.pow(2).sum(-1).sqrt().mean().item()
                assert told[f"RCC {key}/{name}/l2norm"] == pytest.approx(wanted, rel=1e-3, abs=1e-6)
        assert linears
        names["outputs"].pow(2).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert told[f"RCC W_0(x_t-x_0)/{linears[-1]}/l2norm"] > 0.001


def test_micro_batches():
    torch.manual_seed(0)
    names = monitored_names(nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 1)))
    model, monitor = names["model"], names["monitor"]
    monitor.add_activation_metric("mean", lambda x: x.mean())
    monitor.add_activation_metric("max", "max")
    monitor.add_gradient_metric("norm", lambda x: x.norm())
    parts = [part for (part,) in batches(3, 4)]
    targets = torch.zeros(8, 1)
    plain = copy.deepcopy(model)
    names.update(
        step=0, batches=parts, targets=targets, criterion=nn.MSELoss(),
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
    )  # fmt: skip
    exec(MICRO_BATCHES, names)
    told = monitor.get_step_metrics()
    for part in parts:
        F.mse_loss(plain(part), targets).backward()
    for name, parameter in plain.named_parameters():
        assert told[f"gradient/{name}/norm"] == pytest.approx(
            parameter.grad.norm().item(), rel=1e-5
        )
    for name, layer in (("0", plain[0]), ("[root module]", plain)):
        values = torch.cat([layer(part) for part in parts])
        assert told[f"activation/{name}/mean"] == pytest.approx(values.mean().item(), rel=1e-4)
        assert told[f"activation/{name}/max"] == pytest.approx(values.max().item(), rel=1e-6)


def test_attention():
    names = {"nn": nn, "F": F, "MonitorMixin": MonitorMixin}
    exec(ATTENTION, names)

    class Layer(names["MyAttention"]):
        def __init__(self):
            super().__init__()
            self.project = nn.Linear(6, 18)

        def get_qkv(self, x):
            parts = self.project(x).chunk(3, -1)
            return [part.unflatten(-1, (2, 3)).transpose(1, 2) for part in parts]

    torch.manual_seed(0)
    layer = Layer()
    names = monitored_names(nn.Sequential(layer))
    names["monitor"].add_activation_metric("mean", lambda x: x.mean())
    inputs = torch.randn(2, 5, 6)
    names["monitor"].begin_step(0)
    names["model"](inputs)
    names["monitor"].end_step()
    told = names["monitor"].get_step_metrics()
    q, k, v = layer.get_qkv(inputs)
    weights = (q @ k.transpose(-1, -2) / math.sqrt(3)).softmax(-1)
    for head in range(2):
        expected = {
            f"activation/0.head_{head}.query/mean": q[:, head].mean(),
            f"activation/0.head_{head}.key/mean": k[:, head].mean(),
            f"activation/0.head_{head}.value/mean": v[:, head].mean(),
            f"activation/0.head_{head}.activation/mean": (weights @ v)[:, head].mean(),
            f"attention_entropy/0.head_{head}": -(weights * weights.log()).sum(-1)[:, head].mean(),
        }
        for key, value in expected.items():
            assert told[key] == pytest.approx(value.item(), rel=1e-4, abs=1e-6), key


def test_custom_metrics():
    names = {"nn": nn, "some_intermediate_value": torch.tensor([[1.0, 2.0], [3.0, 6.0]])}
    exec(CUSTOM, names)
    layer = names["CustomLayer"]()
    layer.transform = lambda x: x * 2
    names = monitored_names(nn.Sequential(layer), steps=lambda step: step == 0)
    for step in range(2):
        names["monitor"].begin_step(step)
        assert names["model"](torch.ones(1)).item() == 2
        names["monitor"].end_step()
    key = "custom_metric/my_layer/intermediate"
    assert names["monitor"].get_all_metrics() == {0: {key: 3.0}}


def test_export(tmp_path, monkeypatch):
    pytest.importorskip("h5py")
    monkeypatch.chdir(tmp_path)
    names = monitored_names(nn.Sequential(nn.Linear(2, 2)))
    monitor = names["monitor"]
    monitor.add_activation_metric("mean", lambda x: x.mean())
    for step in range(3):
        monitor.begin_step(step)
        names["model"](torch.randn(4, 2))
        monitor.end_step()
    exec(EXPORT, names)
    assert set(names["metrics"]) == {"activation/0/mean", "activation/[root module]/mean"}
    for key, entry in names["metrics"].items():
        assert entry == {step: names["all_metrics"][step][key] for step in range(3)}
