"""Runs a program as `python` itself would, with its files instrumented and recorded.

What `python script.py` does before and after a program is done here in Python: __main__'s
names, sys.argv, sys.path, what is left of these at the end, and a traceback that begins with
the program's own frames.
"""

import atexit
import builtins
import importlib.machinery
import importlib.util
import os
import sys

from monitorch import (
    _automatic,
    _children,
    _import,
    _instrument,
    _options,
    _record,
    _source,
    _torchrun,
)
from monitorch._command import Usage
from monitorch._selected import Selected, has_installed_packages, read_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, TracebackType
    from typing import Any, NoReturn

_DEFAULT_OUTPUT = "run.mtrace"


class Run:
    """A program that is about to run."""

    def __init__(self, kind: str, words: "list[str]") -> None:
        self.kind = kind  # "script", "module", "code", "stdin" or "folder" (also: a zip file)
        self.words = words  # the program, and its arguments
        self.path = words[0]  # absolute, of what has one
        self.source: "bytes | None" = None
        self.code: "CodeType | None" = None  # None where runpy finds it


def prepare(options: "dict[str, Any]", kind: str, words: "list[str]") -> Run:
    """Finds the program and begins to record. Usage where the words make no sense, OSError where
    the trace cannot be written. Does not return for what `python` itself would not run."""
    if _torchrun.is_launcher(kind, words[0]):
        words = _torchrun.change_words(words, options)
        options = {**options, "no-record": True, "output": None, "record": None}
    run = Run(kind, words)
    if kind == "script":
        _find_script(run)
    settings = _read_settings(options, run)
    is_quiet = bool(options.get("quiet"))
    path, recorded = _read_recording(options)
    is_quiet = bool(recorded.pop("quiet", is_quiet))
    hook = _import.Hook(Selected(settings), _import.be_silent if is_quiet else _automatic._say)
    _compile(run, hook)
    if path is not None:
        _begin(path, recorded, is_quiet, "output" in options)
    if not is_quiet:
        atexit.register(_tell_unused, hook, os.getpid())
    _import.install(hook)
    return run


# What the options say


def _read_settings(options: "dict[str, Any]", run: Run) -> "dict[str, Any]":
    """What `Selected` wants."""
    script = run.path if run.kind in ("script", "stdin", "code") else ""
    roots = [os.getcwd()]
    if run.kind in ("script", "folder"):
        place = run.path if run.kind == "folder" else os.path.dirname(run.path)
        roots += [os.path.normpath(place), os.path.realpath(place)]
    elif run.kind == "module":
        roots += _find_root_of_module(run.words[0])
    lines = []
    for text in options["lines"]:
        try:
            file, first, last = read_lines(text)
        except ValueError as error:
            raise Usage(f"--lines {error}") from None
        if not file and not script:
            raise Usage(f"--lines {text}: of which file? Expected FILE:A-B")
        lines.append((file or script, first, last))
    return {
        "script": os.path.normpath(script) if run.kind == "script" else script,
        "roots": list(dict.fromkeys(roots)),
        "include": options["include"],
        "exclude": options["exclude"],
        "functions": options["functions"],
        "lines": lines,
        "forward": bool(options.get("forward")),
    }


def _find_root_of_module(name: str) -> "list[str]":
    """The folder that the module's package is found in, where that is no installed one."""
    package = name.partition(".")[0]
    finder = importlib.machinery.PathFinder
    try:
        spec = finder.find_spec(package)
    except (ImportError, ValueError):
        return []
    origin = None if spec is None else spec.origin
    if origin is None or not os.path.isabs(origin):
        return []
    folder = os.path.dirname(origin)
    if os.path.basename(origin) == "__init__.py":
        folder = os.path.dirname(folder)
    return [] if has_installed_packages(folder) else [folder]


def _read_recording(options: "dict[str, Any]") -> "tuple[str | None, dict[str, object]]":
    """The trace's path, None where nothing is to be recorded here, and the options."""
    if os.environ.get("MONITORCH"):
        for name in ("output", "record"):
            if options.get(name) is not None:
                raise Usage(f"MONITORCH is set, which says what --{name} says: give one of them")
        return None, {}
    if options.get("no-record"):
        for name in ("output", "record"):
            if options.get(name) is not None:
                raise Usage(f"--no-record and --{name} exclude each other")
        return None, {}
    path = options.get("output", _DEFAULT_OUTPUT)
    if "record" not in options:
        return path, {}
    try:
        return path, _options.parse("trace," + options["record"])[1]
    except ValueError as error:
        raise Usage(f"--record: {error}") from None


