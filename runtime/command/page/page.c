/* `monitorch page`: writes one or two traces as one HTML page. */
#include "runtime/view/page/page.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/command/shared/output_files.h"
#include "runtime/command/shared/page_file.h"
#include "runtime/command/shared/progress.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/command/subcommand.h"
#include "runtime/view/walk/trace_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TABLE_OF_OPTIONS "runtime/command/page/options.def"
struct page_options {
#include "runtime/base/arguments/option_fields.h"
    const char *traces[2]; /* borrowed from the command line, as the others here */
    size_t trace_count;
    struct arena arena;      /* owned: the paths of `ranks` */
    struct trace_list ranks; /* owned: the traces that one word names */
    uint64_t max_size;
    bool is_json;
};

/* ---- the command line ---- */

#include "runtime/base/arguments/option_rules.h"

/* Each source line is one line of the help. */
/* clang-format off */
const struct help page_help = {
    .usage =
        "monitorch page TRACE [TRACE_B] -o FILE [options]",
    .purpose =
    "Writes one HTML page that needs no network and no other file: the verdict and\n"
    "its cause, a picture, the recorded sources with what each line saw, and the\n"
    "modules.\n"
    "With two traces: where they differ, as `monitorch diff` finds it. A folder of\n"
    "traces, or the name that ranks' traces were given, is a page with a choice of\n"
    "the rank.\n",
    .common = "output",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "Examples:\n"
    "  monitorch page run.mtrace -o run.html\n"
    "  monitorch page good.mtrace bad.mtrace -o diff.html\n"
    "  monitorch page job.mtrace -o job.html          of job.rank0.mtrace, ...\n"
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
#include "runtime/base/arguments/option_cases.h"
    case OPTION_MAX_SIZE:
        return argument_read_size(&rules[id], argument, &options->max_size, error);
    default: /* --help and --version were handled before */
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

/* Returns false if the command line is wrong; `error` has the message for the user. */
static bool page_options_read(struct page_options *options,
                              int word_count,
                              char **words,
                              struct error *error)
{
    const struct argument_reader reader = {apply_option, add_trace, options};

    *options = (struct page_options){.trace_count = 0};
    return arguments_read(rules, OPTION_COUNT, word_count, words, &reader, error) &&
           check(options, error);
}

#define NAME "page"

static bool report_progress(void *context, uint64_t events)
{
    progress_report(context, "monitorch page: reading, %llu events", events);
    return true;
}

static void report_remarks(const struct page_options *options,
                           const struct page_trace_result *result)
{
    if (options->is_quiet) {
        return;
    }
    if (result->is_recording && result->damage_count == 0) {
        trace_report_unfinished(options->traces[0], "shown");
    }
    page_file_report(options->traces[0], result);
}

static enum exit_code write_one(const struct page_options *options)
{
    struct progress progress;
    const struct page_trace_options page = {
        .path = options->ranks.paths[0],
        .others = options->ranks.paths + 1,
        .other_count = options->ranks.count - 1,
        .ask = {.event = SLICE(""),
                .progress = report_progress,
                .progress_context = &progress},
        .max_size = options->max_size,
        .is_json = options->is_json,
    };
    struct page_trace_result result;
    struct error error = ERROR_INIT;
    enum exit_code damage;
    bool is_done;

    progress_init(&progress, options->is_quiet);
    is_done = page_file_write(&page, NAME, options->output, &result, &error);
    progress_clear(&progress);
    if (!is_done && error.kind == ERROR_USAGE) {
        return refuse(NAME, &error);
    }
    if (!is_done) {
        if (error.kind != ERROR_NONE) {
            print_message("", error.text);
        }
        return EXIT_CODE_INPUT_FAILED;
    }
    damage = trace_report_first_damage(options->traces[0], result.damage,
                                       result.damage_count);
    report_remarks(options, &result);
    return damage;
}

/* Prints the one line of `diff`, and writes its page. */
static enum exit_code write_two(const struct page_options *options)
{
    char name[] = "diff", quiet[] = "-q", output[] = "-o", size[] = "--max-size";
    char number[32];
    char *words[8] = {name,
                      quiet,
                      output,
                      (char *)options->output,
                      (char *)options->traces[0],
                      (char *)options->traces[1],
                      size,
                      number};

    snprintf(number, sizeof number, "%llu", (unsigned long long)options->max_size);
    return diff_run(options->max_size > 0 ? 8 : 6, words);
}

enum exit_code page_run(int word_count, char **words)
{
    struct error error = ERROR_INIT;
    struct page_options options;
    enum exit_code code;

    if (!page_options_read(&options, word_count, words, &error)) {
        return refuse(NAME, &error);
    }
    if (options.trace_count == 2) {
        return write_two(&options);
    }
    arena_init(&options.arena);
    trace_list_init(&options.ranks, &options.arena);
    if (trace_list_add(&options.ranks, options.traces[0], &error)) {
        code = write_one(&options);
    } else {
        print_message("", error.text);
        code = EXIT_CODE_INPUT_FAILED;
    }
    trace_list_release(&options.ranks);
    arena_release(&options.arena);
    return code;
}
