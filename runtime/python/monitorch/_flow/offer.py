"""Public functions made from methods, so that errors name the functions and not their
implementation."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])

_HAS_KEYWORDS = 0x08  # a flag of code objects: `**named`


def offer(method: "F") -> "F":
    """The method as a function of the package, such as `monitorch.on`.

    An unknown argument raises a TypeError that names the nearest one.
    """
    bound: "Any" = method
    inner = getattr(bound, "__func__", bound)
    name = inner.__name__
    code = inner.__code__
    first = 0 if inner is bound else 1
    known = code.co_varnames[first : code.co_argcount + code.co_kwonlyargcount]
    inner.__qualname__ = f"monitorch.{name}"

    def function(*positional: "Any", **named: "Any") -> "Any":
        __tracebackhide__ = True
        if not code.co_flags & _HAS_KEYWORDS:
            refuse_unknown(name, named, known)
        return method(*positional, **named)

    # As functools.wraps does: a recording imports only built-in modules.
    for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(function, attribute, getattr(inner, attribute))
    made: "Any" = function
    made.__wrapped__ = method
    return made  # type: ignore[no-any-return]


def refuse_unknown(name: str, given: "Iterable[str]", known: "Iterable[str]") -> None:
    """Raises TypeError if the function has no argument of a given name."""
    __tracebackhide__ = True
    for argument in given:
        if argument not in known:
            from monitorch import _nearest

            near = _nearest.suggest(argument, known)
            raise TypeError(
                f"monitorch.{name}() got an unexpected keyword argument {argument!r}{near}"
            )
