"""The project's data in pyproject.toml, in the form that wheels and sdists need."""

from __future__ import annotations

import ast
import pathlib
import re
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _read_plainly(text: str) -> dict[str, Any]:
    """Reads [project] for Python 3.10, which has no tomllib. Only strings, lists and tables of
    strings are read."""
    tables: dict[str, Any] = {}
    table: dict[str, Any] = {}
    waiting = ""
    for line in text.splitlines():
        if not waiting and line.startswith("["):
            table = tables
            for word in line.strip("[]").split("."):
                table = table.setdefault(word, {})
            continue
        waiting += re.sub(r"\s+#[^\"']*$", "", line) + "\n"
        key, separator, value = waiting.partition("=")
        try:
            found = ast.literal_eval(re.sub(r"(?<=[{,])\s*(\w+)\s*=", r' "\1":', value).strip())
        except SyntaxError:
            if separator:
                continue  # the value continues in the next line
        else:
            table[key.strip().strip('"')] = found
        waiting = ""
    return dict(tables["project"])


def read_project() -> dict[str, Any]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    try:
        import tomllib
    except ImportError:
        return _read_plainly(text[text.index("[project]") : text.index("[tool.")])
    return dict(tomllib.loads(text)["project"])


PROJECT = read_project()
# The form for file names.
NAME = re.sub(r"[-_.]+", "_", PROJECT["name"]).lower()
VERSION = PROJECT["version"]


def metadata() -> str:
    """PKG-INFO of the sdist, METADATA of the wheel."""
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {PROJECT['name']}",
        f"Version: {VERSION}",
        f"Summary: {PROJECT['description']}",
        f"Author: {', '.join(author['name'] for author in PROJECT['authors'])}",
        f"License: {PROJECT['license']['text']}",
        f"Requires-Python: {PROJECT['requires-python']}",
        *(f"Classifier: {line}" for line in PROJECT["classifiers"]),
        *(f"Requires-Dist: {line}" for line in PROJECT.get("dependencies", [])),
    ]
    for extra, wanted in PROJECT["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        for line in wanted:
            package, _, marker = (part.strip() for part in line.partition(";"))
            condition = f"({marker}) and " if marker else ""
            lines.append(f'Requires-Dist: {package}; {condition}extra == "{extra}"')
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join([*lines, "", (ROOT / PROJECT["readme"]).read_text(encoding="utf-8")])


def entry_points() -> str:
    groups = {"console_scripts": PROJECT.get("scripts", {}), **PROJECT.get("entry-points", {})}
    lines = []
    for group, points in groups.items():
        lines.append(f"[{group}]")
        lines += [f"{name} = {place}" for name, place in points.items()]
        lines.append("")
    return "\n".join(lines)


def wheel_text(tag: str) -> str:
    lines = ["Wheel-Version: 1.0", "Generator: monitorch", "Root-Is-Purelib: false", f"Tag: {tag}"]
    return "\n".join([*lines, ""])
