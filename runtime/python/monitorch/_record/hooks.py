"""The present hooks of instrumented modules: for a recording, for watchers, or for both.

A module's hook is one function in C that serves all consumers of its sites; it exists while there
is a consumer. No other module calls `_registry.set_hook`.
"""

import posix
from _thread import RLock

from monitorch import _registry
from monitorch._record import source as _source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_lock = RLock()
_recorded: "str | None" = None  # the mode of the active recording
_now: "str | None" = None  # the mode of the modules' present hooks
_is_tracking = False
_watchers: "dict[Any, tuple[Callable[..., Any] | None, int]]" = {}  # visit, number of begins


def begin_recording(mode: str, is_quiet: bool) -> None:
    """Gives modules hooks that record. `mode` is what torch.compile does at them."""
    global _now, _recorded
    with _lock:
        _recorded = mode
        _now = None  # notes on compiled code are written to each recording
        _switch(is_quiet)


def end_recording() -> None:
    global _recorded
    with _lock:
        _recorded = None
        _switch(False)


def is_recording() -> bool:
    """Whether instrumented code has hooks for a recording, and not only for watchers."""
    return _recorded is not None


def begin_watching(watcher: "Any", visit: "Callable[..., Any] | None") -> None:
    """Calls `visit` from now on for each visit that `watcher`, of `_recorder.make_watcher`, wants.

    A `_recorder.Tracing` needs no `visit`. May be called again: it ends after as many calls of
    `end_watching`.
    """
    with _lock:
        count = _watchers[watcher][1] if watcher in _watchers else 0
        _watchers[watcher] = visit, count + 1
        if count == 0:
            _set_watchers()
            _switch(False)


def learn_layout() -> None:
    """Finds the layout of this Python's frames, which watchers need to read them."""
    value = object()  # the first variable
    from monitorch import _recorder

    _recorder.learn_layout(value)


def end_watching(watcher: "Any") -> None:
    with _lock:
        visit, count = _watchers[watcher]
        if count > 1:
            _watchers[watcher] = visit, count - 1
            return
        del _watchers[watcher]
        _set_watchers()
        _switch(False)


def begin_tracking() -> None:
    """Gives modules hooks for tracked calls, whether or not the program records."""
    global _is_tracking
    with _lock:
        if not _is_tracking:
            _is_tracking = True
            _switch(False)


def end_tracking() -> None:
    global _is_tracking
    with _lock:
        _is_tracking = False
        _switch(False)


def _begin_child() -> None:
    """In a forked process: another thread of its parent may have held the lock."""
    global _lock
    _lock = RLock()


posix.register_at_fork(after_in_child=_begin_child)


def _set_watchers() -> None:
    from monitorch import _recorder

    # A list first: a finalizer may leave a context while the pairs are made.
    _recorder.set_watchers(tuple((watcher, visit) for watcher, (visit, _) in list(_watchers.items())))


def _switch(is_quiet: bool) -> None:
    """Gives modules the hooks of the mode that is needed now, or none."""
    global _now
    from monitorch import _recorder
    from monitorch._compile import compiled as _compiled

    _recorder.mute(_recorded is None)
    mode = _recorded
    if mode is None and (_watchers or _is_tracking):
        mode = "break"  # a watcher needs the values
    if mode is None:
        _now = None
        _registry.set_hook(None)
        _compiled.end()
    elif mode != _now:
        _compiled.begin(mode, is_quiet)
        _now = mode
        _registry.set_hook(_FACTORIES[mode])


def clean(text: str) -> str:
    """A text that the trace can hold: undecodable bytes of a file's name are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def _make_hook(table: str, module_globals: "dict[str, object]", mode: str) -> object:
    """Makes a module's hook. It runs while that module is being imported, and must not raise."""
    from monitorch import _recorder
    from monitorch._compile import compiled as _compiled

    name = module_globals.get("__name__")
    name = name if isinstance(name, str) else ""
    try:
        file, source, kind = _source.find(table, module_globals, _recorder.source_hash)
        hook = _recorder.make_hook(table, clean(name), clean(file), source, kind)
        _compiled.add(hook, mode)
    except Exception as error:
        _recorder.note(clean(f"module {name} is not recorded: {error}"), True)
        if _watchers:
            _warn_of(name, error)
        return None
    return hook


def _warn_of(name: str, error: Exception) -> None:
    """Warns by the log: watchers have no trace that could hold the note."""
    import logging

    logging.getLogger("monitorch.spy.saver").warning("module %s is not watched: %s", name, error)


def _make_breaking_hook(table: str, module_globals: "dict[str, object]") -> object:
    return _make_hook(table, module_globals, "break")


def _make_skipping_hook(table: str, module_globals: "dict[str, object]") -> object:
    return _make_hook(table, module_globals, "skip")


# Two functions, so that a module has a different hook for each mode: torch.compile must not use
# code that it compiled for the other one.
_FACTORIES = {"break": _make_breaking_hook, "skip": _make_skipping_hook}
