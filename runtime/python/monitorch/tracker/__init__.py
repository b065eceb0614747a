"""Logs tracked function calls as a tree, while the program runs.

Example::

    >>> from monitorch.tracker import auto_diff, var_tracker
    >>> @auto_diff                                  # inputs, outputs and duration
    ... def process(inputs): ...
    >>> @var_tracker("video", "self.state", "h*")   # these variables too, after each line
    ... def transform(video): ...

The lines are printed and written to ``./logs/$LTAG/process_{pid}_thread_{tid}.log``. They are in
the file before the program continues, so they survive a crash.

Importing this package imports neither torch nor NumPy.
"""

from __future__ import annotations

from monitorch._lazy import make_getters as _make_getters
from monitorch._lazy import offered as _offered

_HOMES = {
    "_decorators": ("auto_diff", "debug_trace", "fstack", "var_tracker"),
    "_install": ("Installation", "install"),
    "_lines": ("_log_change", "h4logger", "log2file", "logger"),
    "_session": ("configure", "off", "on"),
}

__all__ = _offered(_HOMES)
__getattr__, __dir__ = _make_getters(__name__, _HOMES)
