"""Where a picture is saved: its file's name, its format, and how it is written."""

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Format = Literal["png", "svg", "pdf", "dot"]

FORMATS = ("png", "svg", "pdf", "dot")


def find_format(path: str) -> "Format":
    """By the name's suffix."""
    suffix = os.path.splitext(path)[1]
    name = suffix[1:].lower()
    if name not in FORMATS:
        known = ", ".join(f".{format}" for format in FORMATS)
        raise ValueError(
            f"{path}: there is no format for the suffix {suffix!r}: it must be one of {known}"
        )
    return name  # type: ignore[return-value]


def make_path(folder: str, prefix: str, filename: "str | None") -> str:
    """The file that a picture goes to: `filename`, in `folder` where it is relative, or one
    that is named for the time."""
    if filename is not None:
        path = os.path.join(folder, filename)
        return path if os.path.splitext(path)[1] else path + ".png"
    stem = os.path.join(folder, time.strftime(f"{_escape(prefix)}_%Y%m%d_%H%M%S"))
    path = f"{stem}.png"
    number = 2
    while os.path.lexists(path):  # a second one in the same second
        path = f"{stem}_{number}.png"
        number += 1
    return path


def _escape(prefix: str) -> str:
    """For strftime."""
    return prefix.replace("%", "%%")
