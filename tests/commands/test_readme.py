"""README.md stays true: its commands run, and print what it says they print.

In a ```sh block, each line is a command to be run in a clone: only their targets are looked up, since the
tests are one of them. How a block is read: tests/support/pages.py.
"""

import re
import shutil
import subprocess

import pytest

from tests.support import pages, paths, recording, warm

DOCS = paths.ROOT / "docs"
# Folders of C sources; each has a README of one paragraph.
PARTS = sorted(
    {
        source.parent.relative_to(paths.ROOT).as_posix()
        for part in ("instrument", "runtime")
        for source in (paths.ROOT / part).rglob("*.[ch]")
    }
)
FOLDERS = [paths.ROOT / part / "README.md" for part in [*PARTS, "runtime", "tests", "tools", "bench", "grammar"]]
BLOCKS = pages.blocks("README.md")


RUN = [
    pytest.param(block, id=block.id, marks=[pytest.mark.torch])
    for block in BLOCKS
    if block.language in ("console", "python")
]
PICTURE = paths.ROOT / "docs" / "images" / "why.svg"


@pytest.fixture
def folder(tmp_path):
    """All that a snippet may need besides itself."""
    shutil.copytree(paths.ROOT / "samples", tmp_path / "samples")
    return tmp_path


@pytest.mark.parametrize("block", RUN)
def test_a_snippet_stands_alone(folder, block):
    """As it is printed, in a folder that no other snippet has used."""
    assert block.reason is None
    if block.language == "python":
        (folder / "snippet.py").write_text(block.text)
        done = recording.run_python(
            "snippet.py", python=warm.python(), folder=folder, env=pages.environment()
        )
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return
    for command, output in pages.steps(block):
        done = pages.run(command, folder)
        assert re.fullmatch(pages.pattern_of(output), done.stdout), f"{command}\n{done.stdout}"


def test_its_size():
    lines = (paths.ROOT / "README.md").read_text().splitlines()
    prose = [line for line in lines if not line.startswith(("|", "![", "…"))]
    assert len(lines) <= 220 and [line for line in prose if len(line) > 100] == []
    assert len(RUN) >= 8


@pytest.mark.torch
def test_its_first_picture_shows_the_real_answer(tmp_path):
    done = recording.run_python(
        "tools/terminal.py", tmp_path / "why.svg", folder=paths.ROOT, env=pages.environment()
    )
    assert done.returncode == 0, done.stderr
    drawn = (tmp_path / "why.svg").read_text()
    assert pages.without_figures(drawn) == pages.without_figures(PICTURE.read_text())


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
    names = ["README.md", "CONTRIBUTING.md", *(str(page.relative_to(paths.ROOT)) for page in DOCS.rglob("*.md"))]
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
def test_a_folder_has_a_readme_that_names_the_folders_in_it(part):
    text = (paths.ROOT / part / "README.md").read_text()
    assert text.startswith(f"# {part.rpartition('/')[2]}")
    for folder in PARTS:
        if folder.rpartition("/")[0] == part:
            assert f"({folder.rpartition('/')[2]}/README.md)" in text, folder


@pytest.mark.parametrize("part", PARTS)
def test_a_folder_has_at_most_25_files(part):
    files = [path for path in (paths.ROOT / part).iterdir() if path.suffix in (".c", ".h", ".def")]
    assert len(files) <= 25


def test_the_folders_of_tests_are_told_of():
    told = set(re.findall(r"`(\w+)`", (paths.ROOT / "tests" / "README.md").read_text()))
    folders = {path.name for path in (paths.ROOT / "tests").iterdir() if path.is_dir()}
    assert folders - {"__pycache__", "support"} <= told
