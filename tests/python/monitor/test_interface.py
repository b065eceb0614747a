"""Names, defaults, keys and errors of ModuleMonitor, as the interfaces tell them, and the faults of the
old package that are not to come back."""

import copy
import inspect
import math
import weakref

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch._recorder", reason="the recorder is not built (make)")

from monitorch import monitor as package  # noqa: E402
from monitorch.monitor import HooksManager, ModuleMonitor, MonitorMixin  # noqa: E402
from torch import nn  # noqa: E402

from tests.python.monitor.models import make_batches, make_mlp, make_monitor, run_step  # noqa: E402

pytestmark = pytest.mark.torch

NAMES = {"0", "1", "2", "[root module]"}


def parameters_of(function):
    return {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self"
    }


def test_arguments_and_defaults():
    empty = inspect.Parameter.empty
    found = parameters_of(ModuleMonitor)
    assert list(found)[:5] == [
        "monitor_step_fn", "format_module_name_fn", "excluded_modules_regex", "logger",
        "cpu_offload",
    ]  # fmt: skip
    assert [found["excluded_modules_regex"], found["logger"], found["cpu_offload"]] == [
        "$.^", None, False,
    ]  # fmt: skip
    monitor = ModuleMonitor()
    assert [step for step in range(61) if monitor.is_step_monitored(step)] == [0, 20, 40, 60]
    activation = {"metric_name": empty, "metric_fn": empty, "metric_regex": ".*",
                  "metric_aggregation_fn": None}  # fmt: skip
    for kind in ("activation", "activation_difference"):
        found = parameters_of(getattr(ModuleMonitor, f"add_{kind}_metric"))
        assert {name: found[name] for name in activation} == activation
    for kind in ("parameter", "parameter_difference", "gradient"):
        found = parameters_of(getattr(ModuleMonitor, f"add_{kind}_metric"))
        assert list(found)[:3] == ["metric_name", "metric_fn", "metric_regex"]
        assert found["metric_regex"] == ".*"
    assert parameters_of(ModuleMonitor.log_scalar) == {
        "key": empty, "value": empty, "aggregation_fn": None, "force": False}  # fmt: skip
    assert parameters_of(ModuleMonitor.monitor_gradients) == {"before_clip": False}
    assert parameters_of(ModuleMonitor.monitor_activations)["is_reference"] is False


def test_package_names():
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        assert getattr(package, name).__name__ == name
    with pytest.raises(AttributeError, match="'monitorch.monitor' has no attribute 'nothing'"):
        package.nothing


@pytest.mark.parametrize(
    "name, expected",
    [
        ("", "[root module]"),
        ("_orig_mod", "[root module]"),
        ("_forward_module", "[root module]"),
        ("_fsdp_wrapped_module", "[root module]"),
        ("_orig_mod.fc.weight", "fc.weight"),
        ("_forward_module._fsdp_wrapped_module.a._fsdp_wrapped_module.b", "a.b"),
        ("module.fc", "module.fc"),
        ("encoder.0", "encoder.0"),
    ],
)
def test_names_of_modules(name, expected):
    assert parameters_of(ModuleMonitor)["format_module_name_fn"](name) == expected


def test_keys():
    monitor = make_monitor()
    monitor.set_reference_module(copy.deepcopy(monitor.module))
    monitor.add_activation_metric("m", lambda x: x.mean())
    monitor.add_activation_difference_metric("m", lambda x, y: (x - y).abs().max())
    monitor.add_parameter_metric("m", lambda x: x.mean())
    monitor.add_parameter_difference_metric("m", lambda x, y: (x - y).abs().max())
    monitor.add_gradient_metric("m", lambda x: x.mean())
    inputs, _ = make_batches(1)[0]
    assert monitor.begin_step(0) is True
    with monitor.no_monitor():
        monitor.reference_module(inputs)
    monitor.module(inputs).sum().backward()
    monitor.monitor_parameters()
    monitor.monitor_gradients(before_clip=True)
    monitor.monitor_gradients()
    monitor.end_step()
    modules = ["0", "1", "2", "[root module]"]
    parameters = ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert set(monitor.get_step_metrics()) == {
        f"{kind}/{name}/m"
        for kinds, names in (
            (("activation", "activation_difference"), modules),
            (("parameter", "parameter_difference", "gradient", "gradient_before_clip"), parameters),
        )
        for kind in kinds
        for name in names
    }


