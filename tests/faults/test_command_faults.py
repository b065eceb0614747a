"""Every allocation and every step of writing fails in turn: an error, never half a file."""

import os
import subprocess

import pytest

from tests.support import paths

pytestmark = pytest.mark.skipif(
    not paths.COMMAND.exists(), reason="the command is not built (make)"
)

SOURCE = """\
# coding: latin-1
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, size, *, rate=0.1):
        super().__init__()
        self.first: nn.Linear = nn.Linear(size, 4 * size)
        self.rate = rate

    def forward(self, x, mask=None):
        größe, *rest = x.shape
        for i, part in enumerate(x.unbind(0)):
            if mask is not None and (n := part.sum()) > 0:
                x[i] = part * mask
            elif i % 2:
                part.mul_(2)
            else:
                continue
        with torch.no_grad() as guard, open("log") as file:
            self.total += x.sum()
        try:
            y = self.first(x) if x.dim() else None
        except (ValueError, RuntimeError) as error:
            raise
        finally:
            del rest

        def inner(a, b=1):
            nonlocal y
            y = [a for a in b if a]
            return lambda q: (yield q)

        match y:
            case [a, *others] if a:
                return a
            case {"k": v, **more}:
                return v
        return inner(y)  # monitorch: off
""".encode("latin-1")

# The words of a run, whether it leaves files, and its usual exit code.
RUNS = {
    "instrument": (["--all", "a.py", "-o", "made.py"], 0),
    "spy": (["--spy", "*", "--function", "f*", "--lines", "3-", "a.py", "-o", "made.py"], 0),
    "standard_output": (["a.py"], 0),
    "in_place": (["--in-place", "--all", "a.py"], 0),
    "tree": (["-j2", "-r", "s", "-d", "out/deep"], 0),
    "strip": (["--strip", "a_traced.py", "-o", "made.py"], 0),
    "check": (["--check", "--all", "a.py", "-o", "a_traced.py"], 0),
    "list": (["--list", "--all", "a.py"], 0),
    "list_json": (["--list", "--json", "a_traced.py"], 0),
    "update": (["--update", "b.py"], 1),
    "refuse": (["--refuse", "a.py", "a_traced.py"], 1),
}

NOTHING_WRITTEN = {"standard_output", "check", "list", "list_json", "refuse"}


def run(folder, words, **environment):
    return subprocess.run(
        [paths.COMMAND, *words],
        cwd=folder,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=60,
    )


def snapshot(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def restore(folder, files):
    for path in folder.rglob("*"):
        if path.is_file() and str(path.relative_to(folder)) not in files:
            path.unlink()
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_bytes() != text:
            path.write_bytes(text)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The folder every run starts from."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "s/t").mkdir(parents=True)
    for name in ["a.py", "b.py", "s/a.py", "s/t/b.py"]:
        (folder / name).write_bytes(SOURCE)
    for name in ["a.py", "b.py"]:
        made = run(folder, ["--all", name, "-o", name[:-3] + "_traced.py"])
        assert made.returncode == 0, made.stderr.decode()
    (folder / "b.py").write_bytes(SOURCE + b"\n# newer\n")
    return folder, snapshot(folder)


class Case:
    """One run of the command: as it should be, and with something that fails."""

    def __init__(self, prepared, name):
        self.folder, self.before = prepared
        self.words, self.code = RUNS[name]
        restore(self.folder, self.before)
        usual = run(self.folder, self.words)
        assert usual.returncode == self.code, usual.stderr.decode()
        self.out = usual.stdout
        self.after = snapshot(self.folder)

    def fails(self, **environment):
        """Whether the run failed; whichever way, what it left behind has to be whole."""
        restore(self.folder, self.before)
        done = run(self.folder, self.words, **environment)
        told = done.stderr.decode(errors="replace")
        assert done.returncode in (self.code, 3), f"{environment}: {done.returncode}\n{told}"
        files = snapshot(self.folder)
        for name in files:
            whole = {self.before.get(name), self.after.get(name)}
            assert files[name] in whole, f"{environment}: {name} is neither old nor new"
        if done.returncode == 3 and self.code != 3:
            assert told.strip(), f"{environment}: failed without a word"
            return True
        assert files == self.after, f"{environment}: said to be done, but it is not"
        assert done.stdout == self.out, f"{environment}: another output"
        return False


@pytest.mark.parametrize("name", sorted(RUNS))
def test_allocations_fail(prepared, name):
    case = Case(prepared, name)
    count = 1
    while case.fails(MONITORCH_TEST_FAIL_ALLOCATION=f"{count}+"):
        count += 1
        assert count < 5000
    assert count > 3
    for n in range(1, count):
        case.fails(MONITORCH_TEST_FAIL_ALLOCATION=str(n))


@pytest.mark.parametrize("name", sorted(RUNS))
def test_writes_fail(prepared, name):
    case = Case(prepared, name)
    failures = 0
    for n in range(1, 30):
        failures += case.fails(MONITORCH_TEST_FAIL_WRITE=str(n))
    if name in NOTHING_WRITTEN:
        assert failures == bool(case.out)
    else:
        assert failures >= 4
