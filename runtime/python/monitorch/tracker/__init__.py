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

_HOMES = {
    "_decorators": ("auto_diff", "debug_trace", "fstack", "var_tracker"),
    "_install": ("Installation", "install"),
    "_lines": ("_log_change", "h4logger", "log2file", "logger"),
    "_session": ("configure", "off", "on"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

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


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'monitorch.tracker' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module("monitorch.tracker." + _HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
