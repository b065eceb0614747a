"""Signatures of functions and names in folders, for tests with and without torch."""

from __future__ import annotations

import inspect
import pathlib


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


def names_in(folder):
    return sorted(path.name for path in pathlib.Path(folder).iterdir())
