/* What the command line of `monitorch page` asks for. */
#include "runtime/command/page/options.h"

#include "runtime/base/slice.h"
#include "runtime/command/shared/output_files.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/command/subcommand.h"
#include "runtime/view/page/page.h"

#define TABLE_OF_OPTIONS "runtime/command/page/options.def"
#include "runtime/base/arguments/option_rules.h"

/* A line of the text is a line here. */
/* clang-format off */
const struct help page_help = {
    .usage =
        "monitorch page TRACE [TRACE_B] -o FILE [options]",
    .purpose =
    "Writes one HTML page that needs no network and no other file: the verdict and\n"
    "its cause, a picture, the recorded sources with what each line saw, and the\n"
    "modules.\n"
    "With two traces: where they differ, as `monitorch diff` finds it.\n",
    .common = "output",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "Examples:\n"
    "  monitorch page run.mtrace -o run.html\n"
    "  monitorch page good.mtrace bad.mtrace -o diff.html\n"
    "  monitorch page run.mtrace -o run.html --max-size 50M\n"
    "\n"
    "Exit codes: 0 written; 1 two traces differ; 2 wrong usage; 3 a trace could not\n"
    "be read, or only in part (the readable part is shown), or the page could not be\n"
    "written.\n",
};
/* clang-format on */

static bool
apply_option(void *context, int id, const char *argument, struct error *error)
{
    struct page_options *options = context;

    switch (id) {
    case OPTION_OUTPUT:
        options->output = argument;
        return true;
    case OPTION_MAX_SIZE:
        options->has_max_size = true;
        return argument_read_size(&rules[id], argument, &options->max_size, error);
    case OPTION_QUIET:
        options->is_quiet = true;
        return true;
    default: /* --help and --version were answered before */
        return true;
    }
}

static bool add_trace(void *context, const char *word, struct error *error)
{
    struct page_options *options = context;

    if (options->trace_count == 2) {
        return trace_words_refuse_more(word, "one trace, or two to compare", error);
    }
    options->traces[options->trace_count++] = word;
    return true;
}

static bool check(struct page_options *options, struct error *error)
{
    struct slice output;

    if (options->trace_count == 0) {
        return trace_words_refuse_none(error);
    }
    if (options->output == NULL) {
        return arguments_refuse("no output, expected -o FILE, such as -o run.html",
                                error);
    }
    output = slice_of(options->output);
    options->is_json = slice_ends(output, SLICE(".json"));
    if (!options->is_json && !slice_ends(output, SLICE(".html")) &&
        !slice_ends(output, SLICE(".htm")) && !slice_equal(output, SLICE("-"))) {
        error_set(error, ERROR_USAGE, "%.200s: the name must end in .html or .json",
                  options->output);
        return false;
    }
    return output_files_check(&(struct output_file){"-o", options->output}, 1,
                              options->traces, options->trace_count, error);
}

bool page_options_read(struct page_options *options,
                       int word_count,
                       char **words,
                       struct error *error)
{
    const struct argument_reader reader = {apply_option, add_trace, options};

    *options = (struct page_options){.max_size = PAGE_SIZE_DEFAULT};
    return arguments_read(rules, OPTION_COUNT, word_count, words, &reader, error) &&
           check(options, error);
}
