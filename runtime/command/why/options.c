/* What the command line of `monitorch why` asks for. */
#include "runtime/command/why/options.h"

#include "runtime/command/shared/output_files.h"
#include "runtime/command/shared/page_file.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/command/subcommand.h"

/* So far back is told where nothing else is asked for. */
#define DEPTH_DEFAULT 8

#define TABLE_OF_OPTIONS "runtime/command/why/options.def"
#include "runtime/base/arguments/option_rules.h"

/* A line of the text is a line here. */
/* clang-format off */
const struct help why_help = {
    .usage =
        "monitorch why [options] TRACE [EVENT]",
    .purpose =
    "Names the line that made the first NaN or infinity of a trace, the cause if the\n"
    "recorded figures show it, and the inputs that it was made from. Lines that only\n"
    "pass a NaN on are listed apart from the line that made it.\n\n"
    "EVENT asks about another value, whether it holds NaN or not:\n"
    "  weights              the values of this name; globs too: 'self.*'\n"
    "  model.py:31          the values that this line assigned\n"
    "  model.py:31:weights  this name on this line\n"
    "  '#123'               event 123: `seq` in `monitorch show --json`\n"
    "  '#123+'              the first NaN or infinity from event 123 on\n"
    "The first of these values with NaN or Inf is explained, or else the last value.\n",
    .common = "source all output",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "The first line is for editors and scripts:\n"
    "  FILE:LINE: NaN made here: NAME: CAUSE\n\n"
    "Examples:\n"
    "  monitorch why run.mtrace\n"
    "  monitorch why run.mtrace model.py:31:weights --iteration 2\n"
    "  monitorch why -o nan.svg run.mtrace loss\n\n"
    "Record with sources=yes to include parameters and globals in the answer.\n\n"
    "Exit codes: 0 the value is finite, or every infinity was written by name\n"
    "(-torch.inf); 1 it is not, or there is no such event; 2 wrong usage; 3 the trace\n"
    "could not be read, or only in part.\n",
};
/* clang-format on */

static bool read_number(enum option_id id,
                        const char *argument,
                        uint64_t least,
                        uint32_t *number,
                        struct error *error)
{
    uint64_t count;

    if (!argument_read_count(&rules[id], argument, least, UINT32_MAX,
                             least == 0 ? "a number from 0 on" : "a number from 1 on",
                             &count, error)) {
        return false;
    }
    *number = (uint32_t)count;
    return true;
}

static bool
apply_option(void *context, int id, const char *argument, struct error *error)
{
    struct why_options *options = context;

    switch (id) {
    case OPTION_CALL:
        return read_number(id, argument[0] == '#' ? argument + 1 : argument, 1,
                           &options->ask.call, error);
    case OPTION_ITERATION:
        options->ask.has_iteration = true;
        return read_number(id, argument, 0, &options->ask.iteration, error);
    case OPTION_MEMORY:
        return argument_read_size(&rules[id], argument, &options->ask.memory_limit,
                                  error);
    case OPTION_DEPTH:
        return argument_read_count(&rules[id], argument, 0, UINT32_MAX,
                                   "a number from 0 on", &options->ask.depth, error);
    case OPTION_ALL:
        options->ask.has_all_rows = true;
        return true;
    case OPTION_SOURCE:
        options->ask.has_source = true;
        return true;
    case OPTION_OUTPUT:
        options->output = argument;
        options->is_page = page_file_is_page(argument);
        return options->is_page ||
               render_format_of(slice_of(argument), &options->format, error);
    case OPTION_JSON:
        options->is_json = true;
        return true;
    case OPTION_QUIET:
        options->is_quiet = true;
        return true;
    case OPTION_COLOR:
        return color_read(&options->color, argument, error);
    default: /* --help and --version were answered before */
        return true;
    }
}

static bool skip_word(void *context, const char *word, struct error *error)
{
    struct why_options *options = context;

    if (options->trace == NULL) {
        options->trace = word;
        return true;
    }
    if (options->ask.event.size > 0) {
        error_set(error, ERROR_USAGE,
                  "%.80s: expected one TRACE and at most one EVENT, such as '#12', "
                  "model.py:31 or weights",
                  word);
        return false;
    }
    options->ask.event = slice_of(word);
    return true;
}

static bool check(struct why_options *options, struct error *error)
{
    uint64_t start;

    if (options->trace == NULL) {
        return trace_words_refuse_none(error);
    }
    if ((options->ask.call != 0 || options->ask.has_iteration) &&
        (options->ask.event.size == 0 || why_read_start(options->ask.event, &start))) {
        return arguments_refuse(
            "--call and --iteration choose a visit of an EVENT: add the EVENT", error);
    }
    if (options->is_json && options->ask.has_source) {
        return arguments_refuse("--source is for text: remove it, or --json", error);
    }
    if (options->ask.has_all_rows) {
        options->ask.depth = UINT64_MAX;
    }
    return output_files_check(&(struct output_file){"-o", options->output}, 1,
                              &options->trace, 1, error);
}

bool why_options_read(struct why_options *options,
                      int word_count,
                      char **words,
                      struct error *error)
{
    const struct argument_reader reader = {apply_option, skip_word, options};

    *options = (struct why_options){
        .ask = {.event = SLICE(""), .depth = DEPTH_DEFAULT},
    };
    return arguments_read(rules, OPTION_COUNT, word_count, words, &reader, error) &&
           check(options, error);
}
