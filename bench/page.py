"""Makes docs/explanation/benchmarks.md of what the benchmarks claimed; `make bench` runs it last.

usage: python bench/page.py FOLDER PAGE      FOLDER holds a file of each benchmark (claims.py)

Exit code 1 where a claim did not hold, or a benchmark left no file.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import pathlib
import platform
import sys
import textwrap

from claims import Figure, short

HERE = pathlib.Path(__file__).resolve().parent
HEAD = """\
# Benchmarks

This page lists every claim of speed, with the peer that was measured in the same run.

<!-- not run: measuring takes an hour -->
```sh
make bench                                       # measure all, write this page
make bench BENCHMARKS=bench/bench_sql.py         # measure one, leave the page as it is
```

`make bench` fails if a claim does not hold. A ratio is the median of rounds in which both sides
alternated, or the ratio of the shortest times where a disturbance can only add time. The spread is
the middle half of the rounds. A figure without a spread was counted (bytes, events) or is the same
in each round. A bare time says little about another machine, so no claim is a bare time if there is
a peer; the benchmarks print the times.

"""


def machine() -> str:
    """Its kind: what changes figures, and nothing that tells whose it is."""
    words = [f"{os.cpu_count()} cores of {platform.machine()}", platform.system()]
    words.append(f"CPython {platform.python_version()}")
    try:
        words.append(f"torch {importlib.metadata.version('torch')}, one thread")
    except importlib.metadata.PackageNotFoundError:
        pass
    try:
        from monitorch import _recorder

        words.append(f"kernels for {_recorder.kernels()}")
    except ImportError:
        pass
    return "; ".join(words)


def cell(text: object) -> str:
    return str(text).replace("|", "\\|")


def row(claim: dict) -> str:
    if "not_measured" in claim:
        cells = [claim["what"], "", f"not measured: {claim['not_measured']}", "", "", ""]
    else:
        figure = Figure(**claim["found"])
        spread = "" if figure.low is None else f"{short(figure.low)} to {short(figure.high)}"
        verdict = "yes" if claim["holds"] else "**NO**"
        found = f"{short(figure.value)} {claim['unit']}"
        cells = [claim["what"], claim["peer"], found, spread, claim["claim"], verdict]
    return "| " + " | ".join(map(cell, cells)) + " |"


def section(results: dict) -> list[str]:
    return [
        f"## {results['title']}",
        "",
        f"`python bench/{results['file']}`",
        "",
        "| what | against | found | spread | claimed | holds |",
        "| --- | --- | --- | --- | --- | --- |",
        *map(row, results["claims"]),
        "",
    ]


def main() -> int:
    folder, page = map(pathlib.Path, sys.argv[1:])
    lines = [HEAD + textwrap.fill(f"Measured on: {machine()}.", 100), ""]
    failed = []
    for benchmark in sorted(HERE.glob("bench_*.py")):
        file = folder / f"{benchmark.stem}.json"
        if not file.exists():
            failed.append(f"bench/{benchmark.name} did not end, or has no claims")
            continue
        results = json.loads(file.read_text())
        lines += section(results)
        for claim in results["claims"]:
            if not claim.get("holds", True):
                failed.append(f"bench/{benchmark.name}: {claim['what']}")
    if failed:
        lines += ["## What does not hold", "", *(f"- {line}" for line in failed), ""]
    page.write_text("\n".join(lines))
    print(f"{page} is made anew")
    for line in failed:
        print(f"does not hold: {line}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
