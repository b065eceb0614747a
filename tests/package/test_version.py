"""The version, which stands in pyproject.toml, and the files that say it again."""

import re
import subprocess
import sys

import pytest

from tests.support import paths

VERSION = re.search(r'(?m)^version = "(.+)"$', (paths.ROOT / "pyproject.toml").read_text())[1]


def test_the_commands_and_the_package_say_it():
    if not paths.COMMAND.exists():
        pytest.skip("nothing is built (make)")
    program = "import monitorch; print(monitorch.__version__)"
    for words, told in (
        ([paths.COMMAND.with_name("monitorch"), "--version"], f"monitorch {VERSION}\n"),
        ([paths.COMMAND, "--version"], f"monitorch-instrument {VERSION}\n"),
        ([sys.executable, "-c", program], f"{VERSION}\n"),
    ):
        assert subprocess.run(words, capture_output=True, text=True).stdout == told


def test_the_changes_begin_with_it():
    versions = re.findall(r"(?m)^## (.+)$", (paths.ROOT / "CHANGELOG.md").read_text())
    released = versions[versions[0] == "Unreleased" :]
    assert released[0] == VERSION and len(set(versions)) == len(versions)


def test_the_citation_has_it():
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((paths.ROOT / "CITATION.cff").read_text())
    assert cited["version"] == VERSION
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
