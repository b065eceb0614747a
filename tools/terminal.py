"""Draws a terminal's contents: python tools/terminal.py FILE, which `make pictures` calls.

It is README's first picture: two commands as typed, and the real output of the second, with its
colours.
"""

from __future__ import annotations

import html
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMANDS = (
    "monitorch run -q -o nan.mtrace transformer_block.py --empty-row --steps 1",
    "monitorch why nan.mtrace --depth 2",
)
COLUMNS = 122
LINES = 24
WIDTH, HEIGHT, SIZE = 7.8, 18, 13  # of a letter, of a line, of the font
MARGIN = 14
BACKGROUND, TEXT, FAINT = "#16181d", "#d7dae0", "#8b919d"
# The style for each escape sequence of the command.
STYLES = {
    "1": 'font-weight="bold"',
    "2": f'fill="{FAINT}"',
    "31": 'fill="#ff6b6b"',
    "32": 'fill="#7ec699"',
    "33": 'fill="#e5c07b"',
    "36": 'fill="#67c7d3"',
}
ESCAPE = re.compile(r"\x1b\[([\d;]*)m")


def answers(folder: pathlib.Path) -> list[tuple[str, str]]:
    """(command, its output with colours), run in a folder that holds the sample."""
    shutil.copy(ROOT / "samples" / "transformer_block.py", folder)
    found = []
    for command in COMMANDS:
        words = command.split()
        if words[1] == "why":
            words.insert(2, "--color=always")
        done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, text=True)
        if done.returncode not in (0, 1):
            raise subprocess.CalledProcessError(done.returncode, words)
        # The folder differs at each run, and its name may be shortened.
        found.append(
            (command, re.sub(r"(?m)(^|(?<= ))\S*/(?=transformer_block\.py)", "", done.stdout))
        )
    return found


def runs(line: str) -> list[tuple[str, str]]:
    """[(style, letters)] of a line, cut at the terminal's width."""
    found, style, left = [], "", COLUMNS
    for i, part in enumerate(ESCAPE.split(line)):
        if i % 2:
            style = " ".join(STYLES[code] for code in part.split(";") if code in STYLES)
        elif part and left > 0:
            text = part if len(part) <= left else part[: left - 1] + "…"
            found.append((style, text))
            left -= len(text)
    return found


def text_element(row: int, line: str, style: str = "") -> str:
    out, column = [], 0
    y = MARGIN + row * HEIGHT + SIZE
    for own, letters in runs(line):
        x = MARGIN + column * WIDTH
        width = f'textLength="{len(letters) * WIDTH:g}" lengthAdjust="spacingAndGlyphs"'
        out.append(
            f'<text x="{x:g}" y="{y}" {width} {own or style}>{html.escape(letters)}</text>'
            if letters.strip()
            else ""
        )
        column += len(letters)
    return "".join(out)


def draw(shown: list[tuple[str, str]]) -> str:
    lines = []
    for command, output in shown:
        lines.append((f"$ {command}", 'font-weight="bold"'))
        lines += [(line, "") for line in output.splitlines()]
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], ("…", f'fill="{FAINT}"')]
    width = round(2 * MARGIN + COLUMNS * WIDTH)
    height = 2 * MARGIN + len(lines) * HEIGHT
    rows = "\n".join(filter(None, (text_element(row, *line) for row, line in enumerate(lines))))
    plain = html.escape(ESCAPE.sub("", "\n".join(line for line, _ in lines)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img">\n<title>{plain}</title>\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="{BACKGROUND}"/>\n'
        f'<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" '
        f'font-size="{SIZE}" fill="{TEXT}" xml:space="preserve">\n{rows}\n</g>\n</svg>\n'
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = draw(answers(pathlib.Path(folder).resolve()))
    pathlib.Path(sys.argv[1]).write_text(text)


if __name__ == "__main__":
    main()
