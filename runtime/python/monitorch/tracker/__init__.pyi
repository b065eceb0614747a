from monitorch.tracker._decorators import auto_diff as auto_diff
from monitorch.tracker._decorators import debug_trace as debug_trace
from monitorch.tracker._decorators import fstack as fstack
from monitorch.tracker._decorators import var_tracker as var_tracker
from monitorch.tracker._install import Installation as Installation
from monitorch.tracker._install import install as install
from monitorch.tracker._lines import _log_change as _log_change
from monitorch.tracker._lines import h4logger as h4logger
from monitorch.tracker._lines import log2file as log2file
from monitorch.tracker._lines import logger as logger
from monitorch.tracker._session import configure as configure
from monitorch.tracker._session import off as off
from monitorch.tracker._session import on as on

__all__ = [
    "Installation",
    "_log_change",
    "auto_diff",
    "configure",
    "debug_trace",
    "fstack",
    "h4logger",
    "install",
    "log2file",
    "logger",
    "off",
    "on",
    "var_tracker",
]
