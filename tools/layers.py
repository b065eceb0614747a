"""Checks that each folder of C sources includes only what tools/layers.txt allows it.

    python3 tools/layers.py            # errors as file:line:column: message; exit code 1 if any
    python3 tools/layers.py --count    # the number of exceptions in the list

Two rules. A folder may include the folders that its line, or a line of a folder above it, names.
Files outside a folder may include only its public headers: a folder's private headers may be
included by that folder and by the folders below it.
"""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIST = "tools/layers.txt"
INCLUDE = re.compile(r'^\s*#\s*(?:include|define TABLE_OF_OPTIONS)\s*["<]([^">]+)[">]')
LIBRARIES = ("Python.h", "structmember.h", "tree_sitter/", "cairo", "pango", "sqlite3", "xxhash.h")


class Folder(NamedTuple):
    includes: list[str]
    public: list[str]
    libraries: list[str]


def read_list() -> tuple[dict[str, Folder], dict[tuple[str, str], int]]:
    """The folders; and the exceptions, each with its line in the list."""
    folders, exceptions = {}, {}
    for number, line in enumerate((ROOT / LIST).read_text().splitlines(), 1):
        if line.startswith("! "):
            file, header = line[2:].split(":")[0].split()
            exceptions[file, header] = number
        elif line.strip() and not line.startswith("#"):
            name, *columns = (column.strip() for column in line.split("|"))
            folders[name] = Folder(*(column.split() for column in columns))
    return folders, exceptions


def above(folder: str) -> Iterator[str]:
    """The folder and all folders above it."""
    parts = folder.split("/")
    return ("/".join(parts[:n]) for n in range(len(parts), 0, -1))


def is_below(folder: str, other: str) -> bool:
    return folder == other or folder.startswith(other + "/")


def problem_of(folders: dict[str, Folder], here: str, header: str) -> str | None:
    """The error in an include of one of the project's headers in the folder `here`; None if it is
    allowed."""
    there, _, name = header.rpartition("/")
    if is_below(here, there):
        return None
    if there not in folders:
        return f"{there} has no line in {LIST}"
    allowed = [
        part for folder in above(here) if folder in folders for part in folders[folder].includes
    ]
    if not is_below(there, here) and not any(is_below(there, part) for part in allowed):
        return f"{here} may not include {there}; it may include {' '.join(allowed) or 'no other folder'}"
    public = folders[there].public
    if name != there.rpartition("/")[2] + ".h" and name not in public and public != ["*"]:
        return f"{header} is private to {there}; public there: {' '.join(public) or 'only its own header'}"
    return None


def check_include(folders: dict[str, Folder], here: str, header: str) -> str | None:
    if header.startswith(("runtime/", "instrument/")):
        return problem_of(folders, here, header)
    if header.startswith("./") or header.startswith("../") or (ROOT / here / header).is_file():
        return f"include {header} by its path from the repository's root"
    known = [
        library
        for folder in above(here)
        if folder in folders
        for library in folders[folder].libraries
    ]
    if header.startswith(LIBRARIES) and not header.startswith(tuple(known)):
        return f"{here} may not include {header}"
    return None


def sources() -> Iterator[pathlib.Path]:
    for top in ("instrument", "runtime"):
        yield from (
            path for path in sorted((ROOT / top).rglob("*")) if path.suffix in (".c", ".h", ".def")
        )


def main() -> int:
    folders, exceptions = read_list()
    if sys.argv[1:] == ["--count"]:
        print(len(exceptions))
        return 0
    wrong, used = [], set()
    for path in sources():
        name, here = path.relative_to(ROOT).as_posix(), path.parent.relative_to(ROOT).as_posix()
        if here not in folders:
            wrong.append(f"{name}:1:1: the folder has no line in {LIST}")
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            found = INCLUDE.match(line)
            problem = found and check_include(folders, here, found[1])
            if problem and (name, found[1]) in exceptions:
                used.add((name, found[1]))
            elif problem:
                wrong.append(f"{name}:{number}:1: {problem}")
    for exception, number in exceptions.items():
        if exception not in used:
            wrong.append(
                f"{LIST}:{number}:1: the exception is no longer needed: take it off the list"
            )
    for name in folders:
        if not (ROOT / name).is_dir():
            wrong.append(f"{LIST}: there is no folder {name}")
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
