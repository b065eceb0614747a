/* `monitorch diff`: where two traces first differ. */
#include "instrument/output/strip.h"
#include "runtime/base/file/output.h"
#include "runtime/command/diff/by_values.h"
#include "runtime/command/diff/options.h"
#include "runtime/command/diff/output.h"
#include "runtime/command/diff/pairs.h"
#include "runtime/command/diff/report.h"
#include "runtime/command/diff/saved.h"
#include "runtime/command/shared/progress.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/subcommand.h"

#include <stdio.h>
#include <unistd.h>

#define NAME "diff"

/* ---- messages ---- */

static bool report_progress(void *context, uint64_t events)
{
    progress_report(context, "monitorch diff: comparing, %llu events", events);
    return true;
}

/* What could not be read of a trace, and why something is missing. */
static enum exit_code report_side(const struct diff_command_options *options,
                                  const struct diff_pair *pair,
                                  const struct diff_result *result,
                                  unsigned side)
{
    const char *path = pair->paths[side];
    enum exit_code exit_code = trace_report_first_damage(path, result->damage[side],
                                                         result->damage_counts[side]);
    char line[200];

    if (options->is_quiet) {
        return exit_code;
    }
    if (result->is_unfinished[side] && exit_code == EXIT_CODE_DONE) {
        trace_report_unfinished(path, "compared");
    }
    trace_report_lost(path, result->lost_counts[side]);
    if (result->dropped[side] > 0) {
        snprintf(
            line, sizeof line,
            "remark: the trace keeps only its newest events (%llu older ones were "
            "dropped); %llu events of the other trace are older than its first one "
            "and were not compared",
            (unsigned long long)result->dropped[side],
            (unsigned long long)result->before[1 - side]);
        print_message(path, line);
    }
    if (result->beyond[1 - side] > 0) {
        snprintf(line, sizeof line,
                 "remark: its recording ends earlier than the other: %llu later events "
                 "of the other trace were not compared",
                 (unsigned long long)result->beyond[1 - side]);
        print_message(path, line);
    }
    return exit_code;
}

static void print_report(struct diff_report *report, struct buffer *text)
{
    if (text->has_failed) {
        print_message("", "out of memory");
        report->has_failed = true;
    } else if (!output_print(buffer_slice(text))) {
        report->has_failed = true;
    }
    text->size = 0;
}

/* ---- pairs ---- */

/* Compares; what is found is in the report, and in the output, which may be NULL. */
static bool compare(const struct diff_command_options *options,
                    const struct diff_pair *pair,
                    struct diff_report *report,
                    struct diff_output *output,
                    struct diff_result *result)
{
    struct progress progress;
    struct error error = ERROR_INIT;
    struct diff_options diff = {
        .tolerance = options->tolerance,
        .ignored = options->ignored,
        .ignored_count = options->ignored_count,
        .has_color = report->has_color && !options->is_json,
        .strip = strip_source,
        .found = diff_report_found,
        .begun = diff_report_begun,
        .changed = diff_report_changed,
        .ended = diff_report_ended,
        .context = report,
    };
    bool is_done;

    if (output != NULL) {
        diff_output_listen(output, &diff);
    }
    progress_init(&progress, options->is_quiet);
    diff.progress = report_progress;
    diff.progress_context = &progress;
    is_done = diff_traces(pair->paths[0], pair->paths[1], &diff, result, &error);
    progress_clear(&progress);
    if (!options->is_quiet && !report->unknown.has_failed) {
        output_print_error(buffer_slice(&report->unknown));
    }
    if ((report->has_failed && report->json.has_failed) ||
        (output != NULL && output->has_failed)) {
        error_set_memory(&error);
    }
    if (!is_done) {
        print_message("", error.text);
    }
    return is_done;
}

