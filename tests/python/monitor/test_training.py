"""Monitoring changes nothing of a training, and sees what runs in it: hooks that come and go, modules
that are shared, compiled, wrapped, checkpointed; metrics that misbehave."""

import copy
import gc
import io
import logging

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch._recorder", reason="the recorder is not built (make)")

from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from tests.python.monitor.models import (  # noqa: E402
    Net,
    make_batches,
    make_mlp,
    make_monitor,
    outputs_of,
    run_step,
)

pytestmark = pytest.mark.torch
near = pytest.approx


def count_hooks(model):
    return sum(len(module._forward_hooks) for module in model.modules())


# ---- nothing changes ----


def train(model, is_monitored, by_name=True, amp=False):
    """Ten steps with dropout, momentum, clipping; the weights, and the last loss."""
    torch.manual_seed(7)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**40, enabled=amp)
    monitor = None
    if is_monitored:
        monitor = make_monitor(model, steps=lambda step: step % 3 != 1, containers=True)
        monitor.set_reference_module(copy.deepcopy(model))
        for name in ("mean", "std", "norm", "hist", "fp16_underflow"):
            monitor.add_activation_metric(name, name)
        monitor.add_activation_metric("local", "rms", r"attn\.forward:(scores|weights)")
        monitor.add_activation_metric("own", lambda x: x.float().norm(dim=-1))
        monitor.add_activation_difference_metric("own", lambda x, y: (x - y).norm())
        monitor.add_parameter_metric("norm", "norm")
        monitor.add_parameter_difference_metric("norm", "norm")
        monitor.add_gradient_metric("norm", "norm")
        monitor.watch_updates(optimizer)
    x = torch.randn(4, 5, 8, generator=torch.Generator().manual_seed(2))
    for step in range(10):
        if monitor is not None and monitor.begin_step(step):
            with monitor.no_monitor(), torch.no_grad(), torch.random.fork_rng():
                monitor.reference_module(x)
        with torch.autocast("cpu", torch.bfloat16, enabled=amp):
            out = model(x)
            loss = out["logits"].square().mean() + out["y"].std()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        if monitor is not None:
            monitor.monitor_gradients(before_clip=True)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if monitor is not None:
            monitor.monitor_gradients()
            monitor.monitor_parameters()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        if monitor is not None:
            monitor.end_step()
    return [parameter.detach().clone() for parameter in model.parameters()], loss, monitor


class Dropping(Net):
    def forward(self, x):
        return super().forward(nn.functional.dropout(x, 0.3))


@pytest.mark.parametrize("amp", [False, True])
def test_weights_are_the_same_bit_by_bit(amp):
    torch.manual_seed(0)
    model = Dropping()
    plain, loss, _ = train(copy.deepcopy(model), False, amp=amp)
    monitored, same_loss, monitor = train(model, True, amp=amp)
    assert torch.equal(loss, same_loss)
    assert all(torch.equal(a, b) for a, b in zip(plain, monitored))
    metrics = monitor.get_all_metrics()
    assert sorted(metrics) == [0, 2, 3, 5, 6, 8, 9]
    keys = set(metrics[9])
    assert "activation/attn.forward:scores/local" in keys, "it was at work"
    assert "activation_difference/attn/own" in keys and "update/out.weight/ratio" in keys


def test_amp_with_a_scaler():
    """Gradients are measured as they are: after unscale_ they are the loss's own. An infinite one
    is told, and the step that the scaler leaves out has no update."""
    model = make_mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    monitor = make_monitor(model)
    monitor.add_gradient_metric("norm", "norm", "2.weight")
    monitor.add_gradient_metric("inf", "inf", "2.weight")
    monitor.watch_updates(optimizer, "2.weight")
    inputs, targets = make_batches(1)[0]
    twin = copy.deepcopy(model)
    nn.functional.cross_entropy(twin(inputs), targets).backward()
    expected = twin[2].weight.grad
    for step in range(2):
        monitor.begin_step(step)
        with torch.autocast("cpu", torch.bfloat16, enabled=False):
            loss = nn.functional.cross_entropy(model(inputs), targets)
        scaler.scale(loss).backward()
        if step == 1:
            model[2].weight.grad[0, 0] = float("inf")
        monitor.monitor_gradients(before_clip=True)
        scaler.unscale_(optimizer)
        monitor.monitor_gradients()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        monitor.end_step()
    first, second = monitor.get_all_metrics().values()
    assert first["gradient_before_clip/2.weight/norm"] == near(1024 * expected.norm().item())
    assert first["gradient/2.weight/norm"] == near(expected.norm().item(), rel=1e-5)
    assert first["update/2.weight/norm"] == near(0.1 * expected.norm().item(), rel=1e-4)
    assert first["update/2.weight/ratio"] == near(
        0.1 * (expected.norm() / twin[2].weight.norm()).item(), rel=1e-4
    )
    assert second["gradient/2.weight/inf"] == 1.0
    assert second["gradient/2.weight/norm"] == float("inf")
    assert "update/2.weight/norm" not in second


