"""The docstrings and messages of the Python packages are ordinary technical English.

The list of verbs that they leave out is in tests/support/english.py. Modules whose names begin with `_` inside a
package hold no public docstring; their messages are read all the same.
"""

import importlib
import inspect
import re

import pytest

from tests.support import english, paths

PACKAGES = ("spy", "monitor", "tracer", "tracker")
FILES = sorted(path for name in PACKAGES for path in (paths.PACKAGE / name).glob("*.py"))
FILES += sorted(paths.PACKAGE.glob("_pytest/*.py")) + [paths.PACKAGE / "_notebook" / "magics.py"]


def names():
    for package in PACKAGES:
        module = importlib.import_module(f"monitorch.{package}")
        for name in module.__all__:
            yield pytest.param(package, name, id=f"{package}.{name}")


def public_members(value):
    """Methods and properties of a class that help() shows, defined by monitorch."""
    for name, member in vars(value).items():
        function = member.fget if isinstance(member, property) else member
        function = getattr(function, "__func__", function)
        if not name.startswith("_") and inspect.isfunction(function):
            yield name, function


@pytest.mark.parametrize("path", FILES, ids=[str(f.relative_to(paths.PACKAGE)) for f in FILES])
def test_the_words(path):
    texts = [*english.python_docstrings(path), *english.python_messages(path)]
    found = [(line, english.find_verbs(text), text) for line, text in texts]
    assert [entry for entry in found if entry[1]] == []


@pytest.mark.torch
@pytest.mark.parametrize(("package", "name"), names())
def test_help_says_what_it_does(package, name):
    """One sentence first, then the arguments by name."""
    value = getattr(importlib.import_module(f"monitorch.{package}"), name)
    if not callable(value):
        return
    text = inspect.getdoc(value)
    first = text.partition("\n")[0]
    assert first[0].isupper() and first.endswith((".", ":")) and len(first) <= 100, first
    function = value.__init__ if isinstance(value, type) else value
    if inspect.isfunction(function) and "Attributes:" not in text:
        wanted = [p for p in inspect.signature(function).parameters if p not in ("self", "rest")]
        assert all(argument in text for argument in wanted), wanted
    if isinstance(value, type):
        for member, function in public_members(value):
            assert function.__doc__, f"{name}.{member} has no docstring"


def documented(module):
    """What an extension module has, with its docstring less the line of its signature."""
    for name, value in vars(module).items():
        for member, inner in [("", value), *(vars(value).items() if isinstance(value, type) else ())]:
            text = getattr(inner, "__doc__", None)
            if isinstance(text, str) and not f"{name}{member}".startswith("__"):
                yield f"{name}.{member}", re.sub(r"\A\w+\(.*?\n\n", "", text, flags=re.S)


@pytest.mark.parametrize("name", ["_recorder", "_view", "_instrument"])
def test_the_words_of_extension_modules(name):
    module = importlib.import_module(f"monitorch.{name}")
    found = [(place, english.find_verbs(text), text) for place, text in documented(module)]
    assert len(found) > 20 or name != "_recorder"
    assert [entry for entry in found if entry[1]] == []
