"""trace_model and TracedModel: a model that is traced whenever it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from monitorch.tracer.tracer import ModelTracer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from monitorch.tracer.results import Results


def trace_model(
    model: Any, variables: str | Iterable[str], *args: Any, **kwargs: Any
) -> tuple[Any, ModelTracer]:
    """Calls a model once and traces it.

    Args:
        model (Module): the model.
        variables (str or iterable of str): paths, as for `ModelTracer`.
        *args, **kwargs: the model's arguments.

    Returns:
        tuple: the model's output, and the `ModelTracer`.

    Example::

        >>> output, tracer = trace_model(model, ["encoder.1.forward.x"], inputs)
        >>> tracer.results["encoder.1.forward.x"].values
    """
    tracer = ModelTracer(model, variables)
    with tracer:
        output = model(*args, **kwargs)
    return output, tracer


class TracedModel:
    """A model together with its tracer.

    Each call is traced by itself, and `results` holds those of the last call. In a ``with`` block
    all calls are traced together. Other attributes are those of the model.

    Args:
        model (Module): the model.
        variables (str or iterable of str): paths, as for `ModelTracer`.
        **options: further arguments of `ModelTracer`.

    Example::

        >>> traced = TracedModel(model, ["encoder.1.forward.x"])
        >>> output = traced(inputs)
        >>> traced.results["encoder.1.forward.x"].values
    """

    def __init__(self, model: Any, variables: str | Iterable[str], **options: Any) -> None:
        self.model = model
        self.tracer = ModelTracer(model, variables, **options)
        self._is_open = False

    @property
    def results(self) -> Results:
        """The traced values by path, as in `ModelTracer.results`."""
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
        if name == "model":  # before __init__, while a copy is made
            raise AttributeError(name)
        return getattr(self.model, name)
