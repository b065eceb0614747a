/* `monitorch export`: traces in the forms that other tools read. */
#include "runtime/view/sql/export.h"
#include "instrument/output/strip.h"
#include "runtime/base/file/output.h"
#include "runtime/base/memory.h"
#include "runtime/command/export/annotate.h"
#include "runtime/command/export/job.h"
#include "runtime/command/shared/no_match.h"
#include "runtime/command/subcommand.h"
#include "runtime/trace/reader.h"
#include "runtime/view/list/perfetto_log.h"
#include "runtime/view/words/json_fields.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME "export"
/* Traces that began within this many nanoseconds of each other are of one run. */
#define RUN_SPAN ((uint64_t)600 * 1000000000)

/* Traces of one run stand in the picture of their times as they were. */
static void find_start(struct export_job *job)
{
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;

    for (size_t i = 0; i < job->options->traces.count; i++) {
        struct error ignored = ERROR_INIT;
        struct log_reader *reader =
            log_reader_new(job->options->traces.words[i], &ignored);

        if (reader != NULL) {
            uint64_t start = log_reader_header(reader)->start_time;

            first = start < first ? start : first;
            last = start > last ? start : last;
            log_reader_free(reader);
        }
    }
    job->start = first;
    job->is_one_run = first <= last && last - first <= RUN_SPAN;
}

static void report_written(const struct export_job *job, const char *path)
{
    char line[80];

    if (!job->options->is_quiet && strcmp(path, "-") != 0 && isatty(STDERR_FILENO)) {
        snprintf(line, sizeof line, "%llu event%s", (unsigned long long)job->matched,
                 job->matched == 1 ? "" : "s");
        print_message(path, line);
    }
}

static void write_annotated(struct export_job *job)
{
    const char *folder = job->options->paths[EXPORT_ANNOTATE];
    struct error error = ERROR_INIT;
    size_t count;
    size_t missing;
    char line[120];

    if (folder == NULL || job->has_failed) {
        return;
    }
    if (!export_annotated(&job->annotation, folder, &count, &missing, &error)) {
        export_job_fail(job, &error);
        return;
    }
    job->is_empty = count == 0 && missing > 0;
    if (missing > 0 && (job->is_empty || !job->options->is_quiet)) {
        snprintf(line, sizeof line,
                 "%s%zu file%s not annotated: the trace does not hold the source",
                 job->is_empty ? "" : "remark: ", missing,
                 missing == 1 ? " is" : "s are");
        print_message("", line);
    }
    if (count > 0) {
        report_written(job, folder);
    }
}

static void finish_outputs(struct export_job *job)
{
    struct buffer *perfetto = export_job_text(job, EXPORT_PERFETTO);
    struct error error = ERROR_INIT;

    if (perfetto != NULL) {
        buffer_add(perfetto, PERFETTO_END);
    }
    for (int i = 0; i < EXPORT_ANNOTATE && !job->has_failed; i++) {
        struct export_output *output = &job->outputs[i];

        if (!output->is_open) {
            continue;
        }
        if (!export_output_finish(output, &error)) {
            export_job_fail(job, &error);
        } else {
            report_written(job, output->path);
        }
    }
}

/* ---- the database, which is made in readings of its own ---- */

static bool report_progress(void *context, uint64_t events)
{
    struct export_job *job = context;

    progress_report(&job->progress, "monitorch export: %llu events in the database",
                    events);
    return true;
}

static void report_damage(void *context, const char *trace, const char *message)
{
    struct export_job *job = context;

    progress_clear(&job->progress);
    print_message(trace, message);
}

static enum exit_code write_database(struct export_job *job, bool is_alone)
{
    const struct export_options *options = job->options;
    struct sql_export_options how = {
        .has_edges = options->has_edges,
        .is_forced = options->is_forced,
        .progress = report_progress,
        .damage = is_alone ? report_damage : NULL, /* else export_trace reports it */
        .context = job,
    };
    struct sql_export_result result = {0};
    struct error error = ERROR_INIT;
    bool is_done =
        export_sqlite(options->traces.words, options->traces.count, strip_source, &how,
                      options->paths[EXPORT_SQLITE], &result, &error);

    progress_clear(&job->progress);
    if (!is_done && error.kind == ERROR_USAGE) {
        return refuse(NAME, &error);
    }
    if (!is_done) {
        export_job_fail(job, &error);
        return EXIT_CODE_INPUT_FAILED;
    }
    job->seen = result.event_count;
    job->matched = result.event_count;
    report_written(job, options->paths[EXPORT_SQLITE]);
    return result.damage_count > 0 ? EXIT_CODE_INPUT_FAILED : EXIT_CODE_DONE;
}

/* ---- all of it ---- */

static bool has_other_formats(const struct export_options *options)
{
    for (int i = 0; i < EXPORT_SQLITE; i++) {
        if (options->paths[i] != NULL) {
            return true;
        }
    }
    return false;
}

