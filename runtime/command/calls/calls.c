/* `monitorch calls`: which modules were called, as a tree, a picture or JSON. */
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/file/file.h"
#include "runtime/base/file/output.h"
#include "runtime/command/shared/output_files.h"
#include "runtime/command/shared/style_arguments.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/command/subcommand.h"
#include "runtime/view/calls/graph.h"
#include "runtime/view/calls/trace.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define DPI_DEFAULT  150
#define INCHES_LEAST 0.1
#define FORMATS      "png, svg, pdf, dot or json"

enum calls_output {
    CALLS_TEXT, /* the tree, for a terminal */
    CALLS_JSON,
    CALLS_PICTURE, /* of render.format */
};

/* The given options that other options depend on. */
struct calls_given {
    bool format;
    bool leaves;
    bool dpi;
    bool page;
    bool style; /* the theme or the title */
    bool squash_name;
};

#define TABLE_OF_OPTIONS "runtime/command/calls/options.def"
struct calls_options {
#include "runtime/base/arguments/option_fields.h"
    const char *input; /* borrowed from the command line, as the next two */
    enum calls_output kind;
    struct call_graph_options graph;
    struct call_render_options render;
    enum color color;
    struct calls_given given;
};

/* ---- the command line ---- */

#include "runtime/base/arguments/option_rules.h"

/* Each source line is one line of the help. */
/* clang-format off */
const struct help calls_help = {
    .usage =
        "monitorch calls TRACE [-o FILE] [options]",
    .purpose =
    "Shows the modules that were called, as a tree or a picture. TRACE is a recorded\n"
    "trace (.mtrace) or the list of paths that CallTracer.save_trace writes. Numbers\n"
    "in a path (layers.0, layers.1) become one node, `layers x 2`. Without -o, prints\n"
    "the tree.\n",
    .common = "output prune-leaves squash-name",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "Examples:\n"
    "  monitorch calls run.mtrace\n"
    "  monitorch calls call_trace.txt -o calls.png --prune-leaves\n"
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

/* Applies the options of the picture's style. `argument` is NULL for options without one. */
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
    default: /* --help and --version were handled before */
        return true;
    }
}

static bool
option_apply(void *context, int id, const char *argument, struct error *error)
{
    struct calls_options *options = context;
    struct calls_given *given = &options->given;

    switch (id) {
#include "runtime/base/arguments/option_cases.h"
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
    default:
        return style_apply(options, id, argument, error);
    }
}

