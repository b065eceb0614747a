/* What `monitorch diff -o` writes. */
#include "runtime/command/diff/output.h"

#include "instrument/output/strip.h"
#include "runtime/base/file/file.h"
#include "runtime/view/diff/report/picture.h"
#include "runtime/view/words/paint.h"

void diff_output_init(struct diff_output *output, struct diff_report *report)
{
    output->report = report;
    output->has_failed = !diff_notes_init(&output->notes);
}

void diff_output_release(struct diff_output *output)
{
    diff_notes_release(&output->notes);
}

static void report_begun(void *context,
                         struct log_reader *const *readers,
                         struct source_lines *const *sources)
{
    struct diff_output *output = context;

    diff_report_begun(output->report, readers, sources);
    diff_notes_begun(&output->notes, readers, sources);
}

static void report_ended(void *context, struct log_reader *const *readers)
{
    struct diff_output *output = context;

    diff_report_ended(output->report, readers);
}

static void report_changed(void *context,
                           const uint32_t modules[2],
                           const uint32_t lines[2],
                           const struct slice sources[2])
{
    struct diff_output *output = context;

    diff_report_changed(output->report, modules, lines, sources);
}

static bool report_found(void *context, const struct diff_finding *finding)
{
    struct diff_output *output = context;

    if (!diff_report_found(output->report, finding)) {
        return false;
    }
    output->has_failed =
        output->has_failed || !diff_notes_found(&output->notes, finding);
    return !output->has_failed;
}

void diff_output_listen(struct diff_output *output, struct diff_options *options)
{
    options->begun = report_begun;
    options->found = report_found;
    options->ended = report_ended;
    options->changed = report_changed;
    options->context = output;
}

/* What the command prints, a line each, for people who look at a picture. */
static bool make_verdict(const struct diff_output *output,
                         const struct diff_result *result,
                         struct buffer *lines)
{
    struct buffer painted = BUFFER_INIT;

    diff_report_add_line(output->report, result, &painted);
    paint_strip(&lines[0], buffer_slice(&painted));
    if (!result->is_other_program && !diff_result_is_equal(result)) {
        diff_report_add_counts(result, &lines[1]);
    }
    lines[0].has_failed |= painted.has_failed;
    buffer_release(&painted);
    return !lines[0].has_failed && !lines[1].has_failed;
}

static struct slice line_of(const struct buffer *text)
{
    struct slice line = buffer_slice(text);

    return slice_part(line, 0, slice_find(line, SLICE("\n"), 0));
}

bool diff_output_write(struct diff_output *output,
                       const struct diff_command_options *options,
                       const struct diff_pair *pair,
                       const struct diff_result *result,
                       struct error *error)
{
    struct diff_picture_options picture = options->picture;
    struct buffer lines[2] = {BUFFER_INIT, BUFFER_INIT};
    struct buffer bytes = BUFFER_INIT;
    bool is_done;

    is_done = make_verdict(output, result, lines);
    for (int i = 0; i < 2; i++) {
        picture.verdict[i] = line_of(&lines[i]);
        picture.paths[i] = pair->paths[i];
    }
    picture.settings = buffer_slice(&output->report->settings);
    if (!diff_result_is_equal(result)) {
        picture.changed = buffer_slice(&output->report->changed);
    }
    picture.render.strip = strip_source;
    if (!is_done) {
        error_set_memory(error);
    }
    is_done =
        is_done && diff_picture_add(&output->notes, result, &picture, &bytes, error);
    if (is_done && bytes.size == 0) {
        error_set(error, ERROR_INPUT,
                  "%s: nothing to draw: no tensors or arrays were recorded; a page (-o "
                  "diff.html) holds the text",
                  pair->paths[1]);
        is_done = false;
    }
    is_done = is_done && file_write(options->output, buffer_slice(&bytes),
                                    FILE_MODE_DEFAULT, error);
    buffer_release(&lines[0]);
    buffer_release(&lines[1]);
    buffer_release(&bytes);
    return is_done;
}
