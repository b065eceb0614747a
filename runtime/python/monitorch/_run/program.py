"""A program, run exactly as `python` would run it.

This module repeats the actions of `python script.py` before and after a program: __main__'s names,
sys.argv, sys.path, their state at the end, and a traceback that begins with the program's own
frames.
"""

import builtins
import importlib.machinery
import importlib.util
import os
import sys
from _weakref import ref

from monitorch import _instrument
from monitorch._compile.selected import find_current_folder
from monitorch._record import source as _source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType, ModuleType, TracebackType
    from typing import Any, NoReturn

    from monitorch._compile.import_hook import Hook


class Program:
    """The program that the command line names."""

    def __init__(self, kind: str, words: "list[str]") -> None:
        self.kind = kind  # "script", "module", "code", "stdin" or "folder" (also: a zip file)
        self.words = words  # the program, and its arguments
        self.path = words[0]  # absolute, if the program has a path
        self.source: "bytes | None" = None
        self.code: "CodeType | None" = None  # None if runpy finds it


def find(kind: str, words: "list[str]") -> Program:
    """Finds the program, and reads it unless it is a module.

    Does not return if `python` would not run it.
    """
    program = Program(kind, words)
    if kind == "script":
        _find_script(program)
    elif kind == "code":
        program.path = "<string>"
        program.source = words[0].encode("utf-8", "surrogateescape")
    return program


def _find_script(program: Program) -> None:
    """Finds what a path names: a source, bytecode, a folder, a zip file, or standard input."""
    if program.words[0] == "-":
        program.kind, program.path = "stdin", "<stdin>"
        program.source = sys.stdin.buffer.read()
        return
    if not os.path.isabs(program.path):
        program.path = f"{find_current_folder()}/{program.path}"
    if _has_importer(program.path):
        program.kind = "folder"
        if _is_without_main(program.path):
            _run_plainly(program)  # before a trace is begun, which would replace an older one
        return
    try:
        with open(program.path, "rb") as file:
            program.source = file.read()
    except OSError:
        _run_plainly(program)


def _is_without_main(path: str) -> bool:
    """Whether it is a folder without a __main__, or one that cannot be read."""
    names = (f"{path}/__main__{suffix}" for suffix in importlib.machinery.all_suffixes())
    return os.path.isdir(path) and not any(map(os.path.exists, names))


def _has_importer(path: str) -> bool:
    """Whether Python would search the path for a __main__."""
    for hook in sys.path_hooks:
        try:
            hook(path)
        except ImportError:
            continue
        return True
    return False


def compile_with(program: Program, hook: "Hook") -> None:
    """Instruments and compiles the program. Does not return if `python` would not run it."""
    if program.source is None:
        return
    try:
        if program.source[:4] == importlib.util.MAGIC_NUMBER:
            loader = importlib.machinery.SourcelessFileLoader("__main__", program.path)
            program.code = loader.get_code("__main__")
            return
        program.code = hook.compile("__main__", program.source, program.path)
        if program.code is None:
            program.code = compile(program.source, program.path, "exec", dont_inherit=True)
    except Exception as error:
        if program.kind != "stdin":
            _run_plainly(program)
        sys.excepthook(type(error), error.with_traceback(None), None)
        raise SystemExit(1) from None
    if program.kind != "script":
        _source.texts[program.path] = program.source


def _register_lines(program: Program) -> None:
    """Registers the lines of `-c` for tracebacks, which show them from 3.13 on."""
    if program.kind == "code" and sys.version_info >= (3, 13):
        import linecache

        code = "<string>" if sys.version_info < (3, 14) else program.code
        linecache._register_code(code, program.words[0], "<string>")  # type: ignore[attr-defined]


def _run_plainly(program: Program) -> "NoReturn":
    """Runs `python` itself, which reports why it does not run the program."""
    words = _find_words_of_python()
    words += ["-c", *program.words] if program.kind == "code" else program.words
    sys.stdout.flush()
    os.execv(sys.executable, words)


def _find_words_of_python() -> "list[str]":
    """The interpreter and its options: the words before `-m monitorch`."""
    words = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1]
    last = words.pop() if words else ""
    if last == "monitorch" and words:
        last = words.pop() + "monitorch"
    if not last.startswith("-") or not last.endswith("mmonitorch"):
        return [sys.executable]  # another program started this one
    flags = last[: -len("mmonitorch")]
    return words if flags == "-" else [*words, flags]


