"""Sinks for metrics (wandb, TensorBoard, CSV, JSON lines), data frames and charts.

A sink has `write(step, metrics, histograms)`, which ModuleMonitor calls at the end of each
monitored step, and `close()`. An exception in a sink is logged once and does not reach the
training.
"""

from __future__ import annotations

import math
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from monitorch._files import append, write
from monitorch._flow.file import find_format
from monitorch._notebook.display import SCREEN_DPI, RenderOutput, is_notebook, show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from monitorch.monitor.storage import Histogram, StorageManager

    Path = str | os.PathLike[str]


class Sink(Protocol):
    def write(
        self, step: int, metrics: Mapping[str, float], histograms: Mapping[str, Histogram]
    ) -> None: ...

    def close(self) -> None: ...


def _finite_edges(edges: Sequence[float]) -> list[float]:
    """Replaces infinite ends by finite ones beyond their neighbours, as drawing programs need."""
    found = list(edges)
    if found and math.isinf(found[0]):
        found[0] = found[1] - max(abs(found[1]), 1.0)
    if found and math.isinf(found[-1]):
        found[-1] = found[-2] + max(abs(found[-2]), 1.0)
    return found


# ---- Weights & Biases ----


class WandbSink:
    """Writes to a wandb run, or to any object with `log(dict, step=…)`."""

    def __init__(self, run: Any) -> None:
        if not callable(getattr(run, "log", None)):
            raise TypeError(f"to_wandb() expects a run with log(), not {type(run).__name__}")
        self._run = run

    def write(
        self, step: int, metrics: Mapping[str, float], histograms: Mapping[str, Histogram]
    ) -> None:
        content: dict[str, Any] = dict(metrics)
        make = getattr(sys.modules.get("wandb"), "Histogram", None)
        if make is not None:
            for key, (counts, edges) in histograms.items():
                content[key] = make(np_histogram=(list(counts), _finite_edges(edges)))
        if content:
            self._run.log(content, step=step)

    def close(self) -> None:
        """Does nothing: the run's owner finishes it."""


def make_wandb_sink(run: Any) -> Sink:
    return WandbSink(run)


# ---- TensorBoard ----


class TensorboardSink:
    """Writes to any object with add_scalar(), and with add_histogram_raw() if there are
    histograms."""

    def __init__(self, writer: Any) -> None:
        if not callable(getattr(writer, "add_scalar", None)):
            raise TypeError(
                "to_tensorboard() expects a SummaryWriter with add_scalar(), not "
                f"{type(writer).__name__}"
            )
        self._writer = writer

    def write(
        self, step: int, metrics: Mapping[str, float], histograms: Mapping[str, Histogram]
    ) -> None:
        for key, value in metrics.items():
            self._writer.add_scalar(key, value, global_step=step)
        for key, histogram in histograms.items():
            self._add_histogram(key, histogram, step)

    def _add_histogram(self, key: str, histogram: Histogram, step: int) -> None:
        add = getattr(self._writer, "add_histogram_raw", None)
        count = sum(histogram.counts)
        if add is None or count == 0:
            return
        edges = _finite_edges(histogram.edges)
        middles = [(low + high) / 2 for low, high in zip(edges, edges[1:])]
        pairs = list(zip(middles, histogram.counts))
        add(
            key,
            min=edges[0],
            max=edges[-1],
            num=count,
            sum=sum(middle * times for middle, times in pairs),
            sum_squares=sum(middle * middle * times for middle, times in pairs),
            bucket_limits=edges[1:],
            bucket_counts=list(histogram.counts),
            global_step=step,
        )

    def close(self) -> None:
        flush = getattr(self._writer, "flush", None)
        if callable(flush):
            flush()


def make_tensorboard_sink(writer: Any) -> Sink:
    return TensorboardSink(writer)


# ---- files ----


