"""The place in the program that called a function of monitorch."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

# Modules whose frames may be between a program and the function that it calls.
_PRIVATE = (
    "monitorch._flow.flow", "monitorch._flow.draw", "monitorch._flow.caller", "monitorch._flow.nothing",
    "monitorch._flow.offer", "monitorch._record.included", "monitorch._record.recording", "monitorch._record.summary",
    "monitorch._record.automatic", "contextlib",
)


def is_private(frame: "FrameType") -> bool:
    """True if the frame runs a function of this package."""
    return frame.f_globals.get("__name__") in _PRIVATE


def find_caller() -> "FrameType":
    """The frame of the program's call. At exit no program called: then a frame of this package."""
    frame = sys._getframe(1)
    while is_private(frame) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def warn(text: str) -> None:
    import warnings

    frame = find_caller()
    warnings.warn_explicit(
        f"monitorch: {text}",
        RuntimeWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )
