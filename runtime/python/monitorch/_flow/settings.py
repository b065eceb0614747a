"""The settings of `monitorch.on`, and how arguments are checked."""

import os

from monitorch._record import options as _options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike
    from typing import Any, Literal, TypedDict

    Path = str | PathLike[str]

    class Named(TypedDict, total=False):
        """The settings as keyword arguments."""

        show: bool | None
        save: bool
        save_dir: Path
        file_prefix: str
        max_nodes: int
        max_vector: int
        max_matrix: int
        max_slices: int
        fold: Literal["auto", "all", "none"]
        theme: Literal["light", "dark"]
        last: int
        include: str | Iterable[str]


def _check_limit(name: str, value: object) -> int:
    """Returns the limit, at most 2**31 - 1: drawing counts in 32 bits."""
    return min(_options.check_number(name, value, 0), 2**31 - 1)


def check_optional(name: str, value: object) -> "bool | None":
    return None if value is None else _options.check_switch(name, value)


def _check_text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, not {value!r}")
    if "\0" in value:
        raise ValueError(f"{name} must have no null characters: {value!r}")
    return value


def decode_path(name: str, value: object) -> str:
    try:
        path = os.fsdecode(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be a path, not {value!r}") from None
    if not path:
        raise ValueError(f"{name} must name a {'folder' if name == 'save_dir' else 'file'}")
    return _check_text(name, path)


# Each setting: its default, and the function that checks and converts what was given.
_SETTINGS: "dict[str, tuple[Any, Callable[[str, Any], Any]]]" = {
    "show": (None, check_optional),
    "save": (False, _options.check_switch),
    "save_dir": ("monitorch_outputs", decode_path),
    "file_prefix": ("tensor_flow", _check_text),
    "max_nodes": (12, _check_limit),
    "max_vector": (32, _check_limit),
    "max_matrix": (8, _check_limit),
    "max_slices": (6, _check_limit),
    "fold": ("auto", lambda name, value: _options.check_choice(name, value, ("auto", "all", "none"))),
    "theme": ("light", lambda name, value: _options.check_choice(name, value, ("light", "dark"))),
    "last": (100_000, lambda name, value: _options.check_number(name, value, 1)),
    "include": ((), _options.check_globs),
}
NAMES = tuple(_SETTINGS)


class Settings:
    """The settings with which `on` was called."""

    __slots__ = NAMES

    if TYPE_CHECKING:
        show: bool | None
        save: bool
        save_dir: str
        file_prefix: str
        max_nodes: int
        max_vector: int
        max_matrix: int
        max_slices: int
        fold: Literal["auto", "all", "none"]
        theme: Literal["light", "dark"]
        last: int
        include: tuple[str, ...]

    def __init__(self, **given: "Any") -> None:
        for name, (default, check) in _SETTINGS.items():
            setattr(self, name, check(name, given.get(name, default)))

    def sample(self) -> "tuple[int, int, int]":
        """The numbers of values of each tensor that are recorded for its table: vector, matrix,
        slices."""
        return max(self.max_vector, 1), max(self.max_matrix, 1), max(self.max_slices, 1)

    def sampling(self) -> "tuple[int, ...]":
        """The settings that cannot change after the first event."""
        return self.max_vector, self.max_matrix, self.max_slices, self.last
