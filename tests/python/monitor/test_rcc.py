"""The refined coordinate check, against the same sums written out by hand."""

import copy
import logging

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.monitor", reason="the package is not built (make)")

import torch.nn.functional as F  # noqa: E402
from monitorch.monitor import ModuleMonitor, RefinedCoordinateCheck, l2_norm  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = pytest.mark.torch


def norm(tensor):
    """The mean over all rows, in double."""
    return tensor.detach().double().pow(2).sum(-1).sqrt().mean().item()


def expected_pair(name, now, again, then):
    return {
        f"RCC (W_t-W_0)x_t/{name}/l2norm": norm(now - again),
        f"RCC W_0(x_t-x_0)/{name}/l2norm": norm(again - then),
    }


def expected_inputs(name, x_t, x_0):
    return {f"RCC x_t/{name}/l2norm": norm(x_t), f"RCC (x_t-x_0)/{name}/l2norm": norm(x_t - x_0)}


def expected_weight(name, now, again, then):
    return {
        **expected_pair(f"{name}.weight", now, again, then),
        f"RCC (W_t-W_0)x_t/{name}.weight/W_t x_t/l2norm": norm(now),
        f"RCC W_0(x_t-x_0)/{name}.weight/W_0 x_0/l2norm": norm(then),
    }


def expected_linear(name, weight, bias, weight_0, bias_0, x_t, x_0):
    now, again, then = x_t @ weight.T, x_t @ weight_0.T, x_0 @ weight_0.T
    full = (now, again, then) if bias is None else (now + bias, again + bias_0, then + bias_0)
    return {
        **expected_pair(name, *full),
        **expected_inputs(name, x_t, x_0),
        **expected_weight(name, now, again, then),
    }


def normalize(x, eps=1e-5):
    x = x.double()
    x = x - x.mean(-1, keepdim=True)
    return x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt()


def expected_layer_norm(name, layer, layer_0, x_t, x_0):
    n_t, n_0 = normalize(x_t), normalize(x_0)
    now, again, then = n_t * layer.weight, n_t * layer_0.weight, n_0 * layer_0.weight
    return {
        **expected_pair(name, now + layer.bias, again + layer_0.bias, then + layer_0.bias),
        **expected_inputs(name, x_t, x_0),
        **expected_weight(name, now, again, then),
        f"RCC (W_t-W_0)x_t/{name}.weight/x_t/l2norm": norm(n_t),
        f"RCC W_0(x_t-x_0)/{name}.weight/x_t-x_0/l2norm": norm(n_t - n_0),
    }


def trained(make, inputs, steps=3, rate=0.3):
    """The model after some steps, its monitor within a further one, and the reference."""
    torch.manual_seed(0)
    model = make()
    monitor = ModuleMonitor(monitor_step_fn=lambda step: step == steps)
    monitor.set_module(model)
    reference = copy.deepcopy(model)
    monitor.set_reference_module(reference)
    check = RefinedCoordinateCheck(monitor)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for step in range(steps):
        monitor.begin_step(step)
        with monitor.no_monitor():
            reference(inputs)
        model(inputs).pow(2).mean().backward()
        check.refined_coordinate_check()  # nothing: the step is not monitored
        optimizer.step()
        optimizer.zero_grad()
        monitor.end_step()
    assert monitor.get_all_metrics() == {}
    return model, reference, monitor, check


def measure(model, reference, monitor, check, inputs, step=3):
    monitor.begin_step(step)
    with monitor.no_monitor():
        reference(inputs)
    model(inputs)
    check.refined_coordinate_check()
    monitor.end_step()
    return monitor.get_step_metrics()


def make_mlp():
    return nn.Sequential(
        nn.Linear(6, 10), nn.ReLU(), nn.LayerNorm(10), nn.Linear(10, 4, bias=False)
    )


