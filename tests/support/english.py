"""The words that texts for people leave out, and how such texts are found in sources.

`VERBS` is the one list of verbs that do nothing (tell, take, meet, look, go, stand, come, hear).
`find_verbs(text)` gives those that a text has, less the terms of the trade in `TERMS`."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

VERBS = (
    "tell tells telling told take takes taking took taken meet meets meeting met "
    "look looks looking looked go goes going went gone stand stands standing stood "
    "come comes coming came hear hears hearing heard"
).split()
VERB = re.compile(rf"\b({'|'.join(VERBS)})\b(?!\()", re.I)  # `take()` is a name

# What programmers say of code, and texts that belong to others.
TERMS = re.compile(
    r"\b(branch(es)? (was |is |were |never )*(not )?taken|(not|never) taken"  # of a branch
    r"|took the (if|else|elif|case)|go to (the )?definition"
    r"|takes (no|from \d to \d|exactly \w+) (positional )?arguments?)\b",  # CPython's own words
    re.I,
)

# No sentence begins with a question word; a text of help begins with its verb or its noun.
QUESTIONS = "what which where whether whose who how why of".split()
OPENERS = (
    "what which where when whether whose who how of for from by with without also not in on "
    "and or but there"
).split()

_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<text>"(?:\\.|[^"\\\n])*")|(?P<letter>'(?:\\.|[^'\\\n])+')
    |(?P<number>\bPRI[a-zA-Z0-9]+\b)|(?P<blank>\s+|\\\n)|(?P<other>.)""",
    re.S | re.X,
)
_ESCAPES = {"n": "\n", "t": "\t"}


def find_verbs(text: str) -> list[str]:
    """The verbs of the list that the text has."""
    return VERB.findall(TERMS.sub(" ", text))


def c_texts(path: Path) -> Iterator[tuple[int, str]]:
    """The string literals of a C file or table, neighbours joined: (line, text)."""
    source = re.sub(r"(?m)^[ \t]*#[ \t]*include[^\n]*", "", path.read_text())
    line, start, parts = 1, 0, []
    for token in _TOKEN.finditer(source):
        kind, text = token.lastgroup, token.group()
        if kind == "text":
            start = start if parts else line
            parts.append(
                re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text[1:-1])
            )
        elif parts and kind == "number":
            parts.append("N")
        elif parts and kind in ("letter", "other"):
            yield start, "".join(parts)
            parts = []
        line += text.count("\n")
    if parts:
        yield start, "".join(parts)


def python_docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings of a Python file: (line, text)."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node, clean=True)
            if text is not None:
                yield getattr(node, "lineno", 1), text


def python_messages(path: Path) -> Iterator[tuple[int, str]]:
    """The other texts of a Python file that have a blank in them: (line, text), `{}` for values."""
    tree = ast.parse(path.read_text())
    inside = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside.update(id(value) for value in node.values)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inside.add(id(node.value))  # a docstring, or a text that does nothing
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            values = (
                value.value if isinstance(value, ast.Constant) else "{}" for value in node.values
            )
            text = "".join(map(str, values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) in inside:
                continue
            text = node.value
        else:
            continue
        if re.search(r"[a-z]{2} [a-z({]", text):
            yield node.lineno, text
