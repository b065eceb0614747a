"""Callbacks that replace many values by one stacked tensor.

They work as pre_gather, post_gather and post_trace callbacks. Numbers and arrays count as tensors.
If `values` holds anything else, it is left as it is, and a warning is logged.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

logger = logging.getLogger("monitorch.tracer")
_warned: set[str] = set()


def stack_tensors(name: str, values: list[Any], *rest: object) -> None:
    """Replaces `values` by one stacked tensor. All values must have one shape.

    Pass it as a pre_gather, post_gather or post_trace callback.

    Args:
        name (str): the path, for messages.
        values (list): the values; changed in place.

    Raises:
        ValueError: if the shapes differ.

    Example::

        >>> ModelTracer(model, ["forward"], post_gather_callbacks=[stack_tensors])
    """
    tensors = _find_tensors(name, values)
    if tensors is None:
        return
    import torch

    shapes = {tuple(tensor.shape) for tensor in tensors}
    if len(shapes) > 1:
        raise ValueError(
            f"{name}: values of the shapes {', '.join(map(str, sorted(shapes)))} cannot be "
            "stacked; use stack_padded_tensors"
        )
    with torch.no_grad():
        values[:] = [torch.stack(tensors)]


def stack_padded_tensors(name: str, values: list[Any], *rest: object) -> None:
    """Replaces `values` by one stacked tensor, padded with zeros where shapes differ.

    Each tensor is padded at its ends to the largest sizes. A tensor with fewer dimensions gets
    leading ones. Pass it as a pre_gather, post_gather or post_trace callback.

    Args:
        name (str): the path, for messages.
        values (list): the values; changed in place.
    """
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
    """The values as tensors of one dtype on one device; None if there is nothing to stack."""
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
            if name not in _warned:
                _warned.add(name)
                logger.warning("%s: values of type %s were not stacked", name, type(value).__name__)
            return None
    dtype, device = tensors[0].dtype, tensors[0].device
    for tensor in tensors:
        dtype = torch.promote_types(dtype, tensor.dtype)
        if tensor.device.type != "cpu":
            device = tensor.device
    return [tensor.to(device, dtype) for tensor in tensors]
