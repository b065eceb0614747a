"""What is to happen when a metric says so."""

from __future__ import annotations


class MonitorAlert(RuntimeError):
    """A metric met the condition of `ModuleMonitor.alert(…, action="raise")`."""
