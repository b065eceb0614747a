"""Signatures, folders, programs and a saver, for tests with and without torch."""

from __future__ import annotations

import inspect
import pathlib
import textwrap

from tests.support import recording


def defaults(function):
    """The arguments and their defaults, `self` left out; ... where there is none."""
    return {
        name: ... if p.default is inspect.Parameter.empty else p.default
        for name, p in inspect.signature(function).parameters.items()
        if name != "self"
    }


def begins_with(function, **wanted):
    """Whether the arguments are these, in this order; more may follow them."""
    found = list(defaults(function).items())
    return found[: len(wanted)] == list(wanted.items())


def takes_modules_to_register(function):
    """Whether its arguments are a model, and which modules of it."""
    found = defaults(function)
    wanted = ["model", "target_classes", "target_names", "exclude_names"]
    # The default of target_classes is tested by what it does: importing brings no torch.
    return (
        list(found)[:4] == wanted
        and found["model"] is ...
        and found["target_names"] is None
        and found["exclude_names"] is None
    )


class Keeper:
    """A saver that keeps what it is given."""

    def __init__(self):
        self.saved = []

    @property
    def names(self):
        return [name for name, _ in self.saved]

    def get_module_path(self, module):
        return "path"

    def save(self, name, tensor):
        self.saved.append((str(name), tensor))


def names_in(folder):
    return sorted(path.name for path in pathlib.Path(folder).iterdir())


def run_program(folder, program):
    """The finished process of a program that uses the package, in this folder."""
    (folder / "program.py").write_text(textwrap.dedent(program))
    return recording.run_file(folder, "program.py")
