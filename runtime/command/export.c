/* `monitorch export`: traces in the forms that other tools read, all in one reading. */
#include "instrument/strip.h"
#include "runtime/base/memory.h"
#include "runtime/command/export_annotate.h"
#include "runtime/command/export_options.h"
#include "runtime/command/export_output.h"
#include "runtime/command/progress.h"
#include "runtime/command/subcommand.h"
#include "runtime/trace/log_reader.h"
#include "runtime/view/csv_text.h"
#include "runtime/view/json_log.h"
#include "runtime/view/open_calls.h"
#include "runtime/view/perfetto_log.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME "export"
/* Traces that began within this many nanoseconds of each other are of one run. */
#define RUN_SPAN ((uint64_t)600 * 1000000000)
/* How often, in items, it is asked whether progress should be told. */
#define TELL_MASK 0xFFFF

/* The export of all traces. */
struct export
{
    const struct export_options *options; /* borrowed */
    /* Owned; of the formats before ANNOTATE. */
    struct export_output outputs[EXPORT_ANNOTATE];
    struct annotation annotation; /* owned */
    struct progress progress;
    uint32_t *processes; /* owned: the numbers of the traces' processes so far */
    size_t trace_count;  /* those that could be opened */
    uint64_t start;      /* of the earliest trace, nanoseconds since 1970 */
    bool is_one_run;     /* then times count from there */
    uint64_t seen;       /* events */
    uint64_t matched;
    bool is_empty;   /* no source could be annotated */
    bool has_failed; /* something could not be written; it was told */
};

/* One trace. */
struct export_trace {
    struct export *export;
    const char *path; /* borrowed */
    struct log_reader *reader;
    struct open_calls calls;
    struct json_log json;
    struct perfetto_log perfetto;
    struct buffer scratch;
    uint64_t matched;
};

/* ---- failures ---- */

static void fail(struct export *export, const struct error *error)
{
    progress_clear(&export->progress);
    if (error->kind != ERROR_NONE) {
        print_message("", error->text);
    }
    export->has_failed = true;
}

static void fail_memory(struct export *export)
{
    struct error error = ERROR_INIT;

    error_set_memory(&error);
    fail(export, &error);
}

/* The text of a format that is asked for, else NULL. */
static struct buffer *text_of(struct export *export, enum export_format format)
{
    return export->outputs[format].path == NULL ? NULL : &export->outputs[format].text;
}

static void flush(struct export *export)
{
    struct error error = ERROR_INIT;

    for (int i = 0; i < EXPORT_ANNOTATE && !export->has_failed; i++) {
        struct export_output *output = &export->outputs[i];

        if (output->is_open && !export_output_flush(output, &error)) {
            fail(export, &error);
        }
    }
}

/* ---- events ---- */

static void add_row(struct export_trace *trace,
                    const struct log_event_view *event,
                    const struct open_call *call,
                    struct buffer *text)
{
    const struct export_options *options = trace->export->options;
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
    struct export *export = trace->export;
    struct buffer *csv = text_of(export, EXPORT_CSV);
    struct buffer *jsonl = text_of(export, EXPORT_JSONL);
    struct buffer *perfetto = text_of(export, EXPORT_PERFETTO);
    bool is_wanted = event_filter_match(&export->options->filter, call, event);
    struct error error = ERROR_INIT;

