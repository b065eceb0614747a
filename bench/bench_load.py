"""How fast `monitorch.load` makes columns of a trace, and `monitorch export` files, beside `monitorch show`.

Claims, on a trace of about a million events: six columns are there in the time of one `show`; all of them in four
times that; each export takes at most five times as long; a frame of polars takes at most 1.5 times as long as
columns of NumPy. Exit code 1 where a claim does not hold.

The peers take turns, and the best time of each counts, since all that disturbs only adds to it.
"""

import pathlib
import sys
import tempfile

import monitorch
import numpy
import polars
from claims import Claims, best
from traces import COMMAND, in_turns, record

TURNS = 90000
ROUNDS = 5
SIX = ["seq", "file", "line", "name", "mean", "nan"]


def main():
    with tempfile.TemporaryDirectory(prefix="monitorch-bench-") as folder:
        trace = str(pathlib.Path(folder, "run.mtrace"))
        record(trace, TURNS)
        count = len(monitorch.load(trace, columns=["mean"]))
        total = float(numpy.nansum(numpy.asarray(monitorch.load(trace, columns=["mean"])["mean"])))
        works = {
            "show": ([COMMAND, "show", trace], None),
            "load, 6 columns": (lambda: len(monitorch.load(trace, columns=SIX)), 1),
            "load, all columns": (lambda: len(monitorch.load(trace)), 4),
            "load to NumPy": (lambda: monitorch.load(trace).to_numpy(), None),
            "polars.DataFrame": (lambda: polars.DataFrame(monitorch.load(trace)), None),
            "export --csv": ([COMMAND, "export", trace, "--csv"], 5),
            "export --jsonl": ([COMMAND, "export", trace, "--jsonl"], 5),
            "export --perfetto": ([COMMAND, "export", trace, "--perfetto", "-"], 5),
        }
        times = in_turns({name: work for name, (work, _) in works.items()}, ROUNDS)
    print(f"{count} events, the sum of their means {total:.6g}")
    claims = Claims("How fast columns and files are made of a trace of a million events")
    for name, (_, limit) in works.items():
        print(f"{name:18} {min(times[name]):6.3f} s")
        if limit is not None:
            what = f"monitorch {name}" if name.startswith("export") else f"monitorch.{name}"
            claims.at_most(limit, what, best(times[name], times["show"]), peer="monitorch show")
    claims.at_most(
        1.5,
        "polars.DataFrame(monitorch.load(trace))",
        best(times["polars.DataFrame"], times["load to NumPy"]),
        peer="monitorch.load(trace).to_numpy()",
    )
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
