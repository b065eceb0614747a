"""IPython magics: `%load_ext monitorch`, then `%%monitorch` and `%monitorch`."""

import ast
import shlex
import sys

from IPython.core.error import UsageError

from monitorch import _nearest
from monitorch._flow import flow as _flow
from monitorch._flow import scope as _scope
from monitorch._flow import settings as _flow_settings
from monitorch._notebook import display as _display

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from monitorch._record import recording as _recording

_PICTURES = (".png", ".svg", ".pdf", ".dot")
_WORDS = ("lines", "on", "off", "flush", "reset", "record", "stop")
# Subcommands of the program `monitorch`, which runs them.
_COMMANDS = ("show", "graph", "calls", "diff", "why", "check", "sql", "export")
_CHOICES = {
    "fold": ("auto", "all", "none"),
    "theme": ("light", "dark"),
    "show": ("True", "False"),
    "save": ("True", "False"),
}


class Magics:
    """The magics of one IPython shell."""

    def __init__(self, shell: "Any") -> None:
        self._shell = shell
        self._lines: "tuple[int, int] | None" = None  # of cells that begin with %%monitorch

    def monitorch(self, line: str, cell: "str | None" = None) -> None:
        """Draws what flows through a cell, and answers questions about traces.

        %%monitorch                      run this cell and draw what its lines assign
        %%monitorch flow.svg max_nodes=20 theme=dark
                                         the same, saved too; settings as in monitorch.on
        %%monitorch --record run.mtrace  run this cell and record it into a trace instead;
                                         options as in monitorch.record: last=1000 values=q:k
        %%monitorch --include 'transformers.models.*'
                                         follow this package too, with --record or without

        %monitorch lines 10 40           draw only these lines; `%monitorch lines`: all again
        %monitorch on theme=dark         follow all code from here on, in other cells too
        %monitorch off flow.png          draw it, and stop
        %monitorch flush                 draw it, and continue
        %monitorch reset                 discard everything

        %monitorch record run.mtrace     record what cells and the modules of this folder do
        %monitorch stop                  stop that recording
        %monitorch why run.mtrace        name the line that made the NaN; show, graph, calls, diff,
                                         check, sql and export too, as in a terminal
        """
        __tracebackhide__ = True  # the exception belongs to the cell
        words = _split(line)
        if cell is not None:
            self._run_cell(words, cell)
        elif not words:
            print(help_text())
        elif words[0] in _WORDS:
            getattr(self, f"_do_{words[0]}")(words[1:])
        elif words[0] in _COMMANDS:
            _hand_on(words)
        else:
            raise UsageError(
                f"%monitorch {words[0]}: expected one of {', '.join(_WORDS + _COMMANDS)}"
            )

    # %%monitorch

    def _run_cell(self, words: "list[str]", cell: str) -> None:
        __tracebackhide__ = True
        frame = _find_cell()
        recording = _make_recording(words, frame) if _has_record(words) else None
        settings, filename = _read_settings([] if recording else words)
        codes, name = self._compile(cell, frame.f_code.co_filename)
        if recording is not None:
            _try(recording.start)
        else:
            self._begin_picture(frame, name, settings)
        try:
            for code in codes:
                exec(code, self._shell.user_global_ns, self._shell.user_ns)
        finally:
            if recording is not None:
                _print_summary(recording.stop())
            else:
                _flow._runtime.off(filename=filename)

    def _begin_picture(
        self, frame: "FrameType", name: str, settings: "_flow_settings.Settings"
    ) -> None:
        runtime = _flow._runtime
        if self._lines is not None:
            runtime._scope.set_lines(*self._lines, name, frame)
        runtime._begin(frame, settings)

    def _compile(self, cell: str, around: str) -> "tuple[list[CodeType], str]":
        """Compiles a cell. The line with %%monitorch counts as its first, as the user sees it.

        `around` is the name of the code that runs the magic. It has the cell's number: IPython 9
        has already increased its counter when a cell runs.
        """
        shell = self._shell
        text = "\n" + shell.transform_cell(cell)
        number = _display.find_cell_number(around)
        number = shell.execution_count if number is None else number
        name = shell.compile.cache(text, number, raw_code=text)
        body = shell.transform_ast(shell.compile.ast_parse(text, filename=name)).body
        # The value of the last expression is shown, as in any cell.
        last = [body.pop()] if body and isinstance(body[-1], ast.Expr) and not _is_quiet(cell) else []
        codes = [shell.compile(ast.Module(body, []), name, "exec")]
        codes += [shell.compile(ast.Interactive([node]), name, "single") for node in last]
        return codes, name

    # %monitorch

    def _do_lines(self, words: "list[str]") -> None:
        """Limits this cell, if it calls monitorch.on too, and cells with %%monitorch."""
        try:
            found = tuple(map(int, words)) or (None, None)
            first, last = found
        except ValueError:
            raise UsageError("%monitorch lines: expected two numbers, `lines 10 40`") from None
        _try(_flow._runtime._scope.set_lines, first, last, None, _find_cell())
        self._lines = None if first is None or last is None else (first, last)

    def _do_on(self, words: "list[str]") -> None:
        settings, filename = _read_settings(words)
        if filename is not None:
            raise UsageError(f"%monitorch on {filename}: pass the file name to `%monitorch off`")
        _flow._runtime._begin(_find_cell(), settings)

    def _do_off(self, words: "list[str]") -> None:
        _flow._runtime.off(filename=_read_filename("off", words))

    def _do_flush(self, words: "list[str]") -> None:
        _flow._runtime.flush(filename=_read_filename("flush", words))

    def _do_reset(self, words: "list[str]") -> None:
        _want_none("reset", words)
        self._lines = None
        _flow.reset()

    def _do_record(self, words: "list[str]") -> None:
        _try(_make_recording(["--record", *words], _find_cell()).start)

    def _do_stop(self, words: "list[str]") -> None:
        from monitorch._record import recording as _recording

        _want_none("stop", words)
        summary = _recording.stop()
        if summary is None:
            print("nothing is being recorded: `%monitorch record run.mtrace` begins")
        _print_summary(summary)

    # Completion

    def complete(self, shell: "Any", event: "Any") -> "list[str]":
        """Completes the word at the cursor, for IPython."""
        is_cell = event.line.lstrip().startswith("%%")
        words = event.text_until_cursor.split("monitorch", 1)[-1].split(" ")
        last = words.pop()
        words = [word for word in words if word]
        name, equals, _ = last.partition("=")
        if equals:
            return list(_CHOICES.get(name, ()))
        if is_cell or words[:1] == ["on"]:
            options = ["--record", "--include"] if is_cell else ["--include"]
            return [*options, *(f"{setting}=" for setting in _flow_settings.NAMES)]
        return [] if words else [*_WORDS, *_COMMANDS]


