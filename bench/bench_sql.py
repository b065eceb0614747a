"""How fast `monitorch sql` answers, beside importing the same rows into SQLite and asking there.

Claims: over one million events, "select count(*), max(absmax) from events where nan > 0" is
answered at least 5 times faster than by an import and the same query on it; and its memory does
not grow with the trace. The import is as kind as can be: the rows lie in Python's memory,
executemany inserts them in one transaction, without a journal. Exit code 1 where a claim does not
hold.

The peers take turns, and the best time of each counts, since all that disturbs only adds to it.
"""

import csv
import functools
import io
import pathlib
import sqlite3
import subprocess
import sys
import time

from claims import Claims, best
from traces import COMMAND, large_and_small, memory_growth, seconds

TURNS = 91000
ROUNDS = 5
QUERY = "select count(*), max(absmax) from events where nan > 0"
OTHERS = {
    "every row, two columns": "select count(*), max(absmax) from events",
    "grouped by name": "select name, count(*), avg(mean) from events group by name",
    "joined with sites": "select count(s.line) from events e join sites s on s.site = e.site",
    "joined by origin": "select count(b.seq) from events a join events b on b.seq = a.origin",
    "the last event": "select name from events where seq = (select max(last_seq) from calls)",
}
# What the imported table has.
COLUMNS = (
    "seq time thread call iteration site kind name file line function module change dtype shape"
    " device strides requires_grad min max mean std absmax nan posinf neginf zeros hash"
).split()


def read_rows(trace):
    """The rows as Python has them, before the clock starts."""
    query = f"select {','.join(COLUMNS)} from events"
    words = [COMMAND, "sql", "--csv", "--no-header", trace, query]
    reading = subprocess.Popen(words, stdout=subprocess.PIPE)
    text = io.TextIOWrapper(reading.stdout, encoding="utf-8", newline="")
    return [tuple(map(value_of, row)) for row in csv.reader(text)]


@functools.lru_cache(maxsize=1 << 16)
def value_of(word):
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    return word or None


def import_rows(rows, database):
    """Seconds of the import."""
    pathlib.Path(database).unlink(missing_ok=True)
    started = time.perf_counter()
    connection = sqlite3.connect(database)
    connection.execute("pragma journal_mode = off")
    connection.execute("pragma synchronous = off")
    connection.execute(f"create table events ({','.join(COLUMNS)})")
    connection.executemany(f"insert into events values ({','.join('?' * len(COLUMNS))})", rows)
    connection.commit()
    connection.close()
    return time.perf_counter() - started


def ask_sqlite(database):
    started = time.perf_counter()
    connection = sqlite3.connect(database)
    answer = connection.execute(QUERY).fetchall()
    connection.close()
    return time.perf_counter() - started, answer


def main():
    with large_and_small(TURNS) as (trace, small):
        rows = read_rows(trace)
        database = trace.with_name("events.sqlite")
        ours, shown, imported, asked = [], [], [], []
        for turn in range(ROUNDS):
            ours.append(seconds([COMMAND, "sql", trace, QUERY]))
            shown.append(seconds([COMMAND, "show", trace]))
            if turn < 2:
                imported.append(import_rows(rows, database))
            asked.append(ask_sqlite(database)[0])
        print(f"{len(rows):,} events: {QUERY}")
        print(f"  monitorch sql                {min(ours):7.3f} s")
        print(f"  monitorch show, to nowhere   {min(shown):7.3f} s")
        print(f"  SQLite: import and ask       {min(imported) + min(asked):7.3f} s")
        print(f"  SQLite: ask, once imported   {min(asked):7.3f} s")
        for what, query in OTHERS.items():
            shortest = min(seconds([COMMAND, "sql", trace, query]) for _ in range(2))
            print(f"  {what:28} {shortest:7.3f} s")
        rows = None
        query = "select * from events"
        more = memory_growth([COMMAND, "sql", trace, query], [COMMAND, "sql", small, query])
    claims = Claims("How fast monitorch sql answers, of a million events")
    both = [min(imported) + asking for asking in asked]
    peer = "an import into SQLite and the same query there"
    claims.at_least(5, "monitorch sql", best(both, ours), peer=peer, unit="times faster")
    claims.at_most(2, f"memory of {query}", more, peer="that for a small trace", unit="MB more")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