# ---- hooks ----


def test_hooks_are_there_on_monitored_steps_alone():
    model = make_mlp()
    monitor = make_monitor(model, steps=lambda step: step % 2 == 0)
    monitor.add_activation_metric("max", "max")
    monitor.add_activation_metric("own", lambda x: x.max(), "0")
    for step in range(5):
        monitor.begin_step(step)
        assert count_hooks(model) == (4 if step % 2 == 0 else 0)
        model(torch.zeros(2, 10))
        monitor.end_step()
        assert count_hooks(model) == 0
    # Hooks of others stay, and keep their order.
    order = []
    model[0].register_forward_hook(lambda *arguments: order.append("other"))
    run_step(monitor, 6, torch.zeros(2, 10))
    assert order == ["other"] and count_hooks(model) == 1


def test_the_hook_is_a_function_in_c():
    model = make_mlp()
    monitor = make_monitor(model)
    monitor.add_activation_metric("max", "max", "0")
    monitor.begin_step(0)
    (hook,) = model[0]._forward_hooks.values()
    assert type(hook) is type(len)
    assert not model[1]._forward_hooks, "no metric is of it"


def test_copies_made_in_a_step_are_not_measured():
    model = make_mlp()
    monitor = make_monitor(model)
    monitor.add_activation_metric("calls", "calls")
    monitor.begin_step(0)
    duplicate = copy.deepcopy(model)
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    x = torch.zeros(2, 10)
    assert torch.equal(duplicate(x), model(x)) and torch.equal(loaded(x), model(x))
    monitor.end_step()
    assert set(monitor.get_step_metrics().values()) == {2.0}


def test_script_modules_are_left_out(caplog):
    model = nn.Sequential(torch.jit.script(nn.Linear(10, 3)), nn.ReLU())
    monitor = make_monitor(model, logger=logging.getLogger("test"))
    monitor.add_activation_metric("calls", "calls")
    run_step(monitor, 0, torch.zeros(2, 10))
    assert "activation/1/calls" in monitor.get_step_metrics()


# ---- modules ----


def test_a_module_with_two_names_and_many_calls():
    """It goes by its first name; its calls are measured as one."""

    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(6, 6)
            self.second = self.first

        def forward(self, x):
            return self.second(self.first(x) * 3)

    torch.manual_seed(0)
    model = Shared()
    x = torch.randn(4, 6)
    seen, _ = outputs_of(model, x)
    monitor = make_monitor(model)
    monitor.add_activation_metric("max", "max", "first|second")
    monitor.add_activation_metric("calls", "calls", "first|second")
    assert run_step(monitor, 0, x) == {
        "activation/first/max": torch.cat(seen["first"]).max().item(),
        "activation/first/calls": 2.0,
    }


@pytest.mark.parametrize("reentrant", [False, True])
def test_activation_checkpointing(reentrant):
    """A module runs again in the backward pass: counted, not doubled."""

    class Checkpointed(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6))

        def forward(self, x):
            return checkpoint(self.block, x, use_reentrant=reentrant).sum()

    torch.manual_seed(0)
    model = Checkpointed()
    x = torch.randn(4, 6, requires_grad=True)
    seen, _ = outputs_of(model, x)
    monitor = make_monitor(model)
    own = []
    monitor.add_activation_metric("norm", "norm", "block")
    monitor.add_activation_metric("calls", "calls", "block")
    monitor.add_activation_metric("recomputed", "recomputed", r"block\.0")
    monitor.add_activation_metric("own", lambda y: own.append(0) or y.norm(), r"block\.1")
    monitor.begin_step(0)
    model(x).backward()
    monitor.end_step()
    metrics = monitor.get_step_metrics()
    for name in ("block", "block.0", "block.1", "block.2"):
        assert metrics[f"activation/{name}/calls"] == 1.0
        assert metrics[f"activation/{name}/norm"] == near(seen[name][0].norm().item(), rel=1e-5)
    assert metrics["activation/block.0/recomputed"] == 1.0
    assert len(own) == 1