static enum exit_code export_others(struct export_job *job)
{
    const struct export_options *options = job->options;
    enum exit_code exit_code = EXIT_CODE_DONE;

    if (options->paths[EXPORT_PERFETTO] != NULL && options->traces.count > 1) {
        find_start(job);
    }
    for (size_t i = 0; i < options->traces.count && !job->has_failed; i++) {
        exit_code =
            exit_code_worse(exit_code, export_trace(job, options->traces.words[i]));
    }
    if (job->trace_count > 0 && !job->has_failed) {
        finish_outputs(job);
        write_annotated(job);
    }
    return exit_code;
}

static const char *why_nothing(const struct export_job *job)
{
    return job->seen > 0 ? "no event matches" : "has no events";
}

static void add_files(const struct export_options *options, struct buffer *text)
{
    static const char *const names[] = {"csv", "jsonl", "perfetto", "annotate",
                                        "sqlite"};
    bool is_first = true;

    static_assert(sizeof names / sizeof *names == EXPORT_FORMAT_COUNT, "");
    json_key_add(text, SLICE("files"));
    buffer_add_byte(text, '[');
    for (int i = 0; i < EXPORT_FORMAT_COUNT; i++) {
        if (options->paths[i] != NULL) {
            buffer_add(text,
                       is_first ? SLICE("{\"format\":\"") : SLICE(",{\"format\":\""));
            buffer_add(text, slice_of(names[i]));
            buffer_add_byte(text, '"');
            json_text_add(text, SLICE("file"), slice_of(options->paths[i]));
            buffer_add_byte(text, '}');
            is_first = false;
        }
    }
    buffer_add_byte(text, ']');
}

/* The answer of --json. False: it cannot be printed. */
static bool print_json(const struct export_job *job)
{
    struct buffer text = BUFFER_INIT;
    bool is_done;

    buffer_add(&text, SLICE("{\"record\":\"export\""));
    json_number_add(&text, SLICE("traces"), job->options->traces.count);
    json_number_add(&text, SLICE("events"), job->seen);
    json_number_add(&text, SLICE("written"), job->matched);
    add_files(job->options, &text);
    if (job->matched == 0) {
        json_text_add(&text, SLICE("message"), slice_of(why_nothing(job)));
    }
    buffer_add(&text, SLICE("}\n"));
    is_done = !text.has_failed && output_print(buffer_slice(&text));
    buffer_release(&text);
    return is_done;
}

static enum exit_code export_all(struct export_job *job)
{
    const struct export_options *options = job->options;
    bool has_others = has_other_formats(options);
    enum exit_code exit_code = has_others ? export_others(job) : EXIT_CODE_DONE;

    if (options->paths[EXPORT_SQLITE] != NULL && !job->has_failed) {
        exit_code = exit_code_worse(exit_code, write_database(job, !has_others));
    }
    if (job->has_failed || (options->is_json && !print_json(job))) {
        return EXIT_CODE_INPUT_FAILED;
    }
    if (job->matched == 0 && exit_code == EXIT_CODE_DONE) {
        print_message(options->traces.count == 1 ? options->traces.words[0] : "",
                      why_nothing(job));
        for (size_t i = 0; i < (size_t)options->traces.count; i++) {
            print_nearest(options->traces.words[i], &options->filter);
        }
        return EXIT_CODE_CHECK_FAILED;
    }
    return job->is_empty && exit_code == EXIT_CODE_DONE ? EXIT_CODE_CHECK_FAILED
                                                        : exit_code;
}

static enum exit_code run(const struct export_options *options)
{
    struct export_job job = {.options = options};
    struct error error = ERROR_INIT;
    enum exit_code exit_code;

    annotation_init(&job.annotation);
    progress_init(&job.progress, options->is_quiet);
    for (int i = 0; i < EXPORT_ANNOTATE; i++) {
        job.outputs[i].path = options->paths[i];
    }
    job.processes = memory_allocate(options->traces.count, sizeof *job.processes);
    if (job.processes == NULL) {
        error_set_memory(&error);
        export_job_fail(&job, &error);
        exit_code = EXIT_CODE_INPUT_FAILED;
    } else {
        exit_code = export_all(&job);
    }
    for (int i = 0; i < EXPORT_ANNOTATE; i++) {
        export_output_release(&job.outputs[i]);
    }
    annotation_release(&job.annotation);
    memory_free(job.processes);
    return exit_code;
}

enum exit_code export_run(int word_count, char **words)
{
    struct error error = ERROR_INIT;
    struct export_options options;
    enum exit_code exit_code;

    if (!export_options_read(&options, word_count, words, &error)) {
        exit_code = refuse(NAME, &error);
    } else {
        exit_code = run(&options);
    }
    export_options_release(&options);
    return exit_code;
}