def test_what_there_is_to_see():
    monitor = ModuleMonitor()
    assert monitor.module is None and monitor.reference_module is None
    assert not monitor.is_monitoring() and not monitor.has_reference_module()
    assert monitor.get_step_metrics() == {} and monitor.get_all_metrics() == {}
    model = make_mlp()
    monitor.set_module(model)
    assert monitor.module is model
    assert set(monitor.module_names.values()) == NAMES
    assert monitor.module_names[model[0]] == "0"
    assert monitor.begin_step(3) is False and monitor.current_step == 3
    assert not monitor.is_monitoring()
    assert monitor.begin_step(20) is True and monitor.is_monitoring()
    with monitor.no_monitor():
        assert not monitor.is_monitoring()
        with monitor.no_monitor():
            pass
        assert not monitor.is_monitoring()
    assert monitor.is_monitoring()
    monitor.end_step()
    assert not monitor.is_monitoring()
    monitor.end_step()
    assert monitor.current_step == 20


# ---- errors ----


def test_errors_of_modules():
    monitor = ModuleMonitor(monitor_step_fn=lambda step: step > 0)
    assert monitor.begin_step(0) is False
    with pytest.raises(ValueError, match="^Set the module to monitor before "):
        monitor.begin_step(1)
    with pytest.raises(ValueError, match="^Set the module to monitor before "):
        monitor.set_reference_module(make_mlp())
    with pytest.raises(ValueError, match="None"):
        monitor.set_module(None)
    monitor.set_module(make_mlp())
    with pytest.raises(ValueError, match="^Module has already been set"):
        monitor.set_module(make_mlp())
    with pytest.raises(ValueError, match="other module names than the monitored one: 1, 2"):
        monitor.set_reference_module(nn.Sequential(nn.Linear(10, 2)))
    assert not monitor.has_reference_module()


@pytest.mark.parametrize(
    "kind, what",
    [
        ("activation", "Activation metric"),
        ("activation_difference", "Activation difference metric"),
        ("parameter", "Parameter metric"),
        ("parameter_difference", "Parameter difference metric"),
        ("gradient", "Gradient metric"),
    ],
)
def test_a_name_twice(kind, what):
    add = getattr(ModuleMonitor(), f"add_{kind}_metric")
    add("N", lambda *tensors: 0.0)
    with pytest.raises(ValueError, match=f"^{what} N already exists\\.$"):
        add("N", "mean")


def test_steps_ascend():
    monitor = make_monitor()
    monitor.begin_step(5)
    with pytest.raises(ValueError, match="Step 4 is smaller than the current step 5"):
        monitor.begin_step(4)
    assert monitor.begin_step(5) is True


class Failure(Exception):
    pass


def fail(*tensors):
    raise Failure("no")


def test_a_metric_that_raises():
    model = make_mlp()
    monitor = make_monitor(model)
    monitor.add_activation_metric("bad", fail, "0")
    monitor.begin_step(0)
    with pytest.raises(RuntimeError) as caught:
        model(torch.zeros(8, 10))
    text = str(caught.value)
    assert "module 0" in text and "metric bad" in text and "shape (8, 20)" in text
    assert isinstance(caught.value.__cause__, Failure)


def test_a_metric_of_a_parameter_that_raises():
    monitor = make_monitor()
    monitor.add_parameter_metric("bad", fail, "2.bias")
    monitor.begin_step(0)
    with pytest.raises(RuntimeError, match=r"parameter 2.bias: metric bad, shape \(2,\)") as caught:
        monitor.monitor_parameters()
    assert isinstance(caught.value.__cause__, Failure)


def test_a_metric_of_a_gradient_that_raises():
    monitor = make_monitor()
    monitor.add_gradient_metric("bad", fail, "2.bias")
    monitor.begin_step(0)
    monitor.module(torch.zeros(8, 10)).sum().backward()
    with pytest.raises(RuntimeError, match=r"parameter 2.bias: metric bad, shape \(2,\)"):
        monitor.monitor_gradients()


@pytest.mark.parametrize("value", ["text", None, [1.0], {"a": 1.0}, 1j, torch.tensor(1j)])
def test_a_metric_that_returns_no_number(value):
    model = make_mlp()
    monitor = make_monitor(model)
    monitor.add_activation_metric("bad", lambda x: value, "0")
    monitor.begin_step(0)
    with pytest.raises(RuntimeError, match="module 0: metric bad.*expected a number or a tensor"):
        model(torch.zeros(8, 10))


