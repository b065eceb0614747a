"""The pages in docs/ stay true: every command and every piece of Python in them runs.

A block that cannot run says why, invisibly (tests/support/pages.py). A page stands alone: its blocks run in their order
in a folder that holds samples/ and nothing else, each block of Python as a program of its own.
"""

import re
import shutil

import pytest

from tests.support import english, pages, paths, recording, warm

# README.md's snippets stand alone: test_readme.py runs them.
PAGES = ["CONTRIBUTING.md", "samples/README.md"]
PAGES += sorted(str(page.relative_to(paths.ROOT)) for page in (paths.ROOT / "docs").rglob("*.md"))
BLOCKS = [block for page in PAGES for block in pages.blocks(page)]
WITH_BLOCKS = sorted({b.page for b in BLOCKS if not b.reason})


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


OUTPUT = "the output of the program above"  # begins the reason of a block that is compared


def run_block(folder, block):
    """What a program has printed; "" of commands, whose output is compared here."""
    named = re.match(r"# (\w+\.py)\n", block.text)
    if block.language == "python" and named:
        # The reader saves it under this name, for the commands below it.
        (folder / named[1]).write_text(block.text)
        return ""
    if block.language == "python":
        name = f"block_{block.line}.py"
        (folder / name).write_text("\n" * (block.line - 1) + block.text)
        done = recording.run_python(
            name, python=warm.python(), folder=folder, env=pages.environment()
        )
        assert done.returncode == 0, f"{block.id}: {done.stderr}"
        return done.stdout
    if block.language == "console":
        for command, output in pages.steps(block):
            run_command(folder, command, output, block.id)
    else:
        for command in pages.commands(block):
            run_command(folder, command, None, block.id)
    return ""


def words_of_picture(path):
    """Without figures, and without the folder that the program lies in."""
    words = re.findall(r">([^<>]+)</text>", pages.without_figures(path.read_text()))
    return [word for word in words if not re.search(r"/|\.py$| values ", word)]


# Their programs import torch in new processes.
SLOW = {"docs/howto/distributed.md", "docs/howto/compiled.md"}


@pytest.mark.torch
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] * (page in SLOW)) for page in WITH_BLOCKS]
)
def test_a_page_stands_alone(tmp_path, page):
    shutil.copytree(paths.ROOT / "samples", tmp_path / "samples")
    printed = ""
    for block in pages.blocks(page):
        if not block.reason:
            printed = run_block(tmp_path, block)
        elif block.reason.startswith(OUTPUT):
            assert re.fullmatch(pages.pattern_of(block.text), printed), f"{block.id}\n{printed}"
    for name in re.findall(r"\]\([./]*images/(\w+\.svg)\)", (paths.ROOT / page).read_text()):
        drawn, kept = tmp_path / name, paths.ROOT / "docs" / "images" / name
        assert words_of_picture(drawn) == words_of_picture(kept), name


def prose(page):
    """The lines that a reader reads as text: (number, line). No code, tables, pictures or comments."""
    text = (paths.ROOT / page).read_text()
    text = pages.FENCE.sub(lambda found: "\n" * found[0].count("\n"), text)
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith(("|", "![", "<!--")):
            yield number, line


@pytest.mark.parametrize("page", PAGES)
def test_no_line_of_prose_is_longer_than_a_page_is_wide(page):
    assert [f"{page}:{number}" for number, line in prose(page) if len(line) > 100] == []


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", "SECURITY.md", *PAGES])
def test_prose_leaves_out_verbs_that_do_nothing(page):
    """Code, links' targets and names are not prose; tables are."""
    text = pages.FENCE.sub(lambda found: "\n" * found[0].count("\n"), (paths.ROOT / page).read_text())
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = re.sub(r"`[^`]*`|\]\([^)]*\)|<!--.*?-->", "", line)
        if verbs := english.find_verbs(words):
            found.append(f"{page}:{number}: {', '.join(verbs)}: {line[:120]}")
    assert not found, "\n".join(found)


def listed():
    """The pages in the navigation of the site, in its order."""
    text = (paths.ROOT / "docs" / "mkdocs.yml").read_text()
    return re.findall(r"^ +- (?:[^:\n]+: )?([\w/]+\.md)$", text, re.MULTILINE)


def test_the_site_lists_every_page_once():
    found = listed()
    assert len(found) == len(set(found)) and {"README.md", *PAGES} == set(found)


def anchors(text):
    """The names of a page's headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.+)$", pages.FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", ["README.md", *PAGES])
def test_links_within_pages_lead_to_a_heading(page):
    file = paths.ROOT / page
    text = pages.FENCE.sub("", file.read_text())
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)#([^)]+)\)", text):
        other = (file.parent / target).resolve() if target else file
        assert anchor in anchors(other.read_text()), f"{target}#{anchor}"