def test_gradient_accumulation():
    model = make_mlp()
    monitor = make_monitor(model)
    monitor.add_activation_metric("max", "max", "2")
    monitor.add_activation_metric("own", lambda x: x.max(), "2")
    monitor.add_gradient_metric("norm", "norm", "2.weight")
    batches = [inputs for inputs, _ in make_batches(3)]
    highest = [model(batch).max().item() for batch in batches]
    monitor.begin_step(0)
    for batch in batches:
        model(batch).sum().backward()
        monitor.after_micro_batch()
    monitor.monitor_gradients()
    monitor.end_step()
    assert monitor.get_step_metrics() == near(
        {
            "activation/2/max": max(highest),
            "activation/2/own": sum(highest) / 3,
            "gradient/2.weight/norm": model[2].weight.grad.norm().item(),
        },
        rel=1e-6,
    )


@pytest.mark.skipif(not hasattr(torch.compiler, "set_stance"), reason="an older torch")
def test_compiled_models():
    """A monitored step runs the modules themselves; the code is compiled once, and runs on all other
    steps; no graph breaks."""
    compiled, ran = [], []

    def backend(graph, inputs):
        compiled.append(graph)

        def run(*arguments):
            ran.append(graph)
            return graph.forward(*arguments)

        return run

    gc.collect()  # steps that other tests have not ended
    torch._dynamo.reset()
    model = make_mlp()
    whole = torch.compile(model, backend=backend, fullgraph=True)
    monitor = make_monitor(whole, steps=lambda step: step % 3 == 1)
    monitor.add_activation_metric("calls", "calls")
    monitor.add_parameter_metric("norm", "norm", "0.weight")
    found = {}
    for step in range(7):
        monitor.begin_step(step)
        whole(torch.zeros(2, 10))
        monitor.monitor_parameters()
        monitor.end_step()
        found[step] = len(compiled), len(ran)
    assert found == {0: (1, 1), 1: (1, 1), 2: (1, 2), 3: (1, 3), 4: (1, 3), 5: (1, 4), 6: (1, 5)}
    names = ["0", "1", "2", "[root module]"]
    expected = {f"activation/{name}/calls": 1.0 for name in names}
    expected["parameter/0.weight/norm"] = near(model[0].weight.norm().item())
    assert monitor.get_all_metrics() == {1: expected, 4: expected}
    torch._dynamo.reset()


def test_wrapped_models():
    """Names as they are without DistributedDataParallel's "module." are the user's to choose."""
    if not torch.distributed.is_available():
        pytest.skip("this torch has no torch.distributed")
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        model = torch.nn.parallel.DistributedDataParallel(make_mlp())
        monitor = make_monitor(model)
        monitor.add_activation_metric("calls", "calls")
        monitor.add_gradient_metric("norm", "norm", r"module\.0")
        monitor.begin_step(0)
        model(torch.ones(2, 10)).sum().backward()
        monitor.monitor_gradients()
        monitor.end_step()
    finally:
        torch.distributed.destroy_process_group()
    assert monitor.get_step_metrics() == {
        **{
            f"activation/{name}/calls": 1.0
            for name in ("[root module]", "module", "module.0", "module.1", "module.2")
        },
        "gradient/module.0.weight/norm": near(model.module[0].weight.grad.norm().item()),
        "gradient/module.0.bias/norm": near(model.module[0].bias.grad.norm().item()),
    }


class Wrapper(nn.Module):
    """With the name that FSDP and torch.compile give."""

    def __init__(self, module, name):
        super().__init__()
        self.add_module(name, module)
        self.name = name

    def forward(self, x):
        return getattr(self, self.name)(x)


