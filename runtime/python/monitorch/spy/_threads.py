"""Threads, and what executors run, in the contexts that were open where they were begun.

A context variable is a thread's own: a thread that starts has no context open. While a
DebugContext with `threads=True` is open anywhere, Thread.start and ThreadPoolExecutor.submit hand
on those of the thread that calls them.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

Contexts = tuple[Any, Any]  # the innermost, and the others in the same way, or None

_lock = threading.Lock()
_user_count = 0


def begin(variable: ContextVar[Contexts | None]) -> None:
    """A context is opened that threads are given."""
    global _user_count
    with _lock:
        _user_count += 1
        if _user_count == 1:
            _install(variable)


def end() -> None:
    """It is closed. What runs already keeps its contexts."""
    global _user_count
    with _lock:
        _user_count -= 1
        if _user_count == 0:
            _uninstall()


def _given(contexts: Contexts | None) -> Contexts | None:
    """Those of the contexts that threads are given."""
    if contexts is None:
        return None
    others = _given(contexts[1])
    if contexts[0].threads:
        return contexts[0], others
    return others


_installed: list[tuple[type, str, Any, Any]] = []  # class, name, before and now


def _install(variable: ContextVar[Contexts | None]) -> None:
    from concurrent.futures import ThreadPoolExecutor, thread

    start = threading.Thread.start
    submit: Any = ThreadPoolExecutor.submit

    @functools.wraps(start)
    def start_within(self: Any) -> None:
        contexts = _given(variable.get())
        # A pool's thread outlives what is submitted, and is given that one's contexts each time.
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
        # Whoever has replaced ours in turn calls it: with no context open it only passes on.
        if getattr(kind, name) is now:
            setattr(kind, name, before)


def _carry_run(thread: Any, contexts: Contexts, variable: ContextVar[Contexts | None]) -> None:
    """Makes the thread run within the contexts, once."""
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
