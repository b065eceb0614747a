/* The text of `monitorch why --help`. */
#include "runtime/command/help_parts.h"
#include "runtime/command/subcommand.h"

/* A line of the text is a line here. */
/* clang-format off */
const char why_help[] =
    "usage: monitorch why [options] TRACE [EVENT]\n"
    "\n"
    "Tells where a NaN or an infinity comes from: the line that made it of finite values, what\n"
    "went in, and the cause where the line's text and the figures show it; and everything that\n"
    "it was made from. Lines that only pass a NaN on are told apart from the one that made it.\n"
    "\n"
    "EVENT is the value to explain, NaN or not; without it, the first NaN or Inf of the trace:\n"
    "  '#123'             the event with this number: `seq` in `monitorch show --json`\n"
    "  model.py:31        on this line; model.py:31:weights, this name on it\n"
    "  weights            of this name, or a glob: 'self.*'\n"
    "Of several such events it is the first with NaN or Inf, or else the last. To choose:\n"
    "  --call N           the one in the call `#N`, as `monitorch show` prints it\n"
    "  --iteration N      the one at the call's N-th visit of the line, from 0\n"
    "\n"
    "How:\n"
    "  --depth N          tell what it was made from this many steps back, 8 by default\n"
    "  -a, --all          all of it\n"
    "  -s, --source       with the text of each line\n"
    "  -o, --output FILE  draw what it was made from too: .svg, .png, .pdf or .dot\n"
    "  --json             one JSON object (docs/why.md)\n"
    HELP_QUIET
    HELP_COLOR
    HELP_LAST
    "\n"
    "The first line is for editors and scripts: FILE:LINE: NaN made here: NAME: CAUSE\n"
    "\n"
    "Examples:\n"
    "  monitorch why run.mtrace\n"
    "  monitorch why run.mtrace model.py:31:weights --iteration 2\n"
    "  monitorch why -o nan.svg run.mtrace loss\n"
    "\n"
    "Record with sources=yes to have parameters and globals in the answer too.\n"
    "\n"
    "Exit codes: 0 the value is finite, or the trace has no NaN or Inf but those that a line\n"
    "writes by name (-torch.inf); 1 it is not, or there is no such event; 2 wrong usage;\n"
    "3 the trace could not be read, or only in part.\n";
/* clang-format on */
