"""Contexts in threads and executors: they run in the contexts that were open at their start.

A context variable belongs to a thread: a new thread has no context open. While a DebugContext with
`threads=True` is open anywhere, Thread.start and ThreadPoolExecutor.submit pass on the open
contexts of the calling thread.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

Contexts = tuple[Any, Any]  # the innermost, and the others in the same form, or None

_lock = threading.Lock()
_user_count = 0


def begin(variable: ContextVar[Contexts | None]) -> None:
    """Called when a context with `threads=True` is opened."""
    global _user_count
    with _lock:
        _user_count += 1
        if _user_count == 1:
            _install(variable)


def end() -> None:
    """Called when it is closed. Threads that run already keep their contexts."""
    global _user_count
    with _lock:
        _user_count -= 1
        if _user_count == 0:
            _uninstall()


def _given(contexts: Contexts | None) -> Contexts | None:
    """The contexts with `threads=True`."""
    if contexts is None:
        return None
    others = _given(contexts[1])
    if contexts[0].threads:
        return contexts[0], others
    return others


_installed: list[tuple[type, str, Any, Any]] = []  # class, name, original, replacement


def _install(variable: ContextVar[Contexts | None]) -> None:
    from concurrent.futures import ThreadPoolExecutor, thread

    start = threading.Thread.start
    submit: Any = ThreadPoolExecutor.submit

    @functools.wraps(start)
    def start_within(self: Any) -> None:
        contexts = _given(variable.get())
        # A pool's thread outlives its jobs; each job brings its own contexts.
        if contexts is not None and getattr(self, "_target", None) is not thread._worker:
            _carry_run(self, contexts, variable)
        start(self)

    @functools.wraps(submit)
    def submit_within(self: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        contexts = _given(variable.get())
        if contexts is not None:
            fn = functools.partial(_run_within, variable, contexts, fn)
        return submit(self, fn, *args, **kwargs)

    _replace(threading.Thread, "start", start_within)
    _replace(ThreadPoolExecutor, "submit", submit_within)


def _replace(kind: type, name: str, function: Any) -> None:
    _installed.append((kind, name, getattr(kind, name), function))
    setattr(kind, name, function)


def _uninstall() -> None:
    while _installed:
        kind, name, before, now = _installed.pop()
        # Another library may have replaced the replacement and call it. Without an open context it
        # only calls the original.
        if getattr(kind, name) is now:
            setattr(kind, name, before)


def _carry_run(thread: Any, contexts: Contexts, variable: ContextVar[Contexts | None]) -> None:
    """Makes the thread's next run use the contexts."""
    run = thread.run

    def run_within() -> None:
        thread.__dict__.pop("run", None)
        variable.set(contexts)
        run()

    thread.run = run_within


def _run_within(
    variable: ContextVar[Contexts | None],
    contexts: Contexts,
    function: Callable[..., Any],
    *args: Any,
    **kwargs: Any,
) -> Any:
    token = variable.set(contexts)
    try:
        return function(*args, **kwargs)
    finally:
        variable.reset(token)
