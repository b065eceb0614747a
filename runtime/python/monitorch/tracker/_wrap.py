"""Around each kind of function: a call is told to the recorder before it begins and when it ends.

The recorder leaves the frames of this module out where it tells where a call came from. Where
there is no source to be compiled, inputs and outputs are told from here, in the wrapper's frame.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

from monitorch.tracker._place import ENTER, RETURN
from monitorch.tracker._session import observe, track_end
from monitorch.tracker._tracked import Tracked


def wrap(tracked: Tracked) -> Callable[..., Any]:
    """A function of the same kind that is to be called instead."""
    function = tracked.plain
    if inspect.isasyncgenfunction(function):
        make = _wrap_async_generator
    elif inspect.iscoroutinefunction(function):
        make = _wrap_coroutine
    elif inspect.isgeneratorfunction(function):
        make = _wrap_generator
    else:
        make = _wrap_function
    wrapper: Any = functools.wraps(function)(make(tracked))
    wrapper.__monitorch_tracked__ = tracked
    tracked.wrapper = wrapper
    return wrapper  # type: ignore[no-any-return]


def _wrap_function(tracked: Tracked) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        token = tracked.begin()
        if token is None:
            return tracked.plain(*args, **kwargs)
        if tracked.place is not None:
            observe(tracked.place, ENTER, "", None, *tracked.bind(args, kwargs))
        try:
            result = tracked.run(*args, **kwargs)
        except BaseException as error:
            track_end(token, error)
            raise
        if tracked.place is not None:
            observe(tracked.place, RETURN, "", None, result)
        track_end(token, None)
        return result

    return wrapper


def _wrap_coroutine(tracked: Tracked) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        token = tracked.begin()
        if token is None:
            return await tracked.plain(*args, **kwargs)
        if tracked.place is not None:
            observe(tracked.place, ENTER, "", None, *tracked.bind(args, kwargs))
        try:
            result = await tracked.run(*args, **kwargs)
        except BaseException as error:
            track_end(token, error)
            raise
        if tracked.place is not None:
            observe(tracked.place, RETURN, "", None, result)
        track_end(token, None)
        return result

    return wrapper


def _wrap_generator(tracked: Tracked) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        token = tracked.begin()
        if token is None:
            return (yield from tracked.plain(*args, **kwargs))
        if tracked.place is not None:
            observe(tracked.place, ENTER, "", None, *tracked.bind(args, kwargs))
        try:
            result = yield from tracked.run(*args, **kwargs)
        except BaseException as error:
            track_end(token, error)
            raise
        if tracked.place is not None:
            observe(tracked.place, RETURN, "", None, result)
        track_end(token, None)
        return result

    return wrapper


def _wrap_async_generator(tracked: Tracked) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        token = tracked.begin()
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
                except BaseException as error:
                    value = await generator.athrow(error)
                else:
                    value = await generator.asend(sent)
        except StopAsyncIteration:
            track_end(token, None)
        except BaseException as error:
            track_end(token, error)
            raise

    return wrapper
