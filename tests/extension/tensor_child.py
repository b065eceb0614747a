"""Runs in a process of its own: the table of kinds, first met in the situation that the argument
names. Prints what was wrong; nothing where all is well."""

import sys

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from monitorch import _recorder
from tests.extension.tensor_kinds import KINDS, CalledByRecorder, differences, expected_statistics


class FunctionMode(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        raise CalledByRecorder(function)


class DispatchMode(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        raise CalledByRecorder(function)


class AskedWithin:
    """Inside a transform of torch.func: its interpreter stack is not empty."""

    def __init__(self, transform):
        self.transform = transform

    def run(self, work):
        def function(x):
            work()
            return x.sum()

        self.transform(function)(torch.ones(2))


CONTEXTS = {
    "nothing": lambda: torch.enable_grad(),
    "getters": lambda: torch.enable_grad(),
    "inference": lambda: torch.inference_mode(),
    "no_grad": lambda: torch.no_grad(),
    "device": lambda: torch.device("meta"),
    "function mode": FunctionMode,
    "dispatch mode": DispatchMode,
    "fake mode": FakeTensorMode,
    "profiler": lambda: torch.profiler.profile(),
}
TRANSFORMS = {
    "vmap": AskedWithin(torch.func.vmap),
    "grad": AskedWithin(torch.func.grad),
    "functionalize": AskedWithin(torch.func.functionalize),
}


def measured_in(situation, tensors):
    """measure() of each, in the situation; never a call that it makes itself."""
    answers = []

    def work():
        answers.extend(_recorder.measure(tensor) for tensor in tensors)

    if situation in TRANSFORMS:
        TRANSFORMS[situation].run(work)
    elif situation == "jit trace":
        torch.jit.trace(lambda x: (work(), x + 1)[1], torch.ones(2), check_trace=False)
    else:
        with CONTEXTS[situation]():
            work()
    return answers


def main(situation):
    tensors = [kind.make() for kind in KINDS]
    statistics = [
        None if kind.values is None else expected_statistics(kind.values(tensor))
        for kind, tensor in zip(KINDS, tensors)
    ]
    # Where others would see what is asked, less is asked: that is the one difference allowed.
    is_shy = situation not in ("nothing", "inference", "no_grad", "device", "function mode")
    for round in range(2):
        answers = measured_in(situation, tensors)
        for kind, tensor, values, answer in zip(KINDS, tensors, statistics, answers):
            if is_shy and answer is not None and answer["note"].startswith("sparse"):
                answer["note"] = kind.facts.get("note", answer["note"])
            if situation == "jit trace" and answer is not None and not answer["is_readable"]:
                continue
            for text in differences(kind, tensor, answer, is_shy, values):
                print(f"round {round}: {text}")


if __name__ == "__main__":
    main(sys.argv[1])
