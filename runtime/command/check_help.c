/* The text of `monitorch check --help`. */
#include "runtime/command/help_parts.h"
#include "runtime/command/subcommand.h"

/* A line of the text is a line here. */
/* clang-format off */
const char check_help[] =
    "usage: monitorch check [checks] [which] [options] TRACE...\n"
    "\n"
    "Looks through traces for what must not be there, and ends with exit code 1 if it is: the\n"
    "first offender in words, then how many more and on which lines.\n"
    "\n"
    "Checks (where none is given: --no-nan, and no infinity but those that a line writes by\n"
    "name, as `-torch.inf`, and -Inf that may have come of them):\n"
    "  --no-nan           no value holds NaN\n"
    "  --no-inf           no value holds an infinity\n"
    "  --max-abs X        no finite floating value is beyond X or -X\n"
    "  --dtype DTYPE      all floating tensors have this dtype; repeatable: or that one\n"
    "  --shape NAME=SIZES arrays of that name (a glob) have this shape: x=2,_,64. `_` is any\n"
    "                     size, `...` any number of sizes, a word such as B the same size\n"
    "                     wherever it stands; repeatable\n"
    "  --zeros            no array of floats is nothing but zeros at all of its visits\n"
    "  --unused           every value is read before it is overwritten or the function ends;\n"
    "                     every parameter is read. Names that start with `_` are left out\n"
    "  --dead             every line of a function that was called has run, and every\n"
    "                     recorded function was called\n"
    "\n"
    HELP_WHICH_EVENTS
    HELP_EVENT_FILTER
    HELP_EVENT_KINDS
    "\n"
    "How:\n"
    "  --json             an object for each finding, and one for the verdict (docs/check.md)\n"
    "  -q, --quiet        print nothing but errors: the exit code tells\n"
    HELP_COLOR
    HELP_LAST
    "\n"
    "The first line is for editors and scripts: FILE:LINE: NAME: what is wrong\n"
    "\n"
    "Examples:\n"
    "  monitorch check run.mtrace\n"
    "  monitorch check --dtype float32 --dtype bfloat16 --max-abs 1e4 run.mtrace\n"
    "  monitorch check --shape x=B,T,64 --shape 'weights=B,_,T,T' run.mtrace\n"
    "  monitorch check --dead --unused --file model.py run.mtrace\n"
    "\n"
    "Exit codes: 0 all is well; 1 a check failed, or there was nothing that it could check;\n"
    "2 wrong usage; 3 a trace could not be read, or only in part (what could be was checked).\n";
/* clang-format on */
