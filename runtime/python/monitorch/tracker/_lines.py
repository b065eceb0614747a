"""Lines that a program writes by itself, and the way to its own logging."""

from __future__ import annotations

import logging
from typing import Any

from monitorch.tracker import _session

logger = logging.getLogger("monitorch.tracker")
"""Gets each line of the tree log: warnings, such as that of a changed dtype, as WARNING, all others
as INFO. Levels and handlers are the program's."""

_MARK = "monitorch_line"  # the attribute of records that are lines of the log


def log2file(text: object) -> None:
    """Writes a line to this thread's log file and to stdout."""
    _session.tell(f"{text}\n")


def _log_change(
    prestr: object, name: object, value: Any, indent: object, lineno: object = 0
) -> None:
    """Tells a value as the log tells those of variables: `[Tensor] name@lineno → shape=…`, `prestr`
    before it and `indent` before all."""
    if not _session.is_on:
        return
    from monitorch import _recorder

    lines = _recorder.track_value(str(prestr), str(name), value, str(indent), str(lineno))
    _session.tell(lines)


class _FileHandler(logging.Handler):
    """Writes what other code logs to the files of the tree log, each thread's to its own."""

    def emit(self, record: logging.LogRecord) -> None:
        if hasattr(record, _MARK):
            return  # it stands there already
        try:
            _session.tell(self.format(record) + "\n", for_file_alone=True)
        except Exception:
            self.handleError(record)


def h4logger() -> logging.Handler:
    """A handler that writes `./logs/$LTAG/process_{pid}_thread_{tid}.log`."""
    handler = _FileHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    return handler


def log(text: str) -> None:
    """Hands lines of the log on to the program's logging."""
    if not (logger.isEnabledFor(logging.WARNING) and logger.hasHandlers()):
        return
    for line in text.splitlines():
        level = logging.WARNING if "⚠" in line else logging.INFO
        if not logger.isEnabledFor(level):
            continue
        try:
            logger.log(level, "%s", line, extra={_MARK: True})
        except Exception:  # a handler's own: the next line may do better
            continue
