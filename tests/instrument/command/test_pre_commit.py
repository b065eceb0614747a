"""Both hooks, run by the real pre-commit in a scratch repository."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.support import paths

pytest.importorskip("pre_commit")

MODEL = """\
class Model:
    def forward(self, x):
        y = x + 1
        return y
"""

WITH_SPY = """\
from monitorch.spy import spy_save


class Model:
    def forward(self, x):
        q = x + 1; spy_save("q", q, self)
        return q
"""


def run(folder, environment, *words):
    return subprocess.run(
        words,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


class Repository:
    """A scratch git repository with the hooks installed."""

    def __init__(self, folder, environment):
        self.folder = folder
        self.environment = environment

    def run(self, *words, wanted=0):
        done = run(self.folder, self.environment, *words)
        assert done.returncode == wanted, done.stdout
        return done.stdout

    def write(self, name, text):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def read(self, name):
        return (self.folder / name).read_text()

    def add(self, *names):
        self.run("git", "add", *names)

    def commit(self, wanted=0):
        """What `git commit` prints, hooks included."""
        return self.run("git", "commit", "-m", "a change", wanted=wanted)


@pytest.fixture
def repository(tmp_path):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_")
    }
    environment.update(
        HOME=str(tmp_path),
        PRE_COMMIT_HOME=str(tmp_path / "cache"),
        PRE_COMMIT_COLOR="never",
        GIT_CONFIG_NOSYSTEM="1",
        GIT_AUTHOR_NAME="Tester",
        GIT_AUTHOR_EMAIL="tester@example.com",
        GIT_COMMITTER_NAME="Tester",
        GIT_COMMITTER_EMAIL="tester@example.com",
        PATH=f"{paths.COMMAND.parent}{os.pathsep}{os.environ['PATH']}",
    )
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    shutil.copy(paths.ROOT / ".pre-commit-hooks.yaml", hooks)
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "hooks"]):
        assert run(hooks, environment, "git", *words).returncode == 0
    revision = run(hooks, environment, "git", "rev-parse", "HEAD").stdout.strip()

    work = tmp_path / "work"
    work.mkdir()
    made = Repository(work, environment)
    made.run("git", "init", "-q")
    made.write(
        ".pre-commit-config.yaml",
        f"repos:\n- repo: {hooks}\n  rev: {revision}\n"
        "  hooks:\n  - id: monitorch-traced\n  - id: monitorch-refuse\n",
    )
    made.run(sys.executable, "-m", "pre_commit", "install")
    made.add(".")
    made.commit()
    return made


def test_plain_files_pass(repository):
    repository.write("model.py", MODEL)
    repository.write("folder/other.py", "x = 1\n")
    repository.write("notes.txt", "spy_save(\n")
    repository.add(".")
    repository.commit()


def test_traced_file_is_brought_in_step(repository):
    repository.write("model.py", MODEL)
    repository.run("monitorch-instrument", "model.py", "-o", "model_traced.py")
    repository.add(".")
    repository.commit()
    first = repository.read("model_traced.py")

    repository.write("model.py", MODEL.replace("x + 1", "x + 2"))
    repository.add("model.py")
    said = repository.commit(wanted=1)
    assert "model_traced.py" in said
    second = repository.read("model_traced.py")
    assert second != first
    assert "x + 2" in second

    repository.add("model_traced.py")
    repository.commit()
    stripped = repository.run("monitorch-instrument", "--strip", "model_traced.py")
    assert stripped == repository.read("model.py")


def test_update_keeps_the_selection(repository):
    source = "def helper(x):\n    z = x + 1\n    return z\n"
    words = ["monitorch-instrument", "--function", "helper", "model.py", "-o"]
    repository.write("model.py", source)
    repository.run(*words, "model_traced.py")
    repository.add(".")
    repository.commit()

    repository.write("model.py", source.replace("x + 1", "x * 3"))
    repository.add("model.py")
    repository.commit(wanted=1)
    repository.run(*words, "wanted_traced.py")
    assert repository.read("model_traced.py") == repository.read("wanted_traced.py")


def test_instrumented_code_is_refused(repository):
    repository.write("source.py", MODEL)
    repository.run("monitorch-instrument", "source.py", "-o", "model.py")
    (repository.folder / "source.py").unlink()
    repository.add("model.py")
    assert "model.py:" in repository.commit(wanted=1)


def test_spy_save_calls_are_refused_where_they_stand(repository):
    repository.write("model.py", WITH_SPY)
    repository.add("model.py")
    assert "model.py:6:" in repository.commit(wanted=1)


def test_traced_files_may_hold_both(repository):
    repository.write("model.py", MODEL)
    repository.run(
        "monitorch-instrument", "--spy", "y", "model.py", "-o", "model_traced.py"
    )
    assert "spy_save" in repository.read("model_traced.py")
    repository.add(".")
    repository.commit()
