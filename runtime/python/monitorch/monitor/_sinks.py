"""The sinks of a monitor, which receive each step's metrics, and exports of all metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import logging
    import os
    from collections.abc import Mapping, Sequence

    from monitorch.monitor.backends import Plot, Sink
    from monitorch.monitor.storage import Histogram, StorageManager


class Sinks:
    """The part of a ModuleMonitor that writes metrics to files and services."""

    storage: StorageManager
    logger: logging.Logger

    def __init__(self) -> None:
        self._sinks: list[Sink] = []
        self._failed: set[Sink] = set()

    def add_sink(self, sink: Sink) -> None:
        """Adds an object that receives the metrics of each monitored step.

        Args:
            sink (Sink): an object with ``write(step, metrics, histograms)`` and ``close()``. An
                exception in ``write`` is logged once and does not reach the training.
        """
        self._sinks.append(sink)

    def write_sinks(
        self,
        step: int,
        metrics: Mapping[str, float],
        histograms: Mapping[str, Histogram],
        logger: logging.Logger,
    ) -> None:
        """Calls ``write`` of each sink. ModuleMonitor calls this at the end of a monitored step."""
        for sink in self._sinks:
            try:
                sink.write(step, metrics, histograms)
            except Exception as error:
                # Training continues without it; one report is enough.
                if sink not in self._failed:
                    self._failed.add(sink)
                    logger.warning("Metrics of step %d were not written: %s", step, error)

    def close_sinks(self) -> None:
        """Closes and removes all sinks."""
        while self._sinks:
            try:
                self._sinks.pop().close()
            except Exception as error:
                self.logger.warning("Metrics were not written: %s", error)

    def to_wandb(self, run: Any) -> None:
        """Logs each monitored step to Weights & Biases, by ``run.log(metrics, step=step)``.

        Args:
            run: a wandb run, or any object with such a ``log``.

        Raises:
            TypeError: if `run` has no ``log``.
        """
        from monitorch.monitor import backends

        self.add_sink(backends.make_wandb_sink(run))

    def to_tensorboard(self, writer: Any) -> None:
        """Adds each monitored step to a TensorBoard ``SummaryWriter``.

        Args:
            writer: the ``SummaryWriter``, or any object with ``add_scalar``.

        Raises:
            TypeError: if `writer` has no ``add_scalar``.
        """
        from monitorch.monitor import backends

        self.add_sink(backends.make_tensorboard_sink(writer))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Appends each monitored step to a CSV file: one row ``step,key,value`` for each number.

        Args:
            path (str or PathLike): the file.

        Raises:
            OSError: if the file cannot be opened for writing.
        """
        from monitorch.monitor import backends

        self.add_sink(backends.make_csv_sink(path))

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Appends each monitored step to a file as one line of JSON.

        Args:
            path (str or PathLike): the file.

        Raises:
            OSError: if the file cannot be opened for writing.
        """
        from monitorch.monitor import backends

        self.add_sink(backends.make_jsonl_sink(path))

    def to_dataframe(self) -> Any:
        """Returns all metrics as a pandas DataFrame: one row a step, one column a key.

        Raises:
            ImportError: if pandas is not installed.
        """
        from monitorch.monitor import backends

        return backends.make_dataframe(self.storage)

    def plot(
        self,
        pattern: str | Sequence[str] = "*",
        filename: str | os.PathLike[str] | None = None,
        *,
        scale: Literal["auto", "linear", "log"] = "auto",
        theme: Literal["light", "dark"] = "light",
        title: str | None = None,
        width: float = 640,
        height: float = 360,
        dpi: float = 144,
    ) -> Plot:
        """Draws metrics as lines over the steps.

        Args:
            pattern (str or sequence of str, optional): globs over keys. Default: ``"*"``
            filename (str or PathLike, optional): a ``.png``, ``.svg`` or ``.pdf`` file. A notebook
                shows the picture too, and needs no file name.
            scale (str, optional): ``"linear"``, ``"log"``, or ``"auto"``, which is logarithmic
                if the values are positive and span a wide range. Default: ``"auto"``
            theme (str, optional): ``"light"`` or ``"dark"``. Default: ``"light"``
            title (str, optional): Default: the globs
            width, height (float, optional): in points. Default: 640, 360
            dpi (float, optional): dots per inch of a PNG. Default: 144

        Returns:
            Plot: with ``saved_path`` and ``node_count``, the number of lines.

        Raises:
            ValueError: if no key matches, or there is neither a notebook nor a `filename`.

        Example::

            >>> monitor.plot(["gradient/*/norm", "loss"], "norms.svg", scale="log")
        """
        from monitorch.monitor import backends

        options: dict[str, Any] = {} if title is None else {"title": title}
        options.update(scale=scale, theme=theme, width=width, height=height, dpi=dpi)
        return backends.plot(self.storage, pattern, filename, **options)
