"""StorageManager: what was logged, step by step, and its files.

This is the contract that ModuleMonitor relies on. Values are never kept as they were given: a tensor
that is changed in place after it was logged changes nothing here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import logging
    import os
    from collections.abc import Callable, Mapping


class Histogram(NamedTuple):
    """How many of the values lie in each bin; there is one edge more than there are bins. The
    first and the last edge may be infinite."""

    counts: tuple[int, ...]
    edges: tuple[float, ...]


class StorageManager:
    """Metrics by step and key."""

    def __init__(self, logger: logging.Logger | None = None) -> None:
        raise NotImplementedError

    def create_step_entry(self, step: int) -> None:
        """Makes room for the step; nothing where it is there already."""
        raise NotImplementedError

    def has_step(self, step: int) -> bool:
        raise NotImplementedError

    def get_step_metrics(self, step: int) -> dict[str, float]:
        """{key: value}; {} of a step that there is not. Before aggregate_step, what is logged so
        far, aggregated as it would be now."""
        raise NotImplementedError

    def get_all_metrics(self) -> dict[int, dict[str, float]]:
        """{step: {key: value}}."""
        raise NotImplementedError

    def load_metrics(self, log_dict: Mapping[int, Mapping[str, float]]) -> None:
        raise NotImplementedError

    def clear(self) -> None:
        raise NotImplementedError

    def log_scalar(
        self, step: int, key: str, value: Any, aggregation_fn: Callable[..., Any] | None = None
    ) -> None:
        """A number, or a tensor of one element. Of several under one key the mean is taken, or
        what `aggregation_fn` makes of a 1-d tensor of them."""
        raise NotImplementedError

    def log_tensor(
        self, step: int, key: str, tensor: Any, aggregation_fn: Callable[..., Any] | None = None
    ) -> None:
        """A tensor of any shape. Those logged under one key are flattened, concatenated and
        averaged (without a function by sum and count alone, nothing is kept), or what
        `aggregation_fn` makes of the concatenated tensor. Where that is a dict, its keys are
        appended to the key."""
        raise NotImplementedError

    def put_metrics(self, step: int, metrics: Mapping[str, float]) -> None:
        """Values that are final: nothing is aggregated. ModuleMonitor's built-in metrics, whose
        parts it merges itself as their kind demands, come this way just before aggregate_step."""
        raise NotImplementedError

    def put_histograms(self, step: int, histograms: Mapping[str, Histogram]) -> None:
        """The same of histograms, which stand beside the metrics and never among them."""
        raise NotImplementedError

    def get_step_histograms(self, step: int) -> dict[str, Histogram]:
        raise NotImplementedError

    def aggregate_step(self, step: int) -> None:
        """What was logged in the step becomes one float for each key. With an open HDF5 file
        (append_hdf5) the step is in the file when this returns."""
        raise NotImplementedError

    def condensed_log_dict(self) -> dict[str, dict[int, float]]:
        """{key: {step: value}}."""
        raise NotImplementedError

    def save_hdf5(self, filename: str | os.PathLike[str], condensed: bool = True) -> None:
        raise NotImplementedError

    @staticmethod
    def read_hdf5_entry_keys(filename: str | os.PathLike[str]) -> list[str]:
        raise NotImplementedError

    @staticmethod
    def read_hdf5_entry(filename: str | os.PathLike[str], entry_key: str) -> dict[int, float]:
        raise NotImplementedError

    @staticmethod
    def load_hdf5(filename: str | os.PathLike[str]) -> dict[str, dict[int, float]]:
        raise NotImplementedError
