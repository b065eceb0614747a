"""Names the line of a PyTorch model that made the NaN, changed the shape, or first differed.

    with monitorch.record("run.mtrace", include="model"):
        train()

records the lines of the module `model` into a trace; `monitorch why run.mtrace` then names the
line that made a NaN. Without `include`, it records instrumented code, as MONITORCH=run.mtrace in
the environment does.

    monitorch.on()
    y = torch.relu(x @ w)
    monitorch.off(filename="flow.png")

draws the values that the lines in between assigned, in any code.

    events = monitorch.load("run.mtrace")

loads a trace as columns, for NumPy and pandas.

    monitorch.page()

shows the last recording in a notebook: the verdict, a picture, and what each line saw.

Instrumented files import this module. While nothing is recorded, it only lists them.
"""

from posix import environ as _environment

from monitorch._registry import add as _instrumented

_FLOW = ("RenderOutput", "args", "flush", "lines", "off", "on", "reset", "run", "watch")
_LOAD = ("Events", "load")
_PAGE = ("Page", "page")
_RECORD = ("Recording", "Summary", "record", "step", "stop")
_PACKAGES = ("monitor", "spy", "tracer", "tracker")
_MAGICS = ("load_ipython_extension", "unload_ipython_extension")
__all__ = ["NonFinite", "__version__", *_FLOW, *_LOAD, *_PAGE, *_RECORD]
__version__ = "0"  # that of pyproject.toml, which the Makefile puts here


def __getattr__(name):
    # Most programs that import an instrumented file never record: they do not load these.
    if name in _FLOW:
        from monitorch._flow import flow as module
    elif name in _LOAD:
        from monitorch import _load as module
    elif name in _PAGE:
        from monitorch._notebook import page as module
    elif name in _RECORD:
        from monitorch._record import recording as module
    elif name == "NonFinite":
        from monitorch._record import nonfinite as module
    elif name in _PACKAGES:
        from importlib import import_module

        return import_module(f"monitorch.{name}")
    else:
        from sys import modules

        # With these, Python adds the nearest name to the message.
        raise AttributeError(
            f"module 'monitorch' has no attribute {name!r}", name=name, obj=modules[__name__]
        )
    value = globals()[name] = getattr(module, name)
    return value


def load_ipython_extension(ipython):
    """%load_ext monitorch"""
    from monitorch._notebook import magics as _magics

    _magics.load(ipython)


def unload_ipython_extension(ipython):
    from monitorch._notebook import magics as _magics

    _magics.unload(ipython)


def __dir__():
    dunders = {name for name in globals() if name.startswith("__")}
    return sorted({*dunders, *__all__, *_PACKAGES, *_MAGICS})


if _environment.get(b"MONITORCH"):
    from monitorch._record import automatic as _automatic

    _automatic.begin(_environment)
