"""The decorators of monitorch.tracker."""

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
    """Logs each call of a function: its caller, inputs, outputs and duration.

    Use it as ``@auto_diff`` or ``@auto_diff(...)``.

    Args:
        function (callable): the function.
        depth (int, optional): also logs calls of instrumented functions inside it, up to this
            many levels.
        when (str, optional): ``"changed"`` logs only calls in which a tracked variable changed;
            ``"nan"`` only calls in which a NaN or an infinity occurred.
        rate (float or str, optional): logs a share of the calls, ``0.01``, or at most so many
            each second, ``"5/s"``.
        labels (str or dict, optional): ``"zh"``, ``"en"``, or single labels, ``{"input": "in"}``.

    Raises:
        TypeError: if the decorated object is a lambda, a class, or not a function.
        ValueError: if an option has no such value.

    Example::

        >>> @auto_diff
        ... def process(inputs): ...

        >>> @auto_diff(when="nan", rate=0.01)
        ... def forward(self, x): ...
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
    """Logs each call as `auto_diff` does, and variables whenever a line changes them.

    A name that no line of the function assigns raises a `RuntimeWarning` with the nearest name.

    Args:
        *names (str): variables, attributes (``"self.state"``) or patterns (``"h*"``).
        depth, when, rate, labels: as for `auto_diff`.

    Raises:
        TypeError: if there are no names, or one is not a string.
        ValueError: if a name has blanks or commas, or an option has no such value.

    Example::

        >>> @var_tracker("video", "self.state", "h*")
        ... def transform(self, video): ...
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
    """Logs each call as `auto_diff` does, and each line that runs in it.

    Args:
        function (callable): the function.
        rate, labels: as for `auto_diff`.

    Example::

        >>> @debug_trace
        ... def step(x): ...
    """
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
    """Logs each call with its complete call stack.

    Args:
        function (callable): the function.
        rate, labels: as for `auto_diff`.

    Example::

        >>> @fstack
        ... def step(x): ...
    """
    return _decorate("fstack", function, Wish(stack=True, bare=True, labels=labels), rate)


def _decorate(who: str, function: Any, wish: Wish, rate: float | str | None) -> Any:
    if rate is not None:
        Rate(rate)  # a wrong rate raises here, not at the function
    if function is None:
        return functools.partial(_track_own, who, wish, rate)
    return _track(who, function, wish, rate)


def _track_own(who: str, wish: Wish, rate: float | str | None, function: Any, /) -> Any:
    """Tracks one function; a decorator may be applied to several."""
    return _track(who, function, wish.copy(), rate)


def _track(who: str, function: Any, wish: Wish, rate: float | str | None) -> Any:
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_track(who, function.__func__, wish, rate))
    if isinstance(function, property):
        if function.fget is None:
            raise TypeError(f"{who}() expects a property with a getter")
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
        raise TypeError(
            f"{who}() decorates functions, not classes: "
            f"decorate the methods of {function.__name__}"
        )
    if not isinstance(function, _KINDS) and not hasattr(function, "__wrapped__"):
        raise TypeError(
            f"{who}() decorates functions, not {type(function).__name__}: decorate the method that "
            "runs when the object is called (forward, for a torch.nn.Module)"
        )
    if getattr(function, "__name__", "") == "<lambda>":
        code = function.__code__
        raise TypeError(
            f"{code.co_filename}:{code.co_firstlineno}: {who}() cannot track a lambda: it has no "
            "lines of its own; write a def"
        )
