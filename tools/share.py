"""The files that an installation puts into `share`: manual pages, and completions for shells.

usage: python tools/share.py BUILD FOLDER      (FOLDER is a `share`)

Both are made from the commands' own tables of options: a page is the output of `--help`, formatted
for man. Needs a build by `make`.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

OWN = "monitorch"


def help_of(build: pathlib.Path, *words: str) -> str:
    return output_of(build, *words, "--help")


def output_of(build: pathlib.Path, *words: str) -> str:
    command = [str(build / "bin" / words[0]), *words[1:]]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


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
    found: dict[str, tuple[str, ...]] = {OWN: (OWN,)}
    for name in names:
        if name != "help":
            found[f"{OWN}-{name}"] = (OWN, name)
    found[f"{OWN}-instrument"] = (f"{OWN}-instrument",)
    return found


COMPLETIONS = {
    f"bash-completion/completions/{OWN}": "bash",
    f"bash-completion/completions/{OWN}-instrument": "bash",
    f"zsh/site-functions/_{OWN}": "zsh",
    f"fish/vendor_completions.d/{OWN}.fish": "fish",
    f"fish/vendor_completions.d/{OWN}-instrument.fish": "fish",
}


def files(build: pathlib.Path) -> dict[str, str]:
    """{name below `share`: text}."""
    version = output_of(build, OWN, "--version").strip()
    found = {
        f"man/man1/{name}.1": page(name, help_of(build, *words), version)
        for name, words in commands(build).items()
    }
    texts = {
        shell: output_of(build, OWN, "completion", shell) for shell in set(COMPLETIONS.values())
    }
    return found | {name: texts[shell] for name, shell in COMPLETIONS.items()}


def main() -> None:
    build, folder = map(pathlib.Path, sys.argv[1:])
    for name, text in files(build).items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


if __name__ == "__main__":
    main()
