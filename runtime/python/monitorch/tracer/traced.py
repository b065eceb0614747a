"""A model that is traced whenever it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from monitorch.tracer.tracer import ModelTracer


def trace_model(
    model: Any, variables: str | Iterable[str], *args: Any, **kwargs: Any
) -> tuple[Any, ModelTracer]:
    """What the model gives for these arguments, and the tracer that saw it."""
    raise NotImplementedError


class TracedModel:
    """A model and a tracer of it: each call is traced."""
