/* What the command line of `monitorch check` asks for. */
#include "runtime/command/check/options.h"

#include "runtime/command/shared/output_files.h"
#include "runtime/command/shared/page_file.h"
#include "runtime/command/subcommand.h"

#include <float.h>

#define TABLE_OF_OPTIONS "runtime/command/check/options.def"
#include "runtime/base/arguments/option_rules.h"

/* A line of the text is a line here. */
/* clang-format off */
const struct help check_help = {
    .usage =
        "monitorch check [checks] [options] TRACE...",
    .purpose =
    "Checks that traces hold no NaN, no infinity and no other value that must not\n"
    "occur. Prints the first finding with its line, then all findings by line. The\n"
    "exit code is 1 if a check failed.\n",
    .common = "no-nan max-abs shape",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "The first line is for editors and scripts: FILE:LINE: NAME: FINDING\n\n"
    "Examples:\n"
    "  monitorch check run.mtrace\n"
    "  monitorch check --dtype float32 --dtype bfloat16 --max-abs 1e4 run.mtrace\n"
    "  monitorch check --shape x=B,T,64 --shape 'weights=B,_,T,T' run.mtrace\n"
    "  monitorch check --format sarif run.mtrace > monitorch.sarif\n\n"
    "Exit codes: 0 all checks passed; 1 a check failed, or there was nothing to\n"
    "check; 2 wrong usage; 3 a trace could not be read, or only in part (the readable\n"
    "part was checked).\n",
};
/* clang-format on */

/* The checks. */
static bool add_check(struct check_options *options,
                      enum option_id id,
                      const char *argument,
                      struct error *error)
{
    bool *is_wanted = options->rules.is_wanted;

    switch (id) {
    case OPTION_NO_NAN:
        is_wanted[CHECK_NAN] = true;
        return true;
    case OPTION_NO_INF:
        is_wanted[CHECK_INF] = true;
        return true;
    case OPTION_MAX_ABS:
        is_wanted[CHECK_MAX_ABS] = true;
        return argument_read_number(&rules[id], argument, 0, DBL_MAX,
                                    "a number from 0 on, such as 1e4",
                                    &options->rules.max_abs, error);
    case OPTION_DTYPE:
        return check_rules_add_dtype(&options->rules, slice_of(argument), error);
    case OPTION_SHAPE:
        return check_rules_add_shape(&options->rules, slice_of(argument), error);
    default:
        is_wanted[CHECK_ZEROS] = true;
        return true;
    }
}

static bool
read_format(struct check_options *options, const char *argument, struct error *error)
{
    static const char *const names[] = {
        [CHECK_FORMAT_TEXT] = "text",     [CHECK_FORMAT_JSON] = "json",
        [CHECK_FORMAT_GITHUB] = "github", [CHECK_FORMAT_JUNIT] = "junit",
        [CHECK_FORMAT_SARIF] = "sarif",   NULL,
    };
    int index;

    if (!argument_read_choice(&rules[OPTION_FORMAT], argument, names,
                              "text, json, github, junit or sarif", &index, error)) {
        return false;
    }
    options->format = (enum check_format)index;
    return true;
}

static bool
apply_option(void *context, int id, const char *argument, struct error *error)
{
    struct check_options *options = context;

    if (id <= OPTION_ZEROS) {
        return add_check(options, id, argument, error);
    }
    switch (id) {
    case OPTION_COLOR:
        return color_read(&options->color, argument, error);
    case OPTION_FORMAT:
        return read_format(options, argument, error);
    case OPTION_JSON:
        options->format = CHECK_FORMAT_JSON;
        return true;
    case OPTION_OUTPUT:
        options->output = argument;
        return true;
    case OPTION_QUIET:
        options->is_quiet = true;
        return true;
    default: /* those that choose events; --help and --version were answered before */
        return event_filter_process(&options->rules.filter, rules[id].text, argument,
                                    NULL, error);
    }
}

static bool check_output(const struct check_options *options, struct error *error)
{
    if (options->output == NULL) {
        return true;
    }
    if (!page_file_is_page(options->output)) {
        error_set(error, ERROR_USAGE, "%.200s: the name must end in .html",
                  options->output);
        return false;
    }
    if (options->traces.count != 1) {
        return arguments_refuse("-o: a page is of one trace", error);
    }
    return output_files_check(&(struct output_file){"-o", options->output}, 1,
                              options->traces.words, 1, error);
}

static bool check(struct check_options *options, struct error *error)
{
    bool *is_wanted = options->rules.is_wanted;
    bool has_check = false;

    if (options->traces.count == 0) {
        return trace_words_refuse_none(error);
    }
    if (!check_output(options, error)) {
        return false;
    }
    for (int i = 0; i < CHECK_KIND_COUNT; i++) {
        has_check = has_check || is_wanted[i];
    }
    if (!has_check) {
        is_wanted[CHECK_NAN] = true;
        is_wanted[CHECK_INF] = true;
        options->rules.lets_meant = true;
    }
    return true;
}

bool check_options_read(struct check_options *options,
                        int word_count,
                        char **words,
                        struct error *error)
{
    *options = (struct check_options){.color = COLOR_AUTO};
    check_rules_init(&options->rules);
    return trace_words_read(&options->traces, rules, OPTION_COUNT, word_count, words,
                            apply_option, options, error) &&
           check(options, error);
}

void check_options_release(struct check_options *options)
{
    check_rules_release(&options->rules);
    trace_words_release(&options->traces);
}
