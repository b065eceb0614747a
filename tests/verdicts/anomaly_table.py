"""The table of docs/explanation/verdicts.md: the line that `monitorch why` names in each program of this folder whose
training breaks, and the line that autograd's anomaly mode names.

`python -m tests.verdicts.anomaly_table`, from the root of the tree, runs the programs and prints it.
"""

import dataclasses
import pathlib
import re
import tempfile
import textwrap

from tests.support import viewer, warm
from tests.verdicts import backward_programs, forked_runs, step_programs, training_programs

HERE = pathlib.Path(__file__).parent
MODULES = (backward_programs, step_programs, training_programs)
PROGRAMS = {name: body for module in MODULES for name, body in {**module.BROKEN, **module.HELD}.items()}
HEAD = "| program | its line | `why` | anomaly mode |\n| --- | --- | --- | --- |"
NOTHING = "nothing"


@dataclasses.dataclass
class Answer:
    """What `why` said of a program that was recorded."""

    marked: list[int]  # the lines that are right
    code: int
    text: str

    @property
    def line(self) -> int | None:
        """The one that it names; None where it names none, or says that another line may have done it."""
        place = re.match(r"\S+:(\d+): (?!.*or of another)(?!ok)", self.text)
        return int(place[1]) if place else None

    @property
    def is_right(self) -> bool:
        return self.code == 1 and self.line in self.marked


def write(folder: pathlib.Path, body: str) -> list[int]:
    """Writes the program; its marked lines."""
    source = "import torch\ntorch.manual_seed(0)\n" + textwrap.dedent(body).lstrip("\n")
    (folder / "program.py").write_text(source)
    return [i for i, line in enumerate(source.splitlines(), 1) if line.endswith("#!")]


def why(folder: pathlib.Path, body: str, *options: str) -> Answer:
    marked = write(folder, body)
    done = forked_runs.run(folder, ["monitorch", "run", "-q", "--backward", *options, "program.py"])
    assert (folder / "run.mtrace").exists(), done.output
    said = viewer.run("why", folder / "run.mtrace")
    return Answer(marked, said.returncode, said.stdout + said.stderr)


def anomaly_line(folder: pathlib.Path, body: str) -> int | None:
    """The line that anomaly mode names first; None where it finds nothing."""
    write(folder, body)
    program, result = folder / "program.py", folder / "anomaly.txt"
    forked_runs.run_script(folder, [HERE / "anomaly_driver.py", program, result])
    lines = result.read_text().split()
    return int(lines[0]) if lines else None


def row(name: str, answer: Answer, anomaly: int | None) -> str:
    def verdict(line: int | None) -> str:
        return NOTHING if line is None else "right" if line in answer.marked else f"line {line}"

    return f"| {name} | {answer.marked[0]} | {verdict(answer.line)} | {verdict(anomaly)} |"


def measure(name: str, folder: pathlib.Path) -> tuple[Answer, str]:
    """The answer, and the row of the table."""
    folders = folder / "why", folder / "anomaly"
    for each in folders:
        each.mkdir()
    answer = why(folders[0], PROGRAMS[name])
    return answer, row(name, answer, anomaly_line(folders[1], PROGRAMS[name]))


def count(rows: list[str]) -> str:
    """How many lines each names rightly."""
    columns = [[cell.strip() for cell in line.split("|")] for line in rows]
    ours, theirs = (sum(cells[i] == "right" for cells in columns) for i in (3, 4))
    silent = sum(cells[4] == NOTHING for cells in columns)
    return (
        f"Of {len(rows)} programs `why` names the line in {ours}, anomaly mode in {theirs}; "
        f"anomaly mode finds nothing in {silent}."
    )


def main() -> None:
    rows = []
    for name in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measure(name, pathlib.Path(folder))[1])
    print(count(rows), "", HEAD, *rows, sep="\n")


if __name__ == "__main__":
    assert warm.python()
    main()
