"""Measures the sources: the numbers of files, functions and headers, and their dependencies.

    python3 tools/stats.py [FOLDER]      # of this repository, or of a checkout in FOLDER
    make stats STATS_ARGS=--build        # and the seconds of a clean build

docs/internals/architecture.md has the wanted figures.
"""

from __future__ import annotations

import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

PRODUCT = ("instrument", "runtime")
C_ENDINGS, PYTHON_ENDINGS = (".c", ".h", ".def"), (".py", ".pyi")
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
WORD = re.compile(r"\b[A-Za-z_]\w*\b")
# INLINE is the kernels' `static inline`.
STATIC = {"static", "INLINE"}
VAGUE = {"tell", "tells", "told", "take", "takes", "taken", "meet", "meets", "met", "look", "looks", "looked"}


def read_sources(root: pathlib.Path, endings: tuple[str, ...]) -> dict[str, str]:
    paths = (path for part in PRODUCT for path in sorted((root / part).rglob("*")))
    return {
        path.relative_to(root).as_posix(): path.read_text(errors="replace")
        for path in paths
        if path.suffix in endings
    }


def without_comments(text: str) -> str:
    return COMMENT.sub(" ", text)


def family(root: pathlib.Path, name: str) -> str:
    """The module of a file: its folder. In versions without folders, the first word of its name."""
    folder, _, base = name.rpartition("/")
    return folder if (root / "tools/layers.txt").exists() else folder + "/" + re.split(r"[_.]", base)[0]


def definitions(text: str) -> Iterator[tuple[str, bool]]:
    """The functions that a text defines, as `make format` formats them: (name, is it static)."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line != "{":
            continue
        head = i - 1
        while head > 0 and not re.match(r"\w", lines[head]):
            head -= 1
        # The type, or an attribute, on a line of its own.
        while head and re.fullmatch(r"[A-Za-z_][\w *]*(\(.*\))?", lines[head - 1]):
            head -= 1
        text = re.sub(r"__attribute__\(\(.*?\)\)|\b[A-Z_]+\(.*?\) ", "", " ".join(lines[head:i]))
        found = re.search(r"(\w+)\(", text)
        if found:
            yield found[1], bool(STATIC & set(text.split("(")[0].split()))


def callers(code: dict[str, str]) -> Iterator[tuple[str, set[str]]]:
    """Each function that is not static, as (the defining file, the other .c files that use its name
    and have no static function of that name)."""
    users = collections.defaultdict(set)
    for name, text in code.items():
        if name.endswith(".c"):
            own = {function for function, is_static in definitions(text) if is_static}
            for word in set(WORD.findall(text)) - own:
                users[word].add(name)
    for name, text in code.items():
        for function, is_static in definitions(text):
            if name.endswith(".c") and not is_static:
                yield name, users[function] - {name}


def is_within(root: pathlib.Path, name: str, users: set[str]) -> bool:
    """Whether a function's callers are in its own module. If not, it is part of the module's
    interface."""
    return {family(root, user) for user in users} == {family(root, name)}


def count_private_headers(root: pathlib.Path, code: dict[str, str]) -> int:
    users = collections.defaultdict(set)
    for name, text in code.items():
        for header in INCLUDE.findall(text):
            users[header].add(family(root, name))
    headers = [name for name in code if name.endswith(".h")]
    return sum(1 for name in headers if users[name] <= {family(root, name)})


def count_vague_words(texts: dict[str, str]) -> int:
    words = (word for text in texts.values() for word in WORD.findall(without_comments(text)))
    return sum(1 for word in words if VAGUE & set(word.lower().split("_")))


def seconds_of_build(root: pathlib.Path) -> float:
    """The seconds of a build of everything that is not fetched, with the fetched parts of this
    build and without a compiler's cache."""
    with tempfile.TemporaryDirectory() as folder:
        third_party = (root / "build/third_party").resolve()
        if third_party.is_dir():
            subprocess.run(["cp", "-a", str(third_party), folder + "/third_party"], check=True)
        started = time.monotonic()
        command = ["make", "-s", "-j2", f"BUILD={folder}", "all"]
        subprocess.run(command, cwd=root, check=True, env={"PATH": "/usr/local/bin:/usr/bin:/bin"})
        return time.monotonic() - started


def measure(root: pathlib.Path) -> Iterator[tuple[str, object]]:
    c, python = read_sources(root, C_ENDINGS), read_sources(root, PYTHON_ENDINGS)
    # The names in includes are in quotes, which `without_comments` removes.
    raw = {name: re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL) for name, text in c.items()}
    code = {name: without_comments(text) for name, text in c.items()}
    lines = sum(text.count("\n") for text in c.values())
    folders = collections.Counter(name.rpartition("/")[0] for name in c)
    shared = list(callers(code))
    functions = sum(1 for text in code.values() for _ in definitions(text))
    single = [(name, users) for name, users in shared if len(users) == 1]
    within = sum(1 for name, users in single if is_within(root, name, users))
    asserts = sum(len(re.findall(r"\bassert\(", text)) for text in code.values())
    sizes = (root / "tools/sizes.txt").read_text().splitlines()
    yield "files of C (.c, .h, .def)", len(c)
    yield "lines of C", lines
    yield "lines of C and Python", lines + sum(text.count("\n") for text in python.values())
    yield "functions of C", functions
    yield "functions that are not static", len(shared)
    yield "of these, with one other file that calls them", f"{len(single)} ({len(single) / len(shared):.0%})"
    yield "  a file of the same folder", f"{within} ({within / len(shared):.0%})"
    across = len(single) - within
    yield "  a file of another folder", f"{across} ({across / len(shared):.0%})"
    yield "headers", sum(1 for name in c if name.endswith(".h"))
    yield "headers that only their own module includes", count_private_headers(root, raw)
    yield "asserts in a thousand lines of C", f"{asserts / lines * 1000:.2f} ({asserts})"
    yield "exceptions in tools/sizes.txt", sum(1 for line in sizes if line and line[0] != "#")
    layers = root / "tools/layers.txt"
    if layers.exists():
        exceptions = sum(1 for line in layers.read_text().splitlines() if line.startswith("! "))
        yield "exceptions in tools/layers.txt", exceptions
    yield "folders of C", len(folders)
    yield "files in the largest folder", "{1} ({0})".format(*folders.most_common(1)[0])
    yield "identifiers with tell, told, take, meet or look", count_vague_words({**c, **python})


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--build"]
    root = pathlib.Path(words[0]) if words else pathlib.Path(__file__).resolve().parents[1]
    for what, figure in measure(root):
        print(f"{what:<50} {figure}")
    if "--build" in sys.argv:
        print(f"{'seconds of a clean build':<50} {seconds_of_build(root):.0f}")


if __name__ == "__main__":
    main()
