"""`python -m monitorch run --spy NAMES`: saves the tensors of those names during the whole run."""

from __future__ import annotations

import atexit
import os
import threading
from pathlib import Path
from typing import Any

from monitorch._record import automatic as _automatic
from monitorch._run import children as _children
from monitorch.spy.saver import DebugContext, TensorSaver

_UNKNOWN = "unknown"


class RunSaver(TensorSaver):
    """A saver for which every module whose method runs is registered. Each process that the program
    forks has its own folder below the program's."""

    def __init__(self, folder: str, names: str) -> None:
        super().__init__(folder, names=names)
        self.saved_count = 0
        self._top = self.output_dir
        os.register_at_fork(after_in_child=self._begin_fork)

    def get_module_path(self, module: Any) -> str:
        path = super().get_module_path(module)
        return self._watch.paths.register(self, module) if path == _UNKNOWN else path

    def save(
        self, name: str, tensor: Any, call_idx: int | None = None, norm_only: bool = False
    ) -> None:
        self.output_dir.mkdir(parents=True, exist_ok=True)
        super().save(name, tensor, call_idx, norm_only)
        self.saved_count += 1

    def _begin_fork(self) -> None:
        self.output_dir = self._top / _name_process()
        self.call_counts.clear()
        self._lock = threading.Lock()  # another thread of the parent may have held it


def begin(names: str, folder: str, is_quiet: bool) -> None:
    """Saves from now on. Raises ValueError for invalid names, and OSError if the folder cannot be
    created."""
    place = Path(folder).absolute()
    saver = _open(names, _add_rank(place))
    _children.spied = names, str(place)
    if not is_quiet:
        atexit.register(_report, saver, names, folder, os.getpid())


def begin_child(names: str, folder: str) -> None:
    """Saves in a process that multiprocessing has spawned."""
    _children.spied = names, folder
    _open(names, Path(folder) / _name_process())


def _open(names: str, place: Path) -> RunSaver:
    saver = RunSaver(str(place), names)
    DebugContext(saver, threads=True).__enter__()  # open until the process ends
    return saver


def _name_process() -> str:
    return f"process-{os.getpid()}"


def _add_rank(folder: Path) -> Path:
    """The folder of this rank of torchrun, or `folder`."""
    rank, world = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    if rank.isdigit() and world.isdigit() and int(world) > 1:
        return folder / f"rank{int(rank)}"
    return folder


def _report(saver: RunSaver, names: str, folder: str, process: int) -> None:
    """Prints at exit what was saved."""
    if os.getpid() != process:
        return
    for text in saver._watch.explain_unmatched():
        _automatic._say(text)
    if saver.saved_count == 0:
        _automatic._say(
            f"nothing was saved in {folder}: no recorded line assigned a tensor to {names}"
        )
        return
    values = "1 value" if saver.saved_count == 1 else f"{saver.saved_count} values"
    _automatic._say(f"{values} of {names} saved in {folder}")
