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
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BaseDebugger",
    "CallTracer",
    "DebugContext",
    "Node",
    "SavedTensors",
    "TensorSaver",
    "apply_graph_render_options",
    "build_tree",
    "construct_graph",
    "get_debug_context",
    "parse_trace",
    "prune_leaves",
    "render_graph",
    "save_tree_json",
    "spy_load",
    "spy_save",
    "squash_numeric_indices",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'monitorch.spy' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module("monitorch.spy." + _HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
