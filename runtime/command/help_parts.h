/* Lines that the --help of several subcommands shares: one voice. */
#ifndef MONITORCH_COMMAND_HELP_PARTS_H
#define MONITORCH_COMMAND_HELP_PARTS_H

/* A line of the text is a line here. */
/* clang-format off */
#define HELP_WHICH_EVENTS                                                                      \
    "Which events (what is given must hold at once; an option given again is an alternative):\n"

/* As runtime/view/event_filter.h has them. */
#define HELP_EVENT_FILTER                                                                      \
    "  --function GLOB    in functions whose qualified name matches: 'Attention.*'\n"          \
    "  --name GLOB        of names that match: 'q', 'self.*', 'out*logits*'\n"                 \
    "  --line N-M         on these lines; N, N- and -M too (or --lines)\n"                               \
    "  --file GLOB        in files whose path, or its last part, matches: 'model.py'\n"        \
    "  --module GLOB      in methods of the nn.Modules at these paths: 'layers.*.attn'\n"      \
    "  --call N           in the call `#N` of `monitorch show`; N+: and in those within it\n"  \
    "  --thread N         in this thread: its number, or a glob for its name\n"
#define HELP_EVENT_KINDS                                                                       \
    "  --kind KINDS       of sites of these kinds: enter, assign, mutate, loop, branch, return,\n" \
    "                     spy, line, with commas between\n"
#define HELP_EVENT_VALUES                                                                      \
    "  --changed          whose name has another value than before in the same call\n"         \
    "  --nan              with NaN or Inf in them\n"

#define HELP_COLOR                                                                             \
    "  --color WHEN       auto (on a terminal, unless NO_COLOR is set), always or never\n"
#define HELP_QUIET                                                                             \
    "  -q, --quiet        no remarks on standard error; errors all the same\n"
#define HELP_LAST                                                                              \
    "  -V, --version      print the version\n"                                                 \
    "  -h, --help         print this\n"
/* clang-format on */

#endif
