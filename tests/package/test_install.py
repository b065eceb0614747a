"""make install, and the manual pages that it makes of the commands' own help."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.support import pages, paths

COMMANDS = [
    "monitorch",
    "monitorch-instrument",
    "monitorch show",
    "monitorch graph",
    "monitorch why",
    "monitorch diff",
    "monitorch run",
]

pytestmark = pytest.mark.skipif(not paths.COMMAND.exists(), reason="nothing is built (make)")


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """What the script behind `make install` puts below DESTDIR."""
    destination = tmp_path_factory.mktemp("install")
    script = paths.ROOT / "tools" / "install.sh"
    environment = {**os.environ, "PYTHON": sys.executable, "LD_PRELOAD": ""}
    words = ["sh", script, paths.BUILD, "/opt/monitorch", destination]
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return destination / "opt" / "monitorch"


def page_of(prefix, command):
    name = command.replace(" ", "-")
    return prefix / "share" / "man" / "man1" / f"{name}.1"


def test_what_is_installed(prefix):
    assert {file.name for file in (prefix / "bin").iterdir()} == {"monitorch", "monitorch-instrument"}
    (package,) = prefix.glob("lib*/python3*/*-packages/monitorch")
    installed = {str(file.relative_to(package)) for file in package.rglob("*") if file.is_file()}
    listed = (paths.BUILD / "package-list").read_text().split()
    assert {line.split("/python/monitorch/")[1] for line in listed} <= installed
    assert (prefix / "share" / "doc" / "monitorch" / "LICENSE").exists()


def test_it_runs(prefix):
    (package,) = prefix.glob("lib*/python3*/*-packages/monitorch")
    program = "import monitorch; print(monitorch.__file__)"
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == str(package / "__init__.py")


def test_every_command_has_a_page(prefix):
    told = subprocess.run([prefix / "bin" / "monitorch", "--help"], capture_output=True, text=True)
    listed = told.stdout.partition("Commands:\n")[2].partition("\n\n")[0]
    names = {line.split()[0] for line in listed.splitlines() if line[2:3].strip()} - {"help"}
    there = {file.stem for file in (prefix / "share" / "man" / "man1").iterdir()}
    assert there == {"monitorch"} | {f"monitorch-{name}" for name in names}


def test_shells_find_completions(prefix):
    for name in ("bash-completion/completions/monitorch", "zsh/site-functions/_monitorch"):
        assert "--across-precisions" in (prefix / "share" / name).read_text()
    assert "monitorch-instrument" in (
        prefix / "share/fish/vendor_completions.d/monitorch-instrument.fish"
    ).read_text()


def plain(text):
    """A page without what is for troff."""
    for escaped, letter in (("\\-", "-"), ("\\(ga", "`"), ("\\(aq", "'"), ("\\&", ""), ("\\e", "\\")):
        text = text.replace(escaped, letter)
    return text


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_tells_what_help_tells(prefix, command):
    help = pages.run(f"{command} --help", prefix).stdout
    text = plain(page_of(prefix, command).read_text())
    assert text.startswith(".TH MONITORCH")
    for line in help.splitlines():
        line = line.removeprefix("usage: ").strip()
        assert line in text or f".SH {line.rstrip(':').upper()}\n" in text, line


@pytest.mark.parametrize("command", COMMANDS)
def test_troff_reads_a_page(prefix, command):
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    words = ["groff", "-man", "-Kutf8", "-Tutf8", "-ww", str(page_of(prefix, command))]
    # What a sanitizer finds in groff is not about the page.
    environment = {**os.environ, "LD_PRELOAD": ""}
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "User Commands" in done.stdout
