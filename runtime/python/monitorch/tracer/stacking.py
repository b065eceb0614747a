"""Callbacks that leave one stacked tensor of many.

They serve as pre_gather, post_gather and post_trace callbacks. Numbers and arrays count as tensors;
where there is anything else in `values`, they are left as they are, and a warning says so.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

logger = logging.getLogger("monitorch.tracer")
_told_of: set[str] = set()


def stack_tensors(name: str, values: list[Any], *rest: object) -> None:
    """Leaves one tensor in `values`; all must have one shape."""
    tensors = _find_tensors(name, values)
    if tensors is None:
        return
    import torch

    shapes = {tuple(tensor.shape) for tensor in tensors}
    if len(shapes) > 1:
        raise ValueError(
            f"{name}: values of the shapes {', '.join(map(str, sorted(shapes)))} cannot be stacked: "
            "use stack_padded_tensors"
        )
    with torch.no_grad():
        values[:] = [torch.stack(tensors)]


def stack_padded_tensors(name: str, values: list[Any], *rest: object) -> None:
    """Leaves one tensor in `values`, as stack_tensors does, of tensors of any shapes: they are padded with
    zeros at their ends to the largest sizes, and those with fewer axes are given more in front."""
    tensors = _find_tensors(name, values)
    if tensors is None:
        return
    import torch

    count = max(tensor.dim() for tensor in tensors)
    with torch.no_grad():
        tensors = [t.reshape((1,) * (count - t.dim()) + t.shape) for t in tensors]
        shape = [max(sizes) for sizes in zip(*(t.shape for t in tensors))]
        if all(list(t.shape) == shape for t in tensors):
            values[:] = [torch.stack(tensors)]
            return
        stacked = tensors[0].new_zeros((len(tensors), *shape))
        for row, tensor in zip(stacked, tensors):
            row[tuple(slice(size) for size in tensor.shape)] = tensor
        values[:] = [stacked]


def _find_tensors(name: str, values: list[Any]) -> list[Any] | None:
    """The values as tensors of one dtype on one device; None where there is nothing to stack."""
    if not values:
        return None
    import torch

    numpy = sys.modules.get("numpy")
    tensors = []
    for value in values:
        if isinstance(value, torch.Tensor):
            tensors.append(value.detach())
        elif isinstance(value, (bool, int, float, complex)) or (
            numpy is not None and isinstance(value, (numpy.ndarray, numpy.number, numpy.bool_))
        ):
            tensors.append(torch.as_tensor(value, device="cpu"))
        else:
            if name not in _told_of:
                _told_of.add(name)
                logger.warning("%s: values of %s are not stacked", name, type(value).__name__)
            return None
    dtype, device = tensors[0].dtype, tensors[0].device
    for tensor in tensors:
        dtype = torch.promote_types(dtype, tensor.dtype)
        if tensor.device.type != "cpu":
            device = tensor.device
    return [tensor.to(device, dtype) for tensor in tensors]
