"""The command line of `python -m monitorch`: `run` here, the other commands in C."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_HELP = """\
usage: python -m monitorch COMMAND ...

Which line of a PyTorch model did it.

Commands:
  run      run a program and record what its lines do to its values
           (python -m monitorch run --help)
"""
_HELP_OTHERS = """\
  show, graph ...
           look at what was recorded: `monitorch --help` lists them; they
           are those of the command monitorch, {place}

Options:
  -V, --version   print the version
  -h, --help      print this

Examples:
  python -m monitorch run train.py --epochs 1
  python -m monitorch show run.mtrace
"""

_RUN_HELP = """\
usage: python -m monitorch run [what] [recording] SCRIPT [ARGUMENTS...]
       python -m monitorch run [what] [recording] -m MODULE [ARGUMENTS...]
       python -m monitorch run [what] [recording] -c CODE [ARGUMENTS...]

Runs a Python program as `python` itself would and records what its lines do to its
values: the files are instrumented when they are imported, and stay as they are on disk.

What to record (all functions and the module level of the script, and of the modules
whose files are in its folder or in the current one, installed packages left out):
  --include GLOB     these modules or files instead: model, 'timm.models.*', model.py,
                     src/layers, 'src/*/attention.py'; repeatable
  --exclude GLOB     not these; repeatable
  --function GLOB    in them, functions whose qualified name matches: 'Attention.*';
                     repeatable
  --lines FILE:N-M   statements that start on these lines; N, N- and -M too; repeatable
  --forward          methods called `forward`
In a file: `# monitorch: on` and `# monitorch: off`. Where nothing is selected in a file
but its comments, these alone count.

Recording:
  -o, --output PATH  the trace, run.mtrace by default
  --record OPTIONS   such as last=100000,sample=8,stop=nan (docs/recording.md)
  --no-record        only instrument: for a program that records itself
  -q, --quiet        no warnings and no line at the end on standard error

Tensors as files:
  --spy NAMES        save the tensors that get these names: q,k,v or 'attn*'; repeatable
  --spy-to DIR       where to, spy by default: a file a tensor, for torch.load and
                     monitorch.spy.spy_load (docs/spy.md)

Again the same:
  --deterministic    ask torch for deterministic algorithms, and seed with 0;
                     =warn: only warn of operations that have none
  --seed N           begin the random numbers of Python, NumPy and torch with N
Two such runs give the same events (docs/rerun.md).

A program that calls monitorch.on() or monitorch.record() has its own recording instead.
Where MONITORCH is set, it says what -o and --record would say.

  -V, --version      print the version
  -h, --help         print this

Examples:
  python -m monitorch run train.py --epochs 1
  python -m monitorch run -o nan.mtrace --function '*.forward' train.py --epochs 1
  python -m monitorch run --include . --include 'timm.*' train.py
  python -m monitorch run --deterministic --seed 7 -o a.mtrace train.py
  python -m monitorch run -m pytest tests/test_model.py
  python -m monitorch run --no-record --spy q,k,v --spy-to qkv train.py
  torchrun --nproc-per-node 2 -m monitorch run train.py

Exit codes: the program's own; 2 wrong usage; 3 the trace cannot be written.
"""

# Options of run: their key, and whether they take an argument.
_OPTIONS = {
    "-o": ("output", True),
    "--output": ("output", True),
    "--record": ("record", True),
    "--no-record": ("no-record", False),
    "--include": ("include", True),
    "--exclude": ("exclude", True),
    "--function": ("functions", True),
    "--lines": ("lines", True),
    "--forward": ("forward", False),
    "--spy": ("spy", True),
    "--spy-to": ("spy-to", True),
    "-q": ("quiet", False),
    "--quiet": ("quiet", False),
    "--seed": ("seed", True),
    "--deterministic": ("deterministic", False),
}
_REPEATABLE = ("include", "exclude", "functions", "lines", "spy")


class Usage(Exception):
    """What is wrong with the command line."""


def main() -> None:
    words = sys.argv[1:]
    if not words or words[0] in ("-h", "--help") or words == ["help"]:
        place = _find_command()
        where = f"found at {place}" if place else "which was not found: it is built by `make`"
        _print(_HELP + _HELP_OTHERS.format(place=where))
    elif words[0] in ("-V", "--version"):
        _print_version()
    elif words[0] == "run":
        _run(words[1:])
    elif words == ["help", "run"]:
        _print(_RUN_HELP)
    else:
        _hand_on(words)


def _run(words: "list[str]") -> None:
    try:
        options, kind, program = read_words(words)
    except Usage as error:
        _refuse(f"monitorch run: {error}\n`python -m monitorch run --help` tells what there is", 2)
    if kind == "help":
        _print(_RUN_HELP)
    elif kind == "version":
        _print_version()
    else:
        from monitorch import _program, _run

        try:
            found = _run.prepare(options, kind, program)
        except Usage as error:
            _refuse(f"monitorch run: {error}", 2)
        except OSError as error:
            place = error.filename or options.get("output", "the current folder")
            _refuse(f"monitorch run: {place}: {error.strerror}", 3)
        _program.execute(found)


def read_words(words: "list[str]") -> "tuple[dict[str, Any], str, list[str]]":
    """(options, "script", "module", "code", "help" or "version", the program's own words)."""
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


def _read_option(options: "dict[str, Any]", word: str, rest: "list[str]") -> None:
    name, equals, value = word.partition("=")
    if not word.startswith("--") and len(word) > 2 and word[:2] == "-o":
        name, equals, value = "-o", "=", word[2:]
    if name not in _OPTIONS:
        raise Usage(f"no option {word}{_suggest(name)}")
    key, has_argument = _OPTIONS[name]
    if key == "deterministic" and equals:
        if value != "warn":
            raise Usage(f"--deterministic={value}: expected --deterministic or --deterministic=warn")
        options[key] = value
        return
    if not has_argument:
        if equals:
            raise Usage(f"{name} takes no argument")
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


def _suggest(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, _OPTIONS, 1, 0.7)
    return f"; did you mean {near[0]}?" if near else ""


# The command in C


def _find_command() -> "str | None":
    """Beside the package, as `make` and `make install` put it, or else on the PATH."""
    package = os.path.dirname(os.path.abspath(__file__))
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
    command = _find_command()
    if command is None:
        _refuse(
            f"monitorch: `{words[0]}` is a command of the program monitorch, which stands neither "
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
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nobody reads on


def _refuse(text: str, exit_code: int) -> "NoReturn":
    print(text, file=sys.stderr)
    raise SystemExit(exit_code)
