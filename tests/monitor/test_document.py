"""The examples of the system's document, word for word but for the import, each in a small training
run, and checked against the same sums written out by hand. The quick start is in test_examples.py."""

import copy

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch._recorder", reason="the recorder is not built (make)")

from torch import nn  # noqa: E402

from tests.monitor.models import make_batches, make_mlp  # noqa: E402

pytestmark = pytest.mark.torch
near = pytest.approx


def test_activations_and_reference():
    from monitorch.monitor import ModuleMonitor

    model = nn.Sequential()
    torch.manual_seed(0)
    model.add_module("attention_in", nn.Linear(10, 4))
    model.add_module("out", nn.Linear(4, 2))
    monitor = ModuleMonitor(monitor_step_fn=lambda step: True)
    monitor.set_module(model)
    inputs = make_batches(1)[0][0]

    # Monitor L2 norm of all layer activations
    monitor.add_activation_metric("l2_norm", lambda x: x.norm(dim=-1).mean())

    # Monitor only attention layers
    monitor.add_activation_metric(
        "attention_mean",
        lambda x: x.mean(),
        metric_regex=r".*attention.*"  # Regex to match layer names
    )  # fmt: skip

    # Save reference at initialization
    reference_model = copy.deepcopy(model)
    monitor.set_reference_module(reference_model)

    # Add difference metrics
    monitor.add_activation_difference_metric(
        "l2_distance",
        lambda act, ref_act: (act - ref_act).norm(dim=-1).mean()
    )  # fmt: skip

    monitor.add_parameter_difference_metric(
        "l2_distance",
        lambda param, ref_param: (param - ref_param).norm()
    )  # fmt: skip

    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.25)
    monitor.begin_step(0)

    # During training, run reference model first
    with monitor.no_monitor():
        _ = reference_model(inputs)  # Not monitored, just stores activations
    outputs = model(inputs)  # Monitored + compares with reference

    monitor.monitor_parameters()
    monitor.end_step()

    with torch.no_grad():
        h, h_0 = model.attention_in(inputs), reference_model.attention_in(inputs)
        y, y_0 = model.out(h), reference_model.out(h_0)
    assert torch.equal(outputs, y)
    distance = {name: (a - b).norm(dim=-1).mean().item() for name, a, b in (
        ("attention_in", h, h_0), ("out", y, y_0), ("[root module]", y, y_0))}  # fmt: skip
    expected = {f"activation_difference/{name}/l2_distance": d for name, d in distance.items()}
    for name, value in (("attention_in", h), ("out", y), ("[root module]", y)):
        expected[f"activation/{name}/l2_norm"] = value.norm(dim=-1).mean().item()
    expected["activation/attention_in/attention_mean"] = h.mean().item()
    for name, parameter in model.named_parameters():
        # Each element was moved by 1/4.
        expected[f"parameter_difference/{name}/l2_distance"] = 0.25 * parameter.numel() ** 0.5
    assert monitor.get_step_metrics() == near(expected, rel=1e-5)


def test_micro_batches():
    from monitorch.monitor import ModuleMonitor

    model = make_mlp()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    monitor = ModuleMonitor(monitor_step_fn=lambda step: True)
    monitor.set_module(model)
    monitor.add_activation_metric("mean", lambda x: x.mean(), metric_regex="2")
    monitor.add_gradient_metric("norm", lambda x: x.norm(), metric_regex="2.weight")
    batches = [inputs for inputs, _ in make_batches(3)]
    targets = torch.zeros(8, dtype=torch.long)
    twin = copy.deepcopy(model)

    def criterion(outputs, batch):  # noqa: F811
        return nn.functional.cross_entropy(outputs, targets)

    step = 0
    monitor.begin_step(step)

    for micro_batch in batches:
        outputs = model(micro_batch)
        loss = criterion(outputs, targets)
        loss.backward()

        monitor.after_micro_batch()  # Clear reference activations

    monitor.monitor_gradients()
    optimizer.step()
    monitor.end_step()  # Aggregates metrics across all micro-batches

    means = []
    for batch in batches:
        outputs = twin(batch)
        means.append(outputs.mean().item())
        nn.functional.cross_entropy(outputs, targets).backward()
    assert monitor.get_step_metrics() == near(
        {
            "activation/2/mean": sum(means) / 3,
            "gradient/2.weight/norm": twin[2].weight.grad.norm().item(),
        },
        rel=1e-5,
    )


def test_custom_metrics_in_modules():
    from monitorch.monitor import ModuleMonitor, MonitorMixin

    class CustomLayer(nn.Module, MonitorMixin):
        def __init__(self):
            super().__init__()
            self.transform = nn.Linear(10, 2)

        def forward(self, x):
            some_intermediate_value = x * 2
            output = self.transform(x)

            if self.is_monitoring:
                # Log custom intermediate values
                self.get_module_monitor().log_tensor(
                    "custom_metric/my_layer/intermediate",
                    some_intermediate_value
                )  # fmt: skip

            return output

    model = nn.Sequential(CustomLayer())
    monitor = ModuleMonitor(monitor_step_fn=lambda step: step % 2 == 0)
    monitor.set_module(model)
    inputs = make_batches(1)[0][0]
    for step in range(2):
        monitor.begin_step(step)
        model(inputs)
        monitor.end_step()
    key = "custom_metric/my_layer/intermediate"
    assert monitor.get_all_metrics() == {0: {key: near(2 * inputs.mean().item(), rel=1e-5)}}


def test_export(tmp_path, monkeypatch):
    pytest.importorskip("h5py")
    from monitorch.monitor import ModuleMonitor

    monkeypatch.chdir(tmp_path)
    model = make_mlp()
    monitor = ModuleMonitor(monitor_step_fn=lambda step: True)
    monitor.set_module(model)
    monitor.add_activation_metric("mean", lambda x: x.mean())
    for step, (inputs, _) in enumerate(make_batches(3)):
        monitor.begin_step(step)
        model(inputs)
        monitor.end_step()

    # Get all metrics
    all_metrics = monitor.get_all_metrics()

    # Export via storage manager
    monitor.storage.save_hdf5("training_metrics.h5")

    # Load later for analysis
    from monitorch.monitor import StorageManager

    metrics = StorageManager.load_hdf5("training_metrics.h5")

    assert set(all_metrics) == {0, 1, 2}
    assert metrics == {
        f"activation/{name}/mean": {
            step: near(all_metrics[step][f"activation/{name}/mean"]) for step in range(3)
        }
        for name in ("0", "1", "2", "[root module]")
    }