def test_mlp():
    inputs = torch.randn(7, 6)
    model, reference, monitor, check = trained(make_mlp, inputs)
    told = measure(model, reference, monitor, check, inputs)

    def states(m):
        h = inputs @ m[0].weight.T + m[0].bias
        r = h.clamp(min=0)
        return h, r, (normalize(r) * m[2].weight + m[2].bias).float()

    h_t, r_t, n_t = states(model)
    h_0, r_0, n_0 = states(reference)
    first, last = model[0], model[3]
    expected = {
        **expected_linear(
            "0", first.weight, first.bias, reference[0].weight, reference[0].bias, inputs, inputs
        ),
        **expected_pair("1", r_t, r_t, r_0),
        **expected_inputs("1", h_t, h_0),
        **expected_layer_norm("2", model[2], reference[2], r_t, r_0),
        **expected_linear("3", last.weight, None, reference[3].weight, None, n_t, n_0),
    }
    assert set(told) == set(expected)
    for key, value in expected.items():
        assert told[key] == pytest.approx(value, rel=1e-5, abs=1e-6), key
    assert told["RCC (W_t-W_0)x_t/0/l2norm"] > 0.01 and told["RCC W_0(x_t-x_0)/3/l2norm"] > 0.01


class Block(nn.Module):
    """One head; a language model of two blocks is made of these."""

    def __init__(self, size):
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.qkv = nn.Linear(size, 3 * size)
        self.out = nn.Linear(size, size, bias=False)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        return x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True))


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.block = Block(8)

    def forward(self, tokens):
        return self.block(self.embedding(tokens))


def attend(q, k, v):
    rows = q.size(-2)
    scores = (q @ k.transpose(-1, -2)) / q.size(-1) ** 0.5
    scores = scores.masked_fill(torch.ones(rows, rows).triu(1).bool(), float("-inf"))
    return scores.softmax(-1) @ v


def test_transformer_block():
    torch.manual_seed(3)
    tokens = torch.randint(0, 11, (5, 9))
    model, reference, monitor, check = trained(Language, tokens, rate=2.0)
    told = measure(model, reference, monitor, check, tokens)

    def run(block, x):
        n = (normalize(x) * block.norm.weight + block.norm.bias).float()
        parts = (n @ block.qkv.weight.T + block.qkv.bias).chunk(3, -1)
        a = attend(*parts)
        return n, a, x + a @ block.out.weight.T

    x_t, x_0 = model.embedding.weight[tokens], reference.embedding.weight[tokens]
    block, block_0 = model.block, reference.block
    n_t, a_t, y_t = run(block, x_t)
    n_0, a_0, y_0 = run(block_0, x_0)
    y_again = run(block_0, x_t)[2]
    expected = {
        "RCC (W_t-W_0)x_t/embedding/l2norm": norm(x_t - x_0),
        **expected_layer_norm("block.norm", block.norm, block_0.norm, x_t, x_0),
        **expected_linear(
            "block.qkv", block.qkv.weight, block.qkv.bias, block_0.qkv.weight, block_0.qkv.bias,
            n_t, n_0,
        ),
        **expected_linear("block.out", block.out.weight, None, block_0.out.weight, None, a_t, a_0),
        **expected_pair("block", y_t, y_again, y_0),
        **expected_inputs("block", x_t, x_0),
    }  # fmt: skip
    assert set(told) == set(expected)
    for key, value in expected.items():
        assert told[key] == pytest.approx(value, rel=1e-4, abs=1e-6), key


def test_norm_is_that_of_the_last_dimension():
    assert l2_norm(torch.tensor([[3.0, 4.0], [0.0, 2.0]])).tolist() == [5.0, 2.0]


def test_what_has_to_be_set():
    monitor = ModuleMonitor(monitor_step_fn=lambda step: True)
    with pytest.raises(ValueError, match="Set the module to monitor before"):
        RefinedCoordinateCheck(monitor)
    monitor.set_module(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="Set the reference module before"):
        RefinedCoordinateCheck(monitor)


def test_the_modules_are_those_of_the_monitor():
    model = nn.Linear(2, 2)
    reference, monitor, check = pair(model)
    assert check.monitor is monitor
    assert check.module is model and check.reference_module is reference