class FileSink:
    """A file that each step is appended to, by the process that opened it.

    Lines that could not be written, because the disk is full, are written with a later step.
    """

    _HEAD = b""

    def __init__(self, path: Path) -> None:
        self._path = os.path.abspath(os.fspath(path))
        self._process = os.getpid()
        self._waiting = b""
        append(self._path, b"", self._HEAD)  # a wrong path raises now

    def write(
        self, step: int, metrics: Mapping[str, float], histograms: Mapping[str, Histogram]
    ) -> None:
        if os.getpid() == self._process:
            self._waiting += self._format(step, dict(metrics), dict(histograms))
            append(self._path, self._waiting, self._HEAD)
            self._waiting = b""

    def _format(self, step: int, metrics: dict[str, Any], histograms: dict[str, Any]) -> bytes:
        raise NotImplementedError

    def close(self) -> None:
        if self._waiting and os.getpid() == self._process:
            append(self._path, self._waiting, self._HEAD)
            self._waiting = b""


class CsvSink(FileSink):
    """Rows `step,key,value`, one for each number: a new metric does not change the columns."""

    _HEAD = b"step,key,value\r\n"

    def _format(self, step: int, metrics: dict[str, Any], histograms: dict[str, Any]) -> bytes:
        from monitorch import _view

        return _view.metrics_csv(step, metrics)


class JsonlSink(FileSink):
    """One line of JSON for each step: step, metrics and histograms.

    "NaN", "Infinity" and "-Infinity" are strings, because JSON has no such numbers.
    """

    def _format(self, step: int, metrics: dict[str, Any], histograms: dict[str, Any]) -> bytes:
        from monitorch import _view

        return _view.metrics_json(step, metrics, histograms)


def make_csv_sink(path: Path) -> Sink:
    return CsvSink(path)


def make_jsonl_sink(path: Path) -> Sink:
    return JsonlSink(path)


# ---- exports ----


def make_dataframe(storage: StorageManager) -> Any:
    """Returns a row for each step and a column for each key; NaN if a step lacks the key."""
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise ImportError("to_dataframe() needs the package pandas: pip install pandas") from error
    metrics = storage.get_all_metrics()
    keys = list(dict.fromkeys(key for step in metrics.values() for key in step))
    frame = pandas.DataFrame.from_dict(metrics, orient="index", columns=keys)
    frame.index.name = "step"
    return frame.sort_index()


class Plot(RenderOutput):
    """A drawn chart; a notebook displays it. `node_count` is the number of lines."""

    __slots__ = ()

    def _count_nodes(self) -> str:
        return f"A chart of {self.node_count} line{'' if self.node_count == 1 else 's'}"


def plot(
    storage: StorageManager,
    pattern: str | Sequence[str] = "*",
    filename: Path | None = None,
    **options: Any,
) -> Plot:
    patterns = (pattern,) if isinstance(pattern, str) else tuple(pattern)
    path = None if filename is None else os.fspath(filename)
    if path is None and not is_notebook():
        raise ValueError("plot() needs a filename outside of a notebook")
    if path is not None and not os.path.splitext(path)[1]:
        path += ".png"
    picture, count = _draw(storage, patterns, path, options)
    if path is not None:
        write(path, picture)
    is_shown = is_notebook()
    png = b""
    if is_shown:
        png = _draw(storage, patterns, None, {**options, "dpi": SCREEN_DPI})[0]
    output = Plot(path, is_shown, count, png=png)
    if is_shown:
        show(output)
    return output


def _draw(
    storage: StorageManager, patterns: tuple[str, ...], path: str | None, options: dict[str, Any]
) -> tuple[bytes, int]:
    from monitorch import _view

    format: Any = "png" if path is None else find_format(path)
    metrics = storage.get_all_metrics()
    title = "all metrics" if patterns == ("*",) else ", ".join(patterns)
    given = {"title": title, **options}
    picture, count = _view.chart(metrics, patterns, format, **given)
    if count == 0:
        keys = list(storage.condensed_log_dict())
        some = f"; the keys are {', '.join(keys[:5])}{' …' if len(keys) > 5 else ''}" if keys else ""
        raise ValueError(f"no metric matches {', '.join(patterns)}{some}")
    return picture, count
