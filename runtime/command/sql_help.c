/* The text of `monitorch sql --help`. */
#include "runtime/command/help_parts.h"
#include "runtime/command/subcommand.h"

/* A line of the text is a line here. */
/* clang-format off */
const char sql_help[] =
    "usage: monitorch sql [how] TRACE... [QUERY]\n"
    "\n"
    "Asks traces in SQL (SQLite's). The tables are read from the traces while they are asked;\n"
    "nothing is imported, and nothing in a trace can be changed.\n"
    "\n"
    "Tables (--schema tells their columns):\n"
    "  events   visits of a place, one for each value: seq, kind, name, file, line, function,\n"
    "           module, dtype, shape, min, max, mean, std, absmax, nan, hash ...\n"
    "  sites    places of the source where something was recorded\n"
    "  calls    calls of recorded functions: function, module, parent, time ...\n"
    "  edges    which value went into which: source and target are the seq of events\n"
    "Of several traces, all are in the same tables; their column `trace` is the file's name.\n"
    "\n"
    "QUERY is a word with a blank in it, or the last word where it is no file. Without one:\n"
    "a prompt on a terminal, else what standard input says.\n"
    "\n"
    "How:\n"
    "  -f, --file FILE    the query is in this file; -f - or just -: on standard input\n"
    "  --table            rows as an aligned table (what a terminal gets)\n"
    "  --csv              RFC 4180; without either: tabs between (what a pipe gets)\n"
    "  --json             one JSON object a line\n"
    "  --no-header        no line with the columns' names\n"
    "  --max-rows N       at most N rows of each query\n"
    "  --schema           print the tables and their columns; no TRACE is needed\n"
    HELP_QUIET
    HELP_COLOR
    HELP_LAST
    "\n"
    "Examples:\n"
    "  monitorch sql run.mtrace \"select count(*), max(absmax) from events where nan > 0\"\n"
    "  monitorch sql run.mtrace 'select file, line, name, dtype, shape from events limit 9'\n"
    "  monitorch sql run.mtrace 'select s.code, count(*) from events e join sites s\n"
    "                            using (site) group by s.site order by 2 desc'\n"
    "  monitorch sql --csv rank*.mtrace 'select trace, seq, mean from events' > means.csv\n"
    "\n"
    "Exit codes: 0 done; 2 wrong usage, or a query that SQLite refuses; 3 a trace could not be\n"
    "read, or only in part (the rows that could be read are printed).\n";
/* clang-format on */
