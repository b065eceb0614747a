/* What the command line of `monitorch graph` asks for. */
#include "runtime/command/graph/options.h"

#include "runtime/command/shared/output_files.h"
#include "runtime/command/shared/page_file.h"
#include "runtime/command/shared/page_size.h"
#include "runtime/command/shared/style_arguments.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/command/subcommand.h"

#include <string.h>

#define PROPORTION_MOST 100

#define TABLE_OF_OPTIONS "runtime/command/graph/options.def"
#include "runtime/base/arguments/option_rules.h"

/* A line of the text is a line here. */
/* clang-format off */
const struct help graph_help = {
    .usage =
        "monitorch graph TRACE -o FILE [options]",
    .purpose =
    "Draws a trace: a box for each value with its figures and the line that made it,\n"
    "an arrow from each of its inputs, and frames for calls and loops.\n",
    .common = "output function step depth",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "Examples:\n"
    "  monitorch graph run.mtrace -o flow.svg\n"
    "  monitorch graph run.mtrace -o flow.svg --step 20 --depth 2\n"
    "  monitorch graph run.mtrace -o attention.png --function 'Attention.*' --dpi 192\n"
    "  monitorch graph run.mtrace -o all.pdf --fold none --max-nodes 0 --pages A4\n"
    "  monitorch graph run.mtrace -o - --format dot | dot -Tsvg > flow.svg\n"
    "\n"
    "Exit codes: 0 done; 1 nothing to draw; 2 wrong usage, or too much to draw; 3 a\n"
    "trace could not be read, or only in part (the readable part is drawn), or the\n"
    "picture could not be written.\n",
};
/* clang-format on */

static bool
read_format(struct graph_options *options, const char *argument, struct error *error)
{
    return render_format_read(slice_of(argument), &options->render.format) ||
           argument_refuse(&rules[OPTION_FORMAT], argument, "png, svg, pdf or dot",
                           error);
}

static bool
read_fold(struct graph_options *options, const char *argument, struct error *error)
{
    static const char *const names[] = {"auto", "all", "none", NULL};
    int index = 0;

    if (!argument_read_choice(&rules[OPTION_FOLD], argument, names, "auto, all or none",
                              &index, error)) {
        return false;
    }
    options->render.flow.fold = (enum flow_fold)index;
    return true;
}

static bool
read_tables(struct graph_options *options, const char *argument, struct error *error)
{
    static const char *const names[] = {"all", "ends", "none", NULL};
    int index = 0;

    if (!argument_read_choice(&rules[OPTION_TABLES], argument, names,
                              "none, ends or all", &index, error)) {
        return false;
    }
    options->render.picture.tables = (enum picture_tables)index;
    options->render.keeps_tables = true;
    return true;
}

static bool
read_pages(struct graph_options *options, const char *argument, struct error *error)
{
    struct picture_options *picture = &options->render.picture;

    picture->has_pages = true;
    return page_size_read(slice_of(argument), &picture->page_width,
                          &picture->page_height) ||
           argument_refuse(&rules[OPTION_PAGES], argument, PAGE_SIZE_EXPECTED, error);
}

static bool
read_step(struct graph_options *options, const char *argument, struct error *error)
{
    struct flow_options *flow = &options->render.flow;

    options->given.step = true;
    flow->has_step = strcmp(argument, "all") != 0;
    return !flow->has_step ||
           argument_read_count(&rules[OPTION_STEP], argument, 1, UINT64_MAX,
                               "the number of a step, from 1, or all", &flow->step,
                               error);
}

static bool
read_depth(struct graph_options *options, const char *argument, struct error *error)
{
    struct flow_options *flow = &options->render.flow;
    uint64_t depth = 0;

    options->given.depth = true;
    flow->has_depth = strcmp(argument, "all") != 0;
    if (flow->has_depth &&
        !argument_read_count(&rules[OPTION_DEPTH], argument, 0, UINT32_MAX - 1,
                             "a number of levels, from 0, or all", &depth, error)) {
        return false;
    }
    flow->depth = (uint32_t)depth;
    return true;
}