def pair(model):
    monitor = ModuleMonitor(monitor_step_fn=lambda step: True)
    monitor.set_module(model)
    reference = copy.deepcopy(model)
    monitor.set_reference_module(reference)
    return reference, monitor, RefinedCoordinateCheck(monitor)


def test_before_a_forward():
    model = nn.Sequential(nn.Linear(2, 2))
    reference, monitor, check = pair(model)
    check.refined_coordinate_check()  # nothing is monitored yet
    monitor.begin_step(0)
    with pytest.raises(ValueError, match="No inputs found for the monitored module"):
        check.refined_coordinate_check()
    model(torch.ones(1, 2))
    with pytest.raises(ValueError, match="No inputs found for the reference module"):
        check.refined_coordinate_check()


def test_nothing_is_left_for_the_next_step():
    model = nn.Sequential(nn.Linear(2, 2))
    reference, monitor, check = pair(model)
    assert measure(model, reference, monitor, check, torch.ones(1, 2), 0)
    monitor.begin_step(1)
    with pytest.raises(ValueError, match="No inputs"):
        check.refined_coordinate_check()


def test_other_inputs_are_told():
    model = nn.Sequential(nn.Linear(2, 2))
    reference, monitor, check = pair(model)
    monitor.begin_step(0)
    reference(torch.ones(3, 2))
    model(torch.ones(4, 2))
    with pytest.raises(RuntimeError, match=r"module 0.*\(4, 2\).*\(3, 2\)"):
        check.refined_coordinate_check()


class Odd(nn.Module):
    """Everything that a check of plain layers stumbles over."""

    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU(inplace=True)
        self.linear = nn.Linear(4, 4)
        self.lstm = nn.LSTM(4, 4, batch_first=True)
        self.drop = nn.Dropout(0.5)
        self.norm = nn.BatchNorm1d(3)
        self.scale = Scale()
        self.plain = nn.LayerNorm(4, elementwise_affine=False)
        self.argmax = Argmax()
        self.never = nn.Linear(1, 1)

    def forward(self, x):
        x = self.relu(self.linear(x))
        x = self.relu(self.linear(-x))
        x, _ = self.lstm(x)
        x = self.norm(self.drop(x))
        self.argmax(x)
        return self.plain(self.scale(x, by=2.0)).sum()


class Scale(nn.Module):
    def forward(self, x, *, by):
        return x * by


class Argmax(nn.Module):
    def forward(self, x):
        return x.argmax(-1)


def test_odd_modules(caplog):
    """Those that return no tensor of reals are left out, keywords are handed on, and a module that
    ran twice is compared call by call."""
    torch.manual_seed(0)
    model = Odd()
    inputs = torch.randn(2, 3, 4)
    reference, monitor, check = pair(model)
    with torch.no_grad():
        model.linear.weight.add_(0.1)
    running = reference.norm.running_mean.clone()
    with caplog.at_level(logging.WARNING):
        monitor.begin_step(0)
        torch.manual_seed(1)
        reference(inputs)
        running_after = reference.norm.running_mean.clone()
        torch.manual_seed(1)
        model(inputs)
        before = torch.random.get_rng_state()
        check.refined_coordinate_check()
        assert torch.equal(torch.random.get_rng_state(), before)
        monitor.end_step()
    assert torch.equal(reference.norm.running_mean, running_after)
    assert not torch.equal(running, running_after)
    told = monitor.get_step_metrics()
    modules = {key.split("/")[1] for key in told}
    assert modules >= {
        "linear",
        "linear.weight",
        "relu",
        "plain",
        "plain.weight",
        "drop",
        "norm",
        "scale",
    }
    assert not modules & {"lstm", "argmax", "never", "never.weight", "[root module]"}

    weight, weight_0 = model.linear.weight, reference.linear.weight
    bias = model.linear.bias
    one = inputs @ weight.T + bias
    two = -one.clamp(min=0) @ weight.T + bias
    again = torch.cat([inputs @ weight_0.T, -one.clamp(min=0) @ weight_0.T]) + bias
    assert told["RCC (W_t-W_0)x_t/linear/l2norm"] == pytest.approx(
        norm(torch.cat([one, two]) - again), rel=1e-5
    )
    # What an in-place ReLU was given, and not what it made of it.
    assert told["RCC x_t/relu/l2norm"] == pytest.approx(norm(torch.cat([one, two])), rel=1e-5)


