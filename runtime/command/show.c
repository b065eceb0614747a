/* `monitorch show`: the events of traces, as a tree or as JSON. */
#include "instrument/strip.h"
#include "runtime/base/buffer.h"
#include "runtime/base/output.h"
#include "runtime/command/show_options.h"
#include "runtime/command/subcommand.h"
#include "runtime/trace/log_reader.h"
#include "runtime/view/canonical.h"
#include "runtime/view/json_log.h"
#include "runtime/view/open_calls.h"
#include "runtime/view/setting_list.h"
#include "runtime/view/site_list.h"
#include "runtime/view/source_lines.h"
#include "runtime/view/tree_log.h"
#include "runtime/view/value_text.h"

#include <stdio.h>
#include <unistd.h>

#define NAME "show"
/* From how many bytes on what was made is written. */
#define WRITE_SIZE (128 * 1024)

/* The showing of one trace. */
struct show {
    const struct show_options *options; /* borrowed */
    const char *path;                   /* borrowed */
    struct log_reader *reader;          /* owned */
    struct source_lines sources;        /* owned */
    struct open_calls calls;            /* owned */
    struct tree_log tree;               /* owned */
    struct json_log json;
    struct canonical canonical;            /* owned */
    const struct canonical_thread *thread; /* the one that is shown; NULL: all are */
    bool is_telling_notes;                 /* and nothing else */
    struct buffer text;                    /* owned; what is not written yet */
    bool is_selective; /* calls are shown with their first event that is */
    bool is_counting;  /* events are counted, nothing is shown */
    bool has_failed;   /* memory ran out, or the text could not be written */
    uint64_t first;    /* of the events that match, the first to be shown */
    uint64_t matched;  /* events that matched so far */
    uint64_t seen;     /* events so far */
    uint64_t alarming; /* shown ones with NaN or Inf */
};

/* ---- one trace ---- */

static void flush(struct show *show, size_t limit)
{
    if (show->text.has_failed || show->tree.has_failed || show->sources.has_failed) {
        print_message(show->path, "out of memory");
        show->has_failed = true;
        return;
    }
    if (show->text.size < limit) {
        return;
    }
    show->has_failed = !output_print(buffer_slice(&show->text)) || show->has_failed;
    show->text.size = 0;
}

/* Whether what happened in that thread is to be told now. */
static bool is_thread_shown(const struct show *show, uint16_t thread)
{
    return !show->is_telling_notes &&
           (show->thread == NULL || show->thread->number == thread);
}

static void number_call(struct show *show, struct open_call *call)
{
    if (show->thread != NULL) {
        canonical_number_call(&show->canonical, call);
    }
}

static void show_call(struct show *show, struct open_call *call)
{
    if (!is_thread_shown(show, call->thread)) {
        return;
    }
    number_call(show, call);
    if (show->is_selective || show->is_counting) {
        return;
    }
    if (show->options->is_json) {
        json_log_add_call(&show->json, call, &show->text);
    } else {
        tree_log_add_call(&show->tree, call, &show->text);
    }
}

static void show_event(struct show *show,
                       const struct log_event_view *event,
                       struct open_call *call)
{
    uint64_t index;

    number_call(show, call);
    show->json.sequence = show->seen++;
    if (!event_filter_match(&show->options->filter, call, event)) {
        return;
    }
    index = show->matched++;
    if (show->is_counting || index < show->first) {
        return;
    }
    show->alarming += value_has_nonfinite(event);
    if (show->options->is_json) {
        json_log_add_event(&show->json, event, call, &show->text);
    } else {
        tree_log_add_event(&show->tree, event, call, &show->text);
    }
}

static void show_end(struct show *show, const struct log_item *item)
{
    struct open_call *call = open_calls_find(&show->calls, item->end.call);

    if (call == NULL) {
        return;
    }
    if (!is_thread_shown(show, call->thread)) {
        open_calls_end(&show->calls, call);
        return;
    }
    if (show->options->is_json && !show->is_counting) {
        json_log_add_end(&show->json, item, call, &show->text);
    } else if (!show->is_selective && !show->is_counting) {
        tree_log_add_end(&show->tree, item->end.how, call, &show->text);
    }
    open_calls_end(&show->calls, call);
}

/* A note does not say in which thread it was made: among several, notes come first. */
static void show_note(struct show *show, const struct log_item *item)
{
    bool is_wanted = event_filter_is_empty(&show->options->filter) ||
                     item->note.tag == LOG_NOTE_WARNING;
    bool is_now = show->thread == NULL || show->canonical.thread_count == 1;
    struct log_item note = *item;

    if (show->is_counting || !is_wanted || !is_now || show->matched < show->first) {
        return;
    }
    if (show->options->is_canonical) {
        note.note.text = canonical_text(&show->canonical, note.note.text);
    }
    if (show->options->is_json) {
        json_log_add_note(&show->json, &note, &show->text);
    } else {
        tree_log_add_note(&show->tree, &note, &show->text);
    }
}

