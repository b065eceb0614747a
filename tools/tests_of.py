"""Prints the words with which pytest runs the tests of one folder.

    python3 tools/tests_of.py view/diff    # tests/view/diff tests/unit/test_programs.py::…
    make check IN=view/diff                # runs them

The folder is relative to the repository's root or to runtime/. Its tests are at the same path below
tests/; tools/tests.txt lists those that are elsewhere. C unit programs belong to each folder of
which they include a header. Exit code 2 if there is no such folder.
"""

from __future__ import annotations

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIST = "tools/tests.txt"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def read_list() -> dict[str, list[str]]:
    rows = [line.split("|") for line in (ROOT / LIST).read_text().splitlines() if "|" in line]
    return {row[0].strip(): row[1].split() for row in rows if not row[0].startswith("#")}


def is_below(folder: str, other: str) -> bool:
    return folder == other or folder.startswith(other + "/")


def mirrors_of(folder: str) -> list[str]:
    """The folders of tests/ at the path of a folder of sources."""
    path = folder.removeprefix("runtime/")
    path = re.sub("^python/monitorch/_?", "python/", path)
    views = [re.sub("^command/", "view/", path)]
    return [f"tests/{name}" for name in {path, *views} if any((ROOT / "tests" / name).rglob("test_*.py"))]


def tests_of(folder: str) -> list[str]:
    """The files and folders of tests, without those inside another one of them."""
    lists = read_list()
    found = {word for name, words in lists.items() if is_below(name, folder) for word in words}
    found.update(mirrors_of(folder))
    above = folder
    while not found and above:
        above = above.rpartition("/")[0]
        found = {*lists.get(above, ()), *mirrors_of(above)}
    return sorted(word for word in found if not any(word != o and is_below(word, o) for o in found))


def unit_programs_of(folder: str) -> list[str]:
    def is_of(path: pathlib.Path) -> bool:
        headers = INCLUDE.findall(path.read_text())
        return any(is_below(header.rpartition("/")[0], folder) for header in headers)

    return [path.stem for path in sorted((ROOT / "tests").rglob("test_*.c")) if is_of(path)]


def find_folder(name: str) -> str | None:
    name = name.strip("/")
    for folder in (name, f"runtime/{name}", f"runtime/python/monitorch/{name}"):
        if (ROOT / folder).is_dir():
            return folder
    return None


def main() -> int:
    folder = find_folder(sys.argv[1]) if len(sys.argv) == 2 else None
    if folder is None:
        print(f"{' '.join(sys.argv[1:])}: expected a folder, such as view/diff", file=sys.stderr)
        return 2
    units = [f"tests/unit/test_programs.py::test_program[{name}]" for name in unit_programs_of(folder)]
    print(*tests_of(folder), *units)
    return 0


if __name__ == "__main__":
    sys.exit(main())
