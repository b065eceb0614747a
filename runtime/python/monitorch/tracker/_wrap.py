"""Around each kind of function: a call is announced before it begins, and its end is told.

The recorder leaves the frames of this module out where it tells where a call came from, and
tracebacks do not show them. Where there is no source to be compiled, inputs and outputs are told
from here, in the wrapper's frame.
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
    """A function of the same kind that is to be called instead."""
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
    """The exception is about to leave the wrapper: its frame is nothing that the program made."""
    trace = error.__traceback__
    if trace is not None and trace.tb_frame.f_code.co_filename == FILE:
        error.__traceback__ = trace.tb_next


def _wrap_function(tracked: Tracked) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        token = tracked.begin()
        try:
            if token is None:
                return tracked.plain(*args, **kwargs)
            if tracked.place is not None:
                observe(tracked.place, ENTER, "", None, *tracked.bind(args, kwargs))
            result = tracked.run(*args, **kwargs)
            if tracked.place is not None:
                observe(tracked.place, RETURN, "", None, result)
        except BaseException as error:
            if token is not None:
                track_end(token, error)
            _leave(error)
            raise
        track_end(token, None)
        return result

    return wrapper


def _wrap_coroutine(tracked: Tracked) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        token = tracked.begin()
        try:
            if token is None:
                return await tracked.plain(*args, **kwargs)
            if tracked.place is not None:
                observe(tracked.place, ENTER, "", None, *tracked.bind(args, kwargs))
            result = await tracked.run(*args, **kwargs)
            if tracked.place is not None:
                observe(tracked.place, RETURN, "", None, result)
        except BaseException as error:
            if token is not None:
                track_end(token, error)
            _leave(error)
            raise
        track_end(token, None)
        return result

    return wrapper


def _wrap_generator(tracked: Tracked) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        token = tracked.begin()
        try:
            if token is None:
                return (yield from tracked.plain(*args, **kwargs))
            if tracked.place is not None:
                observe(tracked.place, ENTER, "", None, *tracked.bind(args, kwargs))
            result = yield from tracked.run(*args, **kwargs)
            if tracked.place is not None:
                observe(tracked.place, RETURN, "", None, result)
        except BaseException as error:
            if token is not None:
                track_end(token, error)
            _leave(error)
            raise
        track_end(token, None)
        return result

    return wrapper


def _wrap_async_generator(tracked: Tracked) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        token = tracked.begin()
        if token is not None and tracked.place is not None:
            observe(tracked.place, ENTER, "", None, *tracked.bind(args, kwargs))
        error: BaseException | None = None
        try:
            generator = (tracked.plain if token is None else tracked.run)(*args, **kwargs)
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
        except BaseException as raised:
            error = raised
            _leave(error)
            raise
        finally:
            if token is not None:
                track_end(token, error)
            error = None

    return wrapper
