/* Any bytes as a trace (short_trace.h says how), shown as a tree, as JSON and as the tree log:
 * nothing that a terminal could obey comes out, and of JSON only whole objects. */
#include "runtime/view/list/json_log.h"
#include "runtime/view/list/site_list.h"
#include "runtime/view/list/tree_log.h"
#include "runtime/view/tracklog/tracklog.h"
#include "runtime/view/walk/event_filter.h"
#include "runtime/view/walk/open_calls.h"
#include "runtime/view/walk/source_lines.h"
#include "tests/fuzz/short_trace.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct shown {
    struct log_reader *reader;
    struct open_calls calls;
    struct source_lines sources;
    struct event_filter filter;
    struct tree_log tree;
    struct json_log json;
    struct buffer text;
    bool is_json;
};

static void show_event(struct shown *shown, const struct log_item *item)
{
    bool is_new;
    struct open_call *call = open_calls_of_event(&shown->calls, &item->event, &is_new);

    if (is_new) {
        event_filter_judge(&shown->filter, call, shown->reader);
    }
    if (!event_filter_match(&shown->filter, call, &item->event)) {
        return;
    }
    if (shown->is_json) {
        json_log_add_event(&shown->json, &item->event, call, &shown->text);
    } else {
        tree_log_add_event(&shown->tree, &item->event, call, &shown->text);
    }
}

static void show_call(struct shown *shown, const struct log_item *item)
{
    bool is_new;
    struct open_call *call = open_calls_begin(&shown->calls, &item->call, &is_new);

    if (is_new) {
        event_filter_judge(&shown->filter, call, shown->reader);
    }
    if (shown->is_json) {
        json_log_add_call(&shown->json, call, &shown->text);
    } else {
        tree_log_add_call(&shown->tree, call, &shown->text);
    }
}

static void show_end(struct shown *shown, const struct log_item *item)
{
    struct open_call *call = open_calls_find(&shown->calls, item->end.call);

    if (call == NULL) {
        return;
    }
    if (shown->is_json) {
        json_log_add_end(&shown->json, item, call, &shown->text);
    } else {
        tree_log_add_end(&shown->tree, item, call, &shown->text);
    }
    open_calls_end(&shown->calls, call);
}

static void show_item(struct shown *shown, const struct log_item *item)
{
    if (item->kind == LOG_EVENT) {
        show_event(shown, item);
    } else if (item->kind == LOG_CALL) {
        show_call(shown, item);
    } else if (item->kind == LOG_END) {
        show_end(shown, item);
    } else if (item->kind == LOG_NOTE && shown->is_json) {
        json_log_add_note(&shown->json, item, &shown->text);
    } else if (item->kind == LOG_NOTE) {
        tree_log_add_note(&shown->tree, item, &shown->text);
    }
}

static void check_text(const struct shown *shown)
{
    struct slice text = buffer_slice(&shown->text);

    for (size_t start = 0; start < text.size;) {
        size_t end = slice_find(text, SLICE("\n"), start);
        struct slice line = slice_part(text, start, end);

        for (size_t i = 0; i < line.size; i++) {
            if ((unsigned char)line.bytes[i] < ' ' || line.bytes[i] == 0x7F) {
                abort();
            }
        }
        if (shown->is_json && (!slice_starts(line, SLICE("{\"record\":\"")) ||
                               !slice_ends(line, SLICE("}")))) {
            abort();
        }
        start = end + 1;
    }
}

static void
show(struct log_reader *reader, bool is_json, bool has_source, const char *name)
{
    struct shown shown = {.reader = reader, .is_json = is_json};
    struct error error = ERROR_INIT;
    struct log_item item;

    open_calls_init(&shown.calls);
    source_lines_init(&shown.sources, reader, NULL);
    event_filter_init(&shown.filter);
    tree_log_init(&shown.tree, reader, &shown.sources);
    shown.tree.has_source = has_source;
    shown.json = (struct json_log){.reader = reader, .has_sample = true};
    if (name != NULL && !event_filter_add_glob(&shown.filter, &shown.filter.names,
                                               slice_of(name), &error)) {
        abort();
    }
    while (log_reader_next(reader, &item)) {
        show_item(&shown, &item);
    }
    for (uint32_t i = 0; i < log_reader_module_count(reader); i++) {
        const struct log_module *module = log_reader_module(reader, i);

        for (uint32_t k = 0; k < module->table.site_count; k++) {
            site_list_add(&shown.text, module, k, SLICE(""), is_json);
        }
    }
    check_text(&shown);
    buffer_release(&shown.text);
    tree_log_release(&shown.tree);
    event_filter_release(&shown.filter);
    source_lines_release(&shown.sources);
    open_calls_release(&shown.calls);
}

static void show_tracked(struct log_reader *reader, bool is_all, bool is_selective)
{
    struct track_options options = {.labels = track_labels_of(SLICE("zh")),
                                    .is_all = is_all,
                                    .is_selective = is_selective,
                                    .has_lines = is_all};
    struct shown shown = {.reader = reader};
    struct track_log *log = track_log_new(&options);
    struct log_item item;
    uint16_t thread;

    while (log_reader_next(reader, &item)) {
        size_t size = shown.text.size;
        track_log_add(log, &item, &shown.text, &thread);
        if (shown.text.size > size && shown.text.bytes[shown.text.size - 1] != '\n') {
            abort();
        }
    }
    check_text(&shown);
    buffer_release(&shown.text);
    track_log_free(log);
}

static void show_all(struct log_reader *reader)
{
    show(reader, false, true, NULL);
    log_reader_rewind(reader);
    show(reader, true, false, NULL);
    log_reader_rewind(reader);
    show(reader, false, false, "*x*");
    for (int kind = 0; kind < 4; kind++) {
        log_reader_rewind(reader);
        show_tracked(reader, (kind & 1) != 0, (kind & 2) != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    short_trace_read(data, size, show_all);
    return 0;
}
