"""ModelTracer: variables of a model by their paths, while a `with` block runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from monitorch.tracer.results import TracedValues


class ModelTracer:
    """Traces variables of a model while its `with` block runs."""

    def __init__(
        self,
        model: Any,
        variables: str | Iterable[str],
        trace_interval: int = 1,
        gathering_interval: int = 1,
        pre_save_callbacks: Iterable[Callable[[str, Any, int], Any]] = (),
        pre_gather_callbacks: Iterable[Callable[[str, list[Any], list[int]], None]] = (),
        post_gather_callbacks: Iterable[Callable[[str, list[Any], list[int], list[int]], None]] = (),
        post_trace_callbacks: Iterable[Callable[[str, list[Any], list[int], list[int]], None]] = (),
        eval_only: bool = False,
        train_only: bool = False,
        *,
        group: Any = None,
        overlap: bool = False,
        timeout: float | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.results: dict[str, TracedValues] = {}
