"""Runs a program with every pair and every triple of the six recorders, and prints where one of
them has another result than alone.

    python together_child.py PROGRAM               # of code that is not instrumented
    monitorch run … together_child.py PROGRAM      # and of code that is
"""

import glob
import itertools
import json
import os
import re
import sys
import tempfile

import monitorch
import together_models
import torch
from monitorch import tracker
from monitorch.monitor import ModuleMonitor
from monitorch.spy import DebugContext, TensorSaver
from monitorch.tracer import ModelTracer

STEPS = 2
MODULE = "together_models"


def read_log():
    """All lines that the tracker has written in this process."""
    lines = []
    for path in glob.glob("logs/*/*.log"):
        with open(path) as file:
            lines += file.read().splitlines()
    return lines


def describe(value):
    """Numbers as text: NaN is equal to NaN there."""
    if isinstance(value, torch.Tensor):
        return str(value.tolist())
    return str(value)


class Recording:
    """The log of a recording: the values of the program's own lines."""

    def begin(self, model, folder):
        self.path = f"{folder}/run.mtrace"
        self.recording = monitorch.record(self.path, include=MODULE).start()

    def end(self):
        self.recording.stop()
        names = ["file", "kind", "change", "line", "name", "shape", "mean"]
        events = monitorch.load(self.path, columns=names)
        rows = zip(*(list(events[name]) for name in names))
        # A tracker's lines without an assignment, and items that did not change, are there too.
        return [
            str(row[3:])
            for row in rows
            if os.path.basename(row[0]) == f"{MODULE}.py" and row[1] != "line" and row[2] != "same"
        ]


class Picture:
    """What monitorch.on() draws."""

    def begin(self, model, folder):
        self.folder = folder
        # The calling frame's file is followed too: one without a source, so that this one is not.
        eval("on(show=False, include=module)", {"on": monitorch.on, "module": MODULE})

    def end(self):
        output = monitorch.off(filename=f"{self.folder}/flow.dot")
        with open(output.saved_path) as file:
            labels = re.findall(r" \[fillcolor=.* label=<(.*)>\];", file.read())
        # A monitor records the calls of modules that are not instrumented, too.
        return sorted(label for label in labels if "(argument)" not in label and "(result)" not in label)


class Saved:
    """Files of a saver that selects variables by their names."""

    def begin(self, model, folder):
        self.folder = f"{folder}/saved"
        saver = TensorSaver(self.folder, names="hidden,joined,features")
        saver.register_modules(model)
        self.context = DebugContext(saver, prefix="run")
        self.context.__enter__()

    def end(self):
        self.context.__exit__(None, None, None)
        found = []
        for name in sorted(os.listdir(self.folder)):
            found.append(f"{name} {describe(torch.load(f'{self.folder}/{name}', weights_only=True))}")
        return found


class Metrics:
    """Metrics of a monitor."""

    def begin(self, model, folder):
        self.monitor = monitor = ModuleMonitor(monitor_step_fn=lambda step: True)
        monitor.set_module(model)
        monitor.add_activation_metric("std", "std")
        monitor.add_activation_metric("largest", lambda value: value.abs().max())
        monitor.begin_step(0)

    def end(self):
        self.monitor.end_step()
        return [f"{key} {describe(value)}" for key, value in self.monitor.get_step_metrics().items()]


class Traced:
    """A tracer's results."""

    def begin(self, model, folder):
        self.tracer = ModelTracer(model, ["forward.*", "*.*"])
        self.tracer.__enter__()

    def end(self):
        self.tracer.__exit__(None, None, None)
        return [
            f"{path} {[describe(value) for value in found.values]} {found.iterations}"
            for path, found in self.tracer.results.items()
        ]


class Tracked:
    """A tracker's log."""

    def begin(self, model, folder):
        self.first = len(read_log())
        self.installation = tracker.install(
            MODULE, "*.forward", "normalise", decorator=tracker.var_tracker("*")
        )

    def end(self):
        self.installation.remove()
        lines = read_log()[self.first :]
        return [re.sub(r"called from .*", "", line) for line in lines if "elapsed" not in line]


RECORDERS = {made.__name__: made for made in (Recording, Picture, Saved, Metrics, Traced, Tracked)}


def run(program, names, must_nest):
    """What each of these recorders found, begun in this order."""
    torch.manual_seed(0)
    model = together_models.PROGRAMS[program]()
    with tempfile.TemporaryDirectory() as folder:
        recorders = {name: RECORDERS[name]() for name in names}
        for recorder in recorders.values():
            recorder.begin(model, folder)
        for number in range(STEPS):
            model.step(number)
        order = reversed(recorders) if must_nest else recorders
        found = {name: recorders[name].end() for name in list(order)}
    weights = [describe(value) for value in model.state_dict().values()]
    monitorch.reset()
    return found, weights


def main():
    program = sys.argv[1]
    if not hasattr(together_models, "_mt"):
        del RECORDERS["Saved"]  # a saver's names are those of instrumented code
    alone = {name: run(program, (name,), True)[0][name] for name in RECORDERS}
    _, plain = run(program, (), True)
    wrong = []
    count = 0
    for size in (2, 3):
        for names in itertools.combinations(RECORDERS, size):
            for begun in (names, names[::-1]):
                for must_nest in (True, False):
                    count += 1
                    found, weights = run(program, begun, must_nest)
                    for name in names:
                        if found[name] != alone[name]:
                            wrong.append([begun, must_nest, name, alone[name], found[name]])
                    if weights != plain:
                        wrong.append([begun, must_nest, "the program", plain, weights])
    print(json.dumps({"count": count, "alone": alone, "wrong": wrong}))


if __name__ == "__main__":
    main()