def load(shell: "Any") -> None:
    magics = Magics(shell)
    shell.register_magic_function(magics.monitorch, "line_cell", "monitorch")
    shell.set_hook("complete_command", magics.complete, re_key=r"\s*%%?monitorch\b.*")


def unload(shell: "Any") -> None:
    _flow.reset()
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("monitorch", None)


def help_text() -> str:
    import inspect

    return inspect.cleandoc(Magics.monitorch.__doc__ or "")


def _split(line: str) -> "list[str]":
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"%monitorch {line}: {error}") from None


def _try(function: "Any", *arguments: "Any", **options: "Any") -> "Any":
    """Calls a function, and reports wrong arguments to the user without a traceback."""
    try:
        return function(*arguments, **options)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise UsageError(f"%monitorch: {error}") from None


def _read_settings(words: "list[str]") -> "tuple[_flow_settings.Settings, str | None]":
    """`theme=dark flow.svg`: settings of monitorch.on, and the picture's file."""
    globs, words = _split_include(words)
    settings: "dict[str, Any]" = {}
    files = []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            files.append(word)
            continue
        try:
            settings[name] = ast.literal_eval(value)
        except (SyntaxError, ValueError):
            settings[name] = value
    if globs:
        given = settings.get("include", ())
        settings["include"] = [*globs, *([given] if isinstance(given, str) else given)]
    for name in settings:
        if name not in _flow_settings.NAMES:
            near = _nearest.suggest(name, _flow_settings.NAMES)
            raise UsageError(f"%monitorch {name}=: no such setting{near}")
    return _try(_flow_settings.Settings, **settings), _read_filename("", files)


