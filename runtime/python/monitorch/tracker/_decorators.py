"""The decorators."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, TypeVar, overload

from monitorch.tracker import _tracked, _wrap
from monitorch.tracker._rate import Rate
from monitorch.tracker._wish import Labels, When, Wish, check_names

F = TypeVar("F")

_KINDS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    functools.partial,
)


@overload
def auto_diff(function: F, /) -> F: ...
@overload
def auto_diff(
    *,
    depth: int | None = None,
    when: When | None = None,
    rate: float | str | None = None,
    labels: Labels | None = None,
) -> Callable[[F], F]: ...
def auto_diff(
    function: Any = None,
    /,
    *,
    depth: int | None = None,
    when: When | None = None,
    rate: float | str | None = None,
    labels: Labels | None = None,
) -> Any:
    """Tells each call of the function: from where, with what, what came out, how long it took.

        @auto_diff
        def process(inputs): ...

        @auto_diff(when="nan", rate=0.01)
        def forward(self, x): ...

    depth     calls of instrumented functions made within it are told too, so many levels deep
    when      "changed": only calls in which a tracked variable changed, and only the changes;
              "nan": only calls in which a NaN or an infinity was met
    rate      a share of the calls, 0.01, or so many a second at most, "5/s"
    labels    "zh", "en", or texts by their names, for this function
    """
    wish = Wish(depth=depth, when=when, labels=labels)
    return _decorate("auto_diff", function, wish, rate)


def var_tracker(
    *names: str,
    depth: int | None = None,
    when: When | None = None,
    rate: float | str | None = None,
    labels: Labels | None = None,
) -> Callable[[F], F]:
    """Tells each call as auto_diff does, and after each line what it changed of these variables.

        @var_tracker("video", "self.state", "h*")
        def transform(self, video): ...

    Names may be attributes and patterns. The rest is as auto_diff has it.
    """
    wish = Wish(names=check_names(names), depth=depth, when=when, labels=labels)
    return _decorate("var_tracker", None, wish, rate)  # type: ignore[no-any-return]


@overload
def debug_trace(function: F, /) -> F: ...
@overload
def debug_trace(
    *, rate: float | str | None = None, labels: Labels | None = None
) -> Callable[[F], F]: ...
def debug_trace(
    function: Any = None,
    /,
    *,
    rate: float | str | None = None,
    labels: Labels | None = None,
) -> Any:
    """Tells each call as auto_diff does, and each line that is run in it."""
    return _decorate("debug_trace", function, Wish(lines=True, labels=labels), rate)


@overload
def fstack(function: F, /) -> F: ...
@overload
def fstack(
    *, rate: float | str | None = None, labels: Labels | None = None
) -> Callable[[F], F]: ...
def fstack(
    function: Any = None,
    /,
    *,
    rate: float | str | None = None,
    labels: Labels | None = None,
) -> Any:
    """Tells each call with all the frames that it was made from."""
    return _decorate("fstack", function, Wish(stack=True, bare=True, labels=labels), rate)


def _decorate(who: str, function: Any, wish: Wish, rate: float | str | None) -> Any:
    if rate is not None:
        Rate(rate)  # what is wrong with it is told here, not at the function
    if function is None:
        return functools.partial(_track_own, who, wish, rate)
    return _track(who, function, wish, rate)


def _track_own(who: str, wish: Wish, rate: float | str | None, function: Any, /) -> Any:
    """One decorator may be given to several functions."""
    return _track(who, function, wish.copy(), rate)


def _track(who: str, function: Any, wish: Wish, rate: float | str | None) -> Any:
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_track(who, function.__func__, wish, rate))
    if isinstance(function, property):
        if function.fget is None:
            raise TypeError(f"{who}() wants a property that can be read")
        return function.getter(_track(who, function.fget, wish, rate))
    if isinstance(function, types.MethodType):
        return types.MethodType(_track(who, function.__func__, wish, rate), function.__self__)
    _check(who, function)
    known = _tracked.find(function)
    if known is not None:
        known.add(wish, None if rate is None else Rate(rate))
        return function
    return _wrap.wrap(_tracked.Tracked(function, wish, None if rate is None else Rate(rate)))


def _check(who: str, function: Any) -> None:
    if isinstance(function, type):
        raise TypeError(f"{who}() decorates functions: decorate the methods of {function.__name__}")
    if not isinstance(function, _KINDS) and not hasattr(function, "__wrapped__"):
        raise TypeError(
            f"{who}() decorates functions, not {type(function).__name__}: of an object that can be "
            "called, decorate the method that does it (of a torch.nn.Module its forward)"
        )
    if getattr(function, "__name__", "") == "<lambda>":
        code = function.__code__
        raise TypeError(
            f"{code.co_filename}:{code.co_firstlineno}: {who}() cannot track a lambda: it has no "
            "lines of its own, write a def"
        )
