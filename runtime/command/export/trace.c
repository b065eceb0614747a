/* Export of one trace, read once for all formats. */
#include "instrument/output/strip.h"
#include "runtime/command/export/job.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/subcommand.h"
#include "runtime/trace/reader.h"
#include "runtime/view/list/csv_text.h"
#include "runtime/view/list/json_log.h"
#include "runtime/view/list/perfetto_log.h"
#include "runtime/view/walk/open_calls.h"

/* Progress is reported once in this many items. */
#define PROGRESS_MASK 0xFFFF

struct export_trace {
    struct export_job *job;
    const char *path; /* borrowed */
    struct log_reader *reader;
    struct open_calls calls;
    struct json_log json;
    struct perfetto_log perfetto;
    struct buffer scratch;
    uint64_t matched;
};

/* ---- failures ---- */

void export_job_fail(struct export_job *job, const struct error *error)
{
    progress_clear(&job->progress);
    if (error->kind != ERROR_NONE) {
        print_message("", error->text);
    }
    job->has_failed = true;
}

static void fail_memory(struct export_job *job)
{
    struct error error = ERROR_INIT;

    error_set_memory(&error);
    export_job_fail(job, &error);
}

/* Returns the text of a requested format, else NULL. */
struct buffer *export_job_text(struct export_job *job, enum export_format format)
{
    return job->outputs[format].path == NULL ? NULL : &job->outputs[format].text;
}

static void flush(struct export_job *job)
{
    struct error error = ERROR_INIT;

    for (int i = 0; i < EXPORT_ANNOTATE && !job->has_failed; i++) {
        struct export_output *output = &job->outputs[i];

        if (output->is_open && !export_output_flush(output, &error)) {
            export_job_fail(job, &error);
        }
    }
}

/* ---- events ---- */

static void add_row(struct export_trace *trace,
                    const struct log_event_view *event,
                    const struct open_call *call,
                    struct buffer *text)
{
    const struct export_options *options = trace->job->options;
    struct column_value value;

    for (size_t i = 0; i < options->column_count; i++) {
        event_column_get(options->columns[i], event, call, slice_of(trace->path),
                         &trace->scratch, &value);
        buffer_add(text, i > 0 ? SLICE(",") : SLICE(""));
        csv_value_add(text, &value);
    }
    buffer_add(text, CSV_ROW_END);
    text->has_failed = text->has_failed || trace->scratch.has_failed;
}

static void add_event(struct export_trace *trace,
                      const struct log_event_view *event,
                      struct open_call *call)
{
    struct export_job *job = trace->job;
    struct buffer *csv = export_job_text(job, EXPORT_CSV);
    struct buffer *jsonl = export_job_text(job, EXPORT_JSONL);
    struct buffer *perfetto = export_job_text(job, EXPORT_PERFETTO);
    bool is_wanted = event_filter_match(&job->options->filter, call, event);
    struct error error = ERROR_INIT;

    job->seen++;
    if (job->options->paths[EXPORT_ANNOTATE] != NULL &&
        !annotation_add_event(&job->annotation, event, is_wanted, &error)) {
        export_job_fail(job, &error);
    }
    if (!is_wanted) {
        return;
    }
    trace->matched++;
    if (csv != NULL) {
        add_row(trace, event, call, csv);
    }
    if (jsonl != NULL) {
        json_log_add_event(&trace->json, event, call, jsonl);
    }
    if (perfetto != NULL) {
        perfetto_log_add_event(&trace->perfetto, event, perfetto);
    }
}

static void add_call(struct export_trace *trace, struct open_call *call)
{
    struct export_job *job = trace->job;
    struct buffer *jsonl = export_job_text(job, EXPORT_JSONL);
    struct buffer *perfetto = export_job_text(job, EXPORT_PERFETTO);

    /* With a filter, a call is written before its first event that passes. */
    if (jsonl != NULL && call->is_begun &&
        event_filter_is_empty(&job->options->filter)) {
        json_log_add_call(&trace->json, call, jsonl);
    }
    if (perfetto != NULL && call->is_wanted) {
        perfetto_log_add_call(&trace->perfetto, call, perfetto);
    }
}

