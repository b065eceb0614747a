"""The compiler as tests see it, one interface over the extension module and the command."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import types

from tests.support import paths


class Refused(Exception):
    """The compiler said no to a source."""


def _extension():
    """monitorch._instrument, loaded without importing the package monitorch."""
    if "monitorch._instrument" in sys.modules:
        return sys.modules["monitorch._instrument"]
    for path in sorted(paths.PACKAGE.glob("_instrument*")):
        if path.suffix in (".so", ".py", ".pyd"):
            spec = importlib.util.spec_from_file_location("monitorch._instrument", path)
            module = importlib.util.module_from_spec(spec)
            sys.modules["monitorch._instrument"] = module
            spec.loader.exec_module(module)
            return module
    return None


EXTENSION = _extension()


def is_built():
    return EXTENSION is not None or paths.COMMAND.exists()


def _options(all=False, forward=False, functions=(), lines=(), spy=(), every_line=False):
    words = ["--all"] if all else []
    words += ["--every-line"] if every_line else []
    for name in functions:
        words += ["--function", name]
    for first, last in lines:
        words += ["--lines", f"{first}-{last}"]
    for name in spy:
        words += ["--spy", name]
    return words


def _run_command(words, source):
    with tempfile.TemporaryDirectory() as folder:
        given = pathlib.Path(folder, "given.py")
        made = pathlib.Path(folder, "made.py")
        given.write_bytes(source)
        command = [str(paths.COMMAND), *words, str(given), "-o", str(made)]
        run = subprocess.run(command, capture_output=True)
        if run.returncode:
            raise Refused(run.stderr.decode(errors="replace").strip())
        return made.read_bytes()


def instrument(source, path="<source>", **selection):
    """The compiler's Result; `.text` is the instrumented source."""
    if EXTENSION is None:
        text = _run_command(_options(**selection), source)
        return types.SimpleNamespace(text=text, notes=[], insertions=None)
    try:
        return EXTENSION.instrument(source, path, **selection)
    except (ValueError, SyntaxError) as error:
        raise Refused(str(error)) from error


def strip(text, path="<source>"):
    if EXTENSION is None:
        return _run_command(["--strip"], text)
    try:
        return EXTENSION.strip(text, path)
    except (ValueError, SyntaxError) as error:
        raise Refused(str(error)) from error


def instrument_tree(folder, output, words=("--all",), jobs=2):
    """Runs the command over a folder into a mirrored folder; returns the finished process.

    Exit code 3 is right where some file cannot be read; the others are written then."""
    command = [str(paths.COMMAND), *words, "-r", str(folder), "-d", str(output), f"-j{jobs}"]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ)