/* For struct argument_reader. */
static bool
option_apply(void *context, int id, const char *argument, struct error *error)
{
    struct graph_options *options = context;
    struct graph_given *given = &options->given;
    struct render_options *render = &options->render;

    switch (id) {
    case OPTION_OUTPUT:
        options->output = argument;
        return true;
    case OPTION_FORMAT:
        given->format = true;
        return read_format(options, argument, error);
    case OPTION_SCALARS:
        render->flow.has_scalars = true;
        return true;
    case OPTION_STEP:
        return read_step(options, argument, error);
    case OPTION_DEPTH:
        return read_depth(options, argument, error);
    case OPTION_FOLD:
        given->fold = true;
        return read_fold(options, argument, error);
    case OPTION_MAX_NODES:
        given->max_nodes = true;
        return argument_read_count(&rules[id], argument, 0, UINT64_MAX,
                                   "a number of nodes, 0 for all",
                                   &render->flow.max_nodes, error);
    case OPTION_TABLES:
        return read_tables(options, argument, error);
    case OPTION_THEME:
        given->style = true;
        return argument_read_theme(&rules[id], argument, &render->picture.theme, error);
    case OPTION_TITLE:
        render->picture.title = slice_of(argument);
        return true;
    case OPTION_PROPORTION:
        given->style = true;
        return argument_read_number(
            &rules[id], argument, 0, PROPORTION_MOST,
            "the height by the width, such as 0.75; 0: not wrapped",
            &render->picture.proportion, error);
    case OPTION_DPI:
        given->dpi = true;
        return argument_read_dpi(&rules[id], argument, &render->dpi, error);
    case OPTION_PAGES:
        given->pages = true;
        return read_pages(options, argument, error);
    case OPTION_JSON:
        options->is_json = true;
        return true;
    case OPTION_QUIET:
        options->is_quiet = true;
        return true;
    default: /* those that choose events; --help and --version were answered before */
        return event_filter_process(&options->filter, rules[id].text, argument, NULL,
                                    error);
    }
}

static bool find_format(struct graph_options *options, struct error *error)
{
    if (options->given.format) {
        return true;
    }
    if (strcmp(options->output, "-") == 0) {
        return arguments_refuse("-o -: expected --format too: png, svg, pdf or dot",
                                error);
    }
    options->is_page = page_file_is_page(options->output);
    options->render.format = RENDER_SVG;
    return options->is_page ||
           render_format_of(slice_of(options->output), &options->render.format, error);
}

static bool check(struct graph_options *options, struct error *error)
{
    enum render_format format;

    if (options->trace == NULL) {
        return trace_words_refuse_none(error);
    }
    if (options->output == NULL) {
        return arguments_refuse(
            "no output, expected -o FILE, such as -o flow.svg (or .png, .pdf, "
            ".dot)",
            error);
    }
    if (!find_format(options, error)) {
        return false;
    }
    if (options->is_json && strcmp(options->output, "-") == 0) {
        return arguments_refuse("--json and -o - both write to standard output: name "
                                "a file, such as -o flow.svg",
                                error);
    }
    format = options->render.format;
    if (options->given.dpi && format != RENDER_PNG) {
        return arguments_refuse("--dpi is for png", error);
    }
    if (options->given.pages && format != RENDER_PDF) {
        return arguments_refuse("--pages is for pdf", error);
    }
    if (options->given.style && format == RENDER_DOT) {
        return arguments_refuse("--theme and --proportion are not for dot", error);
    }
    options->render.node_limit = options->given.max_nodes ? 0 : GRAPH_NODE_LIMIT;
    options->render.is_fitted = !options->given.max_nodes && !options->given.fold &&
                                !options->given.pages &&
                                !(options->given.step && options->given.depth) &&
                                event_filter_is_empty(&options->filter);
    options->render.keeps_steps = options->given.step;
    options->render.keeps_depth = options->given.depth;
    return output_files_check(&(struct output_file){"-o", options->output}, 1,
                              &options->trace, 1, error);
}

static bool add_trace(void *context, const char *word, struct error *error)
{
    struct graph_options *options = context;

    if (options->trace != NULL) {
        return trace_words_refuse_more(word,
                                       "one trace (for a folder: `for t in "
                                       "runs/*.mtrace; do monitorch graph \"$t\" -o "
                                       "\"$t.svg\"; done`)",
                                       error);
    }
    options->trace = word;
    return true;
}

bool graph_options_read(struct graph_options *options,
                        int word_count,
                        char **words,
                        struct error *error)
{
    const struct argument_reader reader = {option_apply, add_trace, options};

    *options = (struct graph_options){.render.picture = PICTURE_OPTIONS_DEFAULT};
    event_filter_init(&options->filter);
    options->render.flow.filter = &options->filter;
    options->render.flow.keeps_ends = true;
    options->render.flow.has_nan_marks = true;
    return arguments_read(rules, OPTION_COUNT, word_count, words, &reader, error) &&
           check(options, error);
}

void graph_options_release(struct graph_options *options)
{
    event_filter_release(&options->filter);
}