@pytest.mark.parametrize("name", ["_fsdp_wrapped_module", "_forward_module", "_orig_mod"])
def test_names_of_wrappers(name):
    model = Wrapper(nn.Sequential(Wrapper(nn.Linear(3, 3), name), nn.ReLU()), name)
    monitor = make_monitor(model)
    monitor.add_activation_metric("calls", "calls")
    monitor.add_parameter_metric("norm", "norm")
    monitor.begin_step(0)
    model(torch.zeros(1, 3))
    monitor.monitor_parameters()
    monitor.end_step()
    metrics = monitor.get_step_metrics()
    assert metrics["activation/[root module]/calls"] == 1.0, "the wrapper and what it wraps are one"
    assert {key for key in metrics if key.startswith("parameter")} == {
        "parameter/0.weight/norm", "parameter/0.bias/norm"}  # fmt: skip


def test_a_reference_elsewhere(tmp_path):
    """What is kept is kept on the CPU, and compared there."""
    model = make_mlp()
    monitor = make_monitor(model, cpu_offload=True)
    reference = copy.deepcopy(model).double()
    monitor.set_reference_module(reference)
    monitor.add_activation_difference_metric("max", "absmax", "0")
    monitor.add_activation_difference_metric(
        "places", lambda a, b: float(a.device == b.device == torch.device("cpu")), "0"
    )
    monitor.begin_step(0)
    with monitor.no_monitor():
        reference(torch.ones(1, 10).double())
    model(torch.ones(1, 10))
    monitor.end_step()
    metrics = monitor.get_step_metrics()
    assert metrics["activation_difference/0/places"] == 1.0
    assert metrics["activation_difference/0/max"] < 1e-6


# ---- metrics that misbehave ----


def test_a_metric_that_writes_into_the_activation():
    model = make_mlp()
    monitor = make_monitor(model)
    monitor.add_activation_metric("bad", lambda x: x.abs_().max(), "0")
    monitor.begin_step(0)
    with pytest.raises(RuntimeError, match=r"module 0: metric bad, shape \(2, 20\): it wrote"):
        model(torch.ones(2, 10))


def test_a_metric_that_writes_into_a_parameter_or_a_gradient():
    model = make_mlp()
    monitor = make_monitor(model)
    monitor.add_parameter_metric("bad", lambda x: x.mul_(2).max(), "0.weight")
    monitor.add_gradient_metric("bad", lambda x: x.zero_().max(), "0.weight")
    monitor.begin_step(0)
    model(torch.ones(2, 10)).sum().backward()
    for function in (monitor.monitor_parameters, monitor.monitor_gradients):
        with pytest.raises(RuntimeError, match="0.weight: metric bad.*it wrote"):
            function()


def test_a_metric_that_writes_into_what_the_reference_returned():
    model = make_mlp()
    monitor = make_monitor(model)
    monitor.set_reference_module(copy.deepcopy(model))
    monitor.add_activation_difference_metric("bad", lambda a, b: a.sub_(b).max(), "0")
    monitor.begin_step(0)
    monitor.reference_module(torch.ones(2, 10))
    with pytest.raises(RuntimeError, match="it wrote"):
        model(torch.ones(2, 10))


@pytest.mark.parametrize(
    "metric",
    [lambda x: x, lambda x: x[0], lambda x: x.view(-1)[3], lambda x: x.detach().T],
)
@pytest.mark.parametrize("aggregation", [None, lambda values: values.mean()])
def test_results_that_are_the_activation_itself(metric, aggregation):
    """What is logged is what it was then, whatever writes into the activation later."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True))
    x = torch.randn(3, 4)
    expected = metric(model[0](x)).mean().item()
    monitor = make_monitor(model)
    monitor.add_activation_metric("own", metric, "0", aggregation)
    monitor.begin_step(0)
    model(x).detach().zero_()
    monitor.end_step()
    assert monitor.get_step_metrics() == {"activation/0/own": near(expected, rel=1e-6)}


def test_reference_activations_that_are_written_to_later():
    """ReLU(inplace=True) changes what the layer before it has returned."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True))
    reference = copy.deepcopy(model)
    with torch.no_grad():
        model[0].bias.add_(1.0)
    x = torch.randn(3, 4)
    monitor = make_monitor(model)
    monitor.set_reference_module(reference)
    monitor.add_activation_difference_metric("own", lambda a, b: (a - b).abs().mean())
    monitor.begin_step(0)
    with monitor.no_monitor():
        reference(x).zero_()
    model(x)
    monitor.end_step()
    assert monitor.get_step_metrics()["activation_difference/0/own"] == near(1.0, rel=1e-5)


