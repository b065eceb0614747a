"""Support of torchrun, which starts a Python of its own for each rank.

Its words are changed so that each rank starts `monitorch run`, as `torchrun -m monitorch run
script.py` does.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MODULES = ("torch.distributed.run", "torch.distributed.launch")
_WORDS = {
    "output": "-o",
    "record": "--record",
    "no-record": "--no-record",
    "include": "--include",
    "exclude": "--exclude",
    "functions": "--function",
    "lines": "--lines",
    "forward": "--forward",
    "backward": "--backward",
    "parameters": "--parameters",
    "steps": "--steps",
    "imports": "--imports",
    "spy": "--spy",
    "spy-to": "--spy-to",
    "quiet": "--quiet",
    "seed": "--seed",
    "deterministic": "--deterministic",
}


def is_launcher(kind: str, word: str) -> bool:
    if kind == "module":
        return word in _MODULES
    return kind == "script" and os.path.basename(word) == "torchrun"


def change_words(words: "list[str]", options: "dict[str, Any]") -> "list[str]":
    """The launcher's words with `-m monitorch run` before the program of the ranks.

    They are unchanged if the launcher does not start Python, or if its words make no sense.
    """
    import importlib
    from contextlib import redirect_stderr, redirect_stdout
    from io import StringIO

    try:
        launcher = importlib.import_module("torch.distributed.run")

        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):  # errors are printed later
            given = launcher.get_args_parser().parse_args(words[1:])
    except (ImportError, AttributeError, SystemExit):
        return words
    finally:
        # runpy, which will run it, warns if it is imported already.
        sys.modules.pop("torch.distributed.run", None)
    if given.no_python or getattr(given, "run_path", False):
        return words
    if given.module and given.training_script == "monitorch":
        return words  # the ranks start monitorch already
    program = [given.training_script, *given.training_script_args]
    own = words[: len(words) - len(program)]
    ours = []
    for key, word in _WORDS.items():
        value = options.get(key)
        if value is True:
            ours.append(word)
        elif value == "warn" and key == "deterministic":
            ours.append(f"{word}=warn")
        else:
            values = [value] if isinstance(value, str) else value or []
            ours += [part for text in values for part in (word, text)]
    if given.module:  # the launcher's own -m is before it
        return [*own, "monitorch", "run", *ours, "-m", *program]
    return [*own, "-m", "monitorch", "run", *ours, *program]
