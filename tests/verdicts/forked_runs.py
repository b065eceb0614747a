"""Many short programs with torch, each in a process of its own, which a warm Python forks (tests/support/warm.py)."""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess

from tests.support import recording, warm


@dataclasses.dataclass
class Run:
    """A program that has ended: its exit code, and what it wrote to both outputs."""

    code: int
    output: str


def run(
    folder: pathlib.Path, words: list[object], python: str | None = None, **variables: str
) -> Run:
    """The Run of the words after `python -m`, in the folder."""
    return run_script(folder, ["-m", *words], python, **variables)


def run_script(
    folder: pathlib.Path, words: list[object], python: str | None = None, **variables: str
) -> Run:
    """The Run of the words after `python`, in the folder."""
    done = subprocess.run(
        [python or warm.python(), *map(str, words)],
        cwd=folder,
        env={**recording.environment("off"), **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="backslashreplace",
        timeout=300,
    )
    return Run(done.returncode, done.stdout)


def record(programs: list[tuple[object, ...]]) -> None:
    """Records each of `programs`, which are (script, trace, *options of run)."""
    for script, trace, *options in programs:
        assert isinstance(script, pathlib.Path)
        done = run(script.parent, ["monitorch", "run", "-q", "-o", trace, *options, script])
        assert done.code == 0, f"{script}: {done.output}"
