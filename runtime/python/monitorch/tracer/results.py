"""What a ModelTracer has traced."""

from __future__ import annotations

from typing import Any, NamedTuple


class LabelledArray(NamedTuple):
    """An array whose axes have names, and the labels along its first one."""

    values: Any  # numpy.ndarray
    axes: tuple[str, ...]
    iteration: Any
    rank: Any


class TracedValues:
    """The values of one path: three lists, index for index."""

    def __init__(self) -> None:
        self.iterations: list[int] = []
        self.ranks: list[int] = []
        self.values: list[Any] = []
