/* The text of `monitorch export --help`. */
#include "runtime/command/help_parts.h"
#include "runtime/command/subcommand.h"

/* A line of the text is a line here. */
/* clang-format off */
const char export_help[] =
    "usage: monitorch export TRACE... FORMAT... [which]\n"
    "\n"
    "Writes what a trace holds for other tools. Several formats may be asked for at once.\n"
    "\n"
    "Formats:\n"
    "  --csv[=FILE]       a row for each event, a column for each of its fields (RFC 4180)\n"
    "  --jsonl[=FILE]     one JSON object a line, as `monitorch show --json` prints them\n"
    "  --perfetto FILE    for https://ui.perfetto.dev or chrome://tracing: calls as slices,\n"
    "                     events as instants, a track for each thread, a process for each trace\n"
    "  --sqlite FILE      a database with the tables of `monitorch sql`\n"
    "  --annotate[=FOLDER]  the sources, with the shapes and dtypes that each line saw as\n"
    "                     comments: `y = f(x)  # y: float32 [4, 8] x12`. They run as before\n"
    "Without a FILE, or with `-`, they go to standard output. A FILE may also stand behind a\n"
    "blank where it ends in .csv or .jsonl, a FOLDER where it is there or ends in /. What has\n"
    "that name is replaced, once all of it is written.\n"
    "\n"
    "  --columns NAMES    of --csv: these columns, in this order: seq,file,line,name,mean\n"
    "\n"
    "  --edges            of --sqlite: the table `edges` too, which value was made from which\n"
    "  -f, --force        of --sqlite: replace the file, whatever it is; without it, only one\n"
    "                     that was written by this\n"
    "\n"
    "Which events (not for --sqlite; what is given must hold at once, an option given again is an\n"
    "alternative):\n"
    HELP_EVENT_FILTER
    HELP_EVENT_KINDS
    HELP_EVENT_VALUES
    "\n"
    HELP_QUIET
    HELP_LAST
    "\n"
    "Examples:\n"
    "  monitorch export run.mtrace --csv | head\n"
    "  monitorch export run.mtrace --csv=nan.csv --nan --columns seq,file,line,name,nan\n"
    "  monitorch export rank0.mtrace rank1.mtrace --perfetto ranks.json\n"
    "  monitorch export run.mtrace --annotate --file model.py | less\n"
    "\n"
    "Exit codes: 0 done; 1 there is no such event; 2 wrong usage; 3 a trace could not be read,\n"
    "or only in part (what could be read is written), or a file not be written.\n";
/* clang-format on */
