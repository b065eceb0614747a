"""The command line of `python -m monitorch`: `run` in Python, the other commands in C."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable, NoReturn

# Used if the program monitorch, which normally prints the usage, is not installed.
_HELP = """\
usage: python -m monitorch run [options] SCRIPT [ARGUMENTS...]

The commands why, diff, show and others belong to the program monitorch, which was
found neither beside this package nor on the PATH: `make` builds it.
"""

_REPEATABLE = ("include", "exclude", "functions", "lines", "spy", "at", "map")


class Usage(Exception):
    """An error in the command line."""


def main() -> None:
    words = sys.argv[1:]
    if not words or words[0] in ("-h", "--help") or words == ["help"]:
        if find_command():
            _hand_on(words)
        _print(_HELP)
    elif words[0] in ("-V", "--version"):
        _print_version()
    elif words[0] == "run":
        _run(words[1:])
    elif words == ["help", "run"]:
        _print(_load_compiler().run_help())
    else:
        _hand_on(words)


def _run(words: "list[str]") -> None:
    try:
        options, kind, program = read_words(words)
    except Usage as error:
        _refuse(f"monitorch run: {error}\n`python -m monitorch run --help` lists the options", 2)
    if kind == "help":
        _print(_load_compiler().run_help())
    elif kind == "version":
        _print_version()
    else:
        from monitorch._run import program as _program
        from monitorch._run import run as _run

        try:
            found = _run.prepare(options, kind, program)
        except Usage as error:
            _refuse(f"monitorch run: {error}", 2)
        except OSError as error:
            _refuse(f"monitorch run: {_describe(error)}", 3)
        _program.execute(found)


def _describe(error: OSError) -> str:
    """The text of an error. The recorder's errors have the trace and the system's message in one
    text."""
    if error.filename is None:
        return f"the current folder: {error.strerror}" if error.strerror else str(error)
    return f"{error.filename}: {error.strerror}"


def read_words(words: "list[str]") -> "tuple[dict[str, Any], str, list[str]]":
    """Returns (options, "script", "module", "code", "help" or "version", the program's own
    words)."""
    options: "dict[str, Any]" = {name: [] for name in _REPEATABLE}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-h", "--help"):
            return options, "help", []
        if word in ("-V", "--version"):
            return options, "version", []
        if word == "-" or not word.startswith("-"):
            return options, "script", [word, *rest]
        if word == "--":
            return options, "script", _want_program(rest)
        for letter, kind in (("-m", "module"), ("-c", "code")):
            if word == letter and not rest:
                raise Usage(f"{letter}: expected the {kind} to run after it")
            if word.startswith(letter):
                return options, kind, rest if word == letter else [word[2:], *rest]
        _read_option(options, word, rest)
    _want_program(rest)
    raise AssertionError


def _want_program(words: "list[str]") -> "list[str]":
    if not words:
        raise Usage("no program, expected SCRIPT, -m MODULE or -c CODE")
    return words


def _load_compiler() -> "Any":
    """The table of options is the compiler's, in C, which makes completions from it too."""
    from monitorch import _instrument

    return _instrument


def _list_options() -> "dict[str, tuple[str, bool]]":
    """Returns {option as typed: (its key, whether it has an argument)}."""
    found = {}
    for letter, name, argument in _load_compiler().run_options():
        option = ("functions" if name == "function" else name, argument is not None)
        found["--" + name] = option
        if letter:
            found["-" + letter] = option
    return found


def _read_option(options: "dict[str, Any]", word: str, rest: "list[str]") -> None:
    known = _list_options()
    name, equals, value = word.partition("=")
    if not word.startswith("--") and len(word) > 2 and word[:2] == "-o":
        name, equals, value = "-o", "=", word[2:]
    if name not in known:
        raise Usage(f"no option {word}{_suggest(name, known)}")
    key, has_argument = known[name]
    if key in ("deterministic", "repeat-noise") and not equals:
        options[key] = True
        return
    if key == "deterministic":
        if value != "warn":
            raise Usage(f"--deterministic={value}: expected --deterministic or --deterministic=warn")
        options[key] = value
        return
    if not has_argument:
        if equals:
            raise Usage(f"{name} has no argument, expected {name} alone")
        options[key] = True
        return
    if not equals:
        if not rest:
            raise Usage(f"{name}: expected an argument after it")
        value = rest.pop(0)
    if not value:
        raise Usage(f"{name}: expected an argument, got nothing")
    if key in _REPEATABLE:
        options[key].append(value)
    elif key in options:
        raise Usage(f"{name} was given twice")
    else:
        options[key] = value


def _suggest(name: str, known: "Iterable[str]") -> str:
    from monitorch import _recorder

    near = _recorder.nearest_names(name, known)
    return f"; did you mean {near[0]}?" if near else ""


# The command in C


def find_command() -> "str | None":
    """The path of the command: beside the package, where `make` and `make install` put it, or on
    the PATH."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [
        os.path.join(package, "..", "..", "bin"),
        os.path.join(package, "..", "..", "..", "..", "bin"),
        *os.environ.get("PATH", "").split(os.pathsep),
    ]
    for folder in folders:
        path = os.path.normpath(os.path.join(folder, "monitorch"))
        if folder and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def _hand_on(words: "list[str]") -> "NoReturn":
    command = find_command()
    if command is None:
        _refuse(
            f"monitorch: `{words[0]}` is a command of the program monitorch, which was found neither "
            "beside this package (build/bin/monitorch) nor on the PATH: `make` builds it",
            2,
        )
    sys.stdout.flush()
    try:
        os.execv(command, ["monitorch", *words])
    except OSError as error:
        _refuse(f"monitorch: {command}: {error.strerror}", 3)


def _print_version() -> None:
    from monitorch import __version__

    _print(f"monitorch {__version__}\n")


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader has closed the pipe


def _refuse(text: str, exit_code: int) -> "NoReturn":
    print(text, file=sys.stderr)
    raise SystemExit(exit_code)
