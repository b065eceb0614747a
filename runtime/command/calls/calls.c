/* `monitorch calls`: which modules were called, as a tree, a picture or JSON. */
#include "runtime/base/buffer.h"
#include "runtime/base/file/file.h"
#include "runtime/base/file/output.h"
#include "runtime/command/calls/options.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/subcommand.h"
#include "runtime/view/calls/trace.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    *error = ERROR_INIT; /* it is printed */
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

/* ---- what is made ---- */

/* What says the same to graphviz as the options to our painter. */
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

/* ---- what is said about it ---- */

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

/* Whether its bytes would be a mess on a terminal. */
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