# Recording


def _begin(path: str, options: "dict[str, object]", is_quiet: bool, is_named: bool) -> None:
    try:
        recording = _automatic._start(path, options, is_quiet)
    except (TypeError, ValueError) as error:
        raise Usage(f"--record: {error}") from None
    recording.gives_way = True
    folder = "" if os.path.isabs(path) else f"{os.getcwd()}/"
    _children.recorded = folder + path, options, is_quiet
    atexit.register(_tell, recording, os.getpid(), is_quiet, is_named)


def _tell(recording: "_record.Recording", process: int, is_quiet: bool, is_named: bool) -> None:
    """At exit."""
    has_ended = recording.summary is not None
    if is_quiet:
        recording.stop()
    if has_ended and os.getpid() == process and _has_nothing(recording, is_named):
        return
    if not is_quiet:
        _automatic._tell(recording, process)


def _has_nothing(recording: "_record.Recording", is_named: bool) -> bool:
    """Whether nobody is to hear of this trace: the program made one of its own, to the same
    file or before anything was recorded here, where nobody had asked for a file."""
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


def _tell_unused(hook: "_import.Hook", process: int) -> None:
    """At exit: a slip in the options would not be seen otherwise."""
    if os.getpid() != process:
        return
    unused = hook.selected.unused_globs()
    if unused:
        _automatic._say(f"no module was imported that matches {', '.join(unused)}")


# The program


def _find_script(run: Run) -> None:
    """What a path names: a source, bytecode, a folder, a zip file, or standard input."""
    if run.words[0] == "-":
        run.kind, run.path = "stdin", "<stdin>"
        run.source = sys.stdin.buffer.read()
        return
    if not os.path.isabs(run.path):
        run.path = f"{os.getcwd()}/{run.path}"
    if _has_importer(run.path):
        run.kind = "folder"
        return
    try:
        with open(run.path, "rb") as file:
            run.source = file.read()
    except OSError:
        _run_plainly(run)


def _has_importer(path: str) -> bool:
    """Whether Python would look for a __main__ in it."""
    for hook in sys.path_hooks:
        try:
            hook(path)
        except ImportError:
            continue
        return True
    return False


def _compile(run: Run, hook: "_import.Hook") -> None:
    if run.kind == "code":
        run.path = "<string>"
        run.source = run.words[0].encode("utf-8", "surrogateescape")
    if run.source is None:
        return
    try:
        if run.source[:4] == importlib.util.MAGIC_NUMBER:
            loader = importlib.machinery.SourcelessFileLoader("__main__", run.path)
            run.code = loader.get_code("__main__")
            return
        run.code = hook.compile("__main__", run.source, run.path)
        if run.code is None:
            run.code = compile(run.source, run.path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError, ImportError) as error:
        if run.kind != "stdin":
            _run_plainly(run)
        sys.excepthook(type(error), error.with_traceback(None), None)
        raise SystemExit(1) from None
    if run.kind != "script":
        _source.texts[run.path] = run.source


def _register_lines(run: Run) -> None:
    """For tracebacks, which show the lines of `-c` from 3.13 on."""
    if run.kind == "code" and sys.version_info >= (3, 13):
        import linecache

        code = "<string>" if sys.version_info < (3, 14) else run.code
        linecache._register_code(code, run.words[0], "<string>")  # type: ignore[attr-defined]


def _run_plainly(run: Run) -> "NoReturn":
    """Lets `python` itself say why it does not run this."""
    words = _find_words_of_python()
    words += ["-c", *run.words] if run.kind == "code" else run.words
    sys.stdout.flush()
    os.execv(sys.executable, words)


def _find_words_of_python() -> "list[str]":
    """The interpreter and its options: what stands before `-m monitorch`."""
    words = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1]
    last = words.pop() if words else ""
    if last == "monitorch" and words:
        last = words.pop() + "monitorch"
    if not last.startswith("-") or not last.endswith("mmonitorch"):
        return [sys.executable]  # started by something else
    flags = last[: -len("mmonitorch")]
    return words if flags == "-" else [*words, flags]


