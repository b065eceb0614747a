"""Tensors saved where they are made, and which modules were called.

    saver = TensorSaver("./debug_tensors")
    saver.register_modules(model, target_classes=(MyModule,))
    with DebugContext(saver, prefix="step0"):
        output = model(inputs)

saves what `spy_save("q", q, self)` in MyModule.forward is given, as
`step0.{module_path}.q.call0.pt`; outside a context spy_save does nothing. spy_load reads such a
folder. CallTracer writes down the order in which modules are called, and build_tree and what
follows it draw that.

Importing this package imports neither torch nor any part that is not asked for.
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