def _split_include(words: "list[str]") -> "tuple[list[str], list[str]]":
    """The globs of `--include GLOB` and `--include=GLOB`, and the remaining words."""
    globs, others, waiting = [], [], list(words)
    while waiting:
        word = waiting.pop(0)
        name, equals, value = word.partition("=")
        if name != "--include":
            others.append(word)
        elif equals:
            globs.append(value)
        elif waiting:
            globs.append(waiting.pop(0))
        else:
            raise UsageError("%%monitorch --include: expected a module, such as 'transformers.*'")
    return globs, others


def _has_record(words: "list[str]") -> bool:
    return any(word.partition("=")[0] == "--record" for word in words)


def _make_recording(words: "list[str]", frame: "FrameType") -> "_recording.Recording":
    """A recording of the cell that runs in the frame and of its calls: `--record run.mtrace
    last=1000 --include GLOB`. It is not started yet."""
    from monitorch._record import options as _options
    from monitorch._record import recording as _recording

    globs, words = _split_include(words)
    words = [part for word in words for part in _split_record(word)]
    at = words.index("--record")
    traces = [word for word in words[at + 1 :] if "=" not in word.partition(",")[0]][:1]
    if not traces:
        raise UsageError("%%monitorch --record: expected a trace, such as run.mtrace")
    others = [word for word in words if word not in ("--record", traces[0])]
    for word in others:
        if "=" not in word:
            raise UsageError(
                f"%%monitorch --record {traces[0]}: {word} is no option, expected name=value; "
                f"`%monitorch graph {traces[0]} -o flow.svg` draws what was recorded"
            )
    path, options = _try(_options.parse, ",".join([traces[0], *others]))
    is_quiet = bool(options.pop("quiet", False))
    options["include"] = [*globs, *options.get("include", ())]
    recording: "_recording.Recording" = _try(_recording.record, path, **options)
    recording.is_quiet = is_quiet
    recording._follow_from(frame)
    return recording


def _split_record(word: str) -> "list[str]":
    name, equals, value = word.partition("=")
    return [name, value] if name == "--record" and equals else [word]


def _print_summary(summary: "_recording.Summary | None") -> None:
    from monitorch._record import automatic as _automatic

    if summary is not None:
        size = _automatic._format_size(summary.size)
        path = _automatic._quote(summary.path)
        text = f"{summary.events:,} events in {summary.path} ({size})"
        viewer = "show"
        if summary.nan:
            text += f", {summary.nan:,} with NaN"
            viewer = "why"
        print(f"{text}: %monitorch {viewer} {path}")


def _read_filename(word: str, words: "list[str]") -> "str | None":
    if len(words) > 1 or (words and not words[0].endswith(_PICTURES)):
        place = f"%monitorch {word}".rstrip()
        raise UsageError(
            f"{place} {' '.join(words)}: expected settings such as theme=dark, "
            f"and a file that ends in {', '.join(_PICTURES)}"
        )
    return words[0] if words else None


def _want_none(word: str, words: "list[str]") -> None:
    if words:
        raise UsageError(f"%monitorch {word} takes no arguments")


def _is_quiet(cell: str) -> bool:
    return cell.rstrip().endswith(";")


def _find_cell() -> "FrameType":
    """The frame of the cell that contains the magic."""
    frame: "FrameType | None" = sys._getframe(1)
    while frame is not None:
        if _scope._CELL.search(frame.f_code.co_filename):
            return frame
        frame = frame.f_back
    return sys._getframe(1)


def _hand_on(words: "list[str]") -> None:
    import subprocess

    from monitorch._run.command import find_command

    command = find_command()
    if command is None:
        raise UsageError(
            "the command monitorch was not found: `pip install monitorch` or `make` brings it"
        )
    done = subprocess.run([command, *words], capture_output=True, text=True, errors="replace")
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
