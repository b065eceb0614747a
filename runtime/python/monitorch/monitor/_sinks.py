"""Where a monitor's metrics go while the model trains, and what can be made of them afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import logging
    import os
    from collections.abc import Mapping, Sequence

    from monitorch.monitor.backends import Plot, Sink
    from monitorch.monitor.storage import Histogram, StorageManager


class Sinks:
    """A monitor's sinks: each is given the metrics of a step when it ends."""

    storage: StorageManager
    logger: logging.Logger

    def __init__(self) -> None:
        self._sinks: list[Sink] = []
        self._failed: set[Sink] = set()

    def add_sink(self, sink: Sink) -> None:
        """`sink.write(step, metrics, histograms)` is called when a monitored step ends."""
        self._sinks.append(sink)

    def write_sinks(
        self,
        step: int,
        metrics: Mapping[str, float],
        histograms: Mapping[str, Histogram],
        logger: logging.Logger,
    ) -> None:
        for sink in self._sinks:
            try:
                sink.write(step, metrics, histograms)
            except Exception as error:
                # Training goes on without it; once is enough to say so.
                if sink not in self._failed:
                    self._failed.add(sink)
                    logger.warning("The metrics of step %d were not written: %s", step, error)

    def close_sinks(self) -> None:
        """What a sink still has is written; afterwards there are none."""
        while self._sinks:
            try:
                self._sinks.pop().close()
            except Exception as error:
                self.logger.warning("Metrics were not written: %s", error)

    def to_wandb(self, run: Any) -> None:
        """Logs each step with `run.log(metrics, step=step)`."""
        from monitorch.monitor import backends

        self.add_sink(backends.make_wandb_sink(run))

    def to_tensorboard(self, writer: Any) -> None:
        """Adds each step to a SummaryWriter."""
        from monitorch.monitor import backends

        self.add_sink(backends.make_tensorboard_sink(writer))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Appends each step to a file: a row `step,key,value` for each number."""
        from monitorch.monitor import backends

        self.add_sink(backends.make_csv_sink(path))

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Appends each step to a file, as a line of JSON."""
        from monitorch.monitor import backends

        self.add_sink(backends.make_jsonl_sink(path))

    def to_dataframe(self) -> Any:
        """The metrics of all steps in a pandas DataFrame."""
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
        """Draws the metrics whose keys the glob matches, or one of several, as lines over the
        steps: to a .png, .svg or .pdf; in a notebook it is shown too.

        `scale` "auto" is logarithmic where that tells more. Width and height are points; `dpi` is
        that of a PNG.
        """
        from monitorch.monitor import backends

        options: dict[str, Any] = {} if title is None else {"title": title}
        options.update(scale=scale, theme=theme, width=width, height=height, dpi=dpi)
        return backends.plot(self.storage, pattern, filename, **options)
