"""The options of `monitorch run --graft`, and the report at the end of such a run."""

import os
import subprocess

from monitorch._compile.selected import find_current_folder
from monitorch._record import automatic as _automatic
from monitorch._run.command import Usage, find_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def read(options: "dict[str, Any]") -> "dict[str, object]":
    """Reads the options of the recording."""
    if options.get("graft") is None:
        for name in ("at", "each", "map"):
            if options.get(name):
                raise Usage(f"--{name} needs --graft TRACE, the trace of the reference")
        return {}
    if bool(options.get("each")) == bool(options["at"]):
        raise Usage("--graft: expected --each, or --at FILE:LINE for single lines")
    if "repeat-noise" in options:
        raise Usage("--graft and --repeat-noise exclude each other: the noise is the reference's")
    renames = {}
    for text in options["map"]:
        old, _, new = text.partition("=")
        if not old or not new:
            raise Usage(f"--map {text}: expected OLD=NEW")
        renames[old] = new
    return {
        "graft": options["graft"],
        "graft_at": options["at"] or None,
        "graft_map": renames or None,
    }


def prepare(options: "dict[str, Any]", path: str) -> "Callable[[], None]":
    """Returns the function that prints the report."""
    command = find_command()
    words = [command or "monitorch", "diff"]
    words += [f"--map={text}" for text in options["map"]] + (["-q"] if options.get("quiet") else [])
    process, folder = os.getpid(), find_current_folder()
    return lambda: _report(process, [*words, options["graft"], path], folder)


def _report(process: int, words: "list[str]", folder: str) -> None:
    """Prints the report at exit, on standard error, after the trace is finished."""
    if os.getpid() != process:
        return
    try:
        done = subprocess.run(
            words, cwd=folder or None, stdin=subprocess.DEVNULL, capture_output=True
        )
    except OSError as error:
        _automatic._say(f"{words[0]}: {error.strerror}; see `monitorch diff {words[-2]} {words[-1]}`")
        return
    _automatic._write((done.stdout + done.stderr).decode("utf-8", "replace"))
