"""Calls of a function with arguments that are found or made up: the work of `monitorch.run`."""

import inspect
import sys
from importlib import import_module
from inspect import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    # Namespaces in order; the first that has a name gives its value.
    Scopes = Sequence[Mapping[str, Any]]

_EMPTY = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
_SIMPLE = (int, float, bool, str)
_SEED = 0

# Invented tensors come from this generator, so that the program's own random numbers do not change.
_generator: "Any" = None


def forget() -> None:
    """Restarts the invented tensors from the same random numbers."""
    global _generator
    _generator = None


def call(function: "Callable[..., Any]", overrides: "dict[str, Any]", scopes: "Scopes") -> "Any":
    """Calls the function with arguments that are found or made up.

    An argument comes from `overrides`, else from the first scope that has its name, else from its
    default; else it is made up. `*args` and `**kwargs` are left empty, except for overrides.
    """
    positional, keyword, guesses = find_arguments(function, overrides, scopes)
    if guesses:
        _report(name_of(function), guesses)
    return function(*positional, **keyword)


def find_arguments(
    function: "Callable[..., Any]", overrides: "dict[str, Any]", scopes: "Scopes"
) -> "tuple[list[Any], dict[str, Any], list[tuple[str, str]]]":
    """Positional and keyword arguments, and those that were made up, as (name, how)."""
    parameters = _find_parameters(function)
    rest = dict(overrides)
    positional: "list[Any]" = []
    keyword: "dict[str, Any]" = {}
    guesses: "list[tuple[str, str]]" = []
    for parameter in parameters:
        if parameter.kind in _EMPTY:
            continue
        name = parameter.name
        if name in rest:
            value = rest.pop(name)
        else:
            value, how = _find_value(function, parameter, scopes)
            if how is not None:
                guesses.append((name, how))
        if parameter.kind is Parameter.KEYWORD_ONLY:
            keyword[name] = value
        else:
            positional.append(value)
    if rest and not any(p.kind is Parameter.VAR_KEYWORD for p in parameters):
        raise TypeError(f"{name_of(function)}() has no parameter {next(iter(rest))!r}")
    keyword.update(rest)
    return positional, keyword, guesses


def _find_value(
    function: "Callable[..., Any]", parameter: Parameter, scopes: "Scopes"
) -> "tuple[Any, str | None]":
    for scope in scopes:
        if parameter.name in scope:
            return scope[parameter.name], None
    if parameter.default is not Parameter.empty:
        return parameter.default, None
    return guess(function, parameter.name, parameter.annotation)


def _find_parameters(function: "Callable[..., Any]") -> "list[Parameter]":
    if not callable(function):
        raise TypeError(f"monitorch.run calls a function, not {_describe(function)}")
    try:
        return list(inspect.signature(_find_described(function)).parameters.values())
    except ValueError:
        raise TypeError(
            f"monitorch.run cannot find the parameters of {name_of(function)}(): it has no signature, as "
            "many functions that are not written in Python; call it in a function of yours"
        ) from None


def _find_described(function: "Any") -> "Any":
    """The function that has the parameters. A module's own call accepts anything and passes it to
    forward."""
    torch = sys.modules.get("torch")
    module = getattr(getattr(torch, "nn", None), "Module", None)
    if module is not None and isinstance(function, module):
        return function.forward
    return function


def name_of(function: "Any") -> str:
    """The qualified name of the function that runs, as in a trace."""
    function = _find_described(function)
    while hasattr(function, "func") and not hasattr(function, "__qualname__"):
        function = function.func  # a functools.partial
    function = inspect.unwrap(function)
    if isinstance(function, type):
        return f"{function.__qualname__}.__init__"
    name = getattr(function, "__qualname__", None)
    if not isinstance(name, str):
        name = getattr(type(function).__call__, "__qualname__", type(function).__qualname__)
    return str(name)


def _describe(value: object) -> str:
    return f"{value!r:.60}, which is of type {type(value).__qualname__}"


# Invented values


def guess(function: "Callable[..., Any]", name: str, annotation: object) -> "tuple[Any, str]":
    """A value for a parameter of that name and annotation, and a description of how it was made."""
    kind = find_type(function, annotation)
    if kind is not None:
        value = {int: 4, float: 0.1, bool: False, str: name}[kind]
        return value, repr(value)
    lower = name.lower()
    if "shape" in lower or "size" in lower:
        return (4, 4), "(4, 4)"
    if "dim" in lower or lower.endswith("n"):
        return 4, "4"
    if "lr" in lower or "rate" in lower:
        return 0.01, "0.01"
    if "label" in lower or "target" in lower:
        return _make_tensor(function, name, "randint", 0, 2, (8,))
    return _make_tensor(function, name, "randn", 8, 8)


def _make_tensor(
    function: "Callable[..., Any]", name: str, maker: str, *arguments: "Any"
) -> "tuple[Any, str]":
    global _generator
    try:
        torch: Any = import_module("torch")
    except ImportError:
        raise ModuleNotFoundError(
            f"monitorch.run needs torch to make up {name!r} for {name_of(function)}(), and torch "
            f"is not installed: give it, run(…, {name}=…)",
            name="torch",
        ) from None
    if _generator is None:
        _generator = torch.Generator("cpu")
        _generator.manual_seed(_SEED)
    value = getattr(torch, maker)(*arguments, generator=_generator, device="cpu")
    return value, f"{maker}({', '.join(map(repr, arguments))})"


def find_type(function: "Callable[..., Any]", annotation: object) -> "type | None":
    """The type int, float, bool or str that the annotation names, or None."""
    if isinstance(annotation, str):
        annotation = _evaluate(function, annotation)
    for kind in _SIMPLE:
        if annotation is kind:
            return kind
    if hasattr(annotation, "__metadata__"):  # Annotated[int, …]
        return find_type(function, annotation.__origin__)  # type: ignore[attr-defined]
    if hasattr(annotation, "__supertype__"):  # NewType
        return find_type(function, annotation.__supertype__)
    if _is_union(annotation):
        members = [m for m in annotation.__args__ if m is not type(None)]  # type: ignore[attr-defined]
        return find_type(function, members[0]) if members else None
    forward = getattr(annotation, "__forward_arg__", None)  # Optional["int"]
    return find_type(function, forward) if isinstance(forward, str) else None


def _is_union(annotation: object) -> bool:
    import types

    origin = getattr(annotation, "__origin__", None)
    typing = sys.modules.get("typing")
    return isinstance(annotation, types.UnionType) or (
        origin is not None and origin is getattr(typing, "Union", None)
    )


def _evaluate(function: "Callable[..., Any]", text: str) -> object:
    """The object that an annotation names as text. Returns the text if it cannot be evaluated:
    names imported only for type checkers do not exist."""
    scope = getattr(inspect.unwrap(_find_described(function)), "__globals__", {})
    try:
        value: object = eval(text, dict(scope))
    except Exception:
        value = text
    if not isinstance(value, str):
        return value
    words = value.replace("typing.", "").replace(" ", "")
    if words.startswith("Optional[") and words.endswith("]"):
        words = words[len("Optional[") : -1]
    names = [word for word in words.split("|") if word != "None"]
    return {kind.__name__: kind for kind in _SIMPLE}.get(names[0] if names else "")


def _report(function: str, guesses: "list[tuple[str, str]]") -> None:
    """Records the invented arguments in the trace, so that nobody mistakes them for data."""
    recorder = sys.modules.get("monitorch._recorder")
    if recorder is None:
        return
    for name, how in guesses:
        recorder.guess(_clean(function), _clean(name), _clean(how))


def _clean(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
