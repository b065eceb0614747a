"""Metrics of a model while it trains: activations, parameters, gradients and updates.

Example::

    >>> from monitorch.monitor import ModuleMonitor
    >>> monitor = ModuleMonitor(monitor_step_fn=lambda step: step % 10 == 0)
    >>> monitor.set_module(model)
    >>> monitor.add_activation_metric("std", "std")
    >>> for step, batch in enumerate(batches):
    ...     monitor.begin_step(step)
    ...     model(batch).sum().backward()
    ...     monitor.end_step()
    ...     print(monitor.get_step_metrics())       # {"activation/encoder.0/std": 0.52, ...}

Importing this package does not import torch.
"""

from __future__ import annotations

from monitorch._lazy import make_getters as _make_getters
from monitorch._lazy import offered as _offered

_HOMES = {
    "_monitor": ("ModuleMonitor",),
    "_alerts": ("MonitorAlert",),
    "mixin": ("MonitorMixin",),
    "hooks": ("HooksManager",),
    "storage": ("Histogram", "StorageManager"),
    "rcc": ("RefinedCoordinateCheck", "l2_norm"),
    "attention": ("monitor_scaled_dot_product_attention",),
}

__all__ = _offered(_HOMES)
__getattr__, __dir__ = _make_getters(__name__, _HOMES)
