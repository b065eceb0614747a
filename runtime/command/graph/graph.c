/* `monitorch graph`: a trace as a picture. */
#include "instrument/output/strip.h"
#include "runtime/base/buffer.h"
#include "runtime/base/file/file.h"
#include "runtime/base/file/output.h"
#include "runtime/command/graph/options.h"
#include "runtime/command/shared/no_match.h"
#include "runtime/command/shared/page_file.h"
#include "runtime/command/shared/progress.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/subcommand.h"
#include "runtime/view/picture/render.h"
#include "runtime/view/words/json_fields.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME "graph"
/* So many nodes take their time. */
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

/* ---- what is said about it ---- */

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

/* What is not drawn, and how to see it. */
static void report_outline(const struct graph_options *options,
                           const struct render_result *result)
{
    char depth[80] = "";
    char line[300];

    if (!options->render.is_fitted) {
        return;
    }
    if (result->depth != FLOW_NONE && result->step.closed_count > 0) {
        snprintf(depth, sizeof depth,
                 "%s%llu calls deeper than %lu are drawn as one box each",
                 result->step.number > 0 ? "; " : "",
                 (unsigned long long)result->step.closed_count,
                 (unsigned long)result->depth);
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

/* The answer of --json. False: it cannot be printed. */
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
    *error = ERROR_INIT; /* it is printed */
    return false;
}

static bool report_page_progress(void *context, uint64_t events)
{
    return report_progress(context, RENDER_READING, events);
}

/* The picture that the options ask for, in a page. */
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