def test_what_cannot_be_compared():
    model = make_mlp()
    monitor = make_monitor(model)
    monitor.set_reference_module(copy.deepcopy(model))
    monitor.add_activation_difference_metric("norm", "norm", "0")
    monitor.begin_step(0)
    monitor.reference_module(torch.zeros(3, 10))
    with pytest.raises(RuntimeError, match=r"module 0: shape \(8, 20\).*reference, shape \(3, 20\)"):
        model(torch.zeros(8, 10))


def test_after_an_error_the_next_step_is_as_any_other():
    model = make_mlp()
    monitor = make_monitor(model)
    values = iter([None, 1.0])
    monitor.add_activation_metric("once", lambda x: next(values), "0")
    monitor.begin_step(0)
    with pytest.raises(RuntimeError):
        model(torch.zeros(8, 10))
    assert run_step(monitor, 1) == {"activation/0/once": 1.0}
    assert not model[0]._forward_hooks


def test_modules_that_are_not_known():
    monitor = make_monitor()
    monitor.add_activation_metric("mean", "mean")
    monitor.begin_step(0)
    with pytest.raises(ValueError, match="Bilinear is not part of the monitored module"):
        monitor.monitor_activations(nn.Bilinear(2, 2, 2), torch.zeros(2))
    monitor.monitor_activations("my.own", torch.ones(2))
    monitor.end_step()
    assert monitor.get_step_metrics() == {"activation/my.own/mean": 1.0}


# ---- the old package's faults ----


def test_gradients_without_a_metric_of_them():
    monitor = make_monitor()
    monitor.begin_step(0)
    monitor.module(torch.zeros(8, 10)).sum().backward()
    monitor.monitor_gradients()
    monitor.end_step()
    assert monitor.get_step_metrics() == {}


def test_a_regex_that_matches_some_parameters():
    monitor = make_monitor()
    monitor.add_gradient_metric("norm", "norm", "2")
    monitor.add_gradient_metric("own", lambda x: x.norm(), "2.w")
    monitor.begin_step(0)
    monitor.module(torch.zeros(8, 10)).sum().backward()
    monitor.monitor_gradients()
    monitor.end_step()
    assert set(monitor.get_step_metrics()) == {
        "gradient/2.weight/norm", "gradient/2.bias/norm", "gradient/2.weight/own"}  # fmt: skip


def test_parameters_without_gradients():
    monitor = make_monitor()
    monitor.module[0].weight.requires_grad_(False)
    monitor.add_gradient_metric("norm", "norm", "0")
    monitor.begin_step(0)
    monitor.module(torch.zeros(8, 10)).sum().backward()
    monitor.monitor_gradients()
    monitor.end_step()
    assert set(monitor.get_step_metrics()) == {"gradient/0.bias/norm"}


def test_log_scalars():
    monitor = make_monitor(steps=lambda step: step == 1)
    monitor.begin_step(0)
    monitor.log_scalars({"loss": 1.0})
    monitor.end_step()
    monitor.log_scalars({"forced": 3.0}, force=True)
    monitor.begin_step(1)
    monitor.log_scalars({"loss": 1.0, "accuracy": torch.tensor(0.5)})
    monitor.log_scalar("loss", 4.0)
    monitor.log_tensor("rows", torch.tensor([1.0, 2.0]))
    monitor.log_tensor("rows", torch.tensor([[6.0]]))
    with monitor.no_monitor():
        monitor.log_scalar("loss", 1000.0)
        monitor.log_tensor("rows", torch.tensor(1000.0))
    monitor.end_step()
    monitor.log_scalar("late", 1.0)
    assert monitor.get_step_metrics() == {"loss": 2.5, "accuracy": 0.5, "rows": 3.0}
    assert monitor.get_all_metrics()[0] == {"forced": 3.0}


@pytest.mark.parametrize("value", [2, 2.0, True, torch.tensor(2.0).numpy()[()], torch.tensor(2)])
def test_a_metric_that_returns_a_python_number(value):
    monitor = make_monitor()
    monitor.add_activation_metric("two", lambda x: value)
    assert run_step(monitor) == {f"activation/{name}/two": float(value) for name in NAMES}