/* The call is NULL where memory ran out. */
static void meet(struct show *show, struct open_call *call, bool is_new)
{
    if (call == NULL) {
        print_message(show->path, "out of memory");
        show->has_failed = true;
    } else if (is_new) {
        event_filter_judge(&show->options->filter, call, show->reader);
        call->shown_number = show->options->is_canonical ? 0 : call->shown_number;
    }
}

static void show_item(struct show *show, const struct log_item *item)
{
    struct open_call *call;
    bool is_new = false;

    switch (item->kind) {
    case LOG_CALL:
        call = open_calls_begin(&show->calls, &item->call, &is_new);
        meet(show, call, is_new);
        if (call != NULL && is_new && call->is_begun) {
            show_call(show, call);
        }
        break;
    case LOG_EVENT:
        if (!is_thread_shown(show, item->event.thread)) {
            break;
        }
        call = open_calls_of_event(&show->calls, &item->event, &is_new);
        meet(show, call, is_new);
        if (call != NULL) {
            show_event(show, &item->event, call);
        }
        break;
    case LOG_END:
        show_end(show, item);
        break;
    case LOG_NOTE:
        show_note(show, item);
        break;
    default:
        break;
    }
}

static void show_stream(struct show *show)
{
    struct log_item item;

    while (!show->has_failed && show->matched < show->options->head &&
           log_reader_next(show->reader, &item)) {
        show_item(show, &item);
        flush(show, WRITE_SIZE);
    }
    flush(show, 1);
}

/* For --tail, the events are counted first. */
static void count_stream(struct show *show)
{
    show->is_counting = true;
    show_stream(show);
    show->is_counting = false;
    if (show->matched > show->options->tail) {
        show->first = show->matched - show->options->tail;
    }
    show->matched = 0;
    show->seen = 0;
    open_calls_release(&show->calls);
    log_reader_rewind(show->reader);
}

/* ---- canonical ---- */

static void begin_trees(struct show *show)
{
    const struct show_options *options = show->options;

    open_calls_release(&show->calls);
    open_calls_init(&show->calls);
    tree_log_release(&show->tree);
    tree_log_init(&show->tree, show->reader, &show->sources);
    show->tree.has_color = color_is_wanted(options->color, STDOUT_FILENO);
    show->tree.has_source = options->has_source;
    show->tree.is_canonical = options->is_canonical;
}

static void begin_thread(struct show *show, size_t index)
{
    show->thread = &show->canonical.threads[index];
    show->canonical.call_number = 0;
    show->json.thread = index;
    show->json.thread_name = show->thread->name;
    begin_trees(show);
    log_reader_rewind(show->reader);
    if (show->canonical.thread_count > 1 && !show->options->is_json) {
        buffer_add(&show->text, SLICE("-- thread "));
        buffer_add_printable(&show->text, show->thread->name);
        buffer_add(&show->text, SLICE(" --\n"));
    }
}

/* One thread after the other: what they did at the same time is in no order. */
static void show_canonical(struct show *show)
{
    if (show->canonical.thread_count != 1) {
        show->is_telling_notes = true;
        show_stream(show);
        show->is_telling_notes = false;
    }
    for (size_t i = 0; i < show->canonical.thread_count && !show->has_failed &&
                       show->matched < show->options->head;
         i++) {
        begin_thread(show, i);
        show_stream(show);
    }
}

/* ---- lists ---- */

/* Every definition stands in the file before what refers to it. */
static void read_definitions(struct show *show)
{
    struct log_item item;

    while (log_reader_next(show->reader, &item)) {}
}

static void show_settings(struct show *show)
{
    read_definitions(show);
    show->matched = setting_list_add(&show->text, show->reader, show->json.trace,
                                     show->options->is_json);
    flush(show, 1);
}

static void show_sites(struct show *show)
{
    read_definitions(show);
    for (uint32_t i = 0; i < log_reader_module_count(show->reader); i++) {
        const struct log_module *module = log_reader_module(show->reader, i);

        for (uint32_t k = 0; k < module->table.site_count && !show->has_failed; k++) {
            site_list_add(&show->text, module, k, show->json.trace,
                          show->options->is_json);
            show->matched++;
            flush(show, WRITE_SIZE);
        }
    }
    flush(show, 1);
}

/* ---- what is said about it ---- */

static enum exit_code tell_damage(const struct show *show)
{
    size_t count = log_reader_damage_count(show->reader);

    for (size_t i = 0; i < count; i++) {
        print_message(show->path, log_reader_damage(show->reader, i));
    }
    return count > 0 || show->has_failed ? EXIT_CODE_INPUT_FAILED : EXIT_CODE_DONE;
}

static enum exit_code tell_rest(const struct show *show)
{
    const struct log_header *header = log_reader_header(show->reader);
    enum exit_code exit_code = tell_damage(show);
    char line[160];