static void annotate_left(struct export_trace *trace, const struct open_call *call)
{
    struct export_job *job = trace->job;
    struct error error = ERROR_INIT;

    if (job->options->paths[EXPORT_ANNOTATE] != NULL &&
        !annotation_add_left(&job->annotation, trace->reader, call, &error)) {
        export_job_fail(job, &error);
    }
}

static void add_end(struct export_trace *trace, const struct log_item *item)
{
    struct open_call *call = open_calls_find(&trace->calls, item->end.call);
    struct buffer *jsonl = export_job_text(trace->job, EXPORT_JSONL);
    struct buffer *perfetto = export_job_text(trace->job, EXPORT_PERFETTO);

    if (call == NULL) {
        return;
    }
    if (item->end.how != LOG_END_RETURNED) {
        annotate_left(trace, call);
    }
    if (jsonl != NULL) {
        json_log_add_end(&trace->json, item, call, jsonl);
    }
    if (perfetto != NULL && call->is_wanted && !call->is_ended) {
        perfetto_log_add_end(&trace->perfetto, item->end.time, call, perfetto);
    }
    open_calls_end(&trace->calls, call);
}

static void add_note(struct export_trace *trace, const struct log_item *item)
{
    struct buffer *jsonl = export_job_text(trace->job, EXPORT_JSONL);
    struct buffer *perfetto = export_job_text(trace->job, EXPORT_PERFETTO);

    if (item->note.tag != LOG_NOTE_WARNING &&
        !event_filter_is_empty(&trace->job->options->filter)) {
        return;
    }
    if (jsonl != NULL) {
        json_log_add_note(&trace->json, item, jsonl);
    }
    if (perfetto != NULL && item->note.tag != LOG_NOTE_SAVED) {
        perfetto_log_add_note(&trace->perfetto, item, perfetto);
    }
}

/* The call is NULL if memory ran out. */
static bool visit_call(struct export_trace *trace, struct open_call *call, bool is_new)
{
    if (call == NULL) {
        fail_memory(trace->job);
        return false;
    }
    if (is_new) {
        event_filter_judge(&trace->job->options->filter, call, trace->reader);
    }
    return true;
}

static void add_item(struct export_trace *trace, const struct log_item *item)
{
    struct open_call *call;
    bool is_new = false;

    switch (item->kind) {
    case LOG_CALL:
        call = open_calls_begin(&trace->calls, &item->call, &is_new);
        if (visit_call(trace, call, is_new) && is_new) {
            add_call(trace, call);
        }
        break;
    case LOG_EVENT:
        call = open_calls_of_event(&trace->calls, &item->event, &is_new);
        if (visit_call(trace, call, is_new)) {
            add_event(trace, &item->event, call);
        }
        break;
    case LOG_END:
        add_end(trace, item);
        break;
    case LOG_NOTE:
        add_note(trace, item);
        break;
    default:
        break;
    }
}

/* ---- one trace ---- */

static void read_items(struct export_trace *trace)
{
    struct export_job *job = trace->job;
    struct log_item item;
    uint64_t count = 0;

    while (!job->has_failed && log_reader_next(trace->reader, &item)) {
        add_item(trace, &item);
        flush(job);
        if ((++count & PROGRESS_MASK) == 0) {
            progress_report(&job->progress, "monitorch export: %llu events", job->seen);
        }
    }
}

static bool is_used(const struct export_job *job, uint32_t process)
{
    for (size_t i = 0; i < job->trace_count; i++) {
        if (job->processes[i] == process) {
            return true;
        }
    }
    return false;
}

/* Returns the process's own number, or the next free one if another trace has it. */
static uint32_t choose_process(const struct export_job *job, uint32_t wanted)
{
    uint32_t process = wanted == 0 ? 1 : wanted;

    while (is_used(job, process)) {
        process = process == UINT32_MAX ? 1 : process + 1;
    }
    return process;
}

