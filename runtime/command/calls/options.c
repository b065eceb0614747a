/* What the command line of `monitorch calls` asks for. */
#include "runtime/command/calls/options.h"

#include "runtime/command/shared/output_files.h"
#include "runtime/command/shared/style_arguments.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/command/subcommand.h"

#include <string.h>
#include <strings.h>

#define DPI_DEFAULT  150
#define INCHES_LEAST 0.1
#define FORMATS      "png, svg, pdf, dot or json"

#define TABLE_OF_OPTIONS "runtime/command/calls/options.def"
#include "runtime/base/arguments/option_rules.h"

/* A line of the text is a line here. */
/* clang-format off */
const struct help calls_help = {
    .usage =
        "monitorch calls TRACE [-o FILE] [options]",
    .purpose =
    "Shows the modules that were called, as a tree or a picture. TRACE is a recorded\n"
    "trace (.mtrace) or the list of paths that CallTracer.save_trace writes. Numbers\n"
    "in a path (layers.0, layers.1) become one node, `layers x 2`. Without -o, prints\n"
    "the tree with all its leaves.\n",
    .common = "output no-prune-leaves squash-name",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "Examples:\n"
    "  monitorch calls run.mtrace\n"
    "  monitorch calls call_trace.txt -o calls.png --no-prune-leaves\n"
    "  monitorch calls run.mtrace -o - --format dot | dot -Tsvg > calls.svg\n"
    "\n"
    "Exit codes: 0 done; 1 no module was called; 2 wrong usage; 3 a trace could not\n"
    "be read, or only in part (the readable part is shown), or a file could not be\n"
    "written.\n",
};
/* clang-format on */

static bool is_json(struct slice name)
{
    return name.size == 4 && strncasecmp(name.bytes, "json", 4) == 0;
}

static bool
read_format(struct calls_options *options, struct slice name, struct error *error)
{
    if (is_json(name)) {
        options->kind = CALLS_JSON;
        return true;
    }
    options->kind = CALLS_PICTURE;
    if (render_format_read(name, &options->render.format)) {
        return true;
    }
    return argument_refuse(&rules[OPTION_FORMAT], name.bytes, FORMATS, error);
}

static bool
read_inches(enum option_id id, const char *argument, double *size, struct error *error)
{
    return argument_read_number(&rules[id], argument, INCHES_LEAST, CALL_PAGE_MOST,
                                "inches, 0.1 to 1000", size, error);
}

/* Those that say how it looks. `argument` is NULL for the options that take none. */
static bool style_apply(struct calls_options *options,
                        enum option_id id,
                        const char *argument,
                        struct error *error)
{
    struct call_picture_options *picture = &options->render.picture;
    struct calls_given *given = &options->given;

    switch (id) {
    case OPTION_DPI:
        given->dpi = true;
        return argument_read_dpi(&rules[id], argument, &options->render.dpi, error);
    case OPTION_FIGWIDTH:
        given->page = true;
        return read_inches(id, argument, &picture->page.width, error);
    case OPTION_FIGHEIGHT:
        given->page = true;
        return read_inches(id, argument, &picture->page.height, error);
    case OPTION_THEME:
        given->style = true;
        return argument_read_theme(&rules[id], argument, &picture->theme, error);
    case OPTION_TITLE:
        given->style = true;
        picture->title = slice_of(argument);
        return true;
    case OPTION_COLOR:
        return color_read(&options->color, argument, error);
    default: /* --help and --version were answered before */
        return true;
    }
}

static bool
option_apply(void *context, int id, const char *argument, struct error *error)
{
    struct calls_options *options = context;
    struct calls_given *given = &options->given;

    switch (id) {
    case OPTION_OUTPUT:
        options->output = argument;
        return true;
    case OPTION_FORMAT:
        given->format = true;
        return read_format(options, slice_of(argument), error);
    case OPTION_SHOW_REPETITION:
    case OPTION_NO_SHOW_REPETITION:
        options->graph.has_repetition = id == OPTION_SHOW_REPETITION;
        return true;
    case OPTION_PRUNE_LEAVES:
    case OPTION_NO_PRUNE_LEAVES:
        given->leaves = true;
        options->graph.has_leaves = id == OPTION_NO_PRUNE_LEAVES;
        return true;
    case OPTION_SQUASH_NAME:
        given->squash_name = true;
        options->graph.merges_names = true;
        return true;
    case OPTION_SHAPES:
    case OPTION_NO_SHAPES:
        options->graph.has_shapes = id == OPTION_SHAPES;
        return true;
    case OPTION_SAVE_JSON:
        options->json_path = argument;
        return true;
    case OPTION_VERBOSE:
        options->is_verbose = true;
        return true;
    case OPTION_QUIET:
        options->is_quiet = true;
        return true;
    default:
        return style_apply(options, id, argument, error);
    }
}

