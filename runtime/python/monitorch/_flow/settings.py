"""The settings of `monitorch.on`, and how arguments are checked."""

import os

from monitorch._record import options as _options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike
    from typing import Literal, TypedDict

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


class Settings:
    """What `on` was called with."""

    __slots__ = (
        "show",
        "save",
        "save_dir",
        "file_prefix",
        "max_nodes",
        "max_vector",
        "max_matrix",
        "max_slices",
        "fold",
        "theme",
        "last",
        "include",
    )

    def __init__(
        self,
        *,
        show: "bool | None" = None,
        save: bool = False,
        save_dir: "Path" = "monitorch_outputs",
        file_prefix: str = "tensor_flow",
        max_nodes: int = 12,
        max_vector: int = 32,
        max_matrix: int = 8,
        max_slices: int = 6,
        fold: "Literal['auto', 'all', 'none']" = "auto",
        theme: "Literal['light', 'dark']" = "light",
        last: int = 100_000,
        include: "str | Iterable[str]" = (),
    ) -> None:
        self.show = check_optional("show", show)
        self.save = _options.check_switch("save", save)
        self.save_dir = decode_path("save_dir", save_dir)
        self.file_prefix = _check_text("file_prefix", file_prefix)
        self.max_nodes = _check_limit("max_nodes", max_nodes)
        self.max_vector = _check_limit("max_vector", max_vector)
        self.max_matrix = _check_limit("max_matrix", max_matrix)
        self.max_slices = _check_limit("max_slices", max_slices)
        _options.check_choice("fold", fold, ("auto", "all", "none"))
        _options.check_choice("theme", theme, ("light", "dark"))
        self.fold = fold
        self.theme = theme
        self.last = _options.check_number("last", last, 1)
        self.include = _options.check_globs("include", include)

    def sample(self) -> "tuple[int, int, int]":
        """What is recorded of each tensor for its table."""
        return max(self.max_vector, 1), max(self.max_matrix, 1), max(self.max_slices, 1)

    def sampling(self) -> "tuple[int, ...]":
        """What cannot change once something is recorded."""
        return self.max_vector, self.max_matrix, self.max_slices, self.last


NAMES = Settings.__slots__


def _check_limit(name: str, value: object) -> int:
    """As large as anybody likes: what draws counts in 32 bits."""
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
