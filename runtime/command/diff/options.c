/* What the command line of `monitorch diff` asks for. */
#include "runtime/command/diff/options.h"

#include "runtime/base/memory.h"
#include "runtime/command/shared/output_files.h"
#include "runtime/command/shared/style_arguments.h"
#include "runtime/command/subcommand.h"

#include <float.h>
#include <string.h>

#define TOLERANCE "a number from 0 on, such as 1e-5"

#define TABLE_OF_OPTIONS "runtime/command/diff/options.def"
#include "runtime/base/arguments/option_rules.h"

/* A line of the text is a line here. */
/* clang-format off */
const struct help diff_help = {
    .usage =
        "monitorch diff [options] A B\n"
        "       monitorch diff --ranks [options] A...",
    .purpose =
    "Finds the first line at which two runs differ, and reports the variable, the\n"
    "kind of difference and its size. Events are matched by their place in the\n"
    "program, their call and their turn, so added lines and renamed names do not\n"
    "disturb the comparison. A difference is `own` if all inputs of the value are\n"
    "equal, else `inherited`.\n"
    "\n"
    "A and B are one of these:\n"
    "  traces            run.mtrace\n"
    "  ranks of a run    a folder of traces, or the name that the ranks were given\n"
    "                    (run.mtrace for run.rank0.mtrace ...); rank is compared with\n"
    "                    rank\n"
    "  saved tensors     folders written by spy_save, or *.pt and *.safetensors\n"
    "                    files, matched by prefix, module, name and call\n",
    .common = "map output inherited",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "Examples:\n"
    "  monitorch diff good.mtrace bad.mtrace\n"
    "  monitorch diff --map old_model.py=model.py --map q=query old.mtrace new.mtrace\n"
    "  monitorch diff --across-precisions float32.mtrace bfloat16.mtrace\n"
    "  monitorch diff -o diff.html good.mtrace bad.mtrace\n"
    "  monitorch diff --ranks run.mtrace\n"
    "  monitorch diff --by-values reference.mtrace port.mtrace\n"
    "  monitorch diff --map old_attn=attn debug_tensors_old debug_tensors\n"
    "\n"
    "Exit codes: 0 equal; 1 different; 2 wrong usage; 3 a trace could not be read, or\n"
    "only in part (the readable part is compared), or the output could not be\n"
    "written.\n",
};
/* clang-format on */

static bool add_rename(struct diff_command_options *options,
                       const char *argument,
                       struct error *error)
{
    const char *middle = strchr(argument, '=');

    if (middle == NULL || middle == argument || middle[1] == '\0') {
        error_set(error, ERROR_USAGE,
                  "--map %.80s: expected OLD=NEW, the name in A and the name in B: "
                  "old.py=new.py, Attn=Attention, q=query",
                  argument);
        return false;
    }
    options->renames[options->tolerance.rename_count++] = (struct diff_rename){
        .old_name = {argument, (size_t)(middle - argument)},
        .new_name = slice_of(middle + 1),
    };
    return true;
}

static bool read_output(struct diff_command_options *options,
                        const char *argument,
                        struct error *error)
{
    options->output = argument;
    return diff_picture_format(slice_of(argument), &options->picture, error);
}

static bool read_max_nodes(struct diff_command_options *options,
                           const char *argument,
                           struct error *error)
{
    uint64_t count;

    if (!argument_read_count(&rules[OPTION_MAX_NODES], argument, 0, UINT32_MAX,
                             "a number of boxes, 0 for all", &count, error)) {
        return false;
    }
    options->picture.has_box_limit = true;
    options->picture.box_limit = (uint32_t)count;
    return true;
}

