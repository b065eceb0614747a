/* `monitorch show`: the events of traces, as a tree or as JSON. */
#include "instrument/output/strip.h"
#include "runtime/base/buffer.h"
#include "runtime/base/file/output.h"
#include "runtime/command/show/state.h"
#include "runtime/command/subcommand.h"
#include "runtime/view/list/setting_list.h"
#include "runtime/view/list/site_list.h"
#include "runtime/view/words/value_text.h"

#include <stdio.h>
#include <unistd.h>

#define NAME "show"
/* ---- one trace ---- */

static void flush(struct show *show, size_t limit)
{
    if (show->text.has_failed || show->tree.has_failed || show->sources.has_failed) {
        print_message(show->path, "out of memory");
        show->has_failed = true;
        return;
    }
    show->has_failed = !output_flush(&show->text, limit) || show->has_failed;
}

/* Whether what happened in that thread is to be told now. */
static bool is_thread_shown(const struct show *show, uint16_t thread)
{
    return !show->prints_notes &&
           (show->thread == NULL || show->thread->number == thread);
}

static void number_call(struct show *show, struct open_call *call)
{
    if (show->thread != NULL) {
        canonical_number_call(&show->canonical, call);
    }
}

void show_add_thread_heading(struct show *show)
{
    if (show->is_heading_due) {
        show->is_heading_due = false;
        buffer_add(&show->text, SLICE("-- thread "));
        buffer_add_printable(&show->text, show->thread->name);
        buffer_add(&show->text, SLICE(" --\n"));
    }
}

static void show_call(struct show *show, struct open_call *call)
{
    if (!is_thread_shown(show, call->thread)) {
        return;
    }
    number_call(show, call);
    if (show->is_selective || show->is_counting || show->tracked != NULL) {
        return;
    }
    show_add_thread_heading(show);
    if (show->options->is_json) {
        json_log_add_call(&show->json, call, &show->text);
    } else {
        tree_log_add_call(&show->tree, call, &show->text);
    }
}

static void
show_event(struct show *show, const struct log_item *item, struct open_call *call)
{
    const struct log_event_view *event = &item->event;
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
    if (show->tracked != NULL) {
        show_tree_add(show, item);
        return;
    }
    show_add_thread_heading(show);
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
    } else if (show->tracked == NULL && !show->is_selective && !show->is_counting) {
        tree_log_add_end(&show->tree, item, call, &show->text);
    }
    open_calls_end(&show->calls, call);
}

/* The calls whose gradients are wanted may have ended long ago. */
static bool is_gradient_wanted(const struct show *show,
                               const struct log_event_view *gradient)
{
    uint32_t known = number_map_get(&show->wanted_calls, gradient->call);
    struct open_call call = {.is_wanted = known == 1};

    return is_thread_shown(show, gradient->thread) &&
           event_filter_match(&show->options->filter, &call, gradient);
}

static void show_gradient(struct show *show, const struct log_event_view *gradient)
{
    uint64_t index;

    if (!is_gradient_wanted(show, gradient)) {
        return;
    }
    index = show->matched++;
    if (show->is_counting || index < show->first) {
        return;
    }
    show->alarming += value_has_nonfinite(gradient);
    if (show->options->is_json) {
        json_log_add_gradient(&show->json, gradient, &show->text);
    } else {
        tree_log_add_gradient(&show->tree, gradient, &show->text);
    }
}

static void show_step(struct show *show, const struct log_step_view *step)
{
    if (show->is_counting || show->matched < show->first ||
        !is_thread_shown(show, step->thread)) {
        return;
    }
    if (show->options->is_json) {
        json_log_add_step(&show->json, step, &show->text);
    } else {
        tree_log_add_step(&show->tree, step, &show->text);
    }
}

