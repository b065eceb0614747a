"""Pages for contributors: each file, folder and identifier that they name exists; tools/tests.txt has
tests for each folder."""

import pathlib
import re
import sys

import pytest

from tests.support import paths

TOPS = ("instrument", "runtime", "tests", "tools", "bench", "grammar", "docs", "samples", ".github")
TEXTS = {".c", ".h", ".def", ".py", ".pyi", ".txt", ".sh", ".toml"}
PAGES = sorted(
    path
    for top in TOPS
    for path in (paths.ROOT / top).rglob("*.md")
    if path.parent.name == "internals" or path.name == "README.md" and "samples" not in path.parts
)
# Names that are examples, or of another system.
NOT_OURS = {"manylinux_2_29"}
EXAMPLE = re.compile(r"NAME|run\.py")


@pytest.fixture(scope="module")
def tree():
    """The files and folders; each end of their paths; the words in their texts."""
    found = [path for top in TOPS for path in (paths.ROOT / top).rglob("*")]
    files = {path.relative_to(paths.ROOT).as_posix() for path in found}
    files |= {path.name for path in paths.ROOT.iterdir()}
    ends = {file.split("/", n)[n] for file in files for n in range(file.count("/") + 1)}
    texts = [path for path in found if path.suffix in TEXTS and path.is_file()]
    texts += [paths.ROOT / "Makefile", paths.ROOT / "pyproject.toml"]
    words = {path.stem for path in found}
    for path in texts:
        words.update(re.findall(r"\w+", path.read_text(errors="replace")))
    return files, ends, words


def is_there(token, files, ends, words):
    if EXAMPLE.search(token) or token in NOT_OURS:
        return True
    if re.search(r"[\w*]\.(c|h|def|py|pyi|sh|md|txt|toml)$", token):
        pattern = token.strip("/")
        return pattern in ends or (
            "*" in pattern and any(pathlib.PurePath(file).match(pattern) for file in files)
        )
    if re.fullmatch(r"(instrument|runtime|tests|tools|bench)(/\w+)+/?", token):
        return token.strip("/") in files
    return not re.fullmatch(r"[a-z]\w*(_\w+)+", token) or token in words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(paths.ROOT).as_posix())
def test_what_a_page_names_exists(tree, page):
    spans = re.findall(r"`([^`\n]+)`", page.read_text())
    missing = [
        token
        for span in spans
        for token in re.findall(r"[\w./*-]+", span)
        if not is_there(token, *tree)
    ]
    assert missing == []


def test_a_name_that_is_gone_is_found(tree):
    tokens = ("edits.c", "instrument/output/edits.c", "runtime/view/", "node_at", "runtime/*/a*.c")
    assert all(is_there(token, *tree) for token in tokens)
    tokens = ("insert.c", "instrument/edits.c", "runtime/views/", "of_none_" + "of_these", "runtime/*/zz*.c")
    assert not any(is_there(token, *tree) for token in tokens)


def test_each_folder_has_tests(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(paths.ROOT / "tools"), *sys.path])
    import layers
    import tests_of

    lists = tests_of.read_list()
    assert [folder for folder in lists if not (paths.ROOT / folder).is_dir()] == []
    words = {word for words in lists.values() for word in words}
    assert [word for word in words if not (paths.ROOT / word).exists()] == []
    assert [folder for folder in layers.read_list()[0] if not tests_of.tests_of(folder)] == []
    assert "test_crc32" in tests_of.unit_programs_of("runtime/base/hash")
    assert tests_of.find_folder("view/diff") == "runtime/view/diff"
    assert tests_of.find_folder("view/no") is None
