"""Whether calls are tracked, and where their lines are written."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch._record import hooks as _hooks
from monitorch._recorder import observe as observe
from monitorch._recorder import track_end as track_end

if TYPE_CHECKING:
    from monitorch.tracker._wish import Labels

    Folder = str | os.PathLike[str] | None

is_on = True
"""Whether calls of tracked functions are tracked."""

_TAG_LIMIT = 100  # bytes of a folder's name

_lock = RLock()
_is_set_up = False
_has_complained = False
_log: Callable[[str], None] | None = None  # to the program's logging


class _Settings:
    folder: str | None = None  # the folder of the log files, if there are any
    has_files = True
    has_stdout = True
    labels = ""
    has_elapsed = True


_settings = _Settings()


class _Unchanged:
    def __repr__(self) -> str:
        return "…"


_UNCHANGED: Any = _Unchanged()


def configure(
    *,
    folder: Folder = _UNCHANGED,
    stdout: bool = _UNCHANGED,
    labels: Labels | None = _UNCHANGED,
    elapsed: bool = _UNCHANGED,
) -> None:
    """Sets where the tracker writes, and in which form, from now on.

    Args:
        folder (str, PathLike or None, optional): the folder of the log files; ``None`` writes no
            files. Default: ``./logs/$LTAG``
        stdout (bool, optional): whether to print the lines too. Default: ``True``
        labels (str, dict or None, optional): ``"zh"``, ``"en"``, or single labels,
            ``{"input": "in"}``; ``None`` follows the locale. Default: ``None``
        elapsed (bool, optional): whether to log how long calls last. Default: ``True``

    An argument that you leave out keeps its present value.

    Raises:
        TypeError: if `stdout` or `elapsed` is not a bool.
        ValueError: if `labels` has no such value.

    Example::

        >>> tracker.configure(folder="my_logs", stdout=False, labels="en")
    """
    from monitorch._record import options as _options
    from monitorch.tracker._wish import write_labels

    if folder is not _UNCHANGED and folder is not None:
        folder = os.path.abspath(os.fsdecode(folder))
    if stdout is not _UNCHANGED:
        _options.check_switch("stdout", stdout)
    if elapsed is not _UNCHANGED:
        _options.check_switch("elapsed", elapsed)
    text = "" if labels is _UNCHANGED or labels is None else write_labels(labels)
    with _lock:
        if folder is not _UNCHANGED:
            _settings.folder, _settings.has_files = folder, folder is not None
        if stdout is not _UNCHANGED:
            _settings.has_stdout = stdout
        if labels is not _UNCHANGED:
            _settings.labels = text
        if elapsed is not _UNCHANGED:
            _settings.has_elapsed = elapsed
        if _is_set_up:
            _apply_settings()


def on() -> None:
    """Turns tracking on again after `off()`. It is on by default."""
    global is_on
    is_on = True


def off() -> None:
    """Turns tracking off: tracked functions run as they were written."""
    global is_on
    with _lock:
        is_on = False
        _hooks.end_tracking()
        _recorder.track_stop()


def set_up() -> None:
    """Prepares the files, before anything is tracked or written."""
    global _is_set_up, _log
    with _lock:
        if not _is_set_up:
            _hooks.learn_layout()
            if _settings.folder is None and _settings.has_files:
                _settings.folder = os.path.join(os.getcwd(), "logs", _find_tag())
            from monitorch.tracker import _lines

            _log = _lines.log
            _apply_settings()
            _is_set_up = True


def begin(calls: Any) -> Any:
    """Announces a call; None if it is not tracked."""
    token = _recorder.track_begin(calls)
    if token is None and _prepare():
        token = _recorder.track_begin(calls)
    return token


def write(text: str, *, for_file_alone: bool = False) -> None:
    """Writes whole lines to this thread's file, and to stdout and the logging."""
    if not _is_set_up:
        set_up()
    _recorder.track_text(text, for_file_alone)


def _prepare() -> bool:
    """Ensures that there is a recording to read tracked calls from; by default one without a trace."""
    global _has_complained
    with _lock:
        if not is_on:
            return False
        try:
            # Hooks first: another thread may track a call as soon as there is a recording.
            _hooks.begin_tracking()
            return _recorder.track_start()
        except OSError as error:
            if not _has_complained:
                _has_complained = True
                print(f"monitorch.tracker: calls are not tracked: {error}", file=sys.stderr)
            return False


def _apply_settings() -> None:
    from monitorch.tracker import _wrap

    folder = _settings.folder if _settings.has_files else None
    _recorder.track_setup(
        _deliver,
        _wrap.FILE.rpartition("/")[0] + "/",
        b"" if folder is None else os.fsencode(folder),
        _settings.labels,
        not _settings.has_elapsed,
    )


def _find_tag() -> str:
    """The name of the folder below `logs`: $LTAG without path separators."""
    tag = os.environ.get("LTAG", "")
    tag = "".join(
        "_" if letter in "/\\\0" or not letter.isprintable() else letter for letter in tag
    )
    tag = os.fsencode(tag)[:_TAG_LIMIT].decode("utf-8", "ignore")
    return "_" * len(tag) if tag in (".", "..") else tag or "NOTAG"


def _deliver(text: str) -> None:
    """Prints and logs lines that are in their files already."""
    try:
        if _settings.has_stdout and sys.stdout is not None:
            _print(text)
    finally:
        if _log is not None:
            _log(text)


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding or "ascii"
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))


def _begin_child() -> None:
    """In a forked process: another thread of its parent may have held the lock."""
    global _lock
    _lock = RLock()


os.register_at_fork(after_in_child=_begin_child)
