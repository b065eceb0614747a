"""A model that is traced whenever it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from monitorch.tracer.tracer import ModelTracer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from monitorch.tracer.results import Results


def trace_model(
    model: Any, variables: str | Iterable[str], *args: Any, **kwargs: Any
) -> tuple[Any, ModelTracer]:
    """What the model gives for these arguments, and the tracer that saw it."""
    tracer = ModelTracer(model, variables)
    with tracer:
        output = model(*args, **kwargs)
    return output, tracer


class TracedModel:
    """A model together with a tracer of it; options are those of ModelTracer.

        traced = TracedModel(model, ["encoder.1.forward.x"])
        output = traced(inputs)
        traced.results["encoder.1.forward.x"].values

    A call alone is a block of its own: `results` are of the last call then. In a `with` block all
    calls are traced together. Whatever else is asked of it is asked of the model.
    """

    def __init__(self, model: Any, variables: str | Iterable[str], **options: Any) -> None:
        self.model = model
        self.tracer = ModelTracer(model, variables, **options)
        self._is_open = False

    @property
    def results(self) -> Results:
        return self.tracer.results

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._is_open:
            return self.model(*args, **kwargs)
        with self.tracer:
            return self.model(*args, **kwargs)

    def __enter__(self) -> TracedModel:
        self.tracer.__enter__()
        self._is_open = True
        return self

    def __exit__(self, *exception: Any) -> None:
        self._is_open = False
        self.tracer.__exit__(*exception)

    def __getattr__(self, name: str) -> Any:
        if name == "model":  # before __init__: a copy is being made
            raise AttributeError(name)
        return getattr(self.model, name)
