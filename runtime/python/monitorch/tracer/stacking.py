"""Callbacks that leave one stacked tensor of many."""

from __future__ import annotations

from typing import Any


def stack_tensors(name: str, values: list[Any], *rest: object) -> None:
    """Leaves one tensor in `values`; all must have one shape."""
    raise NotImplementedError


def stack_padded_tensors(name: str, values: list[Any], *rest: object) -> None:
    """The same for tensors of any shapes: padded with zeros at their ends."""
    raise NotImplementedError
