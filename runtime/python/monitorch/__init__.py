"""Which line of a PyTorch model did it.

Instrumented files import this module; without a recorder switched on, what they find here
is nothing more than an entry in the list of instrumented modules.

    with monitorch.record("run.mtrace"):
        train()

records what instrumented code does, and so does MONITORCH=run.mtrace in the environment.
"""

from posix import environ as _environment

from monitorch._registry import add as _instrumented

__all__ = ["Recording", "Summary", "__version__", "record", "stop"]
__version__ = "0.1.0"


def __getattr__(name):
    # Most programs that import an instrumented file never record: they do not load this.
    if name not in __all__:
        raise AttributeError(f"module 'monitorch' has no attribute {name!r}")
    from monitorch import _record

    value = globals()[name] = getattr(_record, name)
    return value


def __dir__():
    return sorted({*globals(), *__all__})


if _environment.get(b"MONITORCH"):
    from monitorch import _automatic

    _automatic.begin(_environment)
