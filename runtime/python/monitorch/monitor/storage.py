"""Metrics by step and key, collected while a step runs and aggregated at its end."""

from __future__ import annotations

from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

from monitorch.monitor import _gather, _hdf5

if TYPE_CHECKING:
    import logging
    import os
    from collections.abc import Callable, Mapping

    Metrics = dict[str, Any]


class Histogram(NamedTuple):
    """The number of values in each bin, and the edges of the bins.

    Attributes:
        counts (tuple[int, ...]): the counts.
        edges (tuple[float, ...]): one more than there are bins. The first and the last may be
            infinite.
    """

    counts: tuple[int, ...]
    edges: tuple[float, ...]


class StorageManager:
    """Metrics as ``{step: {key: number}}``.

    A key that is logged several times in a step becomes one number: the mean, or the result of an
    aggregation function. A step is open until ``aggregate_step(step)``; until then its metrics
    are those so far.

    Args:
        logger (logging.Logger, optional): receives warnings. Default: ``None``

    Example::

        >>> storage = StorageManager()
        >>> storage.log_scalar(0, "loss", 1.0)
        >>> storage.log_scalar(0, "loss", 2.0)
        >>> storage.aggregate_step(0)
        >>> storage.get_step_metrics(0)
        {'loss': 1.5}
    """

    def __init__(self, logger: logging.Logger | None = None) -> None:
        self.logger = logger
        self.aggregation_fns: dict[str, Callable[..., Any]] = {}
        self._steps: dict[int, Metrics] = {}
        self._open: dict[int, dict[str, _gather.Gathering]] = {}
        self._histograms: dict[int, dict[str, Histogram]] = {}
        self._file: _hdf5.Appender | None = None

    # ---- steps ----

    def create_step_entry(self, step: int) -> None:
        """Opens a step. Its existing metrics stay."""
        self._steps.setdefault(step, {})
        self._open.setdefault(step, {})

    def has_step(self, step: int) -> bool:
        """Returns whether the step exists."""
        return step in self._steps

    def is_open(self, step: int) -> bool:
        """Returns whether something was logged in the step that is not aggregated yet."""
        return bool(self._open.get(step))

    def get_step_metrics(self, step: int) -> Metrics:
        """Returns ``{key: number}`` of a step; an empty dict for an unknown step."""
        found = self._steps.get(step)
        if found is None:
            return {}
        gathered = self._open.get(step)
        return {**found, **_gather.results(gathered)[0]} if gathered else found

    def get_all_metrics(self) -> dict[int, Metrics]:
        """Returns ``{step: {key: number}}``."""
        if not any(self._open.values()):
            return self._steps
        return {step: self.get_step_metrics(step) for step in self._steps}

    @property
    def log_dict(self) -> dict[int, Metrics]:
        """``{step: {key: number}}``, as `get_all_metrics()` returns it."""
        return self.get_all_metrics()

    def condensed_log_dict(self) -> dict[str, dict[int, Any]]:
        """Returns ``{key: {step: number}}``."""
        condensed: dict[str, dict[int, Any]] = {}
        for step, metrics in self.get_all_metrics().items():
            for key, value in metrics.items():
                condensed.setdefault(key, {})[step] = value
        return condensed

    def load_metrics(self, log_dict: Mapping[Any, Mapping[Any, Any]]) -> None:
        """Fills an empty storage.

        Args:
            log_dict (dict): ``{step: {key: number}}``, or ``{key: {step: number}}`` as `load_hdf5`
                returns it.

        Raises:
            ValueError: if the storage is not empty.
        """
        if self._steps:
            raise ValueError("The current log dict is not empty. Please clear it first.")
        steps: dict[int, Metrics] = {}
        for outer, inner in log_dict.items():
            if not isinstance(outer, str):
                steps.setdefault(outer, {}).update(inner)
                continue
            for step, value in inner.items():
                steps.setdefault(step, {})[outer] = value
        self._steps = {step: steps[step] for step in sorted(steps)}

    def clear(self) -> None:
        """Removes all metrics."""
        self._steps = {}
        self._open = {}
        self._histograms = {}

    # ---- logging ----

    def log_scalar(
        self,
        step: int,
        key: str,
        value: Any,
        aggregation_fn: Callable[..., Any] | None = None,
    ) -> None:
        """Logs a number, or a tensor of one element, in a step.

        Args:
            step (int): the step.
            key (str): the key.
            value (number or Tensor): the number.
            aggregation_fn (callable, optional): receives the list of all numbers of the step.
                Default: the mean

        Raises:
            ValueError: if the value is not a number.
        """
        number = _gather.as_number(value)
        if not isinstance(number, Number):
            raise ValueError(
                f"log_scalar: The provided value is not a scalar. Key: {key}, Value: {value}"
            )
        self._gather(step, key, aggregation_fn).add_number(number)

    def log_tensor(
        self,
        step: int,
        key: str,
        tensor: Any,
        aggregation_fn: Callable[..., Any] | None = None,
    ) -> None:
        """Logs all elements of a tensor in a step. The tensor itself is not kept.

        Args:
            step (int): the step.
            key (str): the key.
            tensor (Tensor): the tensor.
            aggregation_fn (callable, optional): receives all tensors of the key as one flat tensor.
                Default: the mean of all elements

        Raises:
            ValueError: if the value is not a tensor.
        """
        self._gather(step, key, aggregation_fn).add_tensor(tensor, key)

    def put_metrics(self, step: int, metrics: Mapping[str, Any]) -> None:
        """Stores final numbers, which replace earlier ones and are not aggregated."""
        self._steps.setdefault(step, {}).update(metrics)
        gathered = self._open.setdefault(step, {})
        for key in metrics.keys() & gathered.keys():
            del gathered[key]

    def put_histograms(self, step: int, histograms: Mapping[str, Histogram]) -> None:
        """Stores final histograms, which are kept apart from the metrics."""
        self._histograms.setdefault(step, {}).update(histograms)

    def get_step_histograms(self, step: int) -> dict[str, Histogram]:
        """Returns ``{key: Histogram}`` of a step; an empty dict if there are none."""
        return self._histograms.get(step, {})

    def _gather(
        self, step: int, key: str, function: Callable[..., Any] | None
    ) -> _gather.Gathering:
        if function is not None:
            self.aggregation_fns[key] = function
        else:
            function = self.aggregation_fns.get(key)
        metrics = self._steps.setdefault(step, {})
        gathered = self._open.setdefault(step, {})
        found = gathered.get(key)
        if found is None:
            found = gathered[key] = _gather.Gathering()
            if key in metrics:  # of a step that was aggregated before
                found.add_number(metrics[key])
        found.function = function
        return found

    def aggregate_step(self, step: int) -> None:
        """Ends a step: each of its keys becomes one number.

        Raises:
            RuntimeError: if an aggregation function raised. It names the key; the other keys are
                stored.
        """
        gathered = self._open.pop(step, None)
        if gathered is None:
            return
        metrics = self._steps[step]
        for key in gathered:  # a function that returns a dict may leave the key itself out
            metrics.pop(key, None)
        made, errors = _gather.results(gathered)
        metrics.update(made)
        if self.logger is not None:
            self.logger.info("Logged %d keys at step %d.", len(metrics), step)
        if self._file is not None:
            self._file.add(step, metrics)
        if errors:
            raise errors[0]

    # ---- HDF5 ----

    def save_hdf5(self, filename: str | os.PathLike[str], condensed: bool = True) -> None:
        """Writes all metrics to an HDF5 file. Needs h5py.

        The file is replaced as a whole; if writing fails, the old file stays.

        Args:
            filename (str or PathLike): the file.
            condensed (bool, optional): if ``True``, writes one group for each key, with the
                datasets ``keys`` (the steps) and ``values`` (float64). If ``False``, one group for
                each step, whose ``keys`` are strings. Default: ``True``

        Raises:
            ImportError: if h5py is not installed.
            OSError: if the file cannot be written.
        """
        content: Mapping[Any, Mapping[Any, Any]] = (
            self.condensed_log_dict() if condensed else self.get_all_metrics()
        )
        left_out = _hdf5.save(filename, content)
        if left_out and self.logger is not None:
            self.logger.warning(
                "%s: left out keys with values that are not numbers: %s", filename, ", ".join(map(str, left_out))
            )

    def append_hdf5(self, filename: str | os.PathLike[str]) -> None:
        """Appends each step to an HDF5 file as soon as it ends. Needs h5py.

        A killed process loses no step that has ended. Existing steps of the file stay, except those
        with the same numbers. Each step is first written to a journal, ``FILE.journal``; from time
        to time, and when the program ends, the journal is merged into the file. `load_hdf5` and the
        other readers read both. If the disk is full, one warning is raised and the steps are kept
        for a later attempt.

        Args:
            filename (str or PathLike): the file.

        Raises:
            ImportError: if h5py is not installed.
            OSError: if the file cannot be written.
        """
        self.close_hdf5()
        self._file = _hdf5.Appender(filename, self.condensed_log_dict())

    def close_hdf5(self) -> None:
        """Merges all steps into the file of `append_hdf5` and stops appending."""
        if self._file is not None:
            file, self._file = self._file, None
            file.close()

    @staticmethod
    def read_hdf5_entry_keys(filename: str | os.PathLike[str]) -> list[str]:
        """Returns the keys in an HDF5 file."""
        return _hdf5.read_keys(filename)

    @staticmethod
    def read_hdf5_entry(filename: str | os.PathLike[str], entry_key: Any) -> Any:
        """Returns (steps, values) of a key as two arrays, or ``None`` if the file lacks the key."""
        return _hdf5.read_entry(filename, str(entry_key))

    @staticmethod
    def load_hdf5(filename: str | os.PathLike[str]) -> dict[str, dict[int, float]]:
        """Returns the metrics in an HDF5 file as ``{key: {step: value}}``.

        Raises:
            ImportError: if h5py is not installed.
            OSError: if the file cannot be read.
        """
        return _hdf5.load(filename)
