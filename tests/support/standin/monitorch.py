"""Stands in for the package `monitorch`, whose recorder it lacks: gives inserted calls a hook.

Put this file's folder first on a child's path (`tests.support.standin.environment` does). It
imports only built-in modules and the hook, so that even the modules that Python itself loads while
it starts can be instrumented. `MONITORCH_STANDIN` is `off`, `on` (visits are counted) or
`collect` (visits are kept).
"""

import builtins
import sys

_state = {"mode": "off", "hook": None, "tables": None}
__version__ = "standin"


def _instrumented(module_globals, table):
    # Code that is moved to other globals, or whose globals are cleared, finds this one. Not
    # before: a file whose bootstrap comes too late must be seen to fail.
    setattr(builtins, table.split(" ", 3)[2] if table.count(" ") > 2 else "_mt", None)
    if _state["tables"] is not None:
        _state["tables"].append((module_globals.get("__name__"), table))
    return _state["hook"]


def _set_mode(mode):
    """`off`, `on` or `collect`, for the modules imported from now on."""
    if mode not in ("off", "on", "collect"):
        raise ValueError("MONITORCH_STANDIN must be off, on or collect, not %r" % mode)
    _state["mode"] = mode
    _state["tables"] = [] if mode == "collect" else None
    if mode == "off":
        _state["hook"] = None
    else:
        import _standin_hook

        _standin_hook.start(mode == "collect")
        _state["hook"] = _standin_hook.hook


def _start():
    environment = getattr(sys.modules.get("posix"), "environ", {})
    _set_mode(environment.get(b"MONITORCH_STANDIN", b"off").decode())
    # Lets `import monitorch._instrument` find the real compiler.
    real = environment.get(b"MONITORCH_STANDIN_PACKAGE")
    globals()["__path__"] = [real.decode()] if real else []


_start()
