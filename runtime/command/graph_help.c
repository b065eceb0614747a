/* The text of `monitorch graph --help`. */
#include "runtime/command/help_parts.h"
#include "runtime/command/subcommand.h"

/* A line of the text is a line here. */
/* clang-format off */
const char graph_help[] =
    "usage: monitorch graph TRACE -o FILE [which] [how]\n"
    "\n"
    "Draws a trace: a box for each value, with what is in it and the line that made it; an\n"
    "arrow from each value that was read to make it; calls and loops round their boxes.\n"
    "\n"
    "  -o, --output FILE  its suffix tells the format: .svg, .png, .pdf or .dot (text for\n"
    "                     graphviz); `-`: standard output\n"
    "  --format FORMAT    svg, png, pdf or dot, whatever the name\n"
    "\n"
    HELP_WHICH_EVENTS
    HELP_EVENT_FILTER
    "  --scalars          numbers, texts and the like too, not tensors and arrays alone\n"
    "\n"
    "How much of them:\n"
    "  --fold HOW         auto: turns of a loop and repeated calls that are alike become one\n"
    "                     box `x N`; all: those that differ too; none: every event a box\n"
    "  --max-nodes N      the newest N boxes, 0: all. Without it, all, where they are 2000 at\n"
    "                     most; more are refused\n"
    "\n"
    "How:\n"
    "  --theme THEME      light or dark\n"
    "  --title TEXT       instead of the file's name\n"
    "  --proportion X     of the picture, height by width (0.75); 0: nothing is wrapped\n"
    "  --dpi N            of a PNG: dots for each inch (96)\n"
    "  --pages SIZE       a PDF of several pages: A3, A4, A5, Letter or Legal, A4-landscape …,\n"
    "                     or WxH in millimetres; without it, one page of the picture's size\n"
    HELP_QUIET
    HELP_LAST
    "\n"
    "Examples:\n"
    "  monitorch graph run.mtrace -o flow.svg\n"
    "  monitorch graph run.mtrace -o attention.png --function 'Attention.*' --dpi 192\n"
    "  monitorch graph run.mtrace -o all.pdf --fold none --max-nodes 0 --pages A4-landscape\n"
    "  monitorch graph run.mtrace -o - --format dot | dot -Tsvg > flow.svg\n"
    "\n"
    "Exit codes: 0 done; 1 there is nothing to draw; 2 wrong usage, or too much to draw;\n"
    "3 a trace could not be read, or only in part (what could be read is drawn), or the\n"
    "picture not be written.\n";
/* clang-format on */