def execute(run: Run) -> None:
    """Runs it; does not return where all frames below could be left first."""
    names = vars(sys.modules["__main__"])
    _reset_names(names)
    _set_path(run)
    sys.argv = ["-" + run.kind[0], *run.words[1:]] if run.kind in ("module", "code") else run.words
    function: "Any" = None
    if run.code is None:
        import runpy

        name = run.words[0] if run.kind == "module" else "__main__"
        function = runpy._run_module_as_main  # type: ignore[attr-defined]
        arguments: "tuple[Any, ...]" = name, run.kind == "module"
    else:
        _set_names(run, names)
        _register_lines(run)
        arguments = run.code, names

    def end() -> None:
        _forget_names(run, names)

    if _can_leave_frames():
        _leave_frames(_instrument.make_program(function, arguments, end))
    try:
        (function or exec)(*arguments)
    except SystemExit:
        raise
    except BaseException as error:
        _leave_out_own_frames(error, end)
        raise
    end()


def _can_leave_frames() -> bool:
    """Whether below us there is nothing but the way here: no debugger, profiler or the like."""
    if sys.flags.inspect or sys.excepthook is not sys.__excepthook__:
        return False
    frame = sys._getframe(1)
    files = []
    while frame is not None:
        files.append(frame.f_globals.get("__name__"))
        frame = frame.f_back  # type: ignore[assignment]
    # The names of our __main__ were taken away.
    ours = [_run_name, "monitorch._command", "monitorch._command", "__main__", "runpy", "runpy"]
    return files == ours


_run_name = __name__


class _Left(Exception):
    """Leaves all frames; what sys.excepthook is then runs the program."""


def _leave_frames(program: "Any") -> "NoReturn":
    sys.excepthook = program
    raise _Left


def _reset_names(names: "dict[str, Any]") -> None:
    """__main__ as it is when Python has made it."""
    names.clear()
    names["__name__"] = "__main__"
    names["__doc__"] = names["__package__"] = None
    names["__loader__"] = importlib.machinery.BuiltinImporter
    names["__spec__"] = None
    if sys.version_info < (3, 14):
        names["__annotations__"] = {}
    names["__builtins__"] = builtins


def _set_names(run: Run, names: "dict[str, Any]") -> None:
    if run.kind == "code":
        return
    names["__file__"] = run.path
    names["__cached__"] = None
    if run.kind == "script":
        is_bytecode = run.source is not None and run.source[:4] == importlib.util.MAGIC_NUMBER
        kind: "Any" = importlib.machinery.SourceFileLoader
        if is_bytecode:
            kind = importlib.machinery.SourcelessFileLoader
        names["__loader__"] = kind("__main__", run.path)


def _forget_names(run: Run, names: "dict[str, Any]") -> None:
    """Python takes these away again when a program has come to its end, or its traceback is
    printed; what runs at exit does not find them."""
    if run.kind in ("script", "stdin"):
        names.pop("__file__", None)
        names.pop("__cached__", None)


def _set_path(run: Run) -> None:
    """sys.path[0]: the current folder stands there, for `-m monitorch`."""
    is_safe = bool(getattr(sys.flags, "safe_path", sys.flags.isolated))
    if run.kind == "folder":
        sys.path[: 0 if is_safe else 1] = [run.path]
    elif is_safe or run.kind == "module":
        pass
    elif run.kind == "script":
        sys.path[0] = os.path.dirname(os.path.realpath(run.path))
    else:
        sys.path[0] = ""


def _leave_out_own_frames(error: BaseException, end: "Callable[[], None]") -> None:
    """The interpreter prints the traceback when the exception has left our frames too, by way of
    sys.excepthook: there it gets the part that is the program's."""
    trace = error.__traceback__
    shown = None if trace is None else trace.tb_next
    hook = getattr(sys, "excepthook", None)

    def show(
        kind: "type[BaseException]", value: BaseException, whole: "TracebackType | None"
    ) -> None:
        sys.last_traceback = value.__traceback__ = shown
        if hook is None:
            del sys.excepthook
            sys.stderr.write("sys.excepthook is missing\n")
            sys.__excepthook__(kind, value, shown)
        else:
            sys.excepthook = hook
            _call_hook(hook, value)
        end()

    sys.excepthook = show


def _call_hook(hook: "Any", error: BaseException) -> None:
    try:
        hook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as failure:
        trace = failure.__traceback__
        failure.__traceback__ = None if trace is None else trace.tb_next
        sys.stderr.write("Error in sys.excepthook:\n")
        sys.__excepthook__(type(failure), failure, failure.__traceback__)
        sys.stderr.write("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, error.__traceback__)