/* For struct argument_taker. */
static bool
option_apply(void *context, int id, const char *argument, struct error *error)
{
    struct diff_command_options *options = context;

    switch (id) {
    case OPTION_RTOL:
        return argument_read_number(&rules[id], argument, 0, DBL_MAX, TOLERANCE,
                                    &options->tolerance.rtol, error);
    case OPTION_ATOL:
        return argument_read_number(&rules[id], argument, 0, DBL_MAX, TOLERANCE,
                                    &options->tolerance.atol, error);
    case OPTION_IGNORE:
        options->ignored[options->ignored_count++] = slice_of(argument);
        return true;
    case OPTION_MAP:
        return add_rename(options, argument, error);
    case OPTION_OUTPUT:
        return read_output(options, argument, error);
    case OPTION_THEME:
        options->has_theme = true;
        return argument_read_theme(&rules[id], argument,
                                   &options->picture.render.picture.theme, error);
    case OPTION_MAX_NODES:
        return read_max_nodes(options, argument, error);
    case OPTION_MAX_SIZE:
        return argument_read_size(&rules[id], argument, &options->picture.max_size,
                                  error);
    case OPTION_COLOR:
        return color_read(&options->color, argument, error);
    case OPTION_EXACT:
        options->tolerance.is_exact = true;
        return true;
    case OPTION_ACROSS_PRECISIONS:
        options->tolerance.is_across_precision = true;
        return true;
    case OPTION_BY_VALUES:
        options->is_by_values = true;
        return true;
    case OPTION_MAP_FILE:
        options->map_file = argument;
        options->is_by_values = true;
        return true;
    case OPTION_PRINT_MAP:
        options->is_map = true;
        options->is_by_values = true;
        return true;
    case OPTION_RANKS:
        options->is_ranks = true;
        return true;
    case OPTION_ALL:
        options->is_all = true;
        return true;
    case OPTION_INHERITED:
        options->has_inherited = true;
        return true;
    case OPTION_JSON:
        options->is_json = true;
        return true;
    case OPTION_QUIET:
        options->is_quiet = true;
        return true;
    default: /* --help and --version were answered before */
        return true;
    }
}

/* What is printed, and how the pair is matched. */
static bool check_report(const struct diff_command_options *options,
                         struct error *error)
{
    if (options->is_by_values && (options->is_ranks || options->output != NULL)) {
        return arguments_refuse(
            "--by-values, --print-map and --map-file compare one pair of "
            "traces, and draw nothing: leave out --ranks and -o",
            error);
    }
    if (options->is_json && (options->is_all || options->has_inherited)) {
        return arguments_refuse(
            "--json excludes --all and --inherited: it prints everything", error);
    }
    return true;
}

static bool check(const struct diff_command_options *options, struct error *error)
{
    if (options->traces.count < 2 &&
        !(options->is_ranks && options->traces.count == 1)) {
        error_set(error, ERROR_USAGE, "%s, expected two: monitorch diff A B",
                  options->traces.count == 0 ? "no traces" : "one trace");
        return false;
    }
    if (options->traces.count > 2 && !options->is_ranks) {
        error_set(error, ERROR_USAGE,
                  "%zu traces, expected two: monitorch diff A B (--ranks compares "
                  "several with the first)",
                  options->traces.count);
        return false;
    }
    if (options->tolerance.is_exact && diff_tolerance_is_given(&options->tolerance)) {
        return arguments_refuse(
            "--exact excludes --rtol and --atol: it has no tolerance", error);
    }
    if (options->tolerance.is_exact && options->tolerance.is_across_precision) {
        return arguments_refuse("--exact excludes --across-precisions: it compares the "
                                "bits of equal dtypes",
                                error);
    }
    if (options->output == NULL &&
        (options->has_theme || options->picture.has_box_limit)) {
        return arguments_refuse(
            "--theme and --max-nodes need a picture: add -o FILE, such as -o diff.svg",
            error);
    }
    if (options->has_theme && options->picture.is_page) {
        return arguments_refuse(
            "--theme is for pictures: a page has both themes, and the browser chooses",
            error);
    }
    if (!check_report(options, error)) {
        return false;
    }
    return output_files_check(&(struct output_file){"-o", options->output}, 1,
                              options->traces.words, options->traces.count, error);
}

bool diff_options_read(struct diff_command_options *options,
                       int word_count,
                       char **words,
                       struct error *error)
{
    *options = (struct diff_command_options){
        .tolerance = {.rtol = -1, .atol = -1},
        .picture = {.render = {.picture = PICTURE_OPTIONS_DEFAULT}},
    };
    options->renames = memory_allocate((size_t)word_count, sizeof *options->renames);
    options->ignored = memory_allocate((size_t)word_count, sizeof *options->ignored);
    if (options->renames == NULL || options->ignored == NULL) {
        return error_set_memory(error);
    }
    options->tolerance.renames = options->renames;
    return trace_words_read(&options->traces, rules, OPTION_COUNT, word_count, words,
                            option_apply, options, error) &&
           check(options, error);
}

void diff_options_release(struct diff_command_options *options)
{
    memory_free(options->ignored);
    memory_free(options->renames);
    trace_words_release(&options->traces);
}