/* Finds the format by the name's suffix. Returns false if there is none; `error` says why. */
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
    /* Leaves are shown by default: they are the larger part of a tree. */
    if (!options->given.leaves) {
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

/* Returns false if the command line is wrong; `error` has the message for the user. */
static bool calls_options_read(struct calls_options *options,
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

#define NAME "calls"

/* ---- files ---- */

static bool is_standard_output(const struct calls_options *options)
{
    return options->output == NULL || strcmp(options->output, "-") == 0;
}

static bool write_output(const struct calls_options *options,
                         struct slice bytes,
                         struct error *error)
{
    if (!is_standard_output(options)) {
        return file_write(options->output, bytes, FILE_MODE_DEFAULT, error);
    }
    if (output_print(bytes)) {
        return true;
    }
    *error = ERROR_INIT; /* already reported */
    return false;
}

static bool write_json(const struct calls_options *options,
                       const struct call_tree *tree,
                       struct error *error)
{
    struct buffer text = BUFFER_INIT;
    bool is_done = call_tree_add_json(tree, &text) || error_set_memory(error);

    is_done = is_done && file_write(options->json_path, buffer_slice(&text),
                                    FILE_MODE_DEFAULT, error);
    buffer_release(&text);
    return is_done;
}

/* ---- the output ---- */

/* Graphviz attributes with the same meaning as the options for the built-in painter. */
struct page_attributes {
    struct call_attribute list[3];
    char size[64];
    char dpi[32];
    size_t count;
};

static void
add_attribute(struct page_attributes *attributes, struct slice name, const char *value)
{
    attributes->list[attributes->count++] =
        (struct call_attribute){SLICE("graph"), name, slice_of(value)};
}

static void page_attributes_make(struct page_attributes *attributes,
                                 const struct call_render_options *render)
{
    const struct call_page *page = &render->picture.page;
    bool has_both = page->width > 0 && page->height > 0;

    *attributes = (struct page_attributes){.count = 0};
    snprintf(attributes->dpi, sizeof attributes->dpi, "%.6g", render->dpi);
    add_attribute(attributes, SLICE("dpi"), attributes->dpi);
    if (page->width > 0 || page->height > 0) {
        snprintf(attributes->size, sizeof attributes->size, "%.6g,%.6g!",
                 page->width > 0 ? page->width : CALL_PAGE_MOST,
                 page->height > 0 ? page->height : CALL_PAGE_MOST);
        add_attribute(attributes, SLICE("size"), attributes->size);
    }
    if (has_both) {
        add_attribute(attributes, SLICE("ratio"), "fill");
    }
}

static bool render(const struct calls_options *options,
                   const struct call_graph *graph,
                   struct buffer *bytes,
                   struct error *error)
{
    struct call_render_options how = options->render;
    struct page_attributes attributes;

    page_attributes_make(&attributes, &how);
    how.attributes = attributes.list;
    how.attribute_count = attributes.count;
    if (how.picture.title.size == 0) {
        how.picture.title = slice_last_part(slice_of(options->input), '/');
    }
    return call_graph_render(graph, &how, bytes, error);
}

static bool make(const struct calls_options *options,
                 const struct call_tree *tree,
                 struct buffer *bytes,
                 uint32_t *box_count,
                 struct error *error)
{
    struct call_graph graph;
    bool is_done;

    *box_count = tree->node_count - 1;
    if (options->kind == CALLS_JSON) {
        return call_tree_add_json(tree, bytes) || error_set_memory(error);
    }
    call_graph_init(&graph);
    is_done = call_graph_build(&graph, tree, &options->graph, error);
    if (is_done && options->kind == CALLS_TEXT) {
        is_done = call_graph_add_text(
                      &graph, color_is_wanted(options->color, STDOUT_FILENO), bytes) ||
                  error_set_memory(error);
    } else if (is_done) {
        is_done = render(options, &graph, bytes, error);
    }
    *box_count = graph.drawn_count;
    call_graph_release(&graph);
    return is_done;
}

/* ---- messages ---- */

static void report_verbose(const struct calls_options *options,
                           const struct call_tree *tree,
                           uint32_t box_count)
{
    char line[200];

    if (!options->is_verbose) {
        return;
    }
    snprintf(line, sizeof line, "%llu calls of %lu modules",
             (unsigned long long)tree->nodes[0].count,
             (unsigned long)tree->node_count - 1);
    print_message(options->input, line);
    if (!is_standard_output(options)) {
        snprintf(line, sizeof line, "%lu nodes written", (unsigned long)box_count);
        print_message(options->output, line);
    }
    if (options->json_path != NULL) {
        print_message(options->json_path, "the tree written as JSON");
    }
}

static enum exit_code report_rest(const struct calls_options *options,
                                  const struct call_trace *trace)
{
    enum exit_code damage =
        trace_report_first_damage(options->input, trace->damage, trace->damage_count);

    if (!options->is_quiet) {
        if (trace->is_recording && damage == EXIT_CODE_DONE) {
            trace_report_unfinished(options->input, "shown");
        }
        trace_report_lost(options->input, trace->lost_count);
    }
    if (trace->count == 0 && damage == EXIT_CODE_DONE) {
        print_message(options->input,
                      trace->is_log
                          ? "no recorded call of an nn.Module's forward; to record "
                            "such calls: monitorch run train.py"
                          : "has no paths");
        return EXIT_CODE_CHECK_FAILED;
    }
    return damage;
}

static bool show(const struct calls_options *options,
                 const struct call_trace *trace,
                 struct error *error)
{
    struct call_tree tree;
    struct buffer bytes = BUFFER_INIT;
    uint32_t box_count = 0;
    bool is_done;

    call_tree_init(&tree);
    is_done = call_tree_build(&tree, trace->paths, trace->count, error) &&
              make(options, &tree, &bytes, &box_count, error) &&
              (options->json_path == NULL || write_json(options, &tree, error)) &&
              write_output(options, buffer_slice(&bytes), error);
    if (is_done) {
        report_verbose(options, &tree, box_count);
    }
    buffer_release(&bytes);
    call_tree_release(&tree);
    return is_done;
}

static enum exit_code run(const struct calls_options *options)
{
    struct call_trace trace;
    struct error error = ERROR_INIT;
    enum exit_code exit_code = EXIT_CODE_INPUT_FAILED;
    bool is_done;

    call_trace_init(&trace);
    is_done = call_trace_read(&trace, options->input, &error) &&
              (trace.count == 0 || show(options, &trace, &error));
    if (is_done) {
        exit_code = report_rest(options, &trace);
    } else if (error.kind == ERROR_USAGE) {
        exit_code = refuse(NAME, &error);
    } else if (error.kind != ERROR_NONE) {
        print_message("", error.text);
    }
    call_trace_release(&trace);
    return exit_code;
}

/* Whether the output is binary and unreadable on a terminal. */
static bool is_for_files(const struct calls_options *options)
{
    return options->kind == CALLS_PICTURE && (options->render.format == RENDER_PNG ||
                                              options->render.format == RENDER_PDF);
}

enum exit_code calls_run(int word_count, char **words)
{
    struct error error = ERROR_INIT;
    struct calls_options options;

    if (!calls_options_read(&options, word_count, words, &error)) {
        return refuse(NAME, &error);
    }
    if (is_standard_output(&options) && is_for_files(&options) &&
        isatty(STDOUT_FILENO)) {
        error_set(&error, ERROR_USAGE,
                  "-o -: a terminal cannot show a %s; send it to a pipe or a file",
                  render_format_name(options.render.format));
        return refuse(NAME, &error);
    }
    return run(&options);
}
