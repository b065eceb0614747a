"""The second run of `monitorch run --repeat-noise`: the same program with each value disturbed."""

import os
import subprocess
import sys

from monitorch._compile.selected import find_current_folder
from monitorch._record import automatic as _automatic
from monitorch._record import noise as _noise
from monitorch._record import trace_path as _trace_path
from monitorch._run.command import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_LISTS = {"include": "include", "exclude": "exclude", "functions": "function", "lines": "lines"}
_SWITCHES = ("forward", "backward", "parameters", "imports")
_WITH_VALUE = ("steps", "seed")


def prepare(
    options: "dict[str, Any]", kind: str, words: "list[str]", path: str, is_quiet: bool
) -> "Callable[[], None]":
    """Returns the function that runs the program again. Raises Usage if it cannot be run twice."""
    _check(options, kind, words)
    other = _trace_path.add_word(path, _noise.WORD)
    command = [sys.executable, *subprocess._args_from_interpreter_flags()]  # type: ignore[attr-defined]
    command += ["-m", "monitorch", "run", *_make_options(options, other), *_make_program(kind, words)]
    process, folder, environment = os.getpid(), find_current_folder(), dict(os.environ)
    return lambda: _repeat(process, command, folder, environment, other, is_quiet)


def _check(options: "dict[str, Any]", kind: str, words: "list[str]") -> None:
    dtype = options["repeat-noise"]
    try:
        _noise.read(dtype)
    except ValueError as error:
        raise Usage(f"--repeat-noise: {error}") from None
    if kind == "script" and words[0] == "-":
        raise Usage("--repeat-noise: the program is read from standard input, and there only once")
    if _trace_path.find_world_size():
        raise Usage(
            "--repeat-noise is for one process: of ranks, record a second run with "
            "`--record noise` into run.noise.mtrace"
        )


def _make_options(options: "dict[str, Any]", path: str) -> "list[str]":
    dtype = options["repeat-noise"]
    noise = "noise" if dtype is True else f"noise={dtype}"
    made = ["-q", "-o", path, "--record", ",".join(filter(None, [options.get("record"), noise]))]
    for key, name in _LISTS.items():
        made += [f"--{name}={value}" for value in options[key]]
    made += [f"--{name}" for name in _SWITCHES if options.get(name)]
    made += [f"--{name}={options[name]}" for name in _WITH_VALUE if name in options]
    mode = options.get("deterministic")
    if mode is not None:
        made.append("--deterministic" if mode is True else f"--deterministic={mode}")
    return made


def _make_program(kind: str, words: "list[str]") -> "list[str]":
    if kind == "module":
        return ["-m", *words]
    return ["-c", *words] if kind == "code" else ["--", *words]


def _repeat(
    process: int,
    command: "list[str]",
    folder: str,
    environment: "dict[str, str]",
    path: str,
    is_quiet: bool,
) -> None:
    """Runs the program again at exit. Its output is dropped: the first run has printed it."""
    if os.getpid() != process:
        return
    try:
        done = subprocess.run(
            command,
            cwd=folder or None,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        _automatic._say(f"no noise floor: the second run could not begin: {error}")
        return
    if done.returncode != 0:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        _automatic._say(f"the second run, with noise, ended with exit code {done.returncode}: {last}")
    elif not is_quiet:
        _automatic._say(f"noise floor in {path}: monitorch diff uses it")