/* A note does not say in which thread it was made: among several, notes come first. */
static void show_note(struct show *show, const struct log_item *item)
{
    bool is_wanted = event_filter_is_empty(&show->options->filter) ||
                     item->note.tag == LOG_NOTE_WARNING;
    bool is_now = show->thread == NULL || show->canonical.thread_count == 1;
    /* What a tensor was saved as is for programs. */
    bool is_readable = show->options->is_json || item->note.tag != LOG_NOTE_SAVED;
    struct log_item note = *item;

    if (show->is_counting || !is_readable || !is_wanted || !is_now ||
        show->matched < show->first) {
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
static void visit_call(struct show *show, struct open_call *call, bool is_new)
{
    if (call == NULL) {
        print_message(show->path, "out of memory");
        show->has_failed = true;
    } else if (is_new) {
        event_filter_judge(&show->options->filter, call, show->reader);
        call->shown_number = show->options->is_canonical ? 0 : call->shown_number;
        show->has_failed |=
            show->options->has_backward &&
            !number_map_put(&show->wanted_calls, call->call, call->is_wanted);
    }
}

static void show_item(struct show *show, const struct log_item *item)
{
    struct open_call *call;
    bool is_new = false;

    if (show->tracked != NULL && item->kind != LOG_EVENT) {
        show_tree_add(show, item);
    }
    switch (item->kind) {
    case LOG_CALL:
        call = open_calls_begin(&show->calls, &item->call, &is_new);
        visit_call(show, call, is_new);
        if (call != NULL && is_new && call->is_begun) {
            show_call(show, call);
        }
        break;
    case LOG_EVENT:
        if (!is_thread_shown(show, item->event.thread)) {
            break;
        }
        call = open_calls_of_event(&show->calls, &item->event, &is_new);
        visit_call(show, call, is_new);
        if (call != NULL) {
            show_event(show, item, call);
        }
        break;
    case LOG_END:
        show_end(show, item);
        break;
    case LOG_NOTE:
        show_note(show, item);
        break;
    case LOG_STEP:
        if (show->options->has_backward && show->tracked == NULL) {
            show_step(show, &item->step);
        }
        break;
    case LOG_GRADIENT:
        if (show->options->has_backward && show->tracked == NULL) {
            show_gradient(show, &item->event);
        }
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
        flush(show, OUTPUT_PIECE);
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
    if (options->is_tree) {
        show_tree_begin(show);
    }
}

static void begin_thread(struct show *show, size_t index)
{
    show->thread = &show->canonical.threads[index];
    show->canonical.call_number = 0;
    show->json.thread = index;
    show->json.thread_name = show->thread->name;
    begin_trees(show);
    log_reader_rewind(show->reader);
    show->is_heading_due = show->canonical.thread_count > 1 && !show->options->is_json;
}

/* One thread after the other: what they did at the same time is in no order. */
static void show_canonical(struct show *show)
{
    if (show->canonical.thread_count != 1) {
        show->prints_notes = true;
        show_stream(show);
        show->prints_notes = false;
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
            flush(show, OUTPUT_PIECE);
        }
    }
    flush(show, 1);
}

static void add_heading(struct show *show, struct slice name)
{
    if (show->options->traces.count > 1 && !show->options->is_json) {
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
    log_reader_show_parameters(show.reader, options->has_backward);
    show.is_selective =
        !event_filter_is_empty(&options->filter) || options->tail != UINT64_MAX;
    show.json.reader = show.reader;
    show.json.has_sample = options->has_sample;
    show.json.trace = options->traces.count > 1 ? name : SLICE("");
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
    exit_code = show_report_rest(&show);
    show_add_footer(&show);
    canonical_release(&show.canonical);
    tree_log_release(&show.tree);
    track_log_free(show.tracked);
    buffer_release(&show.lines);
    source_lines_release(&show.sources);
    open_calls_release(&show.calls);
    number_map_release(&show.wanted_calls);
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
        for (size_t i = 0; i < options.traces.count; i++) {
            const char *path = options.traces.words[i];
            char number[24];
            struct slice name = slice_of(path);

            if (options.is_canonical) {
                /* Files of processes are called by their numbers. */
                snprintf(number, sizeof number, "%zu", i + 1);
                name = slice_of(number);
            }
            exit_code = exit_code_worse(exit_code, show_trace(&options, path, name));
        }
    }
    show_options_release(&options);
    return exit_code;
}