static void start_trace(struct export_trace *trace)
{
    struct export_job *job = trace->job;
    const struct log_header *header = log_reader_header(trace->reader);
    struct buffer *perfetto = export_job_text(job, EXPORT_PERFETTO);
    uint32_t process = choose_process(job, header->process);

    open_calls_init(&trace->calls);
    trace->json.reader = trace->reader;
    trace->json.trace =
        job->options->traces.count > 1 ? slice_of(trace->path) : SLICE("");
    if (perfetto != NULL) {
        perfetto_log_init(&trace->perfetto, trace->reader, process,
                          job->is_one_run ? header->start_time - job->start : 0,
                          slice_of(trace->path), job->trace_count, perfetto);
    }
    job->processes[job->trace_count++] = process;
    annotation_start_trace(&job->annotation, trace->reader);
}

static void finish_trace(struct export_trace *trace)
{
    struct export_job *job = trace->job;
    struct buffer *perfetto = export_job_text(job, EXPORT_PERFETTO);
    struct error error = ERROR_INIT;

    if (perfetto != NULL) {
        perfetto_log_finish(&trace->perfetto, &trace->calls, perfetto);
        if (trace->perfetto.has_failed || trace->perfetto.summary.has_failed) {
            fail_memory(job);
        }
    }
    for (size_t i = 0; i < trace->calls.bucket_count; i++) {
        const struct open_call *call = trace->calls.buckets[i];

        for (; call != NULL && !job->has_failed; call = call->next) {
            annotate_left(trace, call);
        }
    }
    if (job->options->paths[EXPORT_ANNOTATE] != NULL && !job->has_failed &&
        !annotation_end_trace(&job->annotation, trace->reader, &job->options->filter,
                              strip_source, &error)) {
        export_job_fail(job, &error);
    }
    flush(job);
}

static enum exit_code report_rest(const struct export_trace *trace)
{
    enum exit_code exit_code = trace_report_damage(trace->path, trace->reader);

    if (!trace->job->options->is_quiet) {
        trace_report_remarks(trace->path, log_reader_header(trace->reader),
                             exit_code != EXIT_CODE_DONE, "written");
    }
    return exit_code;
}

/* Opens the outputs after the first trace was opened: a trace that cannot be read must not
 * replace a file. */
static void open_outputs(struct export_job *job)
{
    struct buffer *csv = export_job_text(job, EXPORT_CSV);
    struct buffer *perfetto = export_job_text(job, EXPORT_PERFETTO);
    struct error error = ERROR_INIT;

    for (int i = 0; i < EXPORT_ANNOTATE && !job->has_failed; i++) {
        if (job->outputs[i].path != NULL &&
            !export_output_open(&job->outputs[i], &error)) {
            export_job_fail(job, &error);
        }
    }
    if (perfetto != NULL) {
        buffer_add(perfetto, PERFETTO_START);
    }
    for (size_t i = 0; csv != NULL && i < job->options->column_count; i++) {
        buffer_add(csv, i > 0 ? SLICE(",") : SLICE(""));
        buffer_add(csv, slice_of(event_columns[job->options->columns[i]].name));
    }
    if (csv != NULL) {
        buffer_add(csv, CSV_ROW_END);
    }
}

enum exit_code export_trace(struct export_job *job, const char *path)
{
    struct export_trace trace = {.job = job, .path = path};
    struct error error = ERROR_INIT;
    enum exit_code exit_code = EXIT_CODE_DONE;

    trace.reader = log_reader_new(path, &error);
    if (trace.reader == NULL) {
        progress_clear(&job->progress);
        print_message("", error.text);
        return EXIT_CODE_INPUT_FAILED;
    }
    if (job->trace_count == 0) {
        open_outputs(job);
    }
    start_trace(&trace);
    read_items(&trace);
    if (!job->has_failed) {
        finish_trace(&trace);
    }
    progress_clear(&job->progress);
    if (!job->has_failed) {
        exit_code = report_rest(&trace);
        job->matched += trace.matched;
    }
    perfetto_log_release(&trace.perfetto);
    open_calls_release(&trace.calls);
    buffer_release(&trace.scratch);
    log_reader_free(trace.reader);
    return job->has_failed ? EXIT_CODE_INPUT_FAILED : exit_code;
}
