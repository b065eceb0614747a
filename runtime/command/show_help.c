/* The text of `monitorch show --help`. */
#include "runtime/command/help_parts.h"
#include "runtime/command/subcommand.h"

/* A line of the text is a line here. */
/* clang-format off */
const char show_help[] =
    "usage: monitorch show [which] [how] TRACE...\n"
    "\n"
    "Prints the events of a trace, one a line, under the calls that they happened in: line,\n"
    "name, value, and what has changed since the name's last value. `!!` marks NaN and Inf.\n"
    "\n"
    HELP_WHICH_EVENTS
    HELP_EVENT_FILTER
    HELP_EVENT_KINDS
    HELP_EVENT_VALUES
    "  --head N           the first N of all these\n"
    "  --tail N           the last N of all these\n"
    "The lines of the calls that these events happened in are printed too.\n"
    "\n"
    "How:\n"
    "  -s, --source       the text of the source line above its events\n"
    "  --style WHAT       lines (as above), or tree: what went into and came out of tracked\n"
    "                     calls, or of all where none is tracked (docs/tracker_log.md)\n"
    "  --labels LABELS    with --style tree: its words: en, zh, or input:in,output:out\n"
    "  --json             one JSON object a line, with all fields (docs/show.md)\n"
    "  --sample           with --json: the recorded sample of each array too\n"
    "  --canonical        without what differs between runs that do the same: times, addresses,\n"
    "                     numbers of threads; one thread after another. `diff` compares two\n"
    "  --settings         what the run was made with: versions, the command, threads, flags\n"
    "  --sites            the places that were recorded, instead of what happened there\n"
    HELP_QUIET
    HELP_COLOR
    HELP_LAST
    "\n"
    "Examples:\n"
    "  monitorch show run.mtrace | less\n"
    "  monitorch show --nan --head 1 run.mtrace\n"
    "  monitorch show --function 'Attention.*' --name 'q' --source run.mtrace\n"
    "  monitorch show --style tree --function 'Attention.*' run.mtrace\n"
    "  monitorch show --canonical run.mtrace >run.txt\n"
    "  monitorch show --json run.mtrace | jq 'select(.nan > 0) | .line'\n"
    "\n"
    "Exit codes: 0 done; 1 there is no such event; 2 wrong usage; 3 a trace could not be read,\n"
    "or only in part (what could be read is shown).\n";
/* clang-format on */
