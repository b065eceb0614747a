"""Pages of documentation: their blocks, and running what stands in them.

A block that cannot run has a line above it that nobody sees in the page:

    <!-- not run: what it prints, told elsewhere -->

In a ```console block, lines that begin with `$ ` are commands and the lines under them are their output: a line `…`
stands for any lines, `…` within a line for any text. In a ```sh block, each line is a command.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

from tests.support import paths, warm

FENCE = re.compile(
    r"^(?:<!-- not run: (?P<reason>.+?) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```",
    re.MULTILINE | re.DOTALL,
)


@dataclasses.dataclass
class Block:
    page: str
    line: int  # of its first line
    language: str
    text: str
    reason: str | None  # why it does not run

    @property
    def id(self):
        return f"{self.page}:{self.line}"


def blocks(page):
    """Of a page, named from the repository's root."""
    text = (paths.ROOT / page).read_text()
    return [
        Block(
            page,
            text.count("\n", 0, found.start("text")) + 1,
            found["language"],
            found["text"],
            found["reason"],
        )
        for found in FENCE.finditer(text)
    ]


def steps(block):
    """The commands of a console block, each with the lines under it."""
    found = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return [(command, "\n".join(output)) for command, output in found]


def commands(block):
    """Of a block of sh: lines that are indented go on with the one before."""
    return re.split(r"\n(?! )", block.text.strip())


def pattern_of(output):
    lines = [
        r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line).replace("…", ".*") + r"\n"
        for line in output.splitlines()
    ]
    return "".join(lines)


def without_figures(text):
    """Of a picture, whose figures' last digits depend on the processor."""
    return re.sub(r"\d+\.\d+|e-\d+", "N", text)


def missing_program(command):
    """A program of a pipeline that is not installed here; None where all are."""
    for part in re.split(r"\||;|&&", re.sub(r"'[^']*'|\"[^\"]*\"", "", command)):
        words = [word for word in part.split() if "=" not in word]
        if words and words[0] in ("jq", "dot", "less") and shutil.which(words[0]) is None:
            return words[0]
    return None


def environment():
    result = dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH))
    result.pop("MONITORCH", None)
    # Where the package is installed, pytest finds it by its entry point.
    result["PYTEST_ADDOPTS"] = "-p monitorch._pytest.plugin"
    result["PATH"] = os.pathsep.join(
        [
            str(paths.COMMAND.parent),
            str(pathlib.Path(warm.python()).parent),
            str(pathlib.Path(sys.executable).parent),
            result["PATH"],
        ]
    )
    return result


def run(command, folder, **options):
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        **options,
    )
