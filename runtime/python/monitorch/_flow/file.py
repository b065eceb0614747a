"""The file of a picture: its name, its format, and how it is written."""

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Format = Literal["png", "svg", "pdf", "dot"]

FORMATS = ("png", "svg", "pdf", "dot")


def find_format(path: str) -> "Format":
    """The format of a picture, by its file's suffix."""
    suffix = os.path.splitext(path)[1]
    name = suffix[1:].lower()
    if name not in FORMATS:
        known = ", ".join(f".{format}" for format in FORMATS)
        raise ValueError(
            f"{path}: there is no format for the suffix {suffix!r}: it must be one of {known}"
        )
    return name  # type: ignore[return-value]


def make_path(folder: str, prefix: str, filename: "str | None") -> str:
    """The path of a picture's file: `filename`, relative to `folder`, or a name made from the
    time."""
    if filename is not None:
        path = os.path.join(folder, filename)
        return path if os.path.splitext(path)[1] else path + ".png"
    stem = os.path.join(folder, time.strftime(f"{_escape(prefix)}_%Y%m%d_%H%M%S"))
    path = f"{stem}.png"
    number = 2
    while os.path.lexists(path):  # another picture in the same second
        path = f"{stem}_{number}.png"
        number += 1
    return path


def _escape(prefix: str) -> str:
    """Escapes a prefix for strftime."""
    return prefix.replace("%", "%%")
