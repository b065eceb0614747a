"""Where metrics go while the model trains.

A sink has `write(step, metrics, histograms)`, which ModuleMonitor calls at the end of each
monitored step, and `close()`. What a sink raises is logged, once, and never raised in training.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from monitorch.monitor.storage import Histogram, StorageManager


class Sink(Protocol):
    def write(
        self, step: int, metrics: Mapping[str, float], histograms: Mapping[str, Histogram]
    ) -> None: ...

    def close(self) -> None: ...


def make_wandb_sink(run: Any) -> Sink:
    raise NotImplementedError


def make_tensorboard_sink(writer: Any) -> Sink:
    raise NotImplementedError


def make_csv_sink(path: str | os.PathLike[str]) -> Sink:
    raise NotImplementedError


def make_jsonl_sink(path: str | os.PathLike[str]) -> Sink:
    raise NotImplementedError


def make_dataframe(storage: StorageManager) -> Any:
    raise NotImplementedError


def plot(storage: StorageManager, pattern: str, filename: str | os.PathLike[str], **options: Any) -> Any:
    raise NotImplementedError
