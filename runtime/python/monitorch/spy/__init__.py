"""Saves tensors from inside a forward pass, and lists which modules were called.

`spy_save("q", q, self)` in a forward saves the tensor while a `DebugContext` is open. Outside a
context it does nothing. `TensorSaver` writes the files, `spy_load` reads them back.

Example::

    >>> from monitorch.spy import DebugContext, TensorSaver, spy_load
    >>> saver = TensorSaver("./debug_tensors")
    >>> saver.register_modules(model, target_classes=(MyModule,))
    >>> with DebugContext(saver, prefix="step0"):
    ...     output = model(inputs)          # writes step0.{module_path}.q.call0.pt
    >>> spy_load("./debug_tensors")["step0"]["encoder.attn"]["q"][0]

`CallTracer` records the order in which modules are called. `parse_trace`, `build_tree`,
`construct_graph` and `render_graph` draw that order as a tree.

Importing this package does not import torch.
"""

from __future__ import annotations

from monitorch._lazy import make_getters as _make_getters
from monitorch._lazy import offered as _offered

_HOMES = {
    "base": ("BaseDebugger",),
    "saver": ("DebugContext", "TensorSaver", "get_debug_context", "spy_save"),
    "tracer": ("CallTracer",),
    "load": ("SavedTensors", "spy_load"),
    "graph": (
        "Node",
        "apply_graph_render_options",
        "build_tree",
        "construct_graph",
        "parse_trace",
        "prune_leaves",
        "render_graph",
        "save_tree_json",
        "squash_numeric_indices",
    ),
}

__all__ = _offered(_HOMES)
__getattr__, __dir__ = _make_getters(__name__, _HOMES)
