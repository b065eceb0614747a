"""README.md stays true: its commands run, and print what it says they print.

In a ```sh block, each line is a command to be run in a clone: only their targets are looked up, since the
tests are one of them. How a block is read: tests/support/pages.py.
"""

import re
import shutil
import subprocess

import pytest

from tests.support import pages, paths, recording

DOCS = paths.ROOT / "docs"
PARTS = ["instrument", "runtime/base", "runtime/trace", "runtime/view", "runtime/command", "runtime/python"]
FOLDERS = [paths.ROOT / part / "README.md" for part in [*PARTS, "runtime", "tests", "tools", "bench", "grammar"]]
BLOCKS = pages.blocks("README.md")


def as_case(command, output):
    marks = [pytest.mark.torch] if command.startswith("python ") else []
    return pytest.param(command, output, id=command, marks=marks)


CONSOLE = [
    as_case(*step)
    for block in BLOCKS
    if block.language == "console" and not block.reason
    for step in pages.steps(block)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of what README's examples read; they follow each other, so it is shared."""
    made = tmp_path_factory.mktemp("readme")
    shutil.copytree(paths.ROOT / "samples", made / "samples")
    return made


@pytest.mark.parametrize("command, output", CONSOLE)
def test_console_command(folder, command, output):
    done = pages.run(command, folder)
    assert re.fullmatch(pages.pattern_of(output), done.stdout), done.stdout


def test_there_are_console_commands():
    assert len(CONSOLE) >= 3


def test_set_up_commands_are_targets():
    commands = [line for b in BLOCKS if b.language == "sh" for line in b.text.splitlines()]
    targets = [c.split("#")[0].split()[1] for c in commands if c.startswith("make ")]
    assert {"demo", "test"} <= set(targets)
    for target in targets:
        done = subprocess.run(
            ["make", "-n", f"BUILD={paths.BUILD}", target], cwd=paths.ROOT, capture_output=True
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.torch
def test_demo():
    done = recording.run_python(
        "tools/demo.py",
        folder=paths.ROOT,
        env=dict(pages.environment(), MONITORCH_BUILD=str(paths.BUILD)),
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_links_lead_somewhere():
    names = ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in DOCS.glob("*.md"))]
    names += [str(page.relative_to(paths.ROOT)) for page in FOLDERS]
    for name in names:
        page = paths.ROOT / name
        text = pages.FENCE.sub("", page.read_text())
        for link in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (page.parent / link).exists(), f"{name} links to {link}"


def test_the_table_of_contributing_names_what_is_there():
    """A word is a file, a pattern or a folder: from the root, or beside the file before it."""
    page = (paths.ROOT / "CONTRIBUTING.md").read_text()
    cells = [line.split("|")[2] for line in page.splitlines() if line.startswith("| ")][2:]
    for cell in cells:
        folder = paths.ROOT
        for word in re.findall(r"`([\w./*-]+)`", cell):
            roots = [paths.ROOT, folder, paths.ROOT / "runtime" / "python"]
            found = [path for root in roots for path in root.glob(word.rstrip("/"))]
            if "/" in word or "." in word:
                assert found, f"{word} of: {cell}"
            if found and "/" in word:
                folder = found[0] if found[0].is_dir() else found[0].parent


@pytest.mark.parametrize("part", PARTS)
def test_a_folder_tells_of_each_family_of_its_files(part):
    told = set(re.findall(r"`(\w+)`", (paths.ROOT / part / "README.md").read_text()))
    for path in (paths.ROOT / part).glob("*.c"):
        words = path.stem.split("_")
        assert told & {"_".join(words[:n]) for n in range(1, len(words) + 1)}, path.name


def test_the_folders_of_tests_are_told_of():
    told = set(re.findall(r"`(\w+)`", (paths.ROOT / "tests" / "README.md").read_text()))
    folders = {path.name for path in (paths.ROOT / "tests").iterdir() if path.is_dir()}
    assert folders - {"__pycache__", "support"} <= told
