"""Recordings that stop at a NaN or an infinity, and the exception that they raise."""

import posix

from monitorch._record import recording as _recording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

CHOICES = {"nan": 1, "inf": 2, "nonfinite": 3}
"""The values of `stop`, with the recorder's numbers."""


class NonFinite(FloatingPointError):
    """Raised by the recorded line that made a NaN or an infinity, in a recording with `stop`.

    The recording has ended; its last events hold the value.
    """

    __module__ = "monitorch"

    trace: str = ""
    """The trace's path."""
    file: str = ""
    """The source file of the line."""
    line: int = 0


def read(stop: "Literal['nan', 'inf', 'nonfinite'] | None", has_statistics: bool) -> int:
    """Reads the option `stop` of a recording. Raises TypeError or ValueError, which say what is
    wrong."""
    from monitorch._record import options as _options

    if stop is None:
        return 0
    number = CHOICES[_options.check_choice("stop", stop, tuple(CHOICES))]
    if not has_statistics:
        raise ValueError(f"stop={stop!r} looks at statistics: it does not go with stats=False")
    return number


def lines(file: str, line: int) -> str:
    """The source from that line on, long enough for most statements; "" if it cannot be read."""
    import linecache

    return "".join(linecache.getlines(file)[line - 1 : line + 29])


def report_found(file: str, line: int, what: str) -> "NonFinite | None":
    """Called by the recorder in the thread that made the value, outside of any hook."""
    from monitorch._record.automatic import _quote

    recording = _recording.find_any()
    if recording is None:
        return None  # another thread has ended it
    place = f"{_shorten(file)}:{line}"
    path = recording.end_at(f"{place}: {what}")
    error = NonFinite(
        f"{place}: {what}; `monitorch why {_quote(path)}` names its origin"
    )
    error.trace, error.file, error.line = path, file, line
    return error


def _shorten(file: str) -> str:
    """The path relative to the current folder."""
    try:
        folder = posix.getcwd() + "/"
    except OSError:
        return file
    return file[len(folder) :] if file.startswith(folder) else file
