/* The options of `monitorch run`. */
#include "instrument/command/run_options.h"

#define TABLE_OF_OPTIONS "instrument/command/run_options.def"
#include "runtime/base/arguments/option_rules.h"

/* Each line of the help text is a line here. */
/* clang-format off */
const struct help run_help = {
    .usage =
    "monitorch run [options] SCRIPT [ARGUMENTS...]\n"
    "       monitorch run [options] -m MODULE [ARGUMENTS...]\n"
    "       monitorch run [options] -c CODE [ARGUMENTS...]",
    .purpose =
    "Runs a Python program as `python` would, and records what its lines do to their\n"
    "values. Files are instrumented when they are imported; on disk they stay as they\n"
    "are. `python -m monitorch run` is the same command.\n",
    .common = "output include function",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "The comments `# monitorch: on` and `# monitorch: off` select code in a file. If\n"
    "only comments select code of a file, they alone count there.\n"
    "\n"
    "A program that calls monitorch.on() or monitorch.record() keeps its own\n"
    "recording. If MONITORCH is set, it replaces -o, --record, --backward,\n"
    "--parameters, --steps and --imports.\n"
    "\n"
    "Examples:\n"
    "  monitorch run train.py --epochs 1\n"
    "  monitorch run -o nan.mtrace --function '*.forward' train.py --epochs 1\n"
    "  monitorch run --include . --include 'timm.*' train.py\n"
    "  monitorch run --deterministic --seed 7 -o a.mtrace train.py\n"
    "  monitorch run -m pytest tests/test_model.py\n"
    "  monitorch run --no-record --spy q,k,v --spy-to qkv train.py\n"
    "  torchrun --nproc-per-node 2 -m monitorch run train.py\n"
    "\n"
    "Exit codes: those of the program; 2 wrong usage; 3 the trace could not be\n"
    "written.\n",
};
/* clang-format on */
