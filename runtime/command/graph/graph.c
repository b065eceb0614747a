/* `monitorch graph`: draws a trace. */
#include "instrument/output/strip.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/file/file.h"
#include "runtime/base/file/output.h"
#include "runtime/command/shared/no_match.h"
#include "runtime/command/shared/output_files.h"
#include "runtime/command/shared/page_file.h"
#include "runtime/command/shared/page_size.h"
#include "runtime/command/shared/progress.h"
#include "runtime/command/shared/style_arguments.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/command/subcommand.h"
#include "runtime/view/picture/render.h"
#include "runtime/view/walk/event_filter.h"
#include "runtime/view/words/json_fields.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROPORTION_MOST 100

/* Without --max-nodes, a graph of more nodes is refused as unreadable. */
#define GRAPH_NODE_LIMIT 2000

/* The given options that other options depend on. */
struct graph_given {
    bool format;
    bool max_nodes;
    bool dpi;
    bool pages;
    bool style; /* the theme or the proportion */
    bool step;
    bool depth;
    bool fold;
};

#define TABLE_OF_OPTIONS "runtime/command/graph/options.def"
struct graph_options {
#include "runtime/base/arguments/option_fields.h"
    const char *trace;          /* borrowed from the command line */
    bool is_page;               /* HTML: `output` has that suffix */
    struct event_filter filter; /* owned; `render` refers to its contents */
    struct render_options render;
    struct graph_given given;
};

/* ---- the command line ---- */

#include "runtime/base/arguments/option_rules.h"

/* Each source line is one line of the help. */
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
#include "runtime/base/arguments/option_cases.h"
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
    default: /* options that choose events; --help and --version were handled before */
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

/* Returns false if the command line is wrong; `error` has the message for the user. To be
 * released in any case; may not be moved. */
static bool graph_options_read(struct graph_options *options,
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
    options->render.flow.has_updates = true;
    return arguments_read(rules, OPTION_COUNT, word_count, words, &reader, error) &&
           check(options, error);
}

static void graph_options_release(struct graph_options *options)
{
    event_filter_release(&options->filter);
}

#define NAME "graph"
/* A picture of more nodes takes a while to draw. */
#define MANY_NODES 3000

/* ---- messages ---- */

static bool report_progress(void *context, enum render_stage stage, uint64_t count)
{
    static const char *const formats[] = {
        [RENDER_READING] = "monitorch graph: reading, %llu events",
        [RENDER_PLACING] = "monitorch graph: laying out %llu nodes",
        [RENDER_PAINTING] = "monitorch graph: painting %llu nodes",
    };
    struct progress *progress = context;

    if (stage == RENDER_READING) {
        progress_report(progress, formats[stage], count);
    } else if (count >= MANY_NODES || progress_is_long(progress)) {
        progress_announce(progress, formats[stage], count);
    }
    return true;
}

/* ---- remarks ---- */

static const char *why_nothing(const struct graph_options *options,
                               const struct render_result *result)
{
    if (result->left_out.filtered > 0) {
        return "no event matches";
    }
    if (result->left_out.scalars > 0 && !options->render.flow.has_scalars) {
        return "has no tensors or arrays (--scalars draws numbers and texts too)";
    }
    return "has no events";
}

/* Reports the parts that are not drawn, and how to draw them. */
static void report_outline(const struct graph_options *options,
                           const struct render_result *result)
{
    char depth[80] = "";
    char line[300];

    if (!options->render.is_fitted) {
        return;
    }
    if (result->depth == FLOW_NONE && result->step.closed_count > 0) {
        snprintf(depth, sizeof depth, "%s%llu call%s one box%s",
                 result->step.number > 0 ? "; " : "",
                 (unsigned long long)result->step.closed_count,
                 result->step.closed_count == 1 ? " is" : "s are",
                 result->step.closed_count == 1 ? "" : " each");
    } else if (result->step.closed_count > 0) {
        snprintf(depth, sizeof depth,
                 "%scalls deeper than %lu are one box each, %llu in all",
                 result->step.number > 0 ? "; " : "", (unsigned long)result->depth,
                 (unsigned long long)result->step.closed_count);
    }
    if (result->step.number > 0) {
        snprintf(line, sizeof line,
                 "this is step %llu of %llu%s. --step N and --depth N choose others; "
                 "--step all --depth all draws everything",
                 (unsigned long long)result->step.number,
                 (unsigned long long)result->step.count, depth);
    } else {
        snprintf(line, sizeof line,
                 "%s. --depth N chooses another depth; --depth all draws everything",
                 depth);
    }
    print_message(options->trace, line);
}

static void report_remarks(const struct graph_options *options,
                           const struct render_result *result)
{
    char line[200];

    if (options->is_quiet) {
        return;
    }
    if (result->is_recording && result->damage_count == 0) {
        trace_report_unfinished(options->trace, "drawn");
    }
    trace_report_lost(options->trace, result->left_out.lost_events);
    if (result->node_count > 0 &&
        (result->step.number > 0 || result->step.closed_count > 0)) {
        report_outline(options, result);
    }
    if (result->node_count > 0 && isatty(STDERR_FILENO)) {
        snprintf(line, sizeof line, "%lu node%s of %llu event%s",
                 (unsigned long)result->node_count, result->node_count == 1 ? "" : "s",
                 (unsigned long long)result->event_count,
                 result->event_count == 1 ? "" : "s");
        print_message(strcmp(options->output, "-") == 0 ? "" : options->output, line);
    }
}