def test_metrics_see_no_graph():
    """A result that holds on to the graph would hold on to all activations."""
    model = make_mlp()
    monitor = make_monitor(model)
    seen = []
    monitor.add_activation_metric("own", lambda x: seen.append((x * model[2].weight.sum())) or 1.0)
    run_step(monitor, 0, torch.ones(2, 10))
    assert len(seen) == 4 and not any(tensor.requires_grad for tensor in seen)


def test_the_tensor_itself():
    """Nothing is copied for a metric: it is given the activation's own memory."""
    model = make_mlp()
    monitor = make_monitor(model)
    seen = {}
    monitor.add_activation_metric("own", lambda x: seen.update(given=x.data_ptr()) or 1.0, "0")
    model[0].register_forward_hook(lambda module, args, output: seen.update(own=output.data_ptr()))
    monitor.begin_step(0)
    model(torch.ones(2, 10))
    assert seen["given"] == seen["own"]


def test_a_metric_that_moves_the_tensor():
    model = make_mlp()
    monitor = make_monitor(model)
    monitor.add_activation_metric("half", lambda x: x.to("cpu", torch.float16).max(), "0")
    monitor.add_activation_metric("away", lambda x: x.to("meta").max(), "1")
    plain = model[0](torch.ones(2, 10))
    run_step(monitor, 0, torch.ones(2, 10))
    assert torch.equal(model[0](torch.ones(2, 10)), plain)
    assert monitor.get_step_metrics() == {"activation/0/half": near(plain.max().item(), rel=1e-3)}


def test_inference_mode():
    model = make_mlp()
    monitor = make_monitor(model)
    monitor.add_activation_metric("own", lambda x: x.max())
    monitor.add_activation_metric("max", "max")
    monitor.begin_step(0)
    with torch.inference_mode():
        model(torch.ones(2, 10))
    monitor.end_step()
    metrics = monitor.get_step_metrics()
    assert metrics["activation/0/own"] == metrics["activation/0/max"]


# ---- the recording ----


def test_calls_stand_in_the_recording(tmp_path):
    monitorch = pytest.importorskip("monitorch")
    model = make_mlp()
    monitor = make_monitor(model, steps=lambda step: step == 1)
    monitor.add_activation_metric("max", "max")
    path = tmp_path / "run.mtrace"
    with monitorch.record(str(path)):
        for step in range(3):
            run_step(monitor, step, torch.ones(2, 10))
    events = monitorch.load(str(path))
    names = [str(name) for name in events["function"]]
    assert names.count("Linear.forward") == 2 * 2, "an enter and a return of each, on one step"


def test_a_step_that_was_never_ended_holds_nothing_up():
    """What a monitor has changed of the process is put back when it is freed."""
    pytest.importorskip("torch._dynamo")
    from monitorch.monitor import _calls

    gc.collect()
    before = set(_calls._eager._holders)
    model = make_mlp()
    monitor = make_monitor(model)
    monitor.add_activation_metric("max", "max")
    monitor.begin_step(0)
    assert len(_calls._eager._holders) == len(before) + 1
    del model, monitor
    gc.collect()
    assert _calls._eager._holders == before


def test_compiled_models_on_an_older_torch(monkeypatch):
    """Where compiled code cannot be left aside, graphs end at the hooks, which stay."""
    pytest.importorskip("torch._dynamo")
    from monitorch.monitor import _calls

    gc.collect()
    torch._dynamo.reset()
    monkeypatch.setattr(_calls, "_can_leave_compiled_code", lambda: False)
    model = make_mlp()
    whole = torch.compile(model, backend="eager")
    monitor = make_monitor(whole, steps=lambda step: step % 2 == 1)
    monitor.add_activation_metric("calls", "calls", "0|1")
    for step in range(5):
        monitor.begin_step(step)
        whole(torch.zeros(2, 10))
        monitor.end_step()
    expected = {"activation/0/calls": 1.0, "activation/1/calls": 1.0}
    assert monitor.get_all_metrics() == {1: expected, 3: expected}
    monitor.close()
    assert count_hooks(model) == 0
    torch._dynamo.reset()
