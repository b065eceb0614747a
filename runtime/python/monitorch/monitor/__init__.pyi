from monitorch.monitor._alerts import MonitorAlert as MonitorAlert
from monitorch.monitor._monitor import ModuleMonitor as ModuleMonitor
from monitorch.monitor.attention import (
    monitor_scaled_dot_product_attention as monitor_scaled_dot_product_attention,
)
from monitorch.monitor.hooks import HooksManager as HooksManager
from monitorch.monitor.mixin import MonitorMixin as MonitorMixin
from monitorch.monitor.rcc import RefinedCoordinateCheck as RefinedCoordinateCheck
from monitorch.monitor.rcc import l2_norm as l2_norm
from monitorch.monitor.storage import Histogram as Histogram
from monitorch.monitor.storage import StorageManager as StorageManager

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