def test_integer_outputs():
    class Count(nn.Module):
        def forward(self, x):
            return (x > 0).sum(-1)

    monitor = make_monitor(nn.Sequential(Count()))
    for name in ("mean", "std", "norm", "max", "zeros"):
        monitor.add_activation_metric(name, name)
    x = torch.tensor([[1.0, 2.0], [-1.0, -2.0], [3.0, -1.0]])
    found = run_step(monitor, 0, x)
    for name in ("0", "[root module]"):
        assert {k.rsplit("/")[-1]: v for k, v in found.items() if f"/{name}/" in k} == pytest.approx(
            {"mean": 1.0, "std": 1.0, "norm": math.sqrt(5), "max": 2.0, "zeros": 1.0}
        )


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        y = self.inner(x)
        return {"y": y, "more": (y + 1, 5)}


def test_modules_that_return_no_tensor():
    """Left alone, unless that is asked for: then they are measured leaf by leaf."""
    x = torch.randn(3, 4)
    torch.manual_seed(0)
    model = Pair()
    y = model.inner(x).mean().item()
    for by_name in (True, False):
        metric = "mean" if by_name else (lambda t: t.mean())
        monitor = make_monitor(copy.deepcopy(model))
        monitor.add_activation_metric("mean", metric)
        assert run_step(monitor, 0, x) == {"activation/inner/mean": pytest.approx(y)}
        monitor = make_monitor(copy.deepcopy(model), containers=True)
        monitor.add_activation_metric("mean", metric)
        assert run_step(monitor, 0, x) == pytest.approx(
            {
                "activation/inner/mean": y,
                "activation/[root module]['y']/mean": y,
                "activation/[root module]['more'][0]/mean": y + 1,
            },
            rel=1e-5,
        )


def test_a_reference_that_returns_no_tensor():
    model = Pair()
    monitor = make_monitor(model, containers=True)
    monitor.set_reference_module(copy.deepcopy(model))
    with torch.no_grad():
        model.inner.bias.add_(2.0)
    monitor.add_activation_difference_metric("mean", "mean", r"\[root")
    monitor.begin_step(0)
    x = torch.randn(3, 4)
    monitor.reference_module(x)
    model(x)
    monitor.end_step()
    assert monitor.get_step_metrics() == pytest.approx(
        {
            "activation_difference/[root module]['y']/mean": 2.0,
            "activation_difference/[root module]['more'][0]/mean": 2.0,
        },
        rel=1e-5,
    )


# ---- what else there is ----


def test_excluded_modules():
    monitor = make_monitor(excluded_modules_regex="0|2.bias")
    monitor.add_activation_metric("max", "max")
    monitor.add_parameter_metric("max", "max")
    monitor.begin_step(0)
    monitor.module(torch.zeros(8, 10))
    monitor.monitor_parameters()
    monitor.monitor_activations("0.inner", torch.ones(2))
    monitor.end_step()
    assert set(monitor.get_step_metrics()) == {
        "activation/1/max", "activation/2/max", "activation/[root module]/max",
        "parameter/2.weight/max"}  # fmt: skip


def test_names_of_the_users_own():
    monitor = make_monitor(format_module_name_fn=lambda name: name.upper() or "all")
    monitor.add_activation_metric("max", "max", "all")
    monitor.add_parameter_metric("max", "max", "0")
    monitor.begin_step(0)
    monitor.module(torch.zeros(8, 10))
    monitor.monitor_parameters()
    monitor.end_step()
    assert set(monitor.get_step_metrics()) == {
        "activation/all/max", "parameter/0.WEIGHT/max", "parameter/0.BIAS/max"}  # fmt: skip


def test_metrics_that_are_added_later():
    monitor = make_monitor()
    monitor.add_activation_metric("max", "max", "0")
    assert set(run_step(monitor, 0)) == {"activation/0/max"}
    monitor.add_activation_metric("min", "min", "1")
    assert set(run_step(monitor, 1)) == {"activation/0/max", "activation/1/min"}


def test_a_step_that_was_not_ended():
    monitor = make_monitor()
    monitor.add_activation_metric("calls", "calls", "0")
    monitor.begin_step(0)
    monitor.module(torch.zeros(8, 10))
    run_step(monitor, 1, torch.zeros(8, 10))
    assert monitor.get_all_metrics() == {
        step: {"activation/0/calls": 1.0} for step in (0, 1)}  # fmt: skip