def execute(program: Program) -> None:
    """Runs the program. Does not return if it could leave all frames below first."""
    is_first = _can_leave_frames()
    if not is_first:
        # The present __main__, a profiler's for instance, is still needed: its frames use it.
        sys.modules["__main__"] = type(sys)("__main__")
    names = vars(sys.modules["__main__"])
    _reset_names(names)
    _set_path(program)
    sys.argv = program.words
    if program.kind in ("module", "code"):
        sys.argv = ["-" + program.kind[0], *program.words[1:]]
    function: "Any" = None
    if program.code is None:
        import runpy

        name = program.words[0] if program.kind == "module" else "__main__"
        function = runpy._run_module_as_main  # type: ignore[attr-defined]
        arguments: "tuple[Any, ...]" = name, program.kind == "module"
    else:
        _set_names(program, names)
        _register_lines(program)
        arguments = program.code, names

    # No variable here may refer to the module's names: they are destroyed when the interpreter
    # ends.
    kind, module = program.kind, ref(sys.modules["__main__"])

    def end() -> None:
        _forget_names(kind, module())

    if is_first:
        _leave_frames(function, arguments, end)
    try:
        (function or exec)(*arguments)
    except SystemExit:
        raise
    except BaseException as error:
        _leave_out_own_frames(error, end)
        raise
    end()


def _can_leave_frames() -> bool:
    """Whether only frames of this package are below: no debugger, profiler or the like."""
    if sys.flags.inspect:
        return False
    # The frames: runpy twice, monitorch's __main__ (its names are removed), twice _command, execute.
    files = ["runpy", "runpy", "__main__", "monitorch._run.command", "monitorch._run.command", __name__]
    frame: "FrameType | None" = sys._getframe(1)
    while frame is not None and files and frame.f_globals.get("__name__") == files[-1]:
        files.pop()
        frame = frame.f_back
    return frame is None and not files


class _Left(Exception):
    """An exception that leaves all frames; its sys.excepthook then runs the program."""


def _leave_frames(function: "Any", arguments: "tuple[Any, ...]", end: "Any") -> "NoReturn":
    hook = getattr(sys, "excepthook", None)
    sys.excepthook = _instrument.make_program(function, arguments, end, hook)
    raise _Left


def _reset_names(names: "dict[str, Any]") -> None:
    """Gives __main__ the names that Python gives it at the start."""
    names.clear()
    names["__name__"] = "__main__"
    names["__doc__"] = names["__package__"] = None
    names["__loader__"] = importlib.machinery.BuiltinImporter
    names["__spec__"] = None
    if sys.version_info < (3, 14):
        names["__annotations__"] = {}
    names["__builtins__"] = builtins


def _set_names(program: Program, names: "dict[str, Any]") -> None:
    if program.kind == "code":
        return
    names["__file__"] = program.path
    names["__cached__"] = None
    if program.kind == "script":
        is_bytecode = program.source is not None and program.source[:4] == importlib.util.MAGIC_NUMBER
        kind: "Any" = importlib.machinery.SourceFileLoader
        if is_bytecode:
            kind = importlib.machinery.SourcelessFileLoader
        names["__loader__"] = kind("__main__", program.path)


def _forget_names(kind: str, module: "ModuleType | None") -> None:
    """Removes the names that Python removes after the program has ended or its traceback was
    printed. Functions that run at exit do not find them."""
    if module is not None and kind in ("script", "stdin"):
        vars(module).pop("__file__", None)
        vars(module).pop("__cached__", None)


def _set_path(program: Program) -> None:
    """Sets sys.path[0], which for `-m monitorch` is the current folder."""
    is_safe = bool(getattr(sys.flags, "safe_path", sys.flags.isolated))
    if program.kind == "folder":
        sys.path[: 0 if is_safe else 1] = [program.path]
    elif is_safe or program.kind == "module":
        pass
    elif program.kind == "script":
        sys.path[0] = os.path.dirname(os.path.realpath(program.path))
    else:
        sys.path[0] = ""


def _leave_out_own_frames(error: BaseException, end: "Callable[[], None]") -> None:
    """Removes monitorch's frames from a traceback.

    The interpreter prints the traceback by sys.excepthook after the exception has left monitorch's
    frames too; the hook gets only the part of the program.
    """
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
