"""`python -m monitorch run`: its options, and the recording of the whole run."""

import atexit
import importlib.util
import os

from monitorch._compile import import_hook as _import_hook
from monitorch._compile.selected import (
    Selected,
    find_current_folder,
    has_installed_packages,
    read_lines,
)
from monitorch._record import automatic as _automatic
from monitorch._record import options as _options
from monitorch._record import recording as _recording
from monitorch._record import settings as _settings
from monitorch._run import children as _children
from monitorch._run import graft as _graft
from monitorch._run import program as _program
from monitorch._run import repeat as _repeat
from monitorch._run import seed as _seed
from monitorch._run import torchrun as _torchrun
from monitorch._run.command import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from monitorch._run.program import Program

_DEFAULT_OUTPUT = "run.mtrace"
_DEFAULT_FOLDER = "spy"
_OF_RECORDING = (
    "output", "record", "backward", "parameters", "steps", "imports", "repeat-noise", "graft",
)


def prepare(options: "dict[str, Any]", kind: str, words: "list[str]") -> "Program":
    """Finds the program and begins to record.

    Raises Usage if the words make no sense, and OSError if the trace cannot be written. Does not
    return if `python` itself would not run the program.
    """
    if _torchrun.is_launcher(kind, words[0]):
        words = _torchrun.change_words(words, options)
        unwanted: "dict[str, Any]" = {**dict.fromkeys(_OF_RECORDING), "spy": []}
        options = {**options, **unwanted, "no-record": True}
        options.pop("spy-to", None)
    seed, mode = _read_seed(options)
    if seed is not None:
        _seed.restart(seed)
    program = _program.find(kind, words)
    settings = _read_settings(options, program)
    path, recorded = _read_recording(options)
    recorded.update(_graft.read(options))
    is_quiet = bool(recorded.pop("quiet", options.get("quiet", False)))
    hook = _import_hook.Hook(Selected(settings), _import_hook.be_silent if is_quiet else _automatic._say)
    _program.compile_with(program, hook)
    _settings.command = words if kind == "script" else [f"-{kind[0]}", *words]
    _settings.seed, _settings.deterministic = seed, mode
    if _recording.find_any() is not None:
        _settings.write_start()  # MONITORCH began the recording before these settings were known
    if path is not None:
        again = None
        if "repeat-noise" in options:
            is_silent = is_quiet or bool(options.get("json"))
            again = _repeat.prepare(options, kind, words, path, is_silent)
        if "graft" in options:
            again = _graft.prepare(options, path)
        _begin(path, recorded, is_quiet, options, again)
    if not is_quiet:
        atexit.register(_report_unused, hook, os.getpid())
    _begin_to_spy(options, is_quiet)
    _import_hook.install(hook)
    _seed.begin(seed, mode)
    return program


# Reading of the options


def _read_settings(options: "dict[str, Any]", program: "Program") -> "dict[str, Any]":
    """The settings of `Selected`."""
    script = program.path if program.kind in ("script", "stdin", "code") else ""
    roots = [find_current_folder()]
    if program.kind in ("script", "folder"):
        place = program.path if program.kind == "folder" else os.path.dirname(program.path)
        roots += [os.path.normpath(place), os.path.realpath(place)]
    elif program.kind == "module":
        roots += _find_root_of_module(program.words[0])
    lines = []
    for text in options["lines"]:
        try:
            file, first, last = read_lines(text)
        except ValueError as error:
            raise Usage(f"--lines {error}") from None
        if not file and not script:
            raise Usage(f"--lines {text}: of which file? Expected FILE:N-M")
        lines.append((file or script, first, last))
    return {
        "script": os.path.normpath(script) if program.kind == "script" else script,
        "roots": [root for root in dict.fromkeys(roots) if root],
        "include": options["include"],
        "exclude": options["exclude"],
        "functions": options["functions"],
        "lines": lines,
        "forward": bool(options.get("forward")),
    }


def _read_seed(options: "dict[str, Any]") -> "tuple[int | None, str | None]":
    """Returns the seed, and whether deterministic algorithms are wanted."""
    given = options.get("deterministic")
    mode = "yes" if given is True else given
    text = options.get("seed", None if mode is None else "0")
    try:
        return (None if text is None else _seed.read_seed(text)), mode
    except ValueError as error:
        raise Usage(str(error)) from None


