"""What happens to tensors, as a tree of the calls that are tracked.

    @auto_diff
    def process(inputs): ...

tells each call of it: from where, with what, what came out, how long it took.

    @var_tracker("video", "self.state", "h*")
    def transform(video): ...

tells in between what each line changed of those variables. The lines go to stdout and to
`./logs/$LTAG/process_{pid}_thread_{tid}.log`, and are there when the process dies.

Importing this package imports neither torch nor NumPy, nor any part that is not asked for.
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
