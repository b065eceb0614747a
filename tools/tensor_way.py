"""The way of one tensor: the functions and files between the line `y = x @ w` and an answer.

    python3 tools/tensor_way.py               # compiler, recorder, graph, diff, sql
    python3 tools/tensor_way.py graph --list  # one of them, with its functions

A program of that one line is compiled, recorded and queried, each under valgrind's callgrind. The
functions of instrument/ and runtime/ that run are counted: for the recorder those of one visit
(visit_way.py), for the others those of the whole command, with its options and its reading of the
file. Inlined functions count as part of their callers; headers are files with inlined functions.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tempfile

import visit_way

PROGRAM = """\
import torch

torch.manual_seed(0)
x = torch.ones(4, 4)
w = torch.full((4, 4), {number})
y = x @ w
"""
COMMANDS = {
    "compiler": ["monitorch-instrument", "model.py", "-o", "compiled.py"],
    "graph": ["monitorch", "graph", "a.mtrace", "-o", "picture.svg", "-q"],
    "diff": ["monitorch", "diff", "a.mtrace", "b.mtrace"],
    "sql": ["monitorch", "sql", "a.mtrace", "SELECT name, shape FROM events WHERE name = 'y'"],
}


def record(folder: pathlib.Path, name: str, number: float) -> None:
    (folder / "model.py").write_text(PROGRAM.format(number=number))
    command = [sys.executable, "-m", "monitorch", "run", "-o", f"{name}.mtrace", "model.py"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def follow(folder: pathlib.Path, command: list[str]) -> tuple[dict[str, str], set[str], int]:
    words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=way.out", *command]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: {done.stderr[-2000:]}")
    return visit_way.read_cost(folder / "way.out")


def print_way(name: str, functions: dict[str, str], files: set[str], count: int) -> None:
    headers = sum(1 for file in files if not file.endswith(".c"))
    print(f"{name:10} {len(functions):9} {len(files) - headers:6} {headers:8} {count:13,}", flush=True)
    if "--list" in sys.argv:
        for function, file in sorted(functions.items(), key=lambda item: (item[1], item[0])):
            print(f"    {re.sub('.*/(runtime|instrument)/', '', file)}: {function}")


def main() -> None:
    wanted = set(sys.argv[1:]) - {"--list"} or {*COMMANDS, "recorder"}
    print(f"{'part':10} {'functions':>9} {'files':>6} {'headers':>8} {'instructions':>13}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        record(folder, "b", 3.0)
        record(folder, "a", 2.0)
        (folder / "plain.py").write_text(visit_way.PROGRAM)
        command = ["monitorch-instrument", "plain.py", "-o", "program.py"]
        subprocess.run(command, cwd=folder, check=True)
        for part in ("compiler", "recorder", "graph", "diff", "sql"):
            if part in wanted and part == "recorder":
                print_way(part, *visit_way.follow("recording", folder)[:3])
            elif part in wanted:
                print_way(part, *follow(folder, COMMANDS[part]))


if __name__ == "__main__":
    main()
