"""Where metrics are kept: numbers by step and key, gathered while a step runs, finished at its end."""

from __future__ import annotations

from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

from monitorch.monitor import _gather, _hdf5, _hdf5_append

if TYPE_CHECKING:
    import logging
    import os
    from collections.abc import Callable, Mapping

    Metrics = dict[str, Any]


class Histogram(NamedTuple):
    """How many of the values lie in each bin; there is one edge more than there are bins. The
    first and the last edge may be infinite."""

    counts: tuple[int, ...]
    edges: tuple[float, ...]


class StorageManager:
    """Metrics as {step: {key: number}}.

    A key that is logged several times in a step is one number in the end: the mean, or what the
    aggregation function makes of all that was logged. Until aggregate_step(step) the step is open,
    and what can be read of it is the result so far.
    """

    def __init__(self, logger: logging.Logger | None = None) -> None:
        self.logger = logger
        self.aggregation_fns: dict[str, Callable[..., Any]] = {}
        self._steps: dict[int, Metrics] = {}
        self._open: dict[int, dict[str, _gather.Gathering]] = {}
        self._histograms: dict[int, dict[str, Histogram]] = {}
        self._file: _hdf5_append.Appender | None = None

    # ---- steps ----

    def create_step_entry(self, step: int) -> None:
        """Opens a step; what it has already stays."""
        self._steps.setdefault(step, {})
        self._open.setdefault(step, {})

    def has_step(self, step: int) -> bool:
        """Whether anything is known of the step."""
        return step in self._steps

    def is_open(self, step: int) -> bool:
        """Whether something was logged in the step and it has not ended."""
        return bool(self._open.get(step))

    def get_step_metrics(self, step: int) -> Metrics:
        """{key: number}; empty where the step is not known."""
        found = self._steps.get(step)
        if found is None:
            return {}
        gathered = self._open.get(step)
        return {**found, **_gather.results(gathered)[0]} if gathered else found

    def get_all_metrics(self) -> dict[int, Metrics]:
        """{step: {key: number}}"""
        if not any(self._open.values()):
            return self._steps
        return {step: self.get_step_metrics(step) for step in self._steps}

    @property
    def log_dict(self) -> dict[int, Metrics]:
        """The same as get_all_metrics()."""
        return self.get_all_metrics()

    def condensed_log_dict(self) -> dict[str, dict[int, Any]]:
        """{key: {step: number}}"""
        condensed: dict[str, dict[int, Any]] = {}
        for step, metrics in self.get_all_metrics().items():
            for key, value in metrics.items():
                condensed.setdefault(key, {})[step] = value
        return condensed

    def load_metrics(self, log_dict: Mapping[Any, Mapping[Any, Any]]) -> None:
        """Takes up {step: {key: number}}, or what load_hdf5 returns, {key: {step: number}}."""
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
        """Forgets all metrics."""
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
        """Logs a number, or a tensor that holds one."""
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
        """Logs all elements of a tensor. The tensor is not kept: what changes it later changes
        nothing here."""
        self._gather(step, key, aggregation_fn).add_tensor(tensor, key)

    def put_metrics(self, step: int, metrics: Mapping[str, Any]) -> None:
        """Final numbers: nothing is aggregated. They take the place of what the keys had."""
        self._steps.setdefault(step, {}).update(metrics)
        gathered = self._open.setdefault(step, {})
        for key in metrics.keys() & gathered.keys():
            del gathered[key]

    def put_histograms(self, step: int, histograms: Mapping[str, Histogram]) -> None:
        """Final histograms, which stand beside the metrics and never among them."""
        self._histograms.setdefault(step, {}).update(histograms)

    def get_step_histograms(self, step: int) -> dict[str, Histogram]:
        """{key: histogram}; empty where there are none."""
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
        """Ends a step: each key has its number from now on. Where a function to aggregate with
        raised, RuntimeError names its key, from what it raised; the other keys are there."""
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
        """Writes all metrics to an HDF5 file, for which h5py is needed.

        One group for each key, with the datasets `keys` (the steps) and `values`, float64. Without
        `condensed`, one for each step, where `keys` are texts. The file is replaced as a whole: where
        that fails, as on a full disk, the error is an OSError, and the old file is as it was.
        """
        content: Mapping[Any, Mapping[Any, Any]] = (
            self.condensed_log_dict() if condensed else self.get_all_metrics()
        )
        left_out = _hdf5.save(filename, content)
        if left_out and self.logger is not None:
            self.logger.warning(
                "%s: left out what is no number: %s", filename, ", ".join(map(str, left_out))
            )

    def append_hdf5(self, filename: str | os.PathLike[str]) -> None:
        """From now on each step that ends is appended, at once: a process that is killed has lost
        none of them.

        What the file has already stays, unless steps of the same number come. Finished steps are first
        written to a journal beside the file, FILE.journal, and put into the file itself now and then,
        as often as costs little, and when the program ends; the functions here that read such a file
        read both. Where appending fails, as on a full disk, that is warned of, once, and tried again at
        the next step.
        """
        self.close_hdf5()
        self._file = _hdf5_append.Appender(filename, self.condensed_log_dict())

    def close_hdf5(self) -> None:
        """Ends what append_hdf5 began: the file has all steps, and there is no journal any more."""
        if self._file is not None:
            file, self._file = self._file, None
            file.close()

    @staticmethod
    def read_hdf5_entry_keys(filename: str | os.PathLike[str]) -> list[str]:
        """The keys in an HDF5 file, as they were saved."""
        return _hdf5.read_keys(filename)

    @staticmethod
    def read_hdf5_entry(filename: str | os.PathLike[str], entry_key: Any) -> Any:
        """Steps and values of a key, two arrays; None where the file does not have it."""
        return _hdf5.read_entry(filename, str(entry_key))

    @staticmethod
    def load_hdf5(filename: str | os.PathLike[str]) -> dict[str, dict[int, float]]:
        """{key: {step: value}}"""
        return _hdf5.load(filename)
