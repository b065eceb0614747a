"""README.md stays true: its commands run, and print what it says they print.

In a ```console block, lines that begin with `$ ` are commands and the lines under them are their
output; a line `…` stands for any lines, `…` within a line for any text. In a ```sh block, each
line is a command to be run in a clone: only their targets are looked up, since the tests are one
of them.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from tests.support import paths

DOCS = paths.ROOT / "docs"
TEXT = (paths.ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def steps(block):
    """The commands of a console block, each with the output under it."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def as_case(command, output):
    marks = [pytest.mark.torch] if command.startswith("python ") else []
    return pytest.param(command, "\n".join(output), id=command, marks=marks)


CONSOLE = [as_case(*step) for block in blocks("console") for step in steps(block)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of what README's examples read; they follow each other, so it is shared."""
    made = tmp_path_factory.mktemp("readme")
    shutil.copytree(paths.ROOT / "samples", made / "samples")
    return made


def environment():
    result = dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH))
    result["PATH"] = os.pathsep.join(
        [str(paths.COMMAND.parent), str(pathlib.Path(sys.executable).parent), result["PATH"]]
    )
    return result


def pattern_of(output):
    lines = [
        r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line).replace("…", ".*") + r"\n"
        for line in output.splitlines()
    ]
    return "".join(lines)


@pytest.mark.parametrize("command, output", CONSOLE)
def test_console_command(folder, command, output):
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert re.fullmatch(pattern_of(output), done.stdout), done.stdout


def test_there_are_console_commands():
    assert len(CONSOLE) >= 3


def test_set_up_commands_are_targets():
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    targets = [c.split("#")[0].split()[1] for c in commands if c.startswith("make ")]
    assert {"demo", "test"} <= set(targets)
    for target in targets:
        done = subprocess.run(
            ["make", "-n", f"BUILD={paths.BUILD}", target], cwd=paths.ROOT, capture_output=True
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.torch
def test_demo():
    done = subprocess.run(
        [sys.executable, "tools/demo.py"],
        cwd=paths.ROOT,
        env=dict(environment(), MONITORCH_BUILD=str(paths.BUILD)),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_links_lead_somewhere():
    pages = ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in DOCS.glob("*.md"))]
    for name in pages:
        page = paths.ROOT / name
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{name} links to {link}"
