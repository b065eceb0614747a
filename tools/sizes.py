"""Checks the length of files and functions: 1,000 lines a file, 40 a function (CONTRIBUTING.md).

    python3 tools/sizes.py          # prints those that are longer and not in tools/sizes.txt

The length of a file is the number of its lines. The length of a function is the number of lines of
its body that are not blank; a docstring in Python does not count, and of a `switch` in C that is no
part of another statement only the longest case counts. A test's file is a list of cases, which are
read one at a time: it may have any length, and a function of a test 70 lines. An entry of the list
that is no longer too long is an error. Exit code 1 if there is an error.
"""

from __future__ import annotations

import ast
import pathlib
import re
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIST = "tools/sizes.txt"
FOLDERS = ("instrument", "runtime", "tools", "bench", "tests", "samples")
ENDINGS = (".c", ".h", ".py", ".sh")
# Programs that tests run may have any length.
NOT_OURS = ("tests/instrument/rewrite/pairs/", "/golden/", "/programs/", "/inputs/", "samples/bugs/")
FILE_MOST, FUNCTION_MOST, TEST_FUNCTION_MOST = 1000, 40, 70


def count(lines: list[str]) -> int:
    return sum(1 for line in lines if line.strip())


def functions_of_python(text: str) -> Iterator[tuple[str, int, int]]:
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if body:
                yield node.name, node.lineno, count(lines[body[0].lineno - 1 : node.end_lineno])


def count_body(body: list[str]) -> int:
    """The number of lines of a function in C."""
    size = longest = case = 0
    is_inside = False
    for line in body:
        if line.startswith("    switch ("):
            is_inside, case = True, 0
        if not is_inside:
            size += count([line])
            continue
        case = 0 if line.startswith(("    case ", "    default:")) else case + count([line])
        longest = max(longest, case)
        is_inside = line != "    }"
    return size + longest


def functions_of_c(text: str) -> Iterator[tuple[str, int, int]]:
    """The functions of a C file as `make format` formats them: a function's braces start their
    lines."""
    lines = text.splitlines()
    start = None
    for i, line in enumerate(lines):
        if line == "{":
            start = i
        elif line == "}" and start is not None:
            head = next(k for k in range(start - 1, -1, -1) if re.match(r"\w", lines[k]))
            found = re.search(r"(\w+)\(", " ".join(lines[head:start]))
            if found is not None:
                yield found[1], head + 1, count_body(lines[start + 1 : i])
            start = None


def too_long() -> Iterator[tuple[str, str, int, int]]:
    """(what, where, lines, most) of each file and function that is too long; `what` has the form of
    the list."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix not in ENDINGS or any(part in name for part in NOT_OURS):
                continue
            text = path.read_text(errors="replace")
            length, is_test = len(text.splitlines()), name.startswith("tests/")
            if length > FILE_MOST and not is_test:
                yield name, name, length, FILE_MOST
            most = TEST_FUNCTION_MOST if is_test else FUNCTION_MOST
            functions = {".py": functions_of_python, ".sh": lambda text: iter(())}
            for function, line, size in functions.get(path.suffix, functions_of_c)(text):
                if size > most:
                    yield f"{name} {function}", f"{name}:{line}: {function}", size, most


def listed() -> dict[str, str]:
    """{what: why it may be long}; a line is `what: why`."""
    lines = (ROOT / LIST).read_text().splitlines()
    entries = [line.split(": ", 1) for line in lines if line and not line.startswith("#")]
    return {what: why for what, why in entries}


def main() -> int:
    excepted = listed()
    wrong = []
    for what, where, size, most in too_long():
        if excepted.pop(what, None) is None:
            wrong.append(f"{where}: {size} lines, expected {most} at most (or a reason in {LIST})")
    wrong += [f"{LIST}: {what} is not too long, or not there: take it off the list" for what in excepted]
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