def test_the_parameters_may_have_moved_on():
    """The check is of the forward that was, though the optimizer has made a step since."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3))
    inputs = torch.randn(5, 3)
    results = []
    for moves in (False, True):
        reference, monitor, check = pair(copy.deepcopy(model))
        now = monitor.module
        with torch.no_grad():
            now[0].weight.add_(0.5)
            now[0].bias.add_(0.5)
        monitor.begin_step(0)
        reference(inputs)
        now(inputs)
        if moves:
            with torch.no_grad():
                now[0].weight.mul_(3)
                now[0].bias.mul_(3)
        check.refined_coordinate_check()
        monitor.end_step()
        results.append(monitor.get_step_metrics())
    assert results[0] == results[1]


def test_nothing_else_is_logged_by_the_reference_that_runs_again():
    """Neither are its activations kept twice, nor do hooks of its own log anything."""
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    reference, monitor, check = pair(model)
    monitor.add_activation_difference_metric("diff", lambda a, b: (a - b).abs().sum())
    inputs = torch.randn(5, 3)
    monitor.begin_step(0)
    for _ in range(2):
        with monitor.no_monitor():
            reference(inputs)
        model(inputs)
        check.refined_coordinate_check()
        with torch.no_grad():
            model[0].weight.add_(1)
    monitor.end_step()
    told = monitor.get_step_metrics()
    change = (model[0].weight.new_ones(3, 3) @ inputs.T).abs().sum().item()
    assert told["activation_difference/0/diff"] == pytest.approx(change / 2, rel=1e-5)


def test_autocast_is_that_of_the_forward():
    """Halves are compared with halves, so that equal weights differ by nothing."""
    model = nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64))
    reference, monitor, check = pair(model)
    inputs = torch.randn(16, 64)
    monitor.begin_step(0)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with monitor.no_monitor():
            reference(inputs)
        model(inputs)
    check.refined_coordinate_check()
    monitor.end_step()
    told = monitor.get_step_metrics()
    assert told["RCC (W_t-W_0)x_t/0/l2norm"] == 0.0
    assert told["RCC W_0(x_t-x_0)/1/l2norm"] == 0.0


def test_training_is_the_same_with_it():
    def run(with_check):
        torch.manual_seed(0)
        layers = nn.Linear(4, 8), nn.Dropout(0.3), nn.ReLU(inplace=True), nn.Linear(8, 2)
        model = nn.Sequential(*layers)
        if with_check:
            reference, monitor, check = pair(model)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for step in range(8):
            inputs = torch.randn(6, 4)
            if with_check:
                monitor.begin_step(step)
                with monitor.no_monitor(), torch.random.fork_rng():
                    reference(inputs)
            loss = model(inputs).pow(2).sum()
            if with_check:
                check.refined_coordinate_check()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if with_check:
                monitor.end_step()
        return [parameter.detach() for parameter in model.parameters()]

    for plain, checked in zip(run(False), run(True)):
        assert torch.equal(plain, checked)


def test_offload_keeps_copies_in_the_cpus_memory():
    model = nn.Sequential(nn.Linear(3, 3))
    monitor = ModuleMonitor(monitor_step_fn=lambda step: True, cpu_offload=True)
    monitor.set_module(model)
    reference = copy.deepcopy(model)
    monitor.set_reference_module(reference)
    check = RefinedCoordinateCheck(monitor)
    told = measure(model, reference, monitor, check, torch.ones(2, 3), 0)
    assert told["RCC (W_t-W_0)x_t/0/l2norm"] == 0.0