def test_the_reference_is_removed():
    model = make_mlp()
    monitor = make_monitor(model)
    reference = copy.deepcopy(model)
    monitor.set_reference_module(reference)
    monitor.add_activation_difference_metric("max", "absmax", "0")
    monitor.begin_step(0)
    reference(torch.zeros(8, 10))
    model(torch.zeros(8, 10))
    monitor.end_step()
    assert monitor.get_step_metrics() == {"activation_difference/0/max": 0.0}
    monitor.set_reference_module(None)
    assert not monitor.has_reference_module()
    assert run_step(monitor, 1) == {}
    monitor.set_reference_module(reference)
    monitor.remove_reference_module()
    assert monitor.reference_module is None


def test_references_are_compared_call_by_call():
    """And those of a micro-batch are forgotten with it."""
    model = make_mlp()
    monitor = make_monitor(model)
    reference = copy.deepcopy(model)
    monitor.set_reference_module(reference)
    monitor.add_activation_difference_metric("max", lambda a, b: (a - b).abs().max(), "0")
    first, second = torch.zeros(8, 10), torch.ones(8, 10)
    monitor.begin_step(0)
    with monitor.no_monitor():
        reference(first)
        reference(second)
    model(first)
    model(second)
    monitor.end_step()
    assert monitor.get_step_metrics() == {"activation_difference/0/max": 0.0}
    monitor.begin_step(1)
    reference(first)
    monitor.after_micro_batch()
    model(second)
    monitor.end_step()
    assert monitor.get_step_metrics() == {}


class Layer(nn.Module, MonitorMixin):
    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, x):
        self.seen.append(self.is_monitoring)
        return x


def test_mixin():
    model = nn.Sequential(Layer())
    layer = model[0]
    assert not layer.is_monitoring and layer.get_module_monitor() is None
    assert not layer.is_reference_module
    monitor = make_monitor(model, steps=lambda step: step == 1)
    reference = copy.deepcopy(model)
    assert reference[0].get_module_monitor() is None, "a copy is nobody's"
    monitor.set_reference_module(reference)
    assert layer.get_module_monitor() is monitor and not layer.is_reference_module
    assert reference[0].get_module_monitor() is monitor and reference[0].is_reference_module
    x = torch.zeros(2)
    for step in (0, 1):
        monitor.begin_step(step)
        model(x)
        with monitor.no_monitor():
            model(x)
            reference(x)
        monitor.end_step()
    model(x)
    assert layer.seen == [False, False, True, False, False]
    assert reference[0].seen == [False, True], "what it gives is kept for the comparison"
    assert "_module_monitor" not in str(model.state_dict())
    monitor.remove_reference_module()
    assert reference[0].get_module_monitor() is None
    layer.set_module_monitor(None)
    assert layer.get_module_monitor() is None


def test_close():
    model = nn.Sequential(Layer(), nn.Linear(2, 2))
    monitor = make_monitor(model)
    monitor.add_activation_metric("max", "max")
    monitor.begin_step(0)
    model(torch.zeros(2))
    monitor.close()
    assert monitor.get_step_metrics().keys() >= {"activation/1/max"}
    assert not any(module._forward_hooks for module in model.modules())
    assert model[0].get_module_monitor() is None


def test_a_model_can_be_freed():
    model = make_mlp()
    monitor = make_monitor(model)
    monitor.add_activation_metric("max", "max")
    monitor.add_activation_metric("own", lambda x: x.max())
    run_step(monitor)
    references = weakref.ref(model), weakref.ref(monitor)
    del model, monitor
    import gc

    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_hooks_manager():
    model = make_mlp()
    seen = []
    with HooksManager() as hooks:
        hooks.register_forward_hook(model[0], lambda *arguments: seen.append("first"))
        hooks.register_forward_hook(model[0], lambda module, args, output: seen.append(output))
        hooks.register_forward_hook(model[1], lambda *arguments: seen.append("relu"))
        assert len(hooks) == 2
        result = model[0](torch.zeros(1, 10))
        assert seen == [result]
        hooks.remove_hook(model[0])
        hooks.remove_hook(model[0])
        assert len(hooks) == 1
        model(torch.zeros(1, 10))
        assert seen == [result, "relu"]
    assert len(hooks) == 0
    assert not any(module._forward_hooks for module in model)
    hooks.register_forward_hook(model[0], lambda *arguments: None)
    del hooks
    assert not model[0]._forward_hooks
