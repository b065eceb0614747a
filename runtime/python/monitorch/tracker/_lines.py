"""Lines that a program writes by itself, and the connection to its logging."""

from __future__ import annotations

import logging
from typing import Any

from monitorch.tracker import _session

logger = logging.getLogger("monitorch.tracker")
"""Receives each line of the tree log: warnings, such as that of a changed dtype, as WARNING, all
others as INFO. The program sets levels and handlers."""

_MARK = "monitorch_line"  # the attribute of records that are lines of the log


def log2file(text: object) -> None:
    """Writes a line to the log file of this thread and to stdout.

    Args:
        text (object): the line.

    Example::

        >>> log2file(f"loss is {loss}")
    """
    _session.write(f"{text}\n")


def _log_change(
    prestr: object, name: object, value: Any, indent: object, lineno: object = 0
) -> None:
    """Writes a value in the form of the tree log: ``[Tensor] name@lineno → shape=…``.

    Args:
        prestr (object): text before the value.
        name (object): the value's name.
        value (object): a tensor, an array or anything else.
        indent (object): text before the line.
        lineno (object, optional): the line number after ``@``. Default: 0

    Example::

        >>> def check_hook(module, input, output):
        ...     _log_change(type(module).__name__, "output", output, "", 0)
        >>> layer.register_forward_hook(check_hook)
    """
    if not _session.is_on:
        return
    from monitorch import _recorder

    lines = _recorder.track_value(str(prestr), str(name), value, str(indent), str(lineno))
    _session.write(lines)


class _FileHandler(logging.Handler):
    """Writes log records to the files of the tree log, those of each thread to its own file."""

    def emit(self, record: logging.LogRecord) -> None:
        if hasattr(record, _MARK):
            return  # the line is in the file already
        try:
            _session.write(self.format(record) + "\n", for_file_alone=True)
        except Exception:
            self.handleError(record)


def h4logger() -> logging.Handler:
    """Returns a logging handler that writes to the tracker's log files.

    The file is ``./logs/$LTAG/process_{pid}_thread_{tid}.log``, one for each thread.

    Example::

        >>> logging.getLogger("myproject").addHandler(h4logger())
    """
    handler = _FileHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    return handler


def log(text: str) -> None:
    """Passes lines of the log to the program's logging."""
    if not (logger.isEnabledFor(logging.WARNING) and logger.hasHandlers()):
        return
    for line in text.splitlines():
        level = logging.WARNING if "⚠" in line else logging.INFO
        if not logger.isEnabledFor(level):
            continue
        try:
            logger.log(level, "%s", line, extra={_MARK: True})
        except Exception:  # a handler's own exception; the next line may succeed
            continue
