"""Runs in a process of its own: the table of kinds, first met in the situation that the argument
names. Prints what was wrong; nothing where all is well."""

import math
import sys

import torch
from monitorch import _recorder
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from tests.python.tensor.tensor_kinds import (
    KINDS,
    MEASURED_DTYPES,
    CalledByRecorder,
    differences,
    expected_statistics,
)


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
    "another device": lambda: torch.enable_grad(),
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
    elif situation == "pre-dispatch trace":
        graph = make_fx(lambda x: (work(), x + 1)[1], pre_dispatch=True)(torch.ones(2)).graph
        names = [node.name for node in graph.nodes]
        assert names == ["x_1", "add", "output"], names
    else:
        with CONTEXTS[situation]():
            work()
    return answers


def random_tensors(count):
    """Tensors of many dtypes, shapes and strides, with NaN, infinities and large values in them."""
    generator = torch.Generator().manual_seed(0)

    def integer(low, high):
        return int(torch.randint(low, high, (), generator=generator))

    dtypes = [getattr(torch, name) for name in MEASURED_DTYPES if hasattr(torch, name)]
    for number in range(count):
        dtype = dtypes[number % len(dtypes)]
        shape = [integer(0, 9) for _ in range(integer(0, 5))]
        numbers = torch.randn(shape, generator=generator, dtype=torch.float64) * 10 ** integer(
            -3, 4
        )
        if dtype.is_floating_point:
            for value in (float("nan"), float("inf"), -float("inf"), 0.0):
                if integer(0, 3) == 0:
                    numbers[torch.rand(shape, generator=generator) < 0.2] = value
        elif not dtype.is_signed:
            numbers = numbers.abs()
        tensor = (
            numbers.clamp(-100, 100).to(dtype) if not dtype.is_floating_point else numbers.to(dtype)
        )
        if len(shape) > 1 and integer(0, 2):
            tensor = tensor.transpose(0, -1)
        if shape and integer(0, 2):
            tensor = tensor[..., :: integer(1, 3)]
        yield tensor


def check_device():
    """Statistics computed by torch's operations, piece by piece, are what they should be."""
    large = torch.randn(5_000_001, dtype=torch.float64).sub_(7)
    for tensor in [
        *random_tensors(300),
        large,
        large.to(torch.float16)[::2],
        torch.ones(3000, 3000).t(),
    ]:
        answer = _recorder.measure(tensor)
        wanted = expected_statistics(tensor)
        wrong = {
            name: (answer.get(name), value)
            for name, value in wanted.items()
            if not close(answer, name, value)
        }
        if wrong or "hash" in answer or answer["is_readable"]:
            print(tensor.dtype, tuple(tensor.shape), tensor.stride(), wrong)
    extremes = _recorder.measure(torch.tensor([2**63 - 1, -(2**63)]))
    assert (extremes["min"], extremes["max"]) == (-(2**63), 2**63 - 1), extremes
    if hasattr(torch, "uint64"):
        extremes = _recorder.measure(torch.tensor([2**64 - 1, 3], dtype=torch.uint64))
        assert (extremes["min"], extremes["max"]) == (3, 2**64 - 1), extremes


def close(answer, name, value):
    got = answer.get(name)
    return got is not None and math.isclose(got, value, rel_tol=1e-6, abs_tol=1e-300)


def main(situation):
    if situation == "another device":
        check_device()
    tensors = [kind.make() for kind in KINDS]
    statistics = [
        None if kind.values is None else expected_statistics(kind.values(tensor))
        for kind, tensor in zip(KINDS, tensors)
    ]
    # Where others would see what is asked, less is asked: that is the one difference allowed.
    is_on_device = situation == "another device"
    is_shy = not is_on_device and situation not in (
        "nothing",
        "inference",
        "no_grad",
        "device",
        "function mode",
    )
    for round in range(2):
        answers = measured_in(situation, tensors)
        for kind, tensor, values, answer in zip(KINDS, tensors, statistics, answers):
            if is_shy and answer is not None and answer["note"].startswith("sparse"):
                answer["note"] = kind.facts.get("note", answer["note"])
            if situation == "jit trace" and answer is not None and not answer["is_readable"]:
                continue
            for text in differences(kind, tensor, answer, is_shy, values, is_on_device):
                print(f"round {round}: {text}")


if __name__ == "__main__":
    main(sys.argv[1])
