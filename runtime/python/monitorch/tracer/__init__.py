"""Traces any variable of a model by its path, and gathers the values over processes.

Example::

    >>> from monitorch.tracer import ModelTracer
    >>> tracer = ModelTracer(model, ["forward", "encoder.1.forward.x"])
    >>> with tracer:
    ...     train(model)
    >>> tracer.results["encoder.1.forward.x"].values      # one for each change

The values of all ranks of torch.distributed are gathered on rank 0. `H5PYSaverCallback` writes
them to an HDF5 file.

Importing this package does not import torch.
"""

from __future__ import annotations

from monitorch._lazy import make_getters as _make_getters
from monitorch._lazy import offered as _offered

_HOMES = {
    "tracer": ("ModelTracer",),
    "traced": ("TracedModel", "trace_model"),
    "results": ("LabelledArray", "TracedValues"),
    "stacking": ("stack_padded_tensors", "stack_tensors"),
    "_link": ("RankError",),
    "_message": ("NotGathered",),
    "h5py_saver": ("H5PYSaverCallback",),
}

__all__ = _offered(_HOMES)
__getattr__, __dir__ = _make_getters(__name__, _HOMES)
