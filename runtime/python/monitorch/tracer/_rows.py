"""Rows of an array, all of one shape and dtype, made of values of any kind."""

from __future__ import annotations

import logging
from typing import Any

from monitorch._models import is_tensor

logger = logging.getLogger("monitorch.tracer")
_warned: set[tuple[str, str]] = set()

NO_ITERATION, NO_RANK = 0, -1  # the fillers of rows that have fewer than others


class Kinds:
    """The dtypes in which values of each kind are stored."""

    def __init__(self, iteration: Any, floating: Any, integer: Any) -> None:
        self.iteration = _find_dtype("iteration_dtype", iteration, "iu")
        self.floating = _find_dtype("float_dtype", floating, "f")
        self.integer = _find_dtype("int_dtype", integer, "iu")

    def choose(self, array: Any) -> Any:
        """The dtype in which such an array is stored; None if it cannot be stored."""
        import numpy

        kind = array.dtype.kind
        if kind in "iu":
            return self.integer
        if kind == "f":
            return self.floating
        if kind == "c":
            return numpy.result_type(self.floating, numpy.complex64)
        return array.dtype if kind in "bU" else None


def find_widest(dtypes: list[Any]) -> Any:
    """The dtype of the most general kind: bools, integers, floating-point and complex numbers."""
    import numpy

    if all(dtype.kind == "U" for dtype in dtypes):
        return numpy.result_type(*dtypes)
    return max(dtypes, key=lambda dtype: "biufc".index(dtype.kind))


def _find_dtype(argument: str, given: Any, kinds: str) -> Any:
    import numpy

    text = str(given)
    try:
        dtype = numpy.dtype(text.removeprefix("torch.") if text.startswith("torch.") else given)
    except TypeError as error:
        raise ValueError(f"{argument}: {given!r} is not a dtype that HDF5 has") from error
    if dtype.kind not in kinds:
        wanted = "integers" if "i" in kinds else "floating-point numbers"
        raise ValueError(f"{argument}: {dtype} is not one of {wanted}")
    return dtype


def make_rows(
    name: str, values: list[Any], iterations: list[int], ranks: list[int], kinds: Kinds
) -> tuple[Any, Any, Any] | None:
    """Values, iterations and ranks, a row for each value; None if no value can be stored."""
    import numpy

    arrays = [_as_array(value) for value in values]
    unfit = [i for i, array in enumerate(arrays) if array is None or kinds.choose(array) is None]
    if unfit:
        type_name = type(values[unfit[0]]).__name__
        _warn_once(
            name, type_name, f"{name}: values of type {type_name} are not numbers and were not stored"
        )
        return None
    is_text = [array.dtype.kind == "U" for array in arrays]
    if any(is_text) and not all(is_text):
        _warn_once(name, "mixed", f"{name}: a dataset cannot hold both strings and numbers")
        return None
    dtype = find_widest([kinds.choose(array) for array in arrays])
    count = max(array.ndim for array in arrays)
    arrays = [array.reshape((1,) * (count - array.ndim) + array.shape) for array in arrays]
    shape = tuple(max(sizes) for sizes in zip(*(array.shape for array in arrays)))
    rows = numpy.zeros((len(arrays), *shape), dtype=dtype)
    for row, array in zip(rows if count else rows[:, None], arrays):
        if dtype.kind in "iu":
            array = _clip(name, array, dtype)
        with numpy.errstate(over="ignore"):
            row[tuple(slice(size) for size in array.shape)] = array
    of_iterations = _spread(iterations, len(arrays), kinds.iteration, NO_ITERATION)
    return rows, of_iterations, _spread(ranks, len(arrays), numpy.dtype("int32"), NO_RANK)


def _as_array(value: Any) -> Any:
    import numpy

    if is_tensor(value):
        return _tensor_as_array(value)
    if value is None or isinstance(value, (dict, set, frozenset, bytes)):
        return None
    if isinstance(value, (list, tuple)) and value and all(map(is_tensor, value)):
        parts = [_tensor_as_array(item) for item in value]
        same = all(p is not None and p.shape == parts[0].shape for p in parts)
        return numpy.stack(parts) if same else None
    try:
        return numpy.asarray(value)
    except Exception:  # a ragged list, or any error of __array__
        return None


def _tensor_as_array(tensor: Any) -> Any:
    import torch

    from monitorch.tracer._message import undisturbed

    try:
        with undisturbed():
            tensor = tensor.detach()
            if tensor.layout is not torch.strided:
                tensor = tensor.to_dense()
            tensor = tensor.cpu().resolve_conj().resolve_neg()
            if tensor.is_floating_point() and tensor.dtype not in (torch.float16, torch.float64):
                tensor = tensor.float()
            if tensor.dtype is torch.complex32:
                tensor = tensor.to(torch.complex64)
            return tensor.numpy()
    except Exception:  # a tensor without values
        return None


def _clip(name: str, array: Any, dtype: Any) -> Any:
    """Replaces integers beyond the dtype's range by the nearest one, so that they do not wrap
    around."""
    import numpy

    if array.size == 0 or array.dtype.kind == "b" or numpy.can_cast(array.dtype, dtype):
        return array
    limits = numpy.iinfo(dtype)
    low, high = int(array.min()), int(array.max())
    if limits.min <= low and high <= limits.max:
        return array
    _warn_once(
        name, "clipped", f"{name}: {low if low < limits.min else high} does not fit in {dtype}: set int_dtype",
    )
    return numpy.clip(array, max(low, limits.min), min(high, limits.max))


def _spread(numbers: list[int], count: int, dtype: Any, fill: int) -> Any:
    """One number for each row, or a row of numbers for a row that was stacked of several values."""
    import numpy

    each = -(-len(numbers) // count)
    if each <= 1 and len(numbers) == count:
        return numpy.array(numbers, dtype=dtype)
    spread = numpy.full((count, max(each, 1)), fill, dtype=dtype)
    spread.reshape(-1)[: len(numbers)] = numbers
    return spread


def _warn_once(name: str, key: str, text: str) -> None:
    if (name, key) not in _warned:
        _warned.add((name, key))
        logger.warning("%s", text)