/* The name's suffix. */
static bool find_format(struct calls_options *options, struct error *error)
{
    struct slice name = slice_last_part(slice_of(options->output), '/');
    struct slice suffix = slice_last_part(name, '.');
    bool has_suffix = suffix.size > 0 && suffix.size + 1 < name.size;

    if (strcmp(options->output, "-") == 0) {
        return arguments_refuse("-o -: expected --format too: " FORMATS, error);
    }
    if (has_suffix && is_json(suffix)) {
        options->kind = CALLS_JSON;
        return true;
    }
    options->kind = CALLS_PICTURE;
    if (has_suffix && render_format_read(suffix, &options->render.format)) {
        return true;
    }
    error_set(error, ERROR_USAGE,
              "%.200s: the name must end in .png, .svg, .pdf, .dot or .json",
              options->output);
    return false;
}

static bool check_style(const struct calls_options *options, struct error *error)
{
    bool is_painted =
        options->kind == CALLS_PICTURE && options->render.format != RENDER_DOT;

    if (options->given.style && !is_painted) {
        return arguments_refuse("--theme and --title are for png, svg and pdf", error);
    }
    if (options->given.page && options->kind != CALLS_PICTURE) {
        return arguments_refuse("--figwidth and --figheight are for a picture or dot",
                                error);
    }
    if (options->given.dpi && (options->kind != CALLS_PICTURE ||
                               (is_painted && options->render.format != RENDER_PNG))) {
        return arguments_refuse("--dpi is for png and dot", error);
    }
    if (options->given.squash_name && options->kind != CALLS_PICTURE) {
        return arguments_refuse("--squash-name is for a picture: its result is no tree",
                                error);
    }
    return true;
}

static bool check_outputs(const struct calls_options *options, struct error *error)
{
    const struct output_file outputs[] = {{"-o", options->output},
                                          {"--save-json", options->json_path}};

    return output_files_check(outputs, sizeof outputs / sizeof *outputs,
                              &options->input, 1, error);
}

static bool check(struct calls_options *options, struct error *error)
{
    if (options->input == NULL) {
        return arguments_refuse(
            "no trace, expected TRACE, such as run.mtrace or call_trace.txt", error);
    }
    if (options->json_path != NULL && strcmp(options->json_path, "-") == 0) {
        return arguments_refuse(
            "--save-json -: expected a file (-o - --format json prints it)", error);
    }
    if (options->output == NULL && options->given.format) {
        return arguments_refuse("--format needs a FILE: add -o FILE", error);
    }
    if (options->output != NULL && !options->given.format &&
        !find_format(options, error)) {
        return false;
    }
    /* The leaves are most of what a tree on a terminal tells. */
    if (options->kind == CALLS_TEXT && !options->given.leaves) {
        options->graph.has_leaves = true;
    }
    return check_style(options, error) && check_outputs(options, error);
}

static bool add_input(void *context, const char *word, struct error *error)
{
    struct calls_options *options = context;

    if (options->input != NULL) {
        return trace_words_refuse_more(word, "one trace", error);
    }
    options->input = word;
    return true;
}

bool calls_options_read(struct calls_options *options,
                        int word_count,
                        char **words,
                        struct error *error)
{
    const struct argument_reader reader = {option_apply, add_input, options};

    *options = (struct calls_options){
        .graph = CALL_GRAPH_OPTIONS_DEFAULT,
        .render.dpi = DPI_DEFAULT,
    };
    return arguments_read(rules, OPTION_COUNT, word_count, words, &reader, error) &&
           check(options, error);
}
