"""What monitoring a training step costs, against torch-module-monitor 0.1.0 in the same run.

A transformer of 6 layers, d=256, five metrics of every module's output, norms of all parameters and
gradients; one thread. Claims: both give the same keys, and the same values to 1e-5; a monitored step
costs at most 1/5 of the peer's time above the plain step, and at most 1/4 of its peak memory above the
plain step; a step that is not monitored takes at most 1.01 times the plain one. Exit code 1 where a
claim does not hold.
"""

import sys
import time

import torch
from claims import Claims, Figure, median
from monitorch.monitor import ModuleMonitor

TIME_CLAIM = 1 / 5
MEMORY_CLAIM = 1 / 4
OFF_CLAIM = 1.01
VALUE_CLAIM = 1e-5
ROUNDS = 9
PEER = "torch-module-monitor 0.1.0"
OFF_ROUNDS = 41

FIVE = {
    "mean": lambda x: x.mean(),
    "std": lambda x: x.std(),
    "norm": lambda x: x.norm(),
    "absmax": lambda x: x.abs().max(),
    "rms": lambda x: x.square().mean().sqrt(),
}


class Run:
    """A model, its batch and its optimizer: always the same ones."""

    def __init__(self):
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.0, batch_first=True)
        self.model = torch.nn.Sequential(
            torch.nn.Embedding(1000, 256),
            torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False),
            torch.nn.Linear(256, 1000),
        )
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.batch = torch.randint(0, 1000, (8, 64))
        self.step_number = -1

    def step(self, monitor=None):
        self.step_number += 1
        if monitor is not None:
            monitor.begin_step(self.step_number)
        logits = self.model(self.batch)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), self.batch.flatten())
        loss.backward()
        if monitor is not None:
            monitor.monitor_parameters()
            monitor.monitor_gradients()
        self.optimizer.step()
        self.optimizer.zero_grad()
        if monitor is not None:
            monitor.end_step()


def make_monitor(kind, model, is_monitored, by_name):
    monitor = kind(monitor_step_fn=is_monitored)
    monitor.set_module(model)
    for name, function in FIVE.items():
        monitor.add_activation_metric(name, name if by_name else function)
    monitor.add_parameter_metric("norm", "norm" if by_name else FIVE["norm"])
    monitor.add_gradient_metric("norm", "norm" if by_name else FIVE["norm"])
    return monitor


def seconds(function):
    """Of the processor: all is done in one thread, and what else runs here is not counted."""
    started = time.process_time()
    function()
    return time.process_time() - started


def in_turns(functions, rounds):
    """{name: [seconds]}, measured in turns."""
    times = {name: [] for name in functions}
    names = list(functions)
    for function in functions.values():
        function()
    for turn in range(rounds):
        for name in names if turn % 2 else reversed(names):
            times[name].append(seconds(functions[name]))
    return times


def memory(step):
    """The most bytes that torch held at once during a step, above what it held before, and all
    that it allocated."""
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        step()
    events = profile.profiler.kineto_results.events()
    changes = sorted(
        (event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]"
    )
    held = peak = allocated = 0
    for _, size in changes:
        held += size
        peak = max(peak, held)
        allocated += max(size, 0)
    return peak, allocated


def compare_values(claims, peer, ours):
    first, second = Run(), Run()
    theirs = make_monitor(peer, first.model, lambda step: True, False)
    mine = make_monitor(ours, second.model, lambda step: True, True)
    first.step(theirs)
    second.step(mine)
    expected, found = theirs.get_step_metrics(), mine.get_step_metrics()
    others = float(len(set(expected) ^ set(found)))
    claims.at_most(0.0, f"keys that are others, of {len(found)}", others, peer=PEER, unit="keys")
    worst = max(
        abs(float(expected[key]) - found[key]) / max(abs(float(expected[key])), 1e-3)
        for key in expected.keys() & found.keys()
    )
    claims.at_most(VALUE_CLAIM, "values differ", worst, peer=PEER, unit="relative")


def compare_costs(claims, peer, ours):
    runs = {"plain": Run(), "peer": Run(), "monitorch": Run()}
    theirs = make_monitor(peer, runs["peer"].model, lambda step: True, False)
    mine = make_monitor(ours, runs["monitorch"].model, lambda step: True, True)
    steps = {
        "plain": runs["plain"].step,
        "peer": lambda: runs["peer"].step(theirs),
        "monitorch": lambda: runs["monitorch"].step(mine),
    }
    times = in_turns(steps, ROUNDS)
    plain, more = times["plain"], {}
    for name in ("peer", "monitorch"):
        more[name] = median([a - b for a, b in zip(times[name], plain)])
        milliseconds = Figure(
            *(1e3 * value for value in (more[name].value, more[name].low, more[name].high))
        )
        print(f"above a plain step of {median(plain).value * 1e3:.0f} ms: {name} {milliseconds} ms")
    share = more["monitorch"].value / more["peer"].value
    claims.at_most(TIME_CLAIM, "a monitored step, above the plain one", share, peer=PEER)
    found = {name: memory(step) for name, step in steps.items()}
    for index, what in enumerate(("peak memory", "memory allocated")):
        above = {name: found[name][index] - found["plain"][index] for name in more}
        print(f"{what} above a plain step: {above['peer']:,} bytes by the peer, "
              f"{above['monitorch']:,} by monitorch")  # fmt: skip
        # Where the peer's copies are gone before the step's peak, it is above it by next to nothing.
        part = above["monitorch"] / max(above["peer"], 1)
        claims.at_most(
            MEMORY_CLAIM, f"{what} of a monitored step, above the plain one", part, peer=PEER
        )


def compare_unmonitored(claims, ours):
    """The same model with and without, so that no other memory comes into it."""
    run = Run()
    monitor = make_monitor(ours, run.model, lambda step: step == 0, True)
    run.step(monitor)
    times = in_turns({"plain": run.step, "not monitored": lambda: run.step(monitor)}, OFF_ROUNDS)
    ratios = [a / b for a, b in zip(times["not monitored"], times["plain"])]
    claims.at_most(OFF_CLAIM, "a step that is not monitored", median(ratios), peer="the plain step")


def main():
    claims = Claims("What monitoring a training step costs")
    torch.set_num_threads(1)
    compare_unmonitored(claims, ModuleMonitor)
    try:
        from torch_module_monitor import ModuleMonitor as Peer
    except ImportError:
        claims.not_measured("a monitored step", f"{PEER} is not installed")
    else:
        compare_values(claims, Peer, ModuleMonitor)
        compare_costs(claims, Peer, ModuleMonitor)
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