    if (header->is_closed == 0 && exit_code == EXIT_CODE_DONE &&
        !show->options->is_quiet) {
        print_message(
            show->path,
            "remark: the recording was not finished: its process was killed, "
            "has left by os._exit, or is still recording; shown is what is there");
    }
    if (header->is_closed != 0 && header->lost_count > 0 && !show->options->is_quiet) {
        snprintf(line, sizeof line,
                 "remark: the last %llu events are not in the trace: recording had "
                 "stopped (a full disk, or the size limit)",
                 (unsigned long long)header->lost_count);
        print_message(show->path, line);
    }
    if (show->matched == 0 && exit_code == EXIT_CODE_DONE) {
        print_message(show->path, show->options->is_settings ? "no settings in it"
                                  : show->options->is_sites  ? "no sites in it"
                                  : show->seen > 0 || show->options->head == 0
                                      ? "no event matches"
                                      : "no events in it");
        return EXIT_CODE_CHECK_FAILED;
    }
    return exit_code;
}

static void add_count(struct buffer *text, uint64_t count, const char *noun)
{
    buffer_add_number(text, count);
    buffer_add_byte(text, ' ');
    buffer_add(text, slice_of(noun));
    buffer_add(text, count == 1 ? SLICE("") : SLICE("s"));
}

/* For a person at a terminal, behind the last event. */
static void add_footer(const struct show *show)
{
    const struct log_header *header = log_reader_header(show->reader);
    struct buffer line = BUFFER_INIT;
    uint64_t shown = show->matched > show->first ? show->matched - show->first : 0;

    if (show->options->is_quiet || show->options->is_json || show->options->is_sites ||
        show->options->is_settings || shown == 0 || !isatty(STDOUT_FILENO) ||
        !isatty(STDERR_FILENO)) {
        return;
    }
    add_count(&line, shown, "event");
    if (shown < show->seen) {
        buffer_add(&line, SLICE(" of "));
        buffer_add_number(&line, show->seen);
    }
    if (header->last != 0 && show->options->head == UINT64_MAX &&
        header->event_count > show->seen && shown == show->seen) {
        buffer_add(&line, SLICE(", the newest of "));
        buffer_add_number(&line, header->event_count);
    }
    if (show->alarming > 0) {
        buffer_add(&line, SLICE(", "));
        buffer_add_number(&line, show->alarming);
        buffer_add(&line, SLICE(" with NaN or Inf (--nan shows these alone)"));
    }
    buffer_add_byte(&line, '\n');
    output_print_error(buffer_slice(&line));
    buffer_release(&line);
}

static void add_heading(struct show *show, struct slice name)
{
    if (show->options->trace_count > 1 && !show->options->is_json) {
        buffer_add(&show->text, SLICE("== "));
        buffer_add_printable(&show->text, name);
        buffer_add(&show->text, SLICE(" ==\n"));
    }
}

static void show_events(struct show *show)
{
    if (show->options->tail != UINT64_MAX) {
        count_stream(show);
    }
    if (show->options->is_canonical) {
        show_canonical(show);
    } else {
        show_stream(show);
    }
}

/* `name` is what tells the trace from the others that are shown. */
static enum exit_code
show_trace(const struct show_options *options, const char *path, struct slice name)
{
    struct show show = {.options = options, .path = path};
    struct error error = ERROR_INIT;
    enum exit_code exit_code;

    show.reader = log_reader_new(path, &error);
    if (show.reader == NULL ||
        (options->is_canonical &&
         !canonical_init(&show.canonical, show.reader, &error))) {
        print_message("", error.text);
        log_reader_free(show.reader);
        return EXIT_CODE_INPUT_FAILED;
    }
    show.is_selective =
        !event_filter_is_empty(&options->filter) || options->tail != UINT64_MAX;
    show.json.reader = show.reader;
    show.json.has_sample = options->has_sample;
    show.json.trace = options->trace_count > 1 ? name : SLICE("");
    show.json.is_canonical = options->is_canonical;
    source_lines_init(&show.sources, show.reader, strip_source);
    begin_trees(&show);
    add_heading(&show, name);
    if (options->is_settings) {
        show_settings(&show);
    } else if (options->is_sites) {
        show_sites(&show);
    } else {
        show_events(&show);
    }
    exit_code = tell_rest(&show);
    add_footer(&show);
    canonical_release(&show.canonical);
    tree_log_release(&show.tree);
    source_lines_release(&show.sources);
    open_calls_release(&show.calls);
    buffer_release(&show.text);
    log_reader_free(show.reader);
    return exit_code;
}

enum exit_code show_run(int word_count, char **words)
{
    struct error error = ERROR_INIT;
    struct show_options options;
    enum exit_code exit_code = EXIT_CODE_DONE;

    if (!show_options_read(&options, word_count, words, &error)) {
        exit_code = refuse(NAME, &error);
    } else {
        for (size_t i = 0; i < options.trace_count; i++) {
            const char *path = options.traces[i];
            char number[24];
            struct slice name = slice_of(path);
            enum exit_code code;

            if (options.is_canonical) {
                /* Files of processes are called by their numbers. */
                snprintf(number, sizeof number, "%zu", i + 1);
                name = slice_of(number);
            }
            code = show_trace(&options, path, name);

            exit_code = code > exit_code ? code : exit_code;
        }
    }
    show_options_release(&options);
    return exit_code;
}
