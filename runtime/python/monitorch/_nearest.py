"""Suggestions at the end of a message: the names nearest to a word that matches nothing."""

from __future__ import annotations

import importlib
import itertools
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_SHOWN = 3
_ALTERNATIVES = 16  # the limit for a regular expression


def suggest(words: str | Iterable[str], names: Iterable[str], there: str = "there are") -> str:
    """`; did you mean 'x'?`, or `; there are 'a', 'b' and 7 more` if no name is near.

    The words are alternatives, and may be globs.
    """
    names = tuple(dict.fromkeys(names))
    found = find(words, names)
    return ask(found) if found else f"; {there} {list_some(names)}"


def find(words: str | Iterable[str], names: Iterable[str]) -> list[str]:
    """The names nearest to any of the words; none if no name is near."""
    from monitorch import _recorder

    names = tuple(names)
    found: dict[str, None] = {}
    for word in (words,) if isinstance(words, str) else words:
        found.update(dict.fromkeys(_recorder.nearest_names(word, names)))
    return list(found)[:_SHOWN]


def ask(found: list[str]) -> str:
    """`; did you mean 'a' or 'b'?`"""
    return f"; did you mean {_join(found, 'or')}?"


def list_some(names: Iterable[str]) -> str:
    """`'a', 'b', 'c' and 4 more`"""
    names = list(names)
    if not names:
        return "none"
    shown = names[:_SHOWN] if len(names) > _SHOWN + 1 else names
    if len(shown) == len(names):
        return _join(shown, "and")
    return f"{', '.join(map(repr, shown))} and {len(names) - len(shown):,} more"


def _join(names: list[str], word: str) -> str:
    quoted = [repr(name) for name in names]
    if len(quoted) == 1:
        return quoted[0]
    return f"{', '.join(quoted[:-1])} {word} {quoted[-1]}"


def read_regex(regex: str) -> tuple[str, ...]:
    """Globs for a regular expression. They match all that `re.match` of it does, and more.

    Letters stay as they are, a repetition becomes `*`, and a set becomes `?`.
    """
    name = "re._parser" if sys.version_info >= (3, 11) else "sre_parse"
    parser: Any = importlib.import_module(name)
    try:
        parsed = parser.parse(regex)
    except (re.error, RecursionError, OverflowError):
        return ()
    found = itertools.islice(_expand(list(parsed)), _ALTERNATIVES)
    return tuple(dict.fromkeys(re.sub(r"\*+", "*", glob + "*") for glob in found))


def _expand(items: list[Any]) -> Iterator[str]:
    if not items:
        yield ""
        return
    (operator, argument), *rest = items
    for first in _expand_one(str(operator), argument):
        for others in _expand(rest):
            yield first + others


def _expand_one(operator: str, argument: Any) -> Iterator[str]:
    if operator == "LITERAL":
        yield chr(argument)
    elif operator in ("ANY", "IN", "NOT_LITERAL"):
        yield "?"
    elif operator == "SUBPATTERN":
        yield from _expand(list(argument[-1]))
    elif operator == "ATOMIC_GROUP":
        yield from _expand(list(argument))
    elif operator == "BRANCH":
        for part in argument[1]:
            yield from _expand(list(part))
    elif operator in ("AT", "ASSERT", "ASSERT_NOT"):
        yield ""
    else:
        yield "*"
