"""Any variable of a model by its path, gathered over processes.

    tracer = ModelTracer(model, ["forward", "encoder.1.forward.x"], gathering_interval=4)
    with tracer:
        train(model)
    tracer.results["encoder.1.forward.x"].values

traces what the model gives back and what goes into encoder.1's forward. Values of all ranks of
torch.distributed come together on rank 0; H5PYSaverCallback puts them into a file.

Importing this package imports neither torch nor any part that is not asked for.
"""

from __future__ import annotations

_HOMES = {
    "tracer": ("ModelTracer",),
    "traced": ("TracedModel", "trace_model"),
    "results": ("LabelledArray", "TracedValues"),
    "stacking": ("stack_padded_tensors", "stack_tensors"),
    "_link": ("RankError",),
    "_message": ("NotGathered",),
    "h5py_saver": ("H5PYSaverCallback",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "H5PYSaverCallback",
    "LabelledArray",
    "ModelTracer",
    "NotGathered",
    "RankError",
    "TracedModel",
    "TracedValues",
    "stack_padded_tensors",
    "stack_tensors",
    "trace_model",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'monitorch.tracer' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module("monitorch.tracer." + _HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
