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
