"""Metrics of a model while it trains: of activations, parameters and gradients, of what differs from
a reference, of any local of a forward.

    monitor = ModuleMonitor(monitor_step_fn=lambda step: step % 10 == 0)
    monitor.set_module(model)
    monitor.add_activation_metric("std", "std")
    for step, batch in enumerate(batches):
        monitor.begin_step(step)
        model(batch).sum().backward()
        monitor.end_step()
        print(monitor.get_step_metrics())

Importing this package imports neither torch nor any part that is not asked for.
"""

from __future__ import annotations

_HOMES = {
    "_monitor": ("ModuleMonitor",),
    "_alerts": ("MonitorAlert",),
    "mixin": ("MonitorMixin",),
    "hooks": ("HooksManager",),
    "storage": ("Histogram", "StorageManager"),
    "rcc": ("RefinedCoordinateCheck", "l2_norm"),
    "attention": ("monitor_scaled_dot_product_attention",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Histogram",
    "HooksManager",
    "ModuleMonitor",
    "MonitorAlert",
    "MonitorMixin",
    "RefinedCoordinateCheck",
    "StorageManager",
    "l2_norm",
    "monitor_scaled_dot_product_attention",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'monitorch.monitor' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module("monitorch.monitor." + _HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