static enum exit_code verdict_of(const struct diff_command_options *options,
                                 const struct diff_pair *pair,
                                 const struct diff_report *report,
                                 const struct diff_result *result)
{
    enum exit_code exit_code = diff_result_is_equal(result) && !result->is_other_program
                                   ? EXIT_CODE_DONE
                                   : EXIT_CODE_CHECK_FAILED;

    for (unsigned side = 0; side < 2; side++) {
        exit_code =
            exit_code_worse(exit_code, report_side(options, pair, result, side));
    }
    return report->has_failed ? EXIT_CODE_INPUT_FAILED : exit_code;
}

static bool draw(const struct diff_command_options *options,
                 const struct diff_pair *pair,
                 struct diff_output *output,
                 const struct diff_result *result)
{
    struct error error = ERROR_INIT;

    if (diff_output_write(output, options, pair, result, &error)) {
        return true;
    }
    print_message("", error.text);
    return false;
}

static enum exit_code diff_one(const struct diff_command_options *options,
                               const struct diff_pair *pair)
{
    struct diff_report report;
    struct diff_output output;
    struct diff_result result;
    struct buffer text = BUFFER_INIT;
    bool is_drawn = options->output != NULL;
    enum exit_code exit_code = EXIT_CODE_INPUT_FAILED;

    diff_report_init(&report, options);
    diff_output_init(&output, &report);
    report.has_color = color_is_wanted(options->color, STDOUT_FILENO);
    if (compare(options, pair, &report, is_drawn ? &output : NULL, &result)) {
        if (options->is_json) {
            buffer_add(&text, buffer_slice(&report.json));
            diff_json_add_verdict(&report, &result, &text);
        } else {
            diff_report_add(&report, &result, &text);
        }
        exit_code = verdict_of(options, pair, &report, &result);
        if ((result.is_other_program || result.is_mostly_other) && !is_drawn &&
            !report.has_failed) {
            exit_code =
                diff_by_values(options, pair,
                               &(struct diff_otherwise){buffer_slice(&text), exit_code,
                                                        result.is_other_program});
        } else {
            print_report(&report, &text);
            exit_code = report.has_failed ? EXIT_CODE_INPUT_FAILED : exit_code;
        }
        if (is_drawn && !draw(options, pair, &output, &result)) {
            exit_code = EXIT_CODE_INPUT_FAILED;
        }
    }
    buffer_release(&text);
    diff_output_release(&output);
    diff_report_release(&report);
    return exit_code;
}

/* ---- several pairs ---- */

/* The report of the pair that differs first comes first, then a line for each. */
struct diff_several {
    struct buffer best;  /* owned */
    struct buffer lines; /* owned */
    uint64_t first;      /* the event at which it differs */
    bool has_best;
};

static void add_pair(struct diff_several *several,
                     const struct diff_command_options *options,
                     const struct diff_pair *pair,
                     struct diff_report *report,
                     const struct diff_result *result)
{
    bool is_different = !diff_result_is_equal(result) || result->is_other_program;

    buffer_add(&several->lines, SLICE("  "));
    buffer_add_printable(&several->lines, slice_of(pair->name));
    buffer_add(&several->lines, SLICE(": "));
    diff_report_add_line(report, result, &several->lines);
    if (is_different && (!several->has_best || report->first_event < several->first)) {
        several->has_best = true;
        several->first = report->first_event;
        several->best.size = 0;
        diff_report_add(report, result, &several->best);
        if (!options->is_quiet) {
            buffer_add(&several->best, SLICE("  this is "));
            buffer_add_printable(&several->best, slice_of(pair->name));
            buffer_add(&several->best, SLICE(", the first to differ:\n"));
        }
    }
}

static enum exit_code diff_pair_of_many(const struct diff_command_options *options,
                                        const struct diff_pair *pair,
                                        struct diff_several *several)
{
    struct diff_report report;
    struct diff_result result;
    struct buffer text = BUFFER_INIT;
    enum exit_code exit_code = EXIT_CODE_INPUT_FAILED;

