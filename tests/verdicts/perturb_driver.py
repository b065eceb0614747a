"""Runs a model several times, each time with one element of one tensor changed:

    python -m monitorch run --no-record --include … perturb_driver.py MODEL COUNT FOLDER

MODEL is a file of JSON: the statements that make the model, and those that run it. The first run changes nothing
(FOLDER/0.mtrace). A later one changes an input of the model, or a recorded value that a call of torch gave, if that
has memory of its own: then nothing that was there before changes with it. FOLDER/changes.json names each run's
trace and the address of the tensor. The first run's tensors are kept alive, so that in its trace an address is one
tensor.
"""

import json
import pathlib
import subprocess
import sys

import model_setup  # noqa: F401, first
import monitorch
import torch
from torch.overrides import TorchFunctionMode


def leaves(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)


def memory(tensor):
    return tensor.untyped_storage().data_ptr() if tensor.layout == torch.strided else 0


def change(tensor):
    """One element in the middle, by more than rounding takes away again."""
    place = tuple(size // 2 for size in tensor.shape)
    tensor.data[place] += 0.5 * (tensor.data[place].abs() + 1)


def is_changeable(tensor):
    return (
        tensor.is_floating_point()
        and tensor.layout == torch.strided
        and tensor.numel() > 0
        and 0 not in tensor.stride()
        and bool(tensor.isfinite().all())
    )


class Calls(TorchFunctionMode):
    """Keeps all that calls of torch give, by the order of the calls, and changes one of these tensors."""

    def __init__(self, changed=None):
        super().__init__()
        self.changed, self.kept, self.known, self.own = changed, [], set(), []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self.known |= {memory(tensor) for tensor in leaves([args, kwargs])}
        result = function(*args, **kwargs)
        for tensor in leaves(result):
            if memory(tensor) not in self.known and is_changeable(tensor):
                self.own.append((len(self.kept), id(tensor)))
            self.known.add(memory(tensor))
            if len(self.kept) == self.changed:
                change(tensor)
            self.kept.append(tensor)
        return result


def run(model, path, changed=None, changed_input=None):
    """The mode, the inputs, and all else that is to be kept alive."""
    torch.manual_seed(0)
    scope, calls = {"torch": torch}, Calls(changed)
    exec(model["make"], scope)
    values = [v for k, v in scope.items() if k != "__builtins__"]
    inputs = [tensor for tensor in leaves(values) if is_changeable(tensor)]
    if changed_input is not None:
        change(inputs[changed_input])
    torch.manual_seed(0)
    with monitorch.record(path), torch.no_grad(), calls:
        exec(model["run"], scope)
    return calls, inputs, scope


def spread(items, count):
    return [items[i * len(items) // count] for i in range(min(count, len(items)))]


def addresses(trace):
    """Of all recorded tensors."""
    query = "select distinct object from events where value_kind = 'tensor'"
    words = [sys.executable, "-m", "monitorch", "sql", "--no-header", str(trace), query]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return {int(line) for line in done.stdout.split()}


def main():
    model, count, folder = sys.argv[1:]
    model, folder = json.loads(pathlib.Path(model).read_text()), pathlib.Path(folder)
    calls, inputs, scope = run(model, folder / "0.mtrace")
    recorded = addresses(folder / "0.mtrace")
    changes = [
        {"object": id(tensor), "changed_input": place} for place, tensor in enumerate(inputs)
    ]
    own = [(number, address) for number, address in calls.own if address in recorded]
    changes += [
        {"object": address, "changed": number} for number, address in spread(own, int(count))
    ]
    for number, item in enumerate(changes):
        item["trace"] = f"{number + 1}.mtrace"
        asked = {k: v for k, v in item.items() if k.startswith("changed")}
        run(model, folder / item["trace"], **asked)
    (folder / "changes.json").write_text(json.dumps(changes))
    del scope


main()
