"""What monitoring a training step costs, against torch-module-monitor 0.1.0 in the same run.

A transformer of 6 layers, d=256, five metrics of every module's output, norms of all parameters and
gradients; one thread. Claims: both give the same keys, and the same values to 1e-5; a monitored step
costs at most 1/5 of the peer's time above the plain step, and at most 1/4 of its peak memory above the
plain step; a step that is not monitored takes at most 1.01 times the plain one. Exit code 1 where a
claim does not hold, or the peer is missing (make bench installs it).
"""

import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.support import paths  # noqa: E402

sys.path.insert(0, str(paths.PYTHON_PATH))

TIME_CLAIM = 1 / 5
MEMORY_CLAIM = 1 / 4
OFF_CLAIM = 1.01
VALUE_CLAIM = 1e-5
ROUNDS = 9
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
        import torch

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
        import torch

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
    import torch

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


def told(found, claim):
    return f"at most {claim:.4g}: {'holds' if found <= claim else 'DOES NOT HOLD'}"


def compare_values(peer, ours):
    first, second = Run(), Run()
    theirs = make_monitor(peer, first.model, lambda step: True, False)
    mine = make_monitor(ours, second.model, lambda step: True, True)
    first.step(theirs)
    second.step(mine)
    expected, found = theirs.get_step_metrics(), mine.get_step_metrics()
    has_same_keys = set(expected) == set(found)
    worst = max(
        abs(float(expected[key]) - found[key]) / max(abs(float(expected[key])), 1e-3)
        for key in expected.keys() & found.keys()
    )
    print(f"{len(found)} keys, {'the same' if has_same_keys else 'NOT THE SAME'}; values differ by "
          f"at most {worst:.1e}, {told(worst, VALUE_CLAIM)}")  # fmt: skip
    return has_same_keys and worst <= VALUE_CLAIM


def compare_costs(peer, ours):
    runs = {"plain": Run(), "peer": Run(), "monitorch": Run()}
    theirs = make_monitor(peer, runs["peer"].model, lambda step: True, False)
    mine = make_monitor(ours, runs["monitorch"].model, lambda step: True, True)
    steps = {
        "plain": runs["plain"].step,
        "peer": lambda: runs["peer"].step(theirs),
        "monitorch": lambda: runs["monitorch"].step(mine),
    }
    times = in_turns(steps, ROUNDS)
    plain = times["plain"]
    above = {
        name: statistics.median(a - b for a, b in zip(times[name], plain))
        for name in ("peer", "monitorch")
    }
    share = above["monitorch"] / above["peer"]
    print(f"a step takes {statistics.median(plain) * 1e3:.0f} ms; monitored, "
          f"{above['peer'] * 1e3:.1f} ms more by the peer, {above['monitorch'] * 1e3:.1f} ms more by "
          f"monitorch: {share:.3f} of it, {told(share, TIME_CLAIM)}")  # fmt: skip
    found = {name: memory(step) for name, step in steps.items()}
    more, made = (
        {name: found[name][i] - found["plain"][i] for name in ("peer", "monitorch")} for i in (0, 1)
    )
    # Where the peer's copies are gone before the step's peak, there is nothing to be above.
    part = more["monitorch"] / max(more["peer"], 1)
    print(f"peak memory above the plain step: {more['peer'] / 1e3:.0f} kB by the peer, "
          f"{more['monitorch'] / 1e3:.0f} kB by monitorch: {part:.3f} of it, "
          f"{told(part, MEMORY_CLAIM)}")  # fmt: skip
    part = max(part, made["monitorch"] / made["peer"])
    print(
        f"allocated above the plain step: {made['peer'] / 1e6:.1f} MB by the peer, "
        f"{made['monitorch'] / 1e6:.1f} MB by monitorch, {told(part, MEMORY_CLAIM)}"
    )
    return share <= TIME_CLAIM and part <= MEMORY_CLAIM


def compare_unmonitored(ours):
    """The same model with and without, so that no other memory comes into it."""
    run = Run()
    monitor = make_monitor(ours, run.model, lambda step: step == 0, True)
    run.step(monitor)
    times = in_turns({"plain": run.step, "not monitored": lambda: run.step(monitor)}, OFF_ROUNDS)
    ratio = statistics.median(a / b for a, b in zip(times["not monitored"], times["plain"]))
    print(f"a step that is not monitored: {ratio:.4f} of the plain one, {told(ratio, OFF_CLAIM)}")
    return ratio <= OFF_CLAIM


def main():
    import torch
    from monitorch.monitor import ModuleMonitor

    torch.set_num_threads(1)
    holds = compare_unmonitored(ModuleMonitor)
    try:
        from torch_module_monitor import ModuleMonitor as Peer
    except ImportError:
        print("torch-module-monitor is not installed: make bench installs it", file=sys.stderr)
        return 1
    holds = compare_values(Peer, ModuleMonitor) and holds
    holds = compare_costs(Peer, ModuleMonitor) and holds
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