/* Prints the answer of --json. Returns false if it cannot be printed. */
static bool print_json(const struct graph_options *options,
                       const struct render_result *result)
{
    struct buffer text = BUFFER_INIT;
    bool is_done;

    buffer_add(&text, SLICE("{\"record\":\"graph\""));
    json_text_add(&text, SLICE("trace"), slice_of(options->trace));
    json_number_add(&text, SLICE("events"), result->event_count);
    json_number_add(&text, SLICE("boxes"), result->node_count);
    if (result->node_count == 0) {
        json_text_add(&text, SLICE("message"), slice_of(why_nothing(options, result)));
    } else {
        json_text_add(&text, SLICE("file"), slice_of(options->output));
        json_text_add(&text, SLICE("format"),
                      slice_of(render_format_name(options->render.format)));
    }
    if (result->step.number > 0) {
        json_number_add(&text, SLICE("step"), result->step.number);
        json_number_add(&text, SLICE("steps"), result->step.count);
    }
    json_number_add(&text, SLICE("closed_calls"), result->step.closed_count);
    buffer_add(&text, SLICE("}\n"));
    is_done = !text.has_failed && output_print(buffer_slice(&text));
    buffer_release(&text);
    return is_done;
}

/* ---- the picture ---- */

static bool write_picture(const struct graph_options *options,
                          struct slice bytes,
                          struct error *error)
{
    if (strcmp(options->output, "-") != 0) {
        return file_write(options->output, bytes, FILE_MODE_DEFAULT, error);
    }
    if (output_print(bytes)) {
        return true;
    }
    *error = ERROR_INIT; /* already reported */
    return false;
}

static bool report_page_progress(void *context, uint64_t events)
{
    return report_progress(context, RENDER_READING, events);
}

/* Writes a page with the requested picture. */
static enum exit_code write_page(const struct graph_options *options)
{
    struct progress progress;
    struct render_options render = options->render;
    const struct page_trace_options page = {
        .path = options->trace,
        .ask = {.event = SLICE(""),
                .progress = report_page_progress,
                .progress_context = &progress},
        .render = &render,
        .is_own_picture = true,
    };
    struct page_trace_result result;
    struct error error = ERROR_INIT;
    bool is_done;

    progress_init(&progress, options->is_quiet);
    render.strip = strip_source;
    is_done = page_file_write(&page, NAME, options->output, &result, &error);
    progress_clear(&progress);
    if (!is_done && error.kind == ERROR_USAGE) {
        return refuse(NAME, &error);
    }
    if (!is_done) {
        print_message("", error.text);
        return EXIT_CODE_INPUT_FAILED;
    }
    if (!options->is_quiet) {
        page_file_report(options->trace, &result);
    }
    return trace_report_first_damage(options->trace, result.damage,
                                     result.damage_count);
}

static enum exit_code draw(const struct graph_options *options)
{
    struct progress progress;
    struct render_options render = options->render;
    struct render_result result;
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;
    enum exit_code damage;
    bool is_done;

    progress_init(&progress, options->is_quiet);
    render.strip = strip_source;
    render.progress = report_progress;
    render.progress_context = &progress;
    is_done = render_trace(options->trace, &render, &bytes, &result, &error);
    progress_clear(&progress);
    if (is_done && result.node_count > 0) {
        is_done = write_picture(options, buffer_slice(&bytes), &error);
    }
    buffer_release(&bytes);
    if (!is_done && error.kind == ERROR_USAGE) {
        return refuse(NAME, &error);
    }
    if (!is_done) {
        if (error.kind != ERROR_NONE) {
            print_message("", error.text);
        }
        return EXIT_CODE_INPUT_FAILED;
    }
    damage =
        trace_report_first_damage(options->trace, result.damage, result.damage_count);
    report_remarks(options, &result);
    if (options->is_json && !print_json(options, &result)) {
        return EXIT_CODE_INPUT_FAILED;
    }
    if (result.node_count == 0 && damage == EXIT_CODE_DONE) {
        print_message(options->trace, why_nothing(options, &result));
        print_nearest(options->trace, &options->filter);
        return EXIT_CODE_CHECK_FAILED;
    }
    return damage;
}

static bool is_readable_at_terminal(enum render_format format)
{
    return format == RENDER_SVG || format == RENDER_DOT;
}

enum exit_code graph_run(int word_count, char **words)
{
    struct error error = ERROR_INIT;
    struct graph_options options;
    enum exit_code exit_code;

    if (!graph_options_read(&options, word_count, words, &error)) {
        exit_code = refuse(NAME, &error);
    } else if (strcmp(options.output, "-") == 0 && isatty(STDOUT_FILENO) &&
               !is_readable_at_terminal(options.render.format)) {
        error_set(&error, ERROR_USAGE,
                  "-o -: a terminal cannot show a %s; send it to a pipe or a file",
                  render_format_name(options.render.format));
        exit_code = refuse(NAME, &error);
    } else {
        exit_code = options.is_page ? write_page(&options) : draw(&options);
    }
    graph_options_release(&options);
    return exit_code;
}
