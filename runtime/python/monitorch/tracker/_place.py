"""Functions without a source: their inputs and outputs are logged by their wrapper."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

ENTER, RETURN = 0, 1  # the sites of such a place


def make(function: Callable[..., Any]) -> tuple[Any, inspect.Signature | None]:
    """Creates the place of a function, and the signature that names its arguments."""
    from monitorch import _recorder
    from monitorch._record.hooks import clean

    try:
        signature: inspect.Signature | None = inspect.signature(function)
    except (TypeError, ValueError):
        signature = None
    names = ("args", "kwargs") if signature is None else tuple(signature.parameters)
    code = getattr(inspect.unwrap(function), "__code__", None)
    module = str(getattr(function, "__module__", None) or "builtins")
    file = f"<{module}>" if code is None else code.co_filename
    line = 1 if code is None else code.co_firstlineno
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    sites = (("enter", line, names, ()), ("return", line, ("",), names))
    place = _recorder.make_place(clean(file), clean(file), clean(module), clean(name), line, sites)
    return place, signature


def bind(
    signature: inspect.Signature | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """The values of the place's parameters, in order."""
    if signature is None:
        return args, kwargs
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:  # the call is about to raise it
        return ()
    bound.apply_defaults()
    return tuple(bound.arguments[name] for name in signature.parameters)
