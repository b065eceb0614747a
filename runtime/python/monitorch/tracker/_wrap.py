"""Wrappers for each kind of function, which announce a call and record its end.

The recorder omits the frames of this module from call stacks, and tracebacks do not show them.
For functions without a source, the wrapper's frame records inputs and outputs.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

from monitorch.tracker._place import ENTER, RETURN
from monitorch.tracker._session import observe, track_end
from monitorch.tracker._tracked import Tracked

FILE = sys._getframe().f_code.co_filename
_ITERABLE_COROUTINE = 0x100


def wrap(tracked: Tracked) -> Callable[..., Any]:
    """Returns a function of the same kind, to be called instead."""
    function = tracked.plain
    if inspect.isasyncgenfunction(function):
        made = _wrap_async_generator(tracked)
    elif inspect.iscoroutinefunction(function):
        made = _wrap_coroutine(tracked)
    elif inspect.isgeneratorfunction(function):
        made = _wrap_generator(tracked)
        if function.__code__.co_flags & _ITERABLE_COROUTINE:
            made = types.coroutine(made)
    else:
        made = _wrap_function(tracked)
    wrapper: Any = functools.wraps(function)(made)
    wrapper.__monitorch_tracked__ = tracked
    tracked.wrapper = wrapper
    return wrapper  # type: ignore[no-any-return]


def _leave(error: BaseException) -> None:
    """Removes the wrapper's frame from an exception that is about to leave it."""
    trace = error.__traceback__
    if trace is not None and trace.tb_frame.f_code.co_filename == FILE:
        error.__traceback__ = trace.tb_next


class _Call:
    """A call whose end is recorded if it is tracked, even if it raises."""

    __slots__ = ("_token",)

    def __init__(self, token: Any) -> None:
        self._token = token

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        if self._token is not None:
            track_end(self._token, error)
        if error is not None:
            _leave(error)


# One wrapper for each kind of function. Each gets the result in its own way, and in its own frame,
# which holds the values of functions without a source.


def _wrap_function(tracked: Tracked) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        token = tracked.begin()
        if token is None:
            try:
                return tracked.plain(*args, **kwargs)
            except BaseException as error:
                _leave(error)
                raise
        with _Call(token):
            if tracked.place is None:
                return tracked.run(*args, **kwargs)
            observe(tracked.place, ENTER, "", None, *tracked.bind(args, kwargs))
            result = tracked.run(*args, **kwargs)
            observe(tracked.place, RETURN, "", None, result)
            return result

    return wrapper


def _wrap_coroutine(tracked: Tracked) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        token = tracked.begin()
        if token is None:
            try:
                return await tracked.plain(*args, **kwargs)
            except BaseException as error:
                _leave(error)
                raise
        with _Call(token):
            if tracked.place is None:
                return await tracked.run(*args, **kwargs)
            observe(tracked.place, ENTER, "", None, *tracked.bind(args, kwargs))
            result = await tracked.run(*args, **kwargs)
            observe(tracked.place, RETURN, "", None, result)
            return result

    return wrapper


def _wrap_generator(tracked: Tracked) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        token = tracked.begin()
        if token is None:
            try:
                return (yield from tracked.plain(*args, **kwargs))
            except BaseException as error:
                _leave(error)
                raise
        with _Call(token):
            if tracked.place is None:
                return (yield from tracked.run(*args, **kwargs))
            observe(tracked.place, ENTER, "", None, *tracked.bind(args, kwargs))
            result = yield from tracked.run(*args, **kwargs)
            observe(tracked.place, RETURN, "", None, result)
            return result

    return wrapper


def _wrap_async_generator(tracked: Tracked) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        token = tracked.begin()
        with _Call(token):
            if token is not None and tracked.place is not None:
                observe(tracked.place, ENTER, "", None, *tracked.bind(args, kwargs))
            generator = (tracked.plain if token is None else tracked.run)(*args, **kwargs)
            try:
                value = await generator.__anext__()
                while True:
                    try:
                        sent = yield value
                    except GeneratorExit:
                        await generator.aclose()
                        raise
                    except BaseException as thrown:
                        value = await generator.athrow(thrown)
                    else:
                        value = await generator.asend(sent)
            except StopAsyncIteration:
                pass

    return wrapper
