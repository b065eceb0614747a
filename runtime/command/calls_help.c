/* The text of `monitorch calls --help`. */
#include "runtime/command/help_parts.h"
#include "runtime/command/subcommand.h"

/* A line of the text is a line here. */
/* clang-format off */
const char calls_help[] =
    "usage: monitorch calls TRACE [-o FILE] [which] [how]\n"
    "\n"
    "Shows which modules were called: TRACE is a recorded one (.mtrace), or the list of paths\n"
    "that CallTracer.save_trace writes. Numbers in a path (layers.0, layers.1) are one node,\n"
    "`layers x 2`. Without -o the tree is printed, with all its leaves.\n"
    "\n"
    "  -o, --output FILE  its suffix tells the format: .png, .svg, .pdf, .dot (text for\n"
    "                     graphviz) or .json (the whole tree); `-`: standard output\n"
    "  --format FORMAT    png, svg, pdf, dot or json, whatever the name\n"
    "  --save-json FILE   write the tree as JSON too: {name, count, indices, children}\n"
    "\n"
    "Which nodes:\n"
    "  --prune-leaves     without the last part of each path: the default of pictures\n"
    "  --no-prune-leaves  with it: the default of the tree that is printed\n"
    "  --squash-name      nodes of one name are one, wherever they stand\n"
    "\n"
    "How:\n"
    "  --show-repetition  say how many numbers a node stands for: `layers x 2` (the default)\n"
    "  --no-show-repetition\n"
    "  --shapes           say the shapes of the first call, where they are known (the default)\n"
    "  --no-shapes\n"
    "  --dpi N            of a PNG: dots for each inch (150)\n"
    "  --figwidth W       inches; with --figheight too, the picture has just that shape\n"
    "  --figheight H\n"
    "  --theme THEME      light or dark\n"
    "  --title TEXT       instead of the file's name\n"
    HELP_COLOR
    "  -v, --verbose      say on standard error what was read and written\n"
    HELP_QUIET
    HELP_LAST
    "\n"
    "Examples:\n"
    "  monitorch calls run.mtrace\n"
    "  monitorch calls call_trace.txt -o calls.png --no-prune-leaves\n"
    "  monitorch calls run.mtrace -o - --format dot | dot -Tsvg > calls.svg\n"
    "\n"
    "Exit codes: 0 done; 1 no module was called; 2 wrong usage; 3 a trace could not be read,\n"
    "or only in part (what could be read is shown), or a file not be written.\n";
/* clang-format on */
