"""Collection of the values that are logged under one key in one step, until they become one
number."""

from __future__ import annotations

import math
import sys
from numbers import Number
from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch._models import is_tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def as_number(value: Any) -> Any:
    """Converts tensors and arrays of one element, and NumPy numbers, to Python numbers.

    Other values are returned as they are.
    """
    if not hasattr(value, "item"):
        return value
    count = value.numel() if hasattr(value, "numel") else getattr(value, "size", 0)
    return value.item() if count == 1 else value


class Gathering:
    """Sums of the values that were logged under one key; copies, if there is an aggregation
    function."""

    __slots__ = ("function", "_numbers", "_tensors", "_total", "_count", "_there", "_is_blind")

    function: Callable[..., Any] | None

    def __init__(self) -> None:
        self.function = None
        self._numbers: list[Any] = []
        self._tensors: list[Any] = []
        self._total: Any = 0.0
        self._count = 0
        self._there: list[Any] = []  # sums that are still on a device
        self._is_blind = False

    def add_number(self, number: Any) -> None:
        self._numbers.append(number)

    def add_tensor(self, tensor: Any, key: str) -> None:
        if isinstance(tensor, Number):
            self._total += tensor
            self._count += 1
            if self.function is not None:
                self._tensors.append(sys.modules["torch"].tensor([tensor]))
            return
        if not hasattr(tensor, "detach"):
            raise ValueError(
                f"log_tensor: The provided value is not a tensor. Key: {key}, Value: {tensor}"
            )
        tensor = _unwrap(tensor.detach())
        if tensor.device.type == "meta":
            self._is_blind = True
            return
        if self.function is not None:
            self._tensors.append(tensor.flatten().clone())
            return
        try:
            total = _sum_here(tensor)
        except RuntimeError:  # a FakeTensor has no values
            self._is_blind = True
            return
        self._count += tensor.numel()
        if total is None:
            self._there.append(_sum_there(tensor))
        else:
            self._total += total

    def is_empty(self) -> bool:
        """Whether only tensors without values were logged."""
        there = self._count or self._numbers or self._tensors
        return self._is_blind and not there

    def pending(self) -> list[Any]:
        """Tensors of one element on devices, which are read together with those of other keys."""
        return self._there

    def settle(self, values: list[float]) -> None:
        """Adds the values of the pending tensors."""
        self._total += sum(values)
        self._there = []

    def result(self) -> Any:
        """The number; or a dict of key endings and numbers."""
        if self.function is not None:
            return self.function(self._all_tensors() if self._tensors else self._numbers)
        if self._count == 0 and len(self._numbers) == 1:
            return self._numbers[0]
        count = self._count + len(self._numbers)
        return (self._total + sum(self._numbers)) / count if count else math.nan

    def _all_tensors(self) -> Any:
        torch = sys.modules["torch"]
        parts = list(self._tensors)
        if self._count and len(parts) == 0:
            parts.append(torch.tensor([self._total / self._count]))
        parts += [torch.tensor([number], device=parts[0].device) for number in self._numbers]
        return torch.cat([part.to(parts[0].device) for part in parts])


def _unwrap(tensor: Any) -> Any:
    """The tensor inside torch.func's transforms: under vmap all of its elements."""
    functorch: Any = getattr(sys.modules["torch"]._C, "_functorch", None)
    if hasattr(functorch, "get_unwrapped") and is_tensor(tensor):
        while functorch.is_functorch_wrapped_tensor(tensor):
            tensor = functorch.get_unwrapped(tensor)
    return tensor


def _sum_here(tensor: Any) -> Any:
    """The sum on the CPU; None if the tensor is on a device. Raises RuntimeError if it has no
    values."""
    if tensor.device.type != "cpu":
        return None
    if tensor.numel() == 1:
        return tensor.item()
    found = None if tensor.dtype.is_complex else _recorder.measure(tensor, sample=0, hash=False)
    if found is None or not found["is_readable"]:
        return _sum_there(tensor).item()
    if found["nan"] or (found["posinf"] and found["neginf"]):
        return math.nan
    if found["posinf"] or found["neginf"]:
        return math.inf if found["posinf"] else -math.inf
    return found["mean"] * found["count"] if found["count"] else 0.0


def _sum_there(tensor: Any) -> Any:
    torch = sys.modules["torch"]
    if tensor.dtype.is_complex or tensor.dtype == torch.float64:
        return tensor.sum()
    try:
        return tensor.sum(dtype=torch.float64)
    except (RuntimeError, TypeError):  # a device without float64
        return tensor.sum(dtype=torch.float32)


def results(gathered: Mapping[str, Gathering]) -> tuple[dict[str, Any], list[RuntimeError]]:
    """Returns {key: number} of a step, and errors: a function that raises affects only its own key.

    Values on a device are read by one copy from each device.
    """
    _settle(gathered)
    made: dict[str, Any] = {}
    errors = []
    for key, gathering in gathered.items():
        if gathering.is_empty():
            continue
        try:
            result = gathering.result()
        except Exception as error:
            errors.append(RuntimeError(f"Failed to aggregate what was logged as {key}: {error}"))
            errors[-1].__cause__ = error
            continue
        if isinstance(result, dict):
            made.update({key + ending: as_number(value) for ending, value in result.items()})
        else:
            made[key] = as_number(result)
    return made, errors


def _settle(gathered: Mapping[str, Gathering]) -> None:
    waiting = [gathering for gathering in gathered.values() if gathering.pending()]
    groups: dict[Any, list[tuple[int, int, Any]]] = {}
    values = [[0.0] * len(gathering.pending()) for gathering in waiting]
    for number, gathering in enumerate(waiting):
        for place, tensor in enumerate(gathering.pending()):
            groups.setdefault((tensor.device, tensor.dtype), []).append((number, place, tensor))
    for members in groups.values():
        found = sys.modules["torch"].stack([tensor for _, _, tensor in members]).tolist()
        for (number, place, _), value in zip(members, found):
            values[number][place] = value
    for gathering, read in zip(waiting, values):
        gathering.settle(read)