def _find_root_of_module(name: str) -> "list[str]":
    """The folders that contain the module's package, without those that pip installs into."""
    try:
        spec = importlib.util.find_spec(name.partition(".")[0])
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    places = list(spec.submodule_search_locations or [spec.origin or ""])
    folders = [os.path.dirname(place) for place in places if os.path.isabs(place)]
    return [folder for folder in folders if not has_installed_packages(folder)]


def _read_recording(options: "dict[str, Any]") -> "tuple[str | None, dict[str, object]]":
    """Returns the trace's path (None: no recording here) and the options."""
    if os.environ.get("MONITORCH"):
        for name in _OF_RECORDING:
            if options.get(name) is not None:
                raise Usage(f"MONITORCH is set, which says what --{name} says: give one of them")
        return None, {}
    if options.get("no-record"):
        for name in _OF_RECORDING:
            if options.get(name) is not None:
                raise Usage(f"--no-record and --{name} exclude each other")
        return None, {}
    path = options.get("output", _DEFAULT_OUTPUT)
    switches = ("backward", "parameters", "imports")
    recorded: "dict[str, object]" = {name: True for name in switches if options.get(name)}
    if "steps" in options:
        recorded["steps"] = options["steps"]
    if "record" in options:
        try:
            recorded.update(_options.parse("trace," + options["record"])[1])
        except ValueError as error:
            raise Usage(f"--record: {error}") from None
        if "include" in recorded:
            raise Usage("--record include=…: name the modules with --include instead")
    return path, recorded


def _begin_to_spy(options: "dict[str, Any]", is_quiet: bool) -> None:
    if not options["spy"]:
        if "spy-to" in options:
            raise Usage(f"--spy-to {options['spy-to']}: --spy says which tensors")
        return
    from monitorch.spy import _run_saver

    try:
        _run_saver.begin(",".join(options["spy"]), options.get("spy-to", _DEFAULT_FOLDER), is_quiet)
    except ValueError as error:
        raise Usage(f"--spy: {error}") from None


# Recording


def _begin(
    path: str,
    recorded: "dict[str, object]",
    is_quiet: bool,
    options: "dict[str, Any]",
    again: "Callable[[], None] | None",
) -> None:
    """Begins the recording. `again` runs the program once more, at exit."""
    is_json = bool(options.get("json"))
    if is_json and is_quiet:
        raise Usage("--json and --quiet exclude each other")
    try:
        recording = _automatic._start(path, recorded, is_quiet)
    except (TypeError, ValueError) as error:
        raise Usage(f"--record: {error}") from None
    recording.gives_way = True
    folder = "" if os.path.isabs(path) else f"{find_current_folder()}/"
    _children.recorded = folder + path, recorded, is_quiet
    write = _automatic.write_summary_json if is_json else _automatic.write_summary
    if again is not None:
        atexit.register(again)  # functions at exit run in reverse order
    atexit.register(
        _end, recording, os.getpid(), None if is_quiet else write, "output" in options
    )


def _end(
    recording: "_recording.Recording",
    process: int,
    write: "Callable[[_recording.Recording, int], None] | None",
    is_named: bool,
) -> None:
    """Ends the recording at exit. `write` ends it and writes its summary; None: it ends quietly."""
    has_ended = recording.summary is not None
    if write is None:
        recording.stop()
    if has_ended and os.getpid() == process and _has_nothing(recording, is_named):
        return
    if write is not None:
        write(recording, process)


def _has_nothing(recording: "_recording.Recording", is_named: bool) -> bool:
    """Whether the trace is not reported: the program made one in the same file, or nothing was
    recorded and the user named no file."""
    summary = recording.summary
    if summary is None:
        return False
    if recording.is_replaced:
        return True
    if summary.events == 0 and not is_named:
        try:
            os.unlink(recording.absolute_path)
        except OSError:
            pass
        return True
    return False


def _report_unused(hook: "_import_hook.Hook", process: int) -> None:
    """Reports unused options at exit: a misspelled name would not be noticed otherwise."""
    if os.getpid() != process:
        return
    from monitorch._compile import unused as _unused

    for text in _unused.explain(hook.selected):
        _automatic._say(text)
