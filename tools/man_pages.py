"""Writes the manual pages of all commands: what `--help` prints, laid out for man.

usage: python tools/man_pages.py BUILD FOLDER      (FOLDER is a man1)

There is one source, the commands' own help, so that no page can tell anything else. Needs what `make` built.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

OWN = "monitorch"


def help_of(build: pathlib.Path, *words: str) -> str:
    command = [str(build / "bin" / words[0]), *words[1:], "--help"]
    if words[:2] == (OWN, "run"):  # which is Python's own
        command = [sys.executable, "-m", OWN, "run", "--help"]
    environment = {**os.environ, "PYTHONPATH": str(build / "python")}
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment
    ).stdout


def version_of(build: pathlib.Path) -> str:
    words = [str(build / "bin" / OWN), "--version"]
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def escape(line: str) -> str:
    line = line.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    return "\\&" + line if line.startswith(".") else line


def preformatted(lines: list[str]) -> list[str]:
    text = "\n".join(lines).strip("\n").splitlines()
    return [".nf", *map(escape, text), ".fi"] if text else []


def first_sentence(text: str) -> str:
    return re.split(r"[.:;](?:\s|$)", " ".join(text.split()))[0]


def is_heading(line: str, below: str) -> bool:
    is_short = len(line) <= 30
    return is_short and line.endswith(":") and line[:1].isupper() and below.startswith("  ")


def page(name: str, help: str, version: str) -> str:
    usage, _, rest = help.partition("\n\n")
    summary = first_sentence(rest.partition("\n\n")[0])
    synopsis = [line.removeprefix("usage: ").removeprefix("       ") for line in usage.splitlines()]
    out = [f'.TH {name.upper()} 1 "" "{version}" "User Commands"', ".SH NAME"]
    out += [f"{escape(name)} \\- {escape(summary[:1].lower() + summary[1:])}", ".SH SYNOPSIS"]
    out += [*preformatted(synopsis), ".SH DESCRIPTION"]
    lines = rest.splitlines()
    section: list[str] = []
    for i, line in enumerate(lines):
        if is_heading(line, lines[i + 1] if i + 1 < len(lines) else ""):
            out += [*preformatted(section), f".SH {escape(line[:-1].upper())}"]
            section = []
        else:
            section.append(line)
    out += preformatted(section)
    return "\n".join(out) + "\n"


def commands(build: pathlib.Path) -> dict[str, tuple[str, ...]]:
    """{name of the page: words of the command}."""
    listed = help_of(build, OWN).partition("Commands:\n")[2].partition("\n\n")[0]
    names = re.findall(r"^  ([a-z][a-z-]*) ", listed, re.MULTILINE)
    found: dict[str, tuple[str, ...]] = {OWN: (OWN,), "monitorch-instrument": ("monitorch-instrument",)}
    for name in [*names, "run"]:
        if name != "help":
            found[f"{OWN}-{name}"] = (OWN, name)
    return found


def main() -> None:
    build, folder = map(pathlib.Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    version = version_of(build)
    for name, words in commands(build).items():
        (folder / f"{name}.1").write_text(page(name, help_of(build, *words), version))


if __name__ == "__main__":
    main()
