"""Tracked programs that were run, and the tree logs that they wrote, line by line."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import textwrap
from typing import Iterator

from tests.verdicts import forked_runs

LEVEL = "│   "
PREFIX = re.compile(r"(?P<level>(?:│   )*)(?P<branch>┌── |├─ |└─ )(?P<text>.*)", re.DOTALL)
ENTRY = re.compile(
    r"\[(?P<file>.+?):(?P<defined>\d+)\] function \[(?P<name>.+?)\] called from (?P<callers>.*)"
)
VALUE = re.compile(
    r"(?P<input>input )?\[(?P<kind>\w+)\] (?P<name>.+?)@(?P<line>\d+) ?(?P<rest>.*)", re.DOTALL
)
CHANGED = re.compile(r" \| changed: (?P<what>.*)$")


@dataclasses.dataclass
class Line:
    """A line of a tree log: `kind` is entry, input, value, output, elapsed, raised, warning or
    other; of a value's line its name, its number and what stands behind them."""

    level: int
    kind: str
    text: str
    name: str = ""
    line: int = -1
    rest: str = ""

    @property
    def changed(self) -> str:
        found = CHANGED.search(self.rest)
        return found["what"] if found else ""


def _read_line(text: str) -> Line:
    found = PREFIX.match(text)
    if found is None:
        return Line(0, "other", text)
    level, branch, rest = len(found["level"]) // len(LEVEL), found["branch"], found["text"]
    if branch == "┌── ":
        entry = ENTRY.fullmatch(rest)
        assert entry, f"an entry of another form: {text}"
        return Line(level, "entry", text, entry["name"], int(entry["defined"]), entry["callers"])
    value = VALUE.fullmatch(rest)
    if value is not None:
        kind = "input" if value["input"] else "value"
        return Line(level, kind, text, value["name"], int(value["line"]), value["rest"])
    for kind in ("output", "elapsed", "raised"):
        if branch == "└─ " and re.match(rf"{kind}\b", rest):
            return Line(level, kind, text, rest=rest[len(kind) :].strip())
    return Line(level, "warning" if rest.startswith("⚠") else "other", text, rest=rest)


class Log(list[Line]):
    """The lines of one file, in order."""

    @classmethod
    def read(cls, text: str) -> Log:
        return cls(_read_line(line) for line in text.splitlines())

    def of_kind(self, *kinds: str) -> list[Line]:
        return [line for line in self if line.kind in kinds]

    def entries(self) -> list[str]:
        return [line.name for line in self.of_kind("entry")]

    def values(self, name: str | None = None) -> list[tuple[str, int]]:
        """Name and line of each change that was told, of one name or of all."""
        return [(v.name, v.line) for v in self.of_kind("value") if name in (None, v.name)]

    def lines_of(self, name: str) -> list[int]:
        return [line for _, line in self.values(name)]

    def calls(self, name: str) -> Iterator[Log]:
        """What belongs to each call of a function, deeper calls included, the entry first."""
        for start, entry in enumerate(self):
            if entry.kind == "entry" and entry.name == name:
                yield Log(self[start : self._end_of(start)])

    def _end_of(self, start: int) -> int:
        level = self[start].level
        for at in range(start + 1, len(self)):
            if self[at].level < level or (self[at].level == level and self[at].kind == "entry"):
                return at
        return len(self)


class Ran:
    """A program that has ended; `code` and `output` are of its process."""

    def __init__(self, folder: pathlib.Path, text: str, run: forked_runs.Run) -> None:
        self.folder, self.text = folder, text
        self.code, self.output = run.code, run.output

    def line(self, mark: str) -> int:
        """The number of the one line of the program that ends with `# mark`."""
        lines = self.text.splitlines()
        found = [at for at, line in enumerate(lines, 1) if line.rstrip().endswith(f"# {mark}")]
        assert len(found) == 1, f"{mark}: {found}"
        return found[0]

    def files(self) -> list[pathlib.Path]:
        return sorted(self.folder.glob("logs/*/process_*_thread_*.log"))

    def text_of_log(self) -> str:
        """Of the one file that there is."""
        files = self.files()
        assert len(files) == 1, f"{files}\n{self.output}"
        return files[0].read_text(encoding="utf-8")

    @property
    def log(self) -> Log:
        return Log.read(self.text_of_log())


def write_program(folder: pathlib.Path, text: str, name: str = "program") -> str:
    text = textwrap.dedent(text).lstrip("\n")
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return text


def run_program(
    folder: pathlib.Path, text: str, code: int = 0, **variables: str
) -> Ran:
    """Runs the program as program.py of a folder. torch is loaded there already. English, unless
    a variable says otherwise."""
    text = write_program(folder, text)
    told = {"LC_ALL": "C.UTF-8", **variables}
    ran = Ran(folder, text, forked_runs.run(folder, ["program"], **told))
    assert ran.code == code, ran.output
    return ran
