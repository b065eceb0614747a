"""What two consumers of the same site cost together, against the dearer one alone.

Claim: a visit of `y = x * 2` that two of a recording, a TensorSaver, a monitor of a local variable, a
tracer and a tracker get adds at most 1.3 times what the dearer one of the two adds alone: the
visit, its module, its values and their figures are found once, and each consumer has its own work
alone on top. For a monitor and a tracer, which need less than a microsecond each, it is 1.6: one
measures, the other copies. A monitor does not measure variables of a tracked function, so this pair
is left out.

Each round measures the plain call, each consumer alone and each pair, one after another, in
processor time; a figure is the median of the rounds. What a consumer adds is the difference to the
plain call of the same round.
"""

import contextlib
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from statistics import median

import monitorch
import torch
from claims import Claims
from claims import median as of_rounds
from monitorch.monitor import ModuleMonitor
from monitorch.spy import DebugContext, TensorSaver
from monitorch.tracer import ModelTracer
from monitorch.tracker import configure, var_tracker

PROGRAM = """\
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        y = x * 2
        return None


class Tracked(nn.Module):
    def forward(self, x):
        y = x * 2
        return None
"""
LIMIT = 1.3
LIMIT_OF_SMALL = 1.6
SMALL = ("monitor", "tracer")
LEFT_OUT = ("monitor", "tracker")
ROUNDS = 9
CALLS = 150
WARM = 20
SHAPE = (16, 64)


@contextlib.contextmanager
def saving(folder):
    with DebugContext(TensorSaver(folder / "saved", names=["y"], overwrite=True)):
        yield


@contextlib.contextmanager
def monitoring(model):
    monitor = ModuleMonitor(monitor_step_fn=lambda step: True)
    monitor.add_activation_metric("mean", "mean", metric_regex=r".*forward:y")
    monitor.set_module(model)
    monitor.begin_step(1)
    try:
        yield
    finally:
        monitor.end_step()


def begin(name, model, folder):
    if name == "recording":
        return monitorch.record(str(folder / "run.mtrace"))
    if name == "saver":
        return saving(folder)
    if name == "monitor":
        return monitoring(model)
    if name == "tracer":
        return ModelTracer(model, ["forward.y"])
    return contextlib.nullcontext()  # a tracker: its model has the decorator


def processor_time(names, models, folder):
    """Of one call."""
    model = models["tracker" in names]
    x = torch.randn(*SHAPE)
    with contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(begin(name, model, folder))
        for _ in range(WARM):
            model(x)
        started = time.process_time()
        for _ in range(CALLS):
            model(x)
        return (time.process_time() - started) / CALLS


def find_pairs(times):
    """What two add, over what the dearer one of them adds, of one round."""
    plain = times[()]
    added = {names: took - plain for names, took in times.items()}
    return {
        pair: both / max(added[pair[:1]], added[pair[1:]])
        for pair, both in added.items()
        if len(pair) == 2
    }


def measure(folder):
    from program import Model, Tracked

    configure(folder=folder, stdout=False)
    Tracked.forward = var_tracker("y")(Tracked.forward)
    models = Model(), Tracked()
    consumers = "recording", "saver", "monitor", "tracer", "tracker"
    pairs = [pair for pair in itertools.combinations(consumers, 2) if pair != LEFT_OUT]
    sets = [(), *itertools.combinations(consumers, 1), *pairs]
    rounds = []
    for turn in range(ROUNDS):
        order = sets if turn % 2 else sets[::-1]
        rounds.append({names: processor_time(names, models, folder) for names in order})
    for names in sets[1:]:
        took = median(times[names] - times[()] for times in rounds)
        print(f"{' and '.join(names):24} {took * 1e6:+8.1f} us a call", file=sys.stderr)
    return [find_pairs(times) for times in rounds]


def main():
    torch.set_num_threads(1)
    claims = Claims("What two consumers of the same line cost")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "plain.py").write_text(PROGRAM)
        subprocess.run(
            ["monitorch-instrument", "plain.py", "-o", "program.py"], cwd=folder, check=True
        )
        sys.path.insert(0, name)
        os.environ["LTAG"] = "x"
        os.chdir(folder)
        found = measure(folder)
    for pair in found[0]:
        claims.at_most(
            LIMIT_OF_SMALL if pair == SMALL else LIMIT,
            f"{pair[0]} and {pair[1]}",
            of_rounds([ratios[pair] for ratios in found]),
            peer="the dearer one alone",
        )
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