    export->seen++;
    if (export->options->paths[EXPORT_ANNOTATE] != NULL &&
        !annotation_add_event(&export->annotation, event, is_wanted, &error)) {
        fail(export, &error);
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
    struct export *export = trace->export;
    struct buffer *jsonl = text_of(export, EXPORT_JSONL);
    struct buffer *perfetto = text_of(export, EXPORT_PERFETTO);

    /* With a filter, they are told before the first event of theirs that it lets through. */
    if (jsonl != NULL && call->is_begun &&
        event_filter_is_empty(&export->options->filter)) {
        json_log_add_call(&trace->json, call, jsonl);
    }
    if (perfetto != NULL && call->is_wanted) {
        perfetto_log_add_call(&trace->perfetto, call, perfetto);
    }
}

static void add_end(struct export_trace *trace, const struct log_item *item)
{
    struct open_call *call = open_calls_find(&trace->calls, item->end.call);
    struct buffer *jsonl = text_of(trace->export, EXPORT_JSONL);
    struct buffer *perfetto = text_of(trace->export, EXPORT_PERFETTO);

    if (call == NULL) {
        return;
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
    struct buffer *jsonl = text_of(trace->export, EXPORT_JSONL);
    struct buffer *perfetto = text_of(trace->export, EXPORT_PERFETTO);

    if (item->note.tag != LOG_NOTE_WARNING &&
        !event_filter_is_empty(&trace->export->options->filter)) {
        return;
    }
    if (jsonl != NULL) {
        json_log_add_note(&trace->json, item, jsonl);
    }
    if (perfetto != NULL) {
        perfetto_log_add_note(&trace->perfetto, item, perfetto);
    }
}

/* The call is NULL where memory ran out. */
static bool meet(struct export_trace *trace, struct open_call *call, bool is_new)
{
    if (call == NULL) {
        fail_memory(trace->export);
        return false;
    }
    if (is_new) {
        event_filter_judge(&trace->export->options->filter, call, trace->reader);
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
        if (meet(trace, call, is_new) && is_new) {
            add_call(trace, call);
        }
        break;
    case LOG_EVENT:
        call = open_calls_of_event(&trace->calls, &item->event, &is_new);
        if (meet(trace, call, is_new)) {
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
    struct export *export = trace->export;
    struct log_item item;
    uint64_t count = 0;

    while (!export->has_failed && log_reader_next(trace->reader, &item)) {
        add_item(trace, &item);
        flush(export);
        if ((++count & TELL_MASK) == 0) {
            progress_tell(&export->progress, "monitorch export: %llu events",
                          export->seen);
        }
    }
}

static bool is_taken(const struct export *export, uint32_t process)
{
    for (size_t i = 0; i < export->trace_count; i++) {
        if (export->processes[i] == process) {
            return true;
        }
    }
    return false;
}

/* The process's own number, but where another trace has it already. */
static uint32_t choose_process(const struct export *export, uint32_t wanted)
{
    uint32_t process = wanted == 0 ? 1 : wanted;

    while (is_taken(export, process)) {
        process = process == UINT32_MAX ? 1 : process + 1;
    }
    return process;
}

static void start_trace(struct export_trace *trace)
{
    struct export *export = trace->export;
    const struct log_header *header = log_reader_header(trace->reader);
    struct buffer *perfetto = text_of(export, EXPORT_PERFETTO);
    uint32_t process = choose_process(export, header->process);

    open_calls_init(&trace->calls);
    trace->json.reader = trace->reader;
    trace->json.trace =
        export->options->trace_count > 1 ? slice_of(trace->path) : SLICE("");
    if (perfetto != NULL) {
        perfetto_log_init(&trace->perfetto, trace->reader, process,
                          export->is_one_run ? header->start_time - export->start : 0,
                          slice_of(trace->path), export->trace_count, perfetto);
    }
    export->processes[export->trace_count++] = process;
    annotation_start_trace(&export->annotation, trace->reader);
}

static void finish_trace(struct export_trace *trace)
{
    struct export *export = trace->export;
    struct buffer *perfetto = text_of(export, EXPORT_PERFETTO);
    struct error error = ERROR_INIT;

    if (perfetto != NULL) {
        perfetto_log_finish(&trace->perfetto, &trace->calls, perfetto);
        if (trace->perfetto.has_failed || trace->perfetto.summary.has_failed) {
            fail_memory(export);
        }
    }
    if (export->options->paths[EXPORT_ANNOTATE] != NULL &&
        !annotation_end_trace(&export->annotation, trace->reader,
                              &export->options->filter, strip_source, &error)) {
        fail(export, &error);
    }
    flush(export);
}

static enum exit_code tell_rest(const struct export_trace *trace)
{
    const struct log_header *header = log_reader_header(trace->reader);
    size_t count = log_reader_damage_count(trace->reader);
    char line[160];

    for (size_t i = 0; i < count; i++) {
        print_message(trace->path, log_reader_damage(trace->reader, i));
    }
    if (header->is_closed == 0 && count == 0 && !trace->export->options->is_quiet) {
        print_message(
            trace->path,
            "remark: the recording was not finished: its process was killed, "
            "has left by os._exit, or is still recording; written is what is there");
    }
    if (header->is_closed != 0 && header->lost_count > 0 &&
        !trace->export->options->is_quiet) {
        snprintf(line, sizeof line,
                 "remark: the last %llu events are not in the trace: recording had "
                 "stopped (a full disk, or the size limit)",
                 (unsigned long long)header->lost_count);
        print_message(trace->path, line);
    }
    return count > 0 ? EXIT_CODE_INPUT_FAILED : EXIT_CODE_DONE;
}

/* With the first trace that can be read: what could not be read replaces no file. */
static void open_outputs(struct export *export)
{
    struct buffer *csv = text_of(export, EXPORT_CSV);
    struct buffer *perfetto = text_of(export, EXPORT_PERFETTO);
    struct error error = ERROR_INIT;

    for (int i = 0; i < EXPORT_ANNOTATE && !export->has_failed; i++) {
        if (export->outputs[i].path != NULL &&
            !export_output_open(&export->outputs[i], &error)) {
            fail(export, &error);
        }
    }
    if (perfetto != NULL) {
        buffer_add(perfetto, PERFETTO_START);
    }
    for (size_t i = 0; csv != NULL && i < export->options->column_count; i++) {
        buffer_add(csv, i > 0 ? SLICE(",") : SLICE(""));
        buffer_add(csv, slice_of(event_columns[export->options->columns[i]].name));
    }
    if (csv != NULL) {
        buffer_add(csv, CSV_ROW_END);
    }
}

static enum exit_code export_trace(struct export *export, const char *path)
{
    struct export_trace trace = {.export = export, .path = path};
    struct error error = ERROR_INIT;
    enum exit_code exit_code = EXIT_CODE_DONE;

    trace.reader = log_reader_new(path, &error);
    if (trace.reader == NULL) {
        progress_clear(&export->progress);
        print_message("", error.text);
        return EXIT_CODE_INPUT_FAILED;
    }
    if (export->trace_count == 0) {
        open_outputs(export);
    }
    start_trace(&trace);
    read_items(&trace);
    if (!export->has_failed) {
        finish_trace(&trace);
    }
    progress_clear(&export->progress);
    if (!export->has_failed) {
        exit_code = tell_rest(&trace);
        export->matched += trace.matched;
    }
    perfetto_log_release(&trace.perfetto);
    open_calls_release(&trace.calls);
    buffer_release(&trace.scratch);
    log_reader_free(trace.reader);
    return export->has_failed ? EXIT_CODE_INPUT_FAILED : exit_code;
}

/* ---- all traces ---- */

/* Traces of one run stand in the picture of their times as they were. */
static void find_start(struct export *export)
{
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;

    for (size_t i = 0; i < export->options->trace_count; i++) {
        struct error ignored = ERROR_INIT;
        struct log_reader *reader =
            log_reader_new(export->options->traces[i], &ignored);

        if (reader != NULL) {
            uint64_t start = log_reader_header(reader)->start_time;

            first = start < first ? start : first;
            last = start > last ? start : last;
            log_reader_free(reader);
        }
    }
    export->start = first;
    export->is_one_run = first <= last && last - first <= RUN_SPAN;
}

static void tell_written(const struct export *export, const char *path)
{
    char line[80];

    if (!export->options->is_quiet && strcmp(path, "-") != 0 && isatty(STDERR_FILENO)) {
        snprintf(line, sizeof line, "%llu event%s", (unsigned long long)export->matched,
                 export->matched == 1 ? "" : "s");
        print_message(path, line);
    }
}

static void write_annotated(struct export *export)
{
    const char *folder = export->options->paths[EXPORT_ANNOTATE];
    struct error error = ERROR_INIT;
    size_t count;
    size_t missing;
    char line[120];

    if (folder == NULL || export->has_failed) {
        return;
    }
    if (!export_annotated(&export->annotation, folder, &count, &missing, &error)) {
        fail(export, &error);
        return;
    }
    export->is_empty = count == 0 && missing > 0;
    if (missing > 0 && (export->is_empty || !export->options->is_quiet)) {
        snprintf(line, sizeof line,
                 "%s%zu file%s not annotated: the source is not in the trace",
                 export->is_empty ? "" : "remark: ", missing,
                 missing == 1 ? " is" : "s are");
        print_message("", line);
    }
    if (count > 0) {
        tell_written(export, folder);
    }
}

static void finish_outputs(struct export *export)
{
    struct buffer *perfetto = text_of(export, EXPORT_PERFETTO);
    struct error error = ERROR_INIT;

    if (perfetto != NULL) {
        buffer_add(perfetto, PERFETTO_END);
    }
    for (int i = 0; i < EXPORT_ANNOTATE && !export->has_failed; i++) {
        struct export_output *output = &export->outputs[i];

        if (!output->is_open) {
            continue;
        }
        if (!export_output_finish(output, &error)) {
            fail(export, &error);
        } else {
            tell_written(export, output->path);
        }
    }
}

static enum exit_code export_all(struct export *export)
{
    const struct export_options *options = export->options;
    enum exit_code exit_code = EXIT_CODE_DONE;

    if (options->paths[EXPORT_PERFETTO] != NULL && options->trace_count > 1) {
        find_start(export);
    }
    for (size_t i = 0; i < options->trace_count && !export->has_failed; i++) {
        enum exit_code code = export_trace(export, options->traces[i]);

        exit_code = code > exit_code ? code : exit_code;
    }
    if (export->trace_count > 0 && !export->has_failed) {
        finish_outputs(export);
        write_annotated(export);
    }
    if (export->has_failed) {
        return EXIT_CODE_INPUT_FAILED;
    }
    if (export->matched == 0 && exit_code == EXIT_CODE_DONE) {
        print_message(options->trace_count == 1 ? options->traces[0] : "",
                      export->seen > 0 ? "no event matches" : "no events in it");
        return EXIT_CODE_CHECK_FAILED;
    }
    return export->is_empty && exit_code == EXIT_CODE_DONE ? EXIT_CODE_CHECK_FAILED
                                                           : exit_code;
}

static enum exit_code run(const struct export_options *options)
{
    struct export export = {.options = options};
    enum exit_code exit_code;

    annotation_init(&export.annotation);
    progress_init(&export.progress, options->is_quiet);
    for (int i = 0; i < EXPORT_ANNOTATE; i++) {
        export.outputs[i].path = options->paths[i];
    }
    export.processes = memory_allocate(options->trace_count, sizeof *export.processes);
    if (export.processes == NULL) {
        fail_memory(&export);
        exit_code = EXIT_CODE_INPUT_FAILED;
    } else {
        exit_code = export_all(&export);
    }
    for (int i = 0; i < EXPORT_ANNOTATE; i++) {
        export_output_release(&export.outputs[i]);
    }
    annotation_release(&export.annotation);
    memory_free(export.processes);
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
