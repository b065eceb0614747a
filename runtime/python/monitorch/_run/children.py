"""Instrumentation and recording in processes that multiprocessing spawns (`spawn`, `forkserver`).

They import the main module again. This module makes them instrument it, and record, as their parent
does.
"""

import os

from monitorch._compile import import_hook as _import_hook
from monitorch._record import recording as _recording
from monitorch._run import seed as _seed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Runs in the child before it imports the main module. If it fails there, the child runs normally.
_PROGRAM = """\
import sys
added = {folder!r} not in sys.path and not sys.path.append({folder!r})
try:
    from monitorch._run import children as _children
    _children.begin({settings!r}, {recorded!r}, {seed!r}, {spied!r})
except Exception as error:
    sys.stderr.write(f"monitorch: a process of multiprocessing is not recorded: {{error}}\\n")
finally:
    if added:
        sys.path.remove({folder!r})
"""

recorded: "tuple[str, dict[str, object], bool] | None" = None
"""The recording of this process: path, options, and whether it is quiet."""
spied: "tuple[str, str] | None" = None
"""The tensors that this process saves: names, and the folder."""


class _Arrival:
    """An object that runs a program where it is unpickled."""

    def __init__(self, program: str) -> None:
        self._program = program

    def __reduce__(self) -> "tuple[Any, ...]":
        return exec, (self._program, {})


def change(spawn: "Any") -> None:
    """Changes multiprocessing.spawn: the first data sent to a child include monitorch's own."""
    get_preparation_data = spawn.get_preparation_data

    def get_preparation_data_and_hook(name: str) -> "dict[str, Any]":
        data: "dict[str, Any]" = get_preparation_data(name)
        hook = _import_hook.get()
        if hook is not None:
            program = _PROGRAM.format(
                folder=os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                settings=hook.selected.settings,
                recorded=recorded if _goes_on() else None,
                seed=_seed.find_for_child(name),
                spied=spied,
            )
            data["monitorch"] = _Arrival(program)
        return data

    spawn.get_preparation_data = get_preparation_data_and_hook


def _goes_on() -> bool:
    recording = _recording.find_any()
    return recording is not None and recording.gives_way


def begin(
    settings: "dict[str, Any]",
    wanted: "tuple[str, dict[str, object], bool] | None",
    seed: "tuple[int | None, str | None]",
    saved: "tuple[str, str] | None",
) -> None:
    """Starts instrumentation and recording in the child."""
    global recorded
    from monitorch._compile.selected import Selected
    from monitorch._record import automatic as _automatic

    recorded = wanted
    is_quiet = wanted is None or wanted[2]
    if wanted is not None:
        path, options, _ = wanted
        _automatic._start(path, options, is_quiet).gives_way = True
    _import_hook.install(_import_hook.Hook(Selected(settings), _import_hook.be_silent))
    _seed.begin(*seed)
    if saved is not None:
        from monitorch.spy import _run_saver

        _run_saver.begin_child(*saved)