    diff_report_init(&report, options);
    report.has_color = color_is_wanted(options->color, STDOUT_FILENO);
    report.traces[0] = slice_of(pair->paths[0]);
    report.traces[1] = slice_of(pair->paths[1]);
    if (compare(options, pair, &report, NULL, &result)) {
        if (options->is_json) {
            buffer_add(&text, buffer_slice(&report.json));
            diff_json_add_verdict(&report, &result, &text);
            print_report(&report, &text);
        } else {
            add_pair(several, options, pair, &report, &result);
        }
        exit_code = verdict_of(options, pair, &report, &result);
    }
    buffer_release(&text);
    diff_report_release(&report);
    return exit_code;
}

static enum exit_code diff_many(const struct diff_command_options *options,
                                const struct diff_pairs *pairs)
{
    struct diff_several several = {.best = BUFFER_INIT, .lines = BUFFER_INIT};
    enum exit_code exit_code = EXIT_CODE_DONE;

    for (size_t i = 0; i < pairs->count; i++) {
        exit_code = exit_code_worse(
            exit_code, diff_pair_of_many(options, &pairs->pairs[i], &several));
    }
    if (!several.has_best && !options->is_json) {
        buffer_add_format(&several.best, "equal: %zu pairs of traces\n", pairs->count);
    }
    if (!options->is_quiet) {
        buffer_add(&several.best, buffer_slice(&several.lines));
    }
    if (several.best.has_failed || several.lines.has_failed) {
        print_message("", "out of memory");
        exit_code = EXIT_CODE_INPUT_FAILED;
    } else if (!options->is_json && !output_print(buffer_slice(&several.best))) {
        exit_code = EXIT_CODE_INPUT_FAILED;
    }
    buffer_release(&several.best);
    buffer_release(&several.lines);
    return exit_code;
}

static void print_left_out(const struct diff_pairs *pairs)
{
    char text[160];

    for (size_t i = 0; i < pairs->left_out_count; i++) {
        snprintf(text, sizeof text,
                 "not compared: an earlier job wrote this trace (WORLD_SIZE of rank 0 "
                 "is %ld)",
                 pairs->world_size);
        print_message(pairs->left_out[i], text);
    }
}

static enum exit_code diff_of_traces(const struct diff_command_options *options)
{
    struct error error = ERROR_INIT;
    struct diff_pairs pairs = {.count = 0};
    enum exit_code exit_code;
    bool is_found = diff_pairs_find(&pairs, options, &error);

    print_left_out(&pairs);
    if (!is_found) {
        print_message("", error.text);
        exit_code = EXIT_CODE_INPUT_FAILED;
    } else if (options->output != NULL && pairs.count != 1) {
        error_set(&error, ERROR_USAGE,
                  "-o %.80s: a picture shows one pair of traces, these are %zu pairs",
                  options->output, pairs.count);
        exit_code = refuse(NAME, &error);
    } else if (options->is_by_values && pairs.count == 1) {
        exit_code = diff_by_values(options, &pairs.pairs[0], NULL);
    } else {
        exit_code = pairs.count == 1 ? diff_one(options, &pairs.pairs[0])
                                     : diff_many(options, &pairs);
    }
    diff_pairs_release(&pairs);
    return exit_code;
}

enum exit_code diff_run(int word_count, char **words)
{
    struct error error = ERROR_INIT;
    struct diff_command_options options;
    enum exit_code exit_code;

    if (!diff_options_read(&options, word_count, words, &error)) {
        exit_code = refuse(NAME, &error);
    } else if (!diff_saved_is_wanted(&options)) {
        exit_code = diff_of_traces(&options);
    } else if (!diff_saved_check(&options, &error)) {
        exit_code = refuse(NAME, &error);
    } else {
        exit_code = diff_saved_run(&options);
    }
    diff_options_release(&options);
    return exit_code;
}
