"""The pages in docs/ stay true: every command and every piece of Python in them runs.

A block that cannot run says why, invisibly (tests/support/pages.py). What the pages' examples are about stands
in docs_programs.py.
"""

import re
import shutil

import pytest

from tests.commands import docs_programs
from tests.support import pages, paths, recording, warm

# README.md's snippets stand alone: test_readme.py runs them.
PAGES = ["CONTRIBUTING.md", "samples/README.md"]
PAGES += sorted(str(page.relative_to(paths.ROOT)) for page in (paths.ROOT / "docs").rglob("*.md"))
BLOCKS = [block for page in PAGES for block in pages.blocks(page)]


def pages_with(*languages):
    found = [b.page for b in BLOCKS if b.language in languages and not b.reason]
    return list(dict.fromkeys(found))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    docs_programs.make(folder)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "folder")


@pytest.mark.parametrize("block", BLOCKS, ids=[block.id for block in BLOCKS])
def test_a_block_runs_or_says_why_not(block):
    if block.reason is None:
        assert block.language in ("console", "sh", "python"), (
            "no test knows how to run this: name its language, or put `<!-- not run: REASON -->` above it"
        )
    else:
        assert len(block.reason) > 10


def run_command(folder, command, output, place):
    if pages.missing_program(command):
        return
    done = pages.run(command, folder)
    told = f"{place}: {command}\n{done.stdout}"
    if output:
        assert re.fullmatch(pages.pattern_of(output), done.stdout), told
    else:
        # 1: a check found what it was to find.
        assert done.returncode in (0, 1) and "Traceback" not in done.stdout, told


@pytest.mark.torch
@pytest.mark.parametrize("page", pages_with("console", "sh"))
def test_commands(folder, page):
    for block in pages.blocks(page):
        if block.reason or block.language not in ("console", "sh"):
            continue
        if block.language == "console":
            steps = pages.steps(block)
        else:
            steps = [(command, None) for command in pages.commands(block)]
        for command, output in steps:
            run_command(folder, command, output, block.id)


@pytest.mark.torch
@pytest.mark.parametrize("page", pages_with("python"))
def test_python(folder, page):
    """All blocks of a page, in order, in one program."""
    program = [docs_programs.NAMES, docs_programs.PAGES.get(page, ""), "names = dict(globals())"]
    for block in pages.blocks(page):
        if block.language != "python" or block.reason:
            continue
        file = folder / f"{page.rpartition('/')[2]}_{block.line}.py"
        file.write_text("\n" * (block.line - 1) + block.text)
        program.append(f"exec(compile(open({str(file)!r}).read(), {str(file)!r}, 'exec'), names)")
    (folder / "blocks.py").write_text("\n".join(program))
    done = recording.run_python(
        "blocks.py", python=warm.python(), folder=folder, env=pages.environment()
    )
    assert done.returncode == 0, done.stderr
