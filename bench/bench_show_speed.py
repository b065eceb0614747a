"""How fast `monitorch show` prints a trace, beside the shell of SQLite printing the same figures.

Claims: at least 4 times as fast as sqlite3 with the same rows in a table of its own, and memory that
does not grow with the trace. Exit code 1 where a claim does not hold.

The peers take turns, and the best time of each counts, since all that disturbs only adds to it.
"""

import json
import shutil
import sqlite3
import subprocess
import sys

from claims import Claims, best
from traces import COMMAND, in_turns, large_and_small, memory_growth

TURNS = 60000
ROUNDS = 7
COLUMNS = (
    "seq time thread call iteration site kind name path file line function module change dtype shape"
    " device strides requires_grad min max mean std absmax nan posinf neginf zeros hash"
).split()
SQLITE = shutil.which("sqlite3")


def import_rows(trace, database):
    """The same rows in a table of SQLite; gives how many."""
    marks = ",".join("?" * len(COLUMNS))
    connection = sqlite3.connect(database)
    connection.execute(f"create table events ({','.join(COLUMNS)})")
    reading = subprocess.Popen([COMMAND, "show", "--json", trace], stdout=subprocess.PIPE, text=True)
    count = 0
    for line in reading.stdout:
        row = json.loads(line)
        if row["record"] == "event":
            values = [str(v) if isinstance(v, list) else v for v in map(row.get, COLUMNS)]
            connection.execute(f"insert into events values ({marks})", values)
            count += 1
    connection.commit()
    connection.close()
    return count


def main():
    with large_and_small(TURNS) as (trace, small):
        database = trace.with_name("events.sqlite")
        count = import_rows(trace, database)
        peers = {
            "monitorch show": [COMMAND, "show", trace],
            "monitorch show --json": [COMMAND, "show", "--json", trace],
            "monitorch show --name=z": [COMMAND, "show", "--name=z", trace],
        }
        if SQLITE:
            peers["sqlite3"] = [SQLITE, database, f"select {','.join(COLUMNS)} from events"]
        times = in_turns(peers, ROUNDS)
        print(f"{count:,} events, printed:")
        for peer, seconds in times.items():
            each = count / min(seconds) / 1e6
            print(f"  {peer:24} {min(seconds):6.3f} s {each:7.2f} million a second")
        more = memory_growth([COMMAND, "show", trace], [COMMAND, "show", small])
    claims = Claims("How fast monitorch show prints a trace")
    what = "monitorch show"
    if SQLITE:
        faster = best(times["sqlite3"], times["monitorch show"])
        peer = "the shell of SQLite, the rows in a table of its own"
        claims.at_least(4, what, faster, peer=peer, unit="times faster")
    else:
        claims.not_measured(f"{what}, against the shell of SQLite", "sqlite3 is not installed")
    claims.at_most(2, "memory of monitorch show", more, peer="that for a small trace", unit="MB more")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
