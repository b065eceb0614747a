"""`pytest --monitorch run.mtrace`: records the whole run, as `python -m monitorch run -m pytest`
does."""

import os

import pytest

from monitorch._compile import import_hook as _import_hook
from monitorch._compile.selected import Selected, find_current_folder
from monitorch._record import automatic as _automatic
from monitorch._record import options as _options
from monitorch._record import recording as _recording
from monitorch._record import trace_path as _trace_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def begin(config: "pytest.Config", text: "str | None", include: "list[str]") -> None:
    """Instruments modules from now on. With `text`, records until pytest ends."""
    hook = _import_hook.Hook(select(config, include), _automatic._say)
    if text:
        _record_all(config, text)
    if "PYTEST_XDIST_WORKER" in os.environ or not _has_workers(config):
        _import_hook.install(hook)


def _record_all(config: "pytest.Config", text: str) -> None:
    """Records until pytest's configuration is removed. Raises UsageError, which says what is
    wrong."""
    try:
        path, options = _options.parse(text)
        if config.known_args_namespace.monitorch_backward:
            options["backward"] = True
        is_quiet = bool(options.pop("quiet", False))
        if _has_workers(config):
            if not is_quiet:
                config.add_cleanup(lambda: _report_workers(path))
            return
        path = _add_worker(path)
        recording = _recording.record(path, **options)  # type: ignore[arg-type]
        recording.is_quiet = is_quiet
        recording.start()
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise pytest.UsageError(f"--monitorch: {_automatic._describe(error)}") from None
    recording.gives_way = True

    def end() -> None:
        if is_quiet or "PYTEST_XDIST_WORKER" in os.environ:
            recording.is_quiet = True
            recording.stop()
        else:
            _automatic.write_summary(recording, process)

    process = os.getpid()
    config.add_cleanup(end)


def select(config: "pytest.Config", include: "list[str]") -> Selected:
    """The selection of `python -m monitorch run -m pytest`, and all files below pytest's
    rootdir."""
    roots = dict.fromkeys([find_current_folder(), str(config.rootpath)])
    settings: "dict[str, Any]" = {
        "script": "",
        "roots": [root for root in roots if root],
        "include": include,
        "exclude": [],
        "functions": [],
        "lines": [],
        "forward": False,
    }
    return Selected(settings)


def _has_workers(config: "pytest.Config") -> bool:
    """Whether pytest-xdist runs the tests in other processes."""
    options = config.known_args_namespace
    wanted = getattr(options, "numprocesses", None) or getattr(options, "tx", None)
    return bool(wanted) and "PYTEST_XDIST_WORKER" not in os.environ


def _report_workers(path: str) -> None:
    _automatic._say(f"traces of the workers: {_trace_path.add_word(path, 'gw*')}")


def _add_worker(path: str) -> str:
    """Gives each process of pytest-xdist a trace of its own."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    return _trace_path.add_word(path, worker) if worker else path
